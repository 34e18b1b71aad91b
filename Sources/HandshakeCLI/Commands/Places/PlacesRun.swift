#if CommandLine
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import Positions

/// Takes positions and prints what happens.
///
/// An actor, because positions come from tasks of the synchronizer.
actor PlacesRun {
    /// What is watched.
    enum Areas {
        case file([Geofence])
        /// A circle around the first position, of this radius in metres.
        case around(Double)
        /// The areas of an IFTTT user.
        ///
        /// - Parameters:
        ///   - stores: whether crossings are stored and uploaded.
        ///   - fetches: whether the areas are fetched first.
        case user(PlacesSynchronizer, PlacesAccountOptions, stores: Bool, fetches: Bool)
    }

    /// Where positions come from.
    enum Kind {
        /// A device, which tells of now.
        case receiver
        /// Standard input, which may go on for ever.
        case stream
        case recording
    }

    private let areas: Areas
    private let kind: Kind
    private let json: Bool
    private var monitor: GeofenceMonitor
    private var notes = PositionNotes()
    /// Whether the positions are of now, so that time passes without them.
    private var isLive: Bool
    /// Crossings that were recorded want an upload.
    private let (wishes, wish) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(_ areas: Areas, _ kind: Kind, json: Bool) throws {
        self.areas = areas
        self.kind = kind
        self.json = json
        isLive = kind == .receiver
        if case .file(let regions) = areas {
            monitor = try GeofenceMonitor(regions)
        } else {
            monitor = try GeofenceMonitor([])
        }
    }

    /// Takes all positions of a source.
    ///
    /// - Throws: `CommandError`, the errors of source and vault; `CancellationError`, after a note of what waits.
    func run(_ source: any PositionSource, track: String?) async throws {
        guard case .user(let synchronizer, let options, _, _) = areas else {
            if case .file = areas, monitor.index.geofences.isEmpty { Output.note("The file has no area to watch.") }
            return try await follow(source, track)
        }
        let printing = Task {
            await options.show(synchronizer.events, as: .notes, goesOn: kind != .recording)
        }
        defer { printing.cancel() }
        do {
            try await follow(source, track)
            await synchronizer.finishEvents()
            await printing.value
        } catch {
            await synchronizer.finishEvents()
            await printing.value
            if error is CancellationError { await Self.noteWaiting(synchronizer) }
            throw error
        }
    }

    private static func noteWaiting(_ synchronizer: PlacesSynchronizer) async {
        // In a task of its own, because this one is cancelled.
        guard let count = try? await Task(operation: { try await synchronizer.waiting().count }).value, count > 0 else {
            return
        }
        Output.note("\(PlacesPrinter.pending(count)) Upload now with: handshake places sync --once")
    }

    private func follow(_ source: any PositionSource, _ track: String?) async throws {
        try await prepare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await PlacesFailure.named(track) { try await self.takeAll(source) } }
            if kind != .recording { group.addTask { try await self.passTime() } }
            if kind != .recording, case .user(let synchronizer, let options, stores: true, _) = areas {
                group.addTask { try await synchronizer.run(activating: options.connections) }
                group.addTask { [wishes] in for await _ in wishes { await synchronizer.synchronize(.crossing) } }
            }
            // The positions end, or one of the tasks fails.
            let ended = await group.nextResult()
            group.cancelAll()
            // One that waits for another synchronization is no part of these tasks.
            if case .user(let synchronizer, _, _, _) = areas { await synchronizer.stopSynchronization() }
            try ended?.get()
        }
        // An iteration that is cancelled ends as if there were no more positions.
        try Task.checkCancellation()
        try await finish()
    }

    /// Fetches the user's areas for a track; beside a receiver that is a task of its own.
    private func prepare() async throws {
        guard case .user(let synchronizer, let options, let stores, let fetches) = areas else { return }
        if fetches, kind != .receiver {
            let outcome = try await synchronizer.activate(options.connections)
            let areas = try await synchronizer.regions
            if outcome == .failed || areas.isEmpty, let failure = try await options.failure(of: synchronizer) {
                guard kind == .stream || !areas.isEmpty else { throw failure }
                // Beside a stream it is tried again, and that tells it.
                if kind == .recording { Output.note("\(failure.message) The areas of the last time are used.") }
            }
        }
        let regions = try await synchronizer.regions
        if !stores { monitor = try GeofenceMonitor(regions) }
        if regions.isEmpty, kind == .recording {
            Output.note("There is no area to watch. Name a file with --regions, or a connection with --connection.")
        }
    }

    private func takeAll(_ source: any PositionSource) async throws {
        if kind == .receiver {
            for try await (update, arrival) in Self.stamped(source) { try await take(update, at: arrival) }
        } else {
            for try await update in source.updates() { try await take(update, at: nil) }
        }
    }

    /// Updates with the times at which they came, however long those before take.
    private static func stamped(_ source: any PositionSource) -> AsyncThrowingStream<(PositionUpdate, Date), any Error>
    {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1_024)) { continuation in
            let task = Task {
                do {
                    for try await update in source.updates() { continuation.yield((update, Date())) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func take(_ update: PositionUpdate, at arrival: Date?) async throws {
        switch update {
        case .fix(let fix): try await take(fix, at: arrival)
        case .unavailable(let error): notes.take(error)
        case .passedOver(let count):
            Output.note(
                "Skipped \(PlacesPrinter.counted(count, "point")) without a valid position or a time.")
        }
    }

    private func take(_ fix: Fix, at arrival: Date?) async throws {
        let age = fix.time.timeIntervalSinceNow.magnitude
        if kind == .stream, age <= monitor.configuration.maximumAge { isLive = true }
        let outcome: FixOutcome
        var crossings: [AreaCrossing] = []
        if case .user(let synchronizer, _, stores: true, _) = areas {
            (outcome, crossings) = try await synchronizer.receive(fix, now: arrival)
        } else {
            outcome = monitor.receive(fix, now: arrival)
            if case .around(let radius) = areas, case .accepted = outcome, monitor.index.geofences.isEmpty {
                // Within a vaguer circle nobody is known to be inside.
                guard fix.accuracy <= radius / 2 else { return notes.wait(for: radius / 2, fix) }
                let circle = try Circle(center: fix.coordinate, radius: radius)
                try monitor.replaceRegions([Geofence(id: "here", .circle(circle))])
            }
        }
        // Printed when they are durable, so that what was printed is never lost.
        show(outcome.events, crossings)
        if notes.take(fix, outcome, at: arrival) {
            let regions = try await regions()
            notes.found(fix, regions, isNow: isLive)
        }
    }

    private func show(_ events: [GeofenceEvent], _ crossings: [AreaCrossing]) {
        for event in events {
            let crossing = crossings.first { $0.region == event.region && event.kind != .dwell }
            PlacesPrinter.show(event, recordID: crossing?.id, json: json)
            notes.hasEvents = true
        }
        if !crossings.isEmpty { wish.yield() }
    }

    /// Each second: a user who stands still may send no position more.
    private func passTime() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            guard isLive else { continue }
            let now = Date()
            if case .user(let synchronizer, _, stores: true, _) = areas {
                let (events, crossings) = try await synchronizer.advance(to: now)
                show(events, crossings)
            } else {
                show(monitor.advance(to: now), [])
            }
            notes.passTime(to: now)
        }
    }

    private func regions() async throws -> [Geofence] {
        if case .user(let synchronizer, _, stores: true, _) = areas { return try await synchronizer.regions }
        return monitor.index.geofences
    }

    /// Uploads what a file has given, and tells what it has not.
    private func finish() async throws {
        var isInside = !monitor.inside.isEmpty
        if case .user(let synchronizer, _, stores: true, _) = areas {
            isInside = try await !synchronizer.whereabouts.inside.isEmpty
        }
        notes.finish(isInside: isInside)
        guard case .user(let synchronizer, let options, stores: true, _) = areas else { return }
        await synchronizer.synchronize(.forced)
        try Task.checkCancellation()
        guard let failure = try await options.failure(of: synchronizer) else { return }
        let waiting = (try? await synchronizer.waiting()) ?? []
        if failure.status != .signInNeeded, failure.status != .vault, waiting.isEmpty {
            return Output.note(failure.message)
        }
        throw failure
    }
}
#endif
