#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import Positions

struct PlacesWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print events as they happen; ends at the end of a file.",
        discussion: "Without --regions, crossings of the IFTTT user's areas are stored and uploaded.")

    @Option(
        help: ArgumentHelp(
            "gpsd[:HOST:PORT], geoclue, gpx:FILE, nmea:FILE, or - for NMEA on standard input.", valueName: "source"))
    var source = "gpsd"

    @Option(help: ArgumentHelp("The speed, as a multiple of the recording's, or max.", valueName: "factor"))
    var speed = PlacesSpeed(.times(1))

    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func run() async throws {
        try await PlacesFailure.reported {
            let track = PlacesSource.file(source)
            try regionOptions.requireOne(track)
            let source = try PlacesSource.open(source, speed: speed.value)
            let run = try await PlacesRun(
                regionOptions, accountOptions, uploads: true, isLive: !(source is TrackReplay))
            // A receiver without a position says so several times a second; the user is told once.
            var told: String?
            try await PlacesFailure.named(track ?? "") {
                for try await update in source.updates() {
                    switch update {
                    case .fix(let fix):
                        told = nil
                        try await run.take(fix)
                    case .unavailable(let error):
                        if told != "\(error)" { Output.note("Waiting: \(error).") }
                        told = "\(error)"
                    }
                }
            }
            try await run.finish()
        }
    }
}

struct PlacesReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Print the events of a track; nothing is uploaded unless --upload.",
        discussion: "The file is GPX or NMEA.")

    @Argument(help: "The track, or - for standard input.")
    var file: String

    @Option(help: ArgumentHelp("The speed, as a multiple of the recording's, or max.", valueName: "factor"))
    var speed = PlacesSpeed(.maximum)

    @Flag(help: "Store crossings of the IFTTT user's areas and upload them.")
    var upload = false

    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func validate() throws {
        if upload, regionOptions.regions != nil {
            throw ValidationError("--upload uses the areas of the signed-in user. Leave out --regions")
        }
    }

    func run() async throws {
        try await PlacesFailure.reported {
            try regionOptions.requireOne(file)
            let run = try await PlacesRun(regionOptions, accountOptions, uploads: upload, isLive: false)
            try await PlacesFailure.named(file) {
                for try await fix in TrackReplay(file: file, speed: speed.value).fixes() { try await run.take(fix) }
            }
            try await run.finish()
        }
    }
}

/// How fast a file is replayed.
struct PlacesSpeed: ExpressibleByArgument, CustomStringConvertible {
    let value: TrackReplay.Speed

    init(_ value: TrackReplay.Speed) { self.value = value }

    init?(argument: String) {
        if argument == "max" {
            value = .maximum
            return
        }
        guard let factor = Double(argument), (0.001...1_000_000).contains(factor) else { return nil }
        value = .times(factor)
    }

    var description: String {
        switch value {
        case .maximum: "max"
        case .times(let factor): "\(factor)"
        }
    }
}

/// Takes fixes and prints their events, against a file's regions or the user's areas.
private final class PlacesRun {
    private let json: Bool
    private let isLive: Bool
    private let options: PlacesAccountOptions
    private let synchronizer: PlacesSynchronizer?
    private var monitor: GeofenceMonitor
    private let stores: Bool
    private var skipped = 0

    /// - Parameter uploads: whether crossings of the user's areas are stored and uploaded.
    init(
        _ regions: PlacesRegionOptions, _ options: PlacesAccountOptions, uploads: Bool, isLive: Bool
    ) async throws {
        self.options = options
        self.isLive = isLive
        json = options.host.common.json
        if let regions = try await regions.load() {
            (synchronizer, stores) = (nil, false)
            monitor = try GeofenceMonitor(regions)
        } else {
            let synchronizer = try await options.synchronizer(takesRegions: true)
            if try await synchronizer.regions.isEmpty || !options.connections.isEmpty {
                try await synchronizer.activate(options.connections)
            }
            self.synchronizer = synchronizer
            stores = uploads
            monitor = try GeofenceMonitor(try await synchronizer.regions)
            if monitor.index.geofences.isEmpty {
                Output.note("There is no area to watch. Name a file with --regions, or a connection with --connection.")
            }
        }
    }

    func take(_ fix: Fix) async throws {
        let now = isLive ? Date() : nil
        guard stores, let synchronizer else {
            for event in monitor.receive(fix, now: now).events { PlacesPrinter.show(event, json: json) }
            return
        }
        let (outcome, crossings) = try await synchronizer.receive(fix, now: now)
        // Printed when they are durable, so that what was printed is never lost.
        for event in outcome.events {
            let crossing = crossings.first { $0.region == event.region && event.kind != .dwell }
            PlacesPrinter.show(event, recordID: crossing?.id, json: json)
        }
        if outcome == .ignored(.outOfOrder) { skipped += 1 }
        if isLive, !crossings.isEmpty { await synchronizer.synchronize(.crossing) }
    }

    func finish() async throws {
        guard stores, let synchronizer else { return }
        if !isLive, skipped > 0 {
            Output.note("Skipped \(skipped) positions that are not later than one that was taken before.")
        }
        if await synchronizer.synchronize(.forced) == .failed {
            throw CommandError(
                status: .network, code: "not_synchronized",
                message: "Crossings are stored but not uploaded yet. Upload them with: handshake places sync")
        }
    }
}
#endif
