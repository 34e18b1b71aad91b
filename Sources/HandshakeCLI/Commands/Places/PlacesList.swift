#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import IFTTTConnect
import OAuth
import Positions

struct PlacesList: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the areas with their source, state and distance.",
        discussion: "With --at the state and the distance to the edge are shown for that position.")

    @Option(help: ArgumentHelp("A position, as in 40.7251,-73.9967.", valueName: "latitude,longitude"))
    var at: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func run() async throws {
        try await PlacesFailure.reported {
            let position = try at.map(Self.position)
            let (regions, source) = try await self.regions()
            let rows = regions.map { region in (region, position.map { region.distanceToEdge(from: $0) }) }
            if accountOptions.host.common.json {
                for (region, distance) in rows { Output.result(Self.json(region, source, distance).text) }
            } else {
                let lines = rows.map { region, distance in
                    [region.id, source, Self.state(distance), distance.map { PlacesPrinter.metres($0) } ?? "–"]
                }
                for line in Table.lines([["Region", "Source", "State", "To the edge"]] + lines) { Output.result(line) }
            }
        }
    }

    private func regions() async throws -> ([Geofence], String) {
        if let regions = try await regionOptions.load() { return (regions, "file") }
        let synchronizer = try await accountOptions.synchronizer(takesRegions: true)
        if !accountOptions.connections.isEmpty { try await synchronizer.activate(accountOptions.connections) }
        return (try await synchronizer.regions, "ifttt")
    }

    private static func position(_ text: String) throws -> Coordinate {
        let parts = text.split(separator: ",").map { Double($0.trimmingPrefix { $0 == " " }) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else {
            throw CommandError.usage("“\(quoted(text, limit: 80))” is not a position. Use LATITUDE,LONGITUDE")
        }
        return try Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func state(_ distance: Double?) -> String {
        distance.map { $0 < 0 ? "inside" : "outside" } ?? "unknown"
    }

    private static func json(_ region: Geofence, _ source: String, _ distance: Double?) -> JSONText {
        .object([
            ("region", .string(region.id)), ("source", .string(source)), ("state", .string(state(distance))),
            ("distance_to_edge", distance.map { .decimal($0) } ?? .null),
        ])
    }
}

struct PlacesMap: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Draw areas, a track and its events as SVG, without a map server.")

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write, or - for standard output.", valueName: "file"))
    var output: String

    @Option(help: ArgumentHelp("A GPX or NMEA file to draw with its events.", valueName: "file"))
    var track: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func run() async throws {
        try await PlacesFailure.reported {
            try regionOptions.requireOne(track)
            var fixes: [Fix] = []
            if let track {
                try await PlacesFailure.named(track) {
                    for try await fix in TrackReplay(file: track, speed: .maximum).fixes() { fixes.append(fix) }
                }
            }
            let regions =
                if let regions = try await regionOptions.load() { regions } else {
                    try await accountOptions.synchronizer(takesRegions: true).regions
                }
            var monitor = try GeofenceMonitor(regions)
            let events = fixes.flatMap { monitor.receive($0).events }
            let svg = GeofenceMap(regions: regions, track: fixes, events: events).svg
            guard output != "-" else { return Output.result(bytes: Array(svg.utf8)) }
            do { try Data(svg.utf8).write(to: URL(filePath: output), options: .atomic) } catch {
                throw CommandError.unwritable(output)
            }
            Output.note("Wrote “\(quoted(output, limit: 200))”.")
        }
    }
}
#endif
