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
            "\(PlacesSource.forms), or - for GPX or NMEA on standard input.", valueName: "source"))
    var source = "gpsd"

    @Option(help: ArgumentHelp("The speed, as a multiple of the recording's, or max.", valueName: "factor"))
    var speed = PlacesSpeed(.times(1))

    @Option(
        help: ArgumentHelp("Watch the area of this radius, in metres, around the first position.", valueName: "radius"))
    var here: Double?

    @OptionGroup var pace: PlacesIntervalOptions
    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var connectionOptions: PlacesConnectionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func validate() throws {
        try regionOptions.refuse(connectionOptions)
        guard let here else { return }
        guard (1...1_000_000).contains(here) else {
            throw ValidationError("--here takes a radius of 1 to 1000000 metres, not \(here).")
        }
        if regionOptions.regions != nil { throw ValidationError("Give --here or --regions, not both.") }
        try connectionOptions.requireNone(beside: "--here")
    }

    func run() async throws {
        try await accountOptions.reported {
            let track = PlacesSource.file(source)
            try regionOptions.requireOne(track)
            let source = try PlacesSource.open(source, speed: speed.value)
            let kind = PlacesRun.Kind(source, track: track)
            let areas = try await areas()
            try await PlacesRun(areas, kind, json: accountOptions.host.common.json).run(source, track: track)
        }
    }

    private func areas() async throws -> PlacesRun.Areas {
        if let here { return .around(here) }
        if let regions = try await regionOptions.load() { return .file(regions) }
        let synchronizer = try await accountOptions.synchronizer(takesRegions: true, interval: pace.interval)
        return .user(
            synchronizer, accountOptions, activating: connectionOptions.connections, stores: true, fetches: true)
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
    @OptionGroup var connectionOptions: PlacesConnectionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func validate() throws {
        if upload, regionOptions.regions != nil {
            throw ValidationError("--upload uses the areas of the signed-in user. Leave out --regions.")
        }
        try regionOptions.refuse(connectionOptions)
    }

    func run() async throws {
        try await accountOptions.reported {
            try regionOptions.requireOne(file)
            let areas = try await areas()
            try await PlacesRun(areas, .recording, json: accountOptions.host.common.json)
                .run(TrackReplay(file: file, speed: speed.value), track: file)
        }
    }

    private func areas() async throws -> PlacesRun.Areas {
        if let regions = try await regionOptions.load() { return .file(regions) }
        let synchronizer = try await accountOptions.synchronizer(takesRegions: true)
        let connections = connectionOptions.connections
        let fetches = try await synchronizer.regions.isEmpty || !connections.isEmpty
        return .user(
            synchronizer, accountOptions, activating: connections, stores: upload, fetches: fetches)
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
#endif
