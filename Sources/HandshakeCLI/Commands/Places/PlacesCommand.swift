#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import OAuth
import Positions

/// `handshake places …`: areas, positions and crossings.
struct PlacesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "places", abstract: "Watch areas: who enters, leaves or stays, from gpsd, GeoClue or a track.",
        discussion: """
            Areas come from a GeoJSON file (Points with "id" and "radius" in metres, or Polygons) or, without --regions, from the \
            connections of the signed-in IFTTT user. Crossings of IFTTT's areas are stored before anything else and uploaded \
            by `places sync`.
            """,
        subcommands: [
            PlacesList.self, PlacesWatch.self, PlacesReplay.self, PlacesSync.self, PlacesQueue.self, PlacesMap.self,
        ])
}

/// Where regions come from.
struct PlacesRegionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A GeoJSON file with the areas, or - for standard input.", valueName: "file"))
    var regions: String?

    /// The regions of the file; nil without one.
    func load() async throws -> [Geofence]? {
        guard let regions else { return nil }
        let bytes = try await GivenFile.read(regions, limit: 1 << 28)
        do { return try GeoJSON.regions(in: bytes) } catch {
            let isOther =
                switch error {
                case .notJSON, .value, .member: true
                default: false
                }
            throw CommandError(
                status: .usage, code: error.code,
                message: "\(GivenFile.name(regions)) \(isOther ? "is not GeoJSON" : "cannot be used"). \(error)")
        }
    }

    /// Refuses areas of a file beside those of connections.
    func refuse(_ options: PlacesConnectionOptions) throws {
        if regions != nil { try options.requireNone(beside: "--regions") }
    }

    /// Refuses two files on one standard input.
    func requireOne(_ track: String?) throws(CommandError) {
        guard regions != "-" || track != "-" else {
            throw .usage("The track and --regions cannot both be standard input. Name a file for one of them.")
        }
    }
}

extension Coordinate {
    /// The numbers of `40.7251,-73.9967`, which need not be those of a position. Nil for another text.
    static func degrees(in text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split(separator: ",").map { Double($0.trimmingCharacters(in: .whitespaces)) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else { return nil }
        return (latitude, longitude)
    }
}

/// Maps errors to exit statuses.
enum PlacesFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await IFTTTFailure.reported(body)
        } catch let error as GeofencesError {
            throw CommandError(status: .usage, code: error.code, message: "\(error)")
        } catch let error as PositionsError {
            throw CommandError(status: status(error), code: error.code, message: "\(error)")
        }
    }

    /// Names the track in its errors; a receiver has none.
    static func named<Result>(_ track: String?, _ body: () async throws -> Result) async throws -> Result {
        guard let track else { return try await body() }
        do {
            return try await GivenFile.whileReading(track, body)
        } catch let error as PositionsError {
            let name = GivenFile.name(track)
            let message: String
            switch error {
            case .file(let kind, let line, let problem):
                let place = "Line \(line) of \(track == "-" ? "standard input" : name)"
                message = "\(place) is not valid \(kind): \(problem). Repair or remove it."
            case .noPositions(_, let reason):
                message = "\(name) has no usable position: \(reason). \(PositionsError.trackCure)"
            case .unknownFormat: message = "\(name) is neither GPX nor NMEA. Record the track in one of these formats."
            case .unreadable: throw CommandError.unreadable(track)
            default: throw error
            }
            throw CommandError(status: status(error), code: error.code, message: message)
        }
    }

    private static func status(_ error: PositionsError) -> ExitStatus {
        switch error {
        case .unreachable, .lost, .noReceiver, .noFix: .network
        case .protocolVersion: .refused
        case .notAuthorized: .abandoned
        case .address, .file, .noPositions, .unknownFormat, .unreadable: .usage
        }
    }
}

/// Prints events, one line each.
enum PlacesPrinter {
    /// - Parameter recordID: the crossing's identifier at the service, where it was stored.
    static func show(_ event: GeofenceEvent, recordID: String? = nil, json: Bool) {
        Output.result(json ? Self.json(event, recordID).text : text(event))
    }

    private static func json(_ event: GeofenceEvent, _ recordID: String?) -> JSONText {
        let stored: [(String, JSONText)] = recordID.map { [("record_id", .string($0))] } ?? []
        return .object(
            [
                ("event", .string(event.kind.rawValue)), ("region", .string(event.region)),
                ("time", .string(time(event.fix.time))), ("latitude", .number("\(event.fix.coordinate.latitude)")),
                ("longitude", .number("\(event.fix.coordinate.longitude)")), ("accuracy", .decimal(event.fix.accuracy)),
                ("distance_to_edge", .decimal(event.distanceToEdge)),
            ] + stored)
    }

    private static func text(_ event: GeofenceEvent) -> String {
        let verb =
            switch event.kind {
            case .enter: "Entered"
            case .exit: "Left"
            case .dwell: "Stayed in"
            }
        return "\(time(event.fix.time))  \(verb) \(quoted(event.region, limit: 200))"
    }

    /// `2026-01-02T03:04:05.000Z`
    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// `1 area`, `2 areas`
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `2 crossings are pending.`
    static func pending(_ count: Int) -> String {
        "\(counted(count, "crossing")) \(count == 1 ? "is" : "are") pending."
    }

    static func metres(_ distance: Double) -> String {
        distance.magnitude < 1_000
            ? "\(Int(distance.magnitude.rounded())) m" : String(format: "%.1f km", distance.magnitude / 1_000)
    }
}
#endif
