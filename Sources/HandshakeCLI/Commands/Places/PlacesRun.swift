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
        ///   - activating: connections that are watched besides those of earlier commands.
        ///   - stores: whether crossings are stored and uploaded.
        ///   - fetches: whether the areas are fetched first.
        case user(
            PlacesSynchronizer, PlacesAccountOptions, activating: [ConnectionID], stores: Bool, fetches: Bool)
    }

    /// Where positions come from.
    enum Kind {
        /// A device, which reports the present.
        case receiver
        /// Standard input, which may go on forever.
        case stream
        case recording

        /// - Parameter track: the file that the source reads; nil for a receiver.
        init(_ source: any PositionSource, track: String?) {
            self = source is TrackReplay ? (track == "-" ? .stream : .recording) : .receiver
        }
    }

    private let areas: Areas
    private let kind: Kind
    private let json: Bool
    private var monitor: GeofenceMonitor
    private var notes = PositionNotes()
    /// Whether the positions are of now, so that time passes without them.
    private var isLive: Bool

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
    /// - Throws: `CommandError`, the errors of source and vault; `CancellationError`. Where crossings are stored, a note of what
    ///   waits comes before a `PositionsError` and a `CancellationError`.
    func run(_ source: any PositionSource, track: String?) async throws {
        guard case .user(let synchronizer, let options, _, _, _) = areas else {
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
        // In a task of its own, because this one may be cancelled.
        guard let count = try? await Task(operation: { try await synchronizer.waiting().count }).value, count > 0 else {
            return
        }
        let note = "\(PlacesPrinter.pending(count)) Upload now with: handshake places sync --once"
        Output.note(NamedVault.given.completed(note, isLine: true))
    }

    private func follow(_ source: any PositionSource, _ track: String?) async throws {
        try await prepare()
        try await PlacesFailure.named(track) {
            guard case .user(let synchronizer, _, let connections, stores: true, _) = areas else {
                return try await watch(source)
            }
            do {
                if kind == .recording {
                    for try await fix in fixes(of: source) {
                        let (outcome, crossings) = try await synchronizer.receive(fix, now: nil)
                        try await show(fix, outcome, crossings)
                    }
                } else {
                    let fixes = fixes(of: source)
                    try await synchronizer.follow(
                        fixes, isRecording: kind == .stream, activating: connections, report: show)
                }
            } catch let error as PositionsError {
                await Self.noteWaiting(synchronizer)
                throw error
            }
        }
        // An iteration that is cancelled ends as if there were no more positions.
        try Task.checkCancellation()
        try await finish()
    }

    /// Fetches the user's areas for a track; beside a receiver that is a task of its own.
    private func prepare() async throws {
        guard case .user(let synchronizer, let options, let connections, let stores, let fetches) = areas else {
            return
        }
        if fetches, kind != .receiver {
            let outcome = try await synchronizer.activate(connections)
            let areas = try await synchronizer.regions
            if outcome == .failed || areas.isEmpty, let failure = try await options.failure(of: synchronizer) {
                guard kind == .stream || !areas.isEmpty else { throw failure }
                // Beside a stream it is tried again, and that attempt reports it.
                if kind == .recording { Output.note("\(failure.message) The areas of the last time are used.") }
            }
        }
        let regions = try await synchronizer.regions
        if !stores { monitor = try GeofenceMonitor(regions) }
        if regions.isEmpty, kind == .recording {
            Output.note("There is no area to watch. Name a file with --regions, or a connection with --connection.")
        }
    }

    /// The fixes of a source; what else it reports is noted.
    private func fixes(
        of source: any PositionSource
    ) -> AsyncCompactMapSequence<AsyncThrowingStream<PositionUpdate, any Error>, Fix> {
        source.updates().compactMap { update in await self.fix(update) }
    }

    private func fix(_ update: PositionUpdate) -> Fix? {
        switch update {
        case .fix(let fix): return fix
        case .unavailable(let error): notes.take(error)
        case .passedOver(let count): PositionNotes.skip(count)
        }
        return nil
    }

    /// Watches areas of which nothing is stored.
    private func watch(_ source: any PositionSource) async throws {
        let fixes = fixes(of: source)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await fix in fixes { try await self.take(fix) } }
            if kind != .recording { group.addTask { try await self.passTime() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func take(_ fix: Fix) async throws {
        let outcome = monitor.receive(fix, now: kind == .receiver ? Date() : nil)
        if case .around(let radius) = areas, case .accepted = outcome, monitor.index.geofences.isEmpty {
            // A vaguer fix does not show that the user is inside.
            guard fix.accuracy <= radius / 2 else { return notes.wait(for: radius / 2, fix) }
            let circle = try Circle(center: fix.coordinate, radius: radius)
            try monitor.replaceRegions([Geofence(id: "here", .circle(circle))])
        }
        try await show(fix, outcome, [])
    }

    /// Each second: a user who stands still may send no position more.
    private func passTime() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            if isLive { try await show(nil, .accepted(monitor.advance(to: Date())), []) }
        }
    }

    /// Prints what a fix, or without one the passing of time, has brought. It is durable by now, so that what was printed is never
    /// lost.
    private func show(_ fix: Fix?, _ outcome: FixOutcome, _ crossings: [AreaCrossing]) async throws {
        for event in outcome.events {
            let crossing = crossings.first { $0.region == event.region && event.kind != .dwell }
            PlacesPrinter.show(event, recordID: crossing?.id, json: json)
            notes.hasEvents = true
        }
        guard let fix else { return notes.passTime(to: Date()) }
        if kind == .stream, monitor.isCurrent(fix, at: Date()) { isLive = true }
        if notes.take(fix, outcome, at: kind == .receiver ? Date() : nil) {
            let regions = try await regions()
            notes.found(fix, regions, isNow: isLive)
        }
    }

    private func regions() async throws -> [Geofence] {
        if case .user(let synchronizer, _, _, stores: true, _) = areas { return try await synchronizer.regions }
        return monitor.index.geofences
    }

    /// Uploads what a file has given, and notes what it has not.
    private func finish() async throws {
        var isInside = !monitor.inside.isEmpty
        if case .user(let synchronizer, _, _, stores: true, _) = areas {
            isInside = try await !synchronizer.whereabouts.inside.isEmpty
        }
        notes.finish(isInside: isInside)
        guard case .user(let synchronizer, let options, _, stores: true, _) = areas else { return }
        if kind == .recording { await synchronizer.synchronize(.forced) }
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
