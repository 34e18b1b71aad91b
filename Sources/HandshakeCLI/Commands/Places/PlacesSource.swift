#if CommandLine
import Foundation
import OAuth
import Positions

/// The source that a command line names.
enum PlacesSource {
    #if os(Linux)
    /// What a source may be on this system, beside standard input.
    static let forms = "gpsd[:HOST:PORT], geoclue, gpx:FILE, nmea:FILE"
    #else
    /// What a source may be on this system, beside standard input.
    static let forms = "gpsd[:HOST:PORT], gpx:FILE, nmea:FILE"
    #endif

    static func open(_ text: String, speed: TrackReplay.Speed) throws -> any PositionSource {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("-", 1): return TrackReplay(file: "-", speed: speed)
        case ("gpsd", 1): return GPSD()
        case ("gpsd", _): return try GPSD(address: parts[1])
        case ("geoclue", 1): return try geoClue()
        case ("gpx", 2): return TrackReplay(file: parts[1], as: .gpx, speed: speed)
        case ("nmea", 2): return TrackReplay(file: parts[1], as: .nmea, speed: speed)
        default:
            throw CommandError.usage("“\(quoted(text, limit: 80))” is not a source. Use \(forms) or -.")
        }
    }

    /// The file that a source names; nil for a receiver.
    static func file(_ text: String) -> String? {
        if text == "-" { return text }
        return ["gpx:", "nmea:"].contains { text.hasPrefix($0) }
            ? String(text[text.index(after: text.firstIndex(of: ":") ?? text.startIndex)...]) : nil
    }

    private static func geoClue() throws -> any PositionSource {
        #if Desktop && os(Linux)
        return try GeoClue(desktopID: "handshake", environment: ProcessInfo.processInfo.environment)
        #else
        throw CommandError.usage("GeoClue is a service of Linux desktops. Use \(forms) or -.")
        #endif
    }
}
#endif
