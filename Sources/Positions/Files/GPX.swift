public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads fixes from GPX 1.0 and 1.1: the points of tracks, or of routes where there are no tracks.
///
/// Points without a time or with an impossible position are passed over. `hdop` gives the accuracy, `speed` the speed, also in an
/// extension. Time is linear in the length; entities and document types are not expanded.
public enum GPX {
    /// The longest file that is read, in bytes.
    public static let maximumLength = 268_435_456

    /// Reads all fixes in the order of the file.
    ///
    /// - Parameter assumedAccuracy: the accuracy in metres of a point without `hdop`.
    /// - Throws: ``PositionsError/file(kind:line:problem:)`` for text that is not GPX,
    ///   ``PositionsError/noPositions(kind:reason:)``, ``PositionsError/fileTooLong(limit:)``.
    public static func fixes(in bytes: [UInt8], assumedAccuracy: Double = 10) throws(PositionsError) -> [Fix] {
        guard bytes.count <= maximumLength else { throw .fileTooLong(limit: maximumLength) }
        var reader = GPXReader(bytes: bytes, assumedAccuracy: assumedAccuracy)
        return try reader.read()
    }
}

private struct GPXReader {
    let bytes: [UInt8]
    let assumedAccuracy: Double
    private var offset = 0
    private var point: Point?
    private var track: [Fix] = []
    private var route: [Fix] = []
    private var passedOver = 0
    private var isGPX = false

    private struct Point {
        var latitude: Double?
        var longitude: Double?
        var time: Date?
        var dilution: Double?
        var speed: Double?
    }

    init(bytes: [UInt8], assumedAccuracy: Double) {
        self.bytes = bytes
        self.assumedAccuracy = assumedAccuracy
    }

    mutating func read() throws(PositionsError) -> [Fix] {
        while let tag = try nextTag() {
            let name = String(decoding: localName(tag), as: UTF8.self)
            if tag.first == UInt8(ascii: "/") {
                end(name)
            } else {
                try start(name, tag)
                if tag.last == UInt8(ascii: "/") { end(name) }
            }
        }
        guard isGPX else { throw failure("it is not GPX; the first element must be gpx") }
        let fixes = track.isEmpty ? route : track
        guard !fixes.isEmpty else {
            throw .noPositions(
                kind: "GPX",
                reason: passedOver > 0
                    ? "none of its \(passedOver) points has a valid position and a time"
                    : "it has no track and no route")
        }
        return fixes
    }

    private func failure(_ problem: String) -> PositionsError {
        let line = bytes.prefix(offset).reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        return .file(kind: "GPX", line: line, problem: problem)
    }

    /// What stands between the next `<` and its `>`; comments, CDATA, instructions and declarations are passed over.
    private mutating func nextTag() throws(PositionsError) -> ArraySlice<UInt8>? {
        while true {
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") { offset += 1 }
            guard offset < bytes.count else { return nil }
            if follows("<!--") {
                try skip(past: "-->")
            } else if follows("<![CDATA[") {
                try skip(past: "]]>")
            } else if follows("<?") {
                try skip(past: "?>")
            } else if follows("<!") {
                throw failure("document types are not supported")
            } else {
                return try tag()
            }
        }
    }

    private mutating func tag() throws(PositionsError) -> ArraySlice<UInt8> {
        let begin = offset + 1
        var quote: UInt8?
        offset = begin
        while offset < bytes.count {
            let byte = bytes[offset]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                offset += 1
                return bytes[begin..<offset - 1]
            } else if byte == UInt8(ascii: "<") {
                throw failure("an element is not closed")
            }
            offset += 1
        }
        throw failure("the file ends within an element")
    }

    private func follows(_ text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { bytes[offset..<offset + $0.count].elementsEqual($0) }
    }

    private mutating func skip(past text: StaticString) throws(PositionsError) {
        while offset < bytes.count {
            if follows(text) {
                offset += text.utf8CodeUnitCount
                return
            }
            offset += 1
        }
        throw failure("a comment or section is not closed")
    }

    /// The element's name without a namespace prefix.
    private func localName(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let named = tag.first == UInt8(ascii: "/") ? tag.dropFirst() : tag
        let name = named.prefix { !isSpace($0) && $0 != UInt8(ascii: "/") }
        guard name.count <= 64 else { return [] }
        return name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func start(_ name: String, _ tag: ArraySlice<UInt8>) throws(PositionsError) {
        guard isGPX || name == "gpx" else { throw failure("it is not GPX; the first element must be gpx") }
        isGPX = true
        switch name {
        case "trkpt", "rtept":
            point = Point(latitude: attribute("lat", of: tag), longitude: attribute("lon", of: tag))
        case "time":
            let time = Date(iso8601: text())
            point?.time = time
        case "hdop":
            let dilution = Double(decimal: text())
            point?.dilution = dilution
        case "speed":
            let speed = Double(decimal: text())
            point?.speed = speed
        default: break
        }
    }

    /// The text up to the next element, without the space around it.
    private func text() -> ArraySlice<UInt8> {
        var begin = offset
        while begin < bytes.count, isSpace(bytes[begin]) { begin += 1 }
        var end = begin
        // No number and no time is longer.
        while end < bytes.count, end - begin < 64, bytes[end] != UInt8(ascii: "<"), !isSpace(bytes[end]) { end += 1 }
        return bytes[begin..<end]
    }

    private func attribute(_ name: StaticString, of tag: ArraySlice<UInt8>) -> Double? {
        var rest = tag.drop { !isSpace($0) }
        while !rest.isEmpty {
            rest = rest.drop(while: isSpace)
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let found = rest[..<equals].prefix { !isSpace($0) }
            let quoted = rest[(equals + 1)...].drop(while: isSpace)
            guard let quote = quoted.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = quoted.dropFirst().firstIndex(of: quote)
            else { return nil }
            if name.withUTF8Buffer({ found.elementsEqual($0) }) {
                let value = quoted[(quoted.startIndex + 1)..<end].drop(while: isSpace).prefix { !isSpace($0) }
                return value.count <= 64 ? Double(decimal: value) : nil
            }
            rest = quoted[(end + 1)...]
        }
        return nil
    }

    private mutating func end(_ name: String) {
        guard name == "trkpt" || name == "rtept", let point else { return }
        self.point = nil
        guard let latitude = point.latitude, let longitude = point.longitude, let time = point.time,
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude),
            let fix = try? Fix(
                coordinate, accuracy: accuracy(point.dilution), time: time, speed: point.speed)
        else {
            passedOver += 1
            return
        }
        if name == "trkpt" { track.append(fix) } else { route.append(fix) }
    }

    private func accuracy(_ dilution: Double?) -> Double {
        guard let dilution, dilution > 0, dilution < 100 else { return assumedAccuracy }
        return dilution * NMEAReader.rangeError
    }
}
