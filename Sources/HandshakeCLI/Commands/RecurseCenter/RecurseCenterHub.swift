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
            "gpsd[:HOST:PORT], geoclue, gpx:FILE, nmea:FILE, or - for GPX or NMEA on standard input.",
            valueName: "source"))
    var source = "gpsd"

    @Option(help: ArgumentHelp("The speed of a file, as a multiple of the recording's, or max.", valueName: "factor"))
    var speed = PlacesSpeed(.times(1))

    @Option(parsing: .unconditional, help: ArgumentHelp("Where the hub is.", valueName: "latitude,longitude"))
    var at = "40.6913,-73.9850"

    @Option(help: ArgumentHelp("How far around it counts, in metres, from 50 to 1000.", valueName: "radius"))
    var radius = 100.0

    @Flag(help: "You agree that arriving there checks you in. It is remembered until --withdraw.")
    var iAgreeToCheckIn = false

    @Flag(help: "Forget that you agreed, and the days that wait.")
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
        let parts = at.split(separator: ",").map { Double($0.trimmingCharacters(in: .whitespaces)) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
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
                return Output.note("Forgotten. Nothing checks you in any more.")
            }
            if iAgreeToCheckIn { try await checkIn.agree() }
            guard try await checkIn.hasConsent else {
                throw CommandError.usage(
                    "Arriving would check you in at the hub. If you want that, add --i-agree-to-check-in.")
            }
            try await PlacesFailure.named(track) { try await watch(positions, fence, checkIn, isLive: track == nil) }
        }
    }

    /// Checks in while positions come.
    func watch(
        _ positions: any PositionSource, _ fence: Geofence, _ checkIn: HubCheckIn, isLive: Bool
    ) async throws {
        var monitor = try GeofenceMonitor([fence])
        var notes = PositionNotes()
        var told: String?
        await send(&told) { try await checkIn.retry() }
        for try await update in positions.updates() {
            switch update {
            case .fix(let fix):
                let outcome = monitor.receive(fix, now: isLive ? Date() : nil)
                if notes.take(fix, outcome, at: isLive ? Date() : nil) { notes.found(fix, [fence], isNow: isLive) }
                for event in outcome.events { await send(&told) { try await checkIn.receive(event) } }
                await send(&told) { try await checkIn.retryIfDue() }
            case .unavailable(let error): notes.take(error)
            case .passedOver(let count): Output.note("\(count) positions were skipped.")
            }
        }
        try Task.checkCancellation()
        let waiting = try await checkIn.waiting
        if !waiting.isEmpty {
            Output.note("Check-ins still to send: \(waiting.map(\.description).joined(separator: ", ")).")
        }
    }

    /// Sends what waits. Watching goes on when the service cannot be asked.
    ///
    /// - Parameter told: why nothing could be sent, as the user was told last: a network that is down for hours is one line.
    private func send(_ told: inout String?, _ body: () async throws -> [HubVisit]) async {
        do {
            for visit in try await body() {
                told = nil
                if options.common.json {
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
