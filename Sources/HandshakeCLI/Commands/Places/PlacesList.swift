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
        discussion: """
            With --at the state and the distance to the edge are shown for that position, otherwise for the last one that was \
            stored.
            """)

    @Option(help: ArgumentHelp("A position, as in 40.7251,-73.9967.", valueName: "latitude,longitude"))
    var at: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var regionOptions: PlacesRegionOptions
    @OptionGroup var connectionOptions: PlacesConnectionOptions
    @OptionGroup var accountOptions: PlacesAccountOptions

    func validate() throws { try regionOptions.refuse(connectionOptions) }

    /// What is known of an area.
    private struct Row {
        let region: Geofence
        let source: String
        let state: String
        /// In metres, negative inside; nil when no position is known.
        var distance: Double?
        /// When the user was at that distance; nil for `--at`.
        var time: Date?
    }

    func run() async throws {
        try await accountOptions.reported {
            let position = try at.map(Self.position)
            let rows = try await rows(position)
            if accountOptions.host.common.json {
                for row in rows { Output.result(Self.json(row).text) }
            } else {
                let lines = rows.map { row in
                    [row.region.id, row.source, row.state, row.distance.map { PlacesPrinter.metres($0) } ?? "–"]
                }
                for line in Table.lines([["Region", "Source", "State", "To the edge"]] + lines) { Output.result(line) }
                if let time = rows.first?.time { Output.note("The last position is of \(PlacesPrinter.time(time)).") }
            }
        }
    }

    private func rows(_ position: Coordinate?) async throws -> [Row] {
        func row(_ region: Geofence, _ source: String) -> Row {
            guard let position else { return Row(region: region, source: source, state: "unknown") }
            let distance = region.distanceToEdge(from: position)
            return Row(region: region, source: source, state: distance < 0 ? "inside" : "outside", distance: distance)
        }
        if let regions = try await regionOptions.load() { return regions.map { row($0, "file") } }
        let synchronizer = try await accountOptions.synchronizer(takesRegions: true)
        let regions = try await fetched(synchronizer)
        if position != nil { return regions.map { row($0, "ifttt") } }
        let known = try await synchronizer.whereabouts
        guard let fix = known.lastFix else { return regions.map { row($0, "ifttt") } }
        return regions.map { region in
            let distance = region.distanceToEdge(from: fix.coordinate)
            // A position inside is a visit only after the time to settle.
            let state = known.inside.contains(region.id) ? "inside" : distance < 0 ? "unknown" : "outside"
            return Row(region: region, source: "ifttt", state: state, distance: distance, time: fix.time)
        }
    }

    /// The user's areas; those of the last time when IFTTT cannot be reached.
    private func fetched(_ synchronizer: PlacesSynchronizer) async throws -> [Geofence] {
        if !connectionOptions.connections.isEmpty {
            try await synchronizer.activate(connectionOptions.connections)
            let regions = try await synchronizer.regions
            if let failure = try await accountOptions.failure(of: synchronizer) {
                guard !regions.isEmpty else { throw failure }
                Output.note("\(failure.message) The areas of the last time are shown.")
            }
        }
        return try await Self.known(synchronizer)
    }

    /// The user's areas of the last time, with a note when there are none.
    static func known(_ synchronizer: PlacesSynchronizer) async throws -> [Geofence] {
        let regions = try await synchronizer.regions
        if regions.isEmpty {
            let note = "No area is known. Fetch with: handshake places sync --once --connection ID"
            Output.note(NamedVault.given.completed(note, isLine: true))
        }
        return regions
    }

    private static func position(_ text: String) throws -> Coordinate {
        guard let (latitude, longitude) = Coordinate.degrees(in: text) else {
            throw CommandError.usage(
                "“\(quoted(text, limit: 80))” is not a position. Write LATITUDE,LONGITUDE, such as 40.7251,-73.9967.")
        }
        return try Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func json(_ row: Row) -> JSONText {
        .object(
            [
                ("region", .string(row.region.id)), ("source", .string(row.source)), ("state", .string(row.state)),
                ("distance_to_edge", row.distance.map { .decimal($0) } ?? .null),
            ] + (row.time.map { [("position_time", .string(PlacesPrinter.time($0)))] } ?? []))
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
        try await accountOptions.reported {
            try regionOptions.requireOne(track)
            var fixes: [Fix] = []
            if let track {
                try await PlacesFailure.named(track) {
                    for try await fix in TrackReplay(file: track, speed: .maximum).fixes() { fixes.append(fix) }
                }
            }
            let regions =
                if let regions = try await regionOptions.load() { regions } else {
                    try await PlacesList.known(accountOptions.synchronizer(takesRegions: true))
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
