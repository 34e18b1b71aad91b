#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import OAuth
import Positions
import RecurseCenter

struct RecurseCenterHub: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Check in at the hub when you arrive there, once a day, by New York time.",
        discussion: """
            Nothing is sent before you agree. Your positions stay on this machine; the Recurse Center gets the visit. A day that cannot \
            be sent is tried again for a week: after a minute, later at longer pauses, every six hours if the Recurse Center \
            refuses it, and after a restart. One that you removed stays removed.
            """)

    @Option(
        help: ArgumentHelp(
            "\(PlacesSource.forms), or - for GPX or NMEA on standard input.", valueName: "source"))
    var source = "gpsd"

    @Option(help: ArgumentHelp("The speed of a file, as a multiple of the recording's, or max.", valueName: "factor"))
    var speed = PlacesSpeed(.times(1))

    @Option(parsing: .unconditional, help: ArgumentHelp("Where the hub is.", valueName: "latitude,longitude"))
    var at = "40.6913,-73.9850"

    @Option(help: ArgumentHelp("How far around it counts as the hub, in metres, from 50 to 1000.", valueName: "radius"))
    var radius = 100.0

    @Flag(help: "Agree that arriving there checks you in. This is remembered until --withdraw.")
    var iAgreeToCheckIn = false

    @Flag(help: "Withdraw your consent, and remove the days that wait to be sent.")
    var withdraw = false

    @OptionGroup var options: RecurseCenterOptions

    func validate() throws {
        guard (50...1_000).contains(radius) else {
            throw ValidationError("--radius takes 50 to 1000 metres, not \(radius).")
        }
        guard !withdraw || !iAgreeToCheckIn else {
            throw ValidationError("Give --withdraw or --i-agree-to-check-in, not both.")
        }
        _ = try place()
    }

    private func place() throws -> Coordinate {
        guard let (latitude, longitude) = Coordinate.degrees(in: at),
            let place = try? Coordinate(latitude: latitude, longitude: longitude)
        else { throw ValidationError("--at takes a latitude and a longitude, as in 40.6913,-73.9850.") }
        return place
    }

    func run() async throws {
        let vault = try await options.common.openVault(try Settings.load())
        let track = PlacesSource.file(source)
        let positions = try PlacesSource.open(source, speed: speed.value)
        let fence = try Geofence(id: "hub", .circle(Circle(center: place(), radius: radius)))
        try await options.use { center in
            let checkIn = HubCheckIn(center, fence: fence.id, vault: vault)
            if withdraw {
                try await checkIn.withdraw()
                return Output.note("Withdrawn. Arriving no longer checks you in, and no day waits to be sent.")
            }
            if iAgreeToCheckIn { try await checkIn.agree() }
            guard try await checkIn.hasConsent else {
                throw CommandError.usage(
                    "Arriving would check you in at the hub. If you want that, add --i-agree-to-check-in.")
            }
            let kind = PlacesRun.Kind(positions, track: track)
            try await PlacesFailure.named(track) { try await watch(positions, fence, checkIn, kind) }
        }
    }

    /// Checks in while positions come.
    func watch(
        _ positions: any PositionSource, _ fence: Geofence, _ checkIn: HubCheckIn, _ kind: PlacesRun.Kind,
        time: TimeSource = .system
    ) async throws {
        try await HubWatch(fence, checkIn, kind, json: options.common.json, time: time).run(positions)
    }
}

/// Takes positions and checks in.
///
/// An actor, because positions and the passing of time come from two tasks.
private actor HubWatch {
    private let fence: Geofence
    private let checkIn: HubCheckIn
    private let kind: PlacesRun.Kind
    private let json: Bool
    private let time: TimeSource
    private var monitor: GeofenceMonitor
    private var notes = PositionNotes()
    /// Whether the positions are of now, so that time passes without them.
    private var isLive: Bool
    /// What the passing of time has brought, while it is sent.
    private var passing: Task<Void, Never>?
    /// Why nothing could be sent, as the user was told last: a network that is down for hours is one line.
    private var told: String?

    init(_ fence: Geofence, _ checkIn: HubCheckIn, _ kind: PlacesRun.Kind, json: Bool, time: TimeSource) throws {
        self.fence = fence
        self.checkIn = checkIn
        self.kind = kind
        self.json = json
        self.time = time
        monitor = try GeofenceMonitor([fence])
        isLive = kind == .receiver
    }

    /// Takes all positions of a source.
    func run(_ positions: any PositionSource) async throws {
        await send { try await checkIn.retry() }
        let updates = positions.updates()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await update in updates { await self.take(update) } }
            if kind != .recording { group.addTask { try await self.passTime() } }
            let ended = await group.nextResult()
            // The end of a source loses no entry that time has brought before it.
            await settle()
            group.cancelAll()
            if kind != .recording { await receive(due()) }
            try ended?.get()
        }
        try Task.checkCancellation()
        let waiting = try await checkIn.waiting
        if !waiting.isEmpty {
            Output.note("Check-ins still to send: \(waiting.map(\.description).joined(separator: ", ")).")
        }
    }

    private var now: Date { Date(timeIntervalSince1970: time.now()) }

    private func take(_ update: PositionUpdate) async {
        switch update {
        case .fix(let fix):
            let arrival = kind == .receiver ? now : nil
            let outcome = monitor.receive(fix, now: arrival)
            if kind == .stream, monitor.isCurrent(fix, at: now) { isLive = true }
            if notes.take(fix, outcome, at: arrival) { notes.found(fix, [fence], isNow: isLive) }
            await receive(outcome.events)
        case .unavailable(let error): notes.take(error)
        case .passedOver(let count): PositionNotes.skip(count)
        }
    }

    /// Each second: a user who stands still may send no position more, and a network that comes back does not say so.
    private func passTime() async throws {
        while true {
            try await time.clock.sleep(for: .seconds(1))
            // The source has ended, which looks at the time itself.
            try Task.checkCancellation()
            notes.passTime(to: now)
            let events = due()
            let passing = Task<Void, Never> {
                await receive(events)
                self.passing = nil
            }
            self.passing = passing
            await withTaskCancellationHandler {
                await passing.value
            } onCancel: {
                passing.cancel()
            }
        }
    }

    /// What time alone has brought.
    private func due() -> [GeofenceEvent] { isLive ? monitor.advance(to: now) : [] }

    /// Waits until what time has brought is sent. A command that is interrupted waits no longer.
    private func settle() async {
        while let passing { await passing.value }
    }

    private func receive(_ events: [GeofenceEvent]) async {
        for event in events { await send { try await checkIn.receive(event) } }
        await send { try await checkIn.retryIfDue() }
    }

    /// Sends what waits. Watching goes on when the service cannot be asked.
    private func send(_ body: () async throws -> [HubVisit]) async {
        do {
            for visit in try await body() {
                told = nil
                if json {
                    Output.result(
                        JSONText.object([
                            ("event", .string("checked_in")), ("date", .string(visit.date.description)),
                        ]).text)
                } else {
                    Output.result("Checked in on \(visit.date).")
                }
            }
        } catch let error as RecurseCenterError {
            guard told != error.description else { return }
            told = error.description
            Output.note("Not checked in yet, and tried again later: \(quoted(error.description))")
        } catch {
            // Cancelled: the loop ends.
        }
    }
}
#endif
