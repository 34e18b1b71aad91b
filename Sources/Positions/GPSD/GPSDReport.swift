import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One line of gpsd's JSON protocol, as far as positions need it (beacons dossier, 10.1).
enum GPSDReport: Hashable {
    case version(major: Int)
    /// How many receivers there are.
    case devices(Int)
    /// A receiver came (true) or went away.
    case device(isActive: Bool)
    /// A position with its time.
    case fix(Fix)
    /// A report of a receiver without a position.
    case noFix
    /// Another class, or a report without what is needed.
    case other

    /// What a fix without an error estimate is assumed to have, in metres.
    static let assumedAccuracy = 50.0

    /// Reads a line.
    ///
    /// - Throws: ``GeofencesError`` for what is not a JSON object.
    init(_ line: [UInt8]) throws(GeofencesError) {
        var members = Members()
        var scanner = JSONScanner(line)
        try scanner.object { scanner, name throws(GeofencesError) in try members.read(name, &scanner) }
        try mapped { () throws(JSONScanner.Failure) in try scanner.end() }
        self = members.report
    }

    private struct Members {
        var kind = ""
        var numbers: [String: Double] = [:]
        var time: Date?
        var isActive = false
        var devices = 0

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(GeofencesError) {
            switch (name, scanner.peek()) {
            case ("class", UInt8(ascii: "\"")):
                kind = try mapped { () throws(JSONScanner.Failure) in try scanner.word() }
            case ("time", UInt8(ascii: "\"")):
                let text = try mapped { () throws(JSONScanner.Failure) in try scanner.string() }
                time = Date(iso8601: text.utf8)
            case ("activated", UInt8(ascii: "\"")):
                isActive = true
                try scanner.skip()
            case ("activated", let first) where first != UInt8(ascii: "{") && first != UInt8(ascii: "["):
                isActive = first != UInt8(ascii: "0")
                try scanner.skip()
            case ("devices", UInt8(ascii: "[")):
                var count = 0
                try scanner.array { scanner throws(GeofencesError) in
                    count += 1
                    try scanner.skip()
                }
                devices = count
            case ("mode", let first), ("lat", let first), ("lon", let first), ("eph", let first), ("epx", let first),
                ("epy", let first), ("speed", let first), ("proto_major", let first):
                guard first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else { return try scanner.skip() }
                numbers[name] = try number(&scanner)
            default: try scanner.skip()
            }
        }

        /// The next number; nil for one beyond a Double's range, as if it were missing.
        private func number(_ scanner: inout JSONScanner) throws(GeofencesError) -> Double? {
            do throws(JSONScanner.Failure) { return try scanner.number() } catch .type { return nil } catch {
                return try mapped { () throws(JSONScanner.Failure) in throw error }
            }
        }

        var report: GPSDReport {
            switch kind {
            case "VERSION": numbers["proto_major"].flatMap { Int(exactly: $0) }.map { .version(major: $0) } ?? .other
            case "DEVICES": .devices(devices)
            case "DEVICE": .device(isActive: isActive)
            case "TPV": position
            default: .other
            }
        }

        private var position: GPSDReport {
            guard let mode = numbers["mode"], mode >= 2 else { return .noFix }
            // The first report of a cycle has no time, and some have no position; the next one has both.
            guard let latitude = numbers["lat"], let longitude = numbers["lon"], let time,
                let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
            else { return .other }
            let errors = numbers["epx"].flatMap { x in numbers["epy"].map { y in (x * x + y * y).squareRoot() } }
            let accuracy = [numbers["eph"], errors].compactMap(\.self).first { $0 > 0 && $0.isFinite }
            let fix = try? Fix(
                coordinate, accuracy: accuracy ?? GPSDReport.assumedAccuracy, time: time, speed: numbers["speed"])
            return fix.map { .fix($0) } ?? .other
        }
    }
}
