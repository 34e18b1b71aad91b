public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads fixes from GPX 1.0 and 1.1. They are the points of tracks, or of routes where there are no tracks.
///
/// Points without a time or with an impossible position are passed over. `hdop` gives the accuracy, `speed` the speed, also in an
/// extension. Time is linear in the length; entities and document types are not expanded.
public enum GPX {
    /// Reads all fixes in the order of the file.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - assumedAccuracy: the accuracy in metres of a point without `hdop`.
    /// - Throws: ``PositionsError/file(kind:line:problem:)`` for text that is not GPX,
    ///   ``PositionsError/noPositions(kind:reason:)``.
    public static func fixes(in bytes: [UInt8], assumedAccuracy: Double = 10) throws(PositionsError) -> [Fix] {
        var reader = GPXReader(assumedAccuracy: assumedAccuracy)
        var fixes: [Fix] = []
        try reader.read(bytes[...], into: &fixes)
        try reader.end(into: &fixes)
        return fixes
    }
}

/// Takes GPX piece by piece; each byte is looked at a bounded number of times, and what is held does not grow with the file.
struct GPXReader: TrackReader {
    /// The longest element, from `<` to `>`, in bytes.
    static let maximumTagLength = 65_536
    /// Points of routes are held until it is clear that there is no track.
    static let maximumRoutePoints = 100_000
    /// No number and no time is longer.
    private static let maximumTextLength = 64

    private let assumedAccuracy: Double
    private var place = Place.text
    /// What was read of the element since its `<`.
    private var tag: [UInt8] = []
    private var quote: UInt8?
    /// The last bytes of a comment, section or instruction.
    private var tail: UInt32 = 0
    private var field: Field?
    private var text: [UInt8] = []
    private var line = 1
    private var point: Point?
    private var route: [Fix] = []
    private var isTrack = false
    private(set) var passedOver = 0
    private var isGPX = false
    /// Whether there is a track or a route, with points or without.
    private var hasTrack = false
    /// How many bytes were looked at, those of an element's attributes more than once.
    private(set) var visited = 0

    private enum Place {
        case text, tag, comment, section, instruction

        /// The bytes that end it.
        var end: (bytes: UInt32, mask: UInt32) {
            switch self {
            case .comment: (0x2D_2D3E, 0xFF_FFFF)  // -->
            case .section: (0x5D_5D3E, 0xFF_FFFF)  // ]]>
            case .text, .tag, .instruction: (0x3F3E, 0xFFFF)  // ?>
            }
        }
    }

    private enum Field { case time, dilution, speed }

    private struct Point {
        var latitude: Double?
        var longitude: Double?
        var time: Date?
        var dilution: Double?
        var speed: Double?
    }

    init(assumedAccuracy: Double = 10) { self.assumedAccuracy = assumedAccuracy }

    /// How many bytes are held of what was read.
    var held: Int { tag.count + text.count }

    mutating func read(_ piece: ArraySlice<UInt8>, into fixes: inout [Fix]) throws(PositionsError) {
        visited += piece.count
        for byte in piece {
            if byte == 0x0A { line += 1 }
            switch place {
            case .text: readText(byte)
            case .tag: try readTag(byte, into: &fixes)
            case .comment, .section, .instruction:
                tail = tail << 8 | UInt32(byte)
                if tail & place.end.mask == place.end.bytes { place = .text }
            }
        }
    }

    mutating func end(into fixes: inout [Fix]) throws(PositionsError) {
        switch place {
        case .text: break
        case .tag: throw failure("the file ends within an element")
        case .comment, .section, .instruction: throw failure("a comment or section is not closed")
        }
        if let missingBeginning { throw missingBeginning }
        guard !isTrack else { return }
        fixes += route
        guard route.isEmpty else { return }
        throw .noPositions(
            kind: "GPX",
            reason: passedOver > 0
                ? "none of its \(passedOver) points has a valid position and a time"
                : hasTrack ? "its track has no points" : "it has no track and no route")
    }

    private func failure(_ problem: String) -> PositionsError { .file(kind: "GPX", line: line, problem: problem) }

    var missingBeginning: PositionsError? { isGPX ? nil : notGPX }

    private var notGPX: PositionsError { failure("it is not GPX; the first element must be gpx") }

    private mutating func readText(_ byte: UInt8) {
        if byte == UInt8(ascii: "<") {
            finishText()
            tag.removeAll(keepingCapacity: true)
            quote = nil
            place = .tag
        } else if field != nil {
            if !isSpace(byte), text.count < Self.maximumTextLength {
                text.append(byte)
            } else if !text.isEmpty {
                finishText()
            }
        }
    }

    /// Takes the text of an element up to the next space or element.
    private mutating func finishText() {
        switch field {
        case .time: point?.time = Date(iso8601: text)
        case .dilution: point?.dilution = Double(decimal: text[...])
        case .speed: point?.speed = Double(decimal: text[...])
        case nil: break
        }
        field = nil
        text.removeAll(keepingCapacity: true)
    }

    private mutating func readTag(_ byte: UInt8, into fixes: inout [Fix]) throws(PositionsError) {
        if let open = quote {
            if byte == open { quote = nil }
        } else if byte == UInt8(ascii: ">") {
            place = .text
            return try take(into: &fixes)
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            quote = byte
        } else if byte == UInt8(ascii: "<") {
            throw failure("an element is not closed")
        }
        guard tag.count < Self.maximumTagLength else {
            throw failure("an element is longer than \(Self.maximumTagLength) bytes")
        }
        tag.append(byte)
        if tag.count <= 8, tag[0] == UInt8(ascii: "!") || tag[0] == UInt8(ascii: "?") { try readDeclaration() }
    }

    /// Comments, sections and instructions are passed over.
    private mutating func readDeclaration() throws(PositionsError) {
        let (comment, section) = (Array("!--".utf8), Array("![CDATA[".utf8))
        if tag == [UInt8(ascii: "?")] {
            place = .instruction
        } else if tag == comment {
            place = .comment
        } else if tag == section {
            place = .section
        } else if !comment.starts(with: tag), !section.starts(with: tag) {
            throw failure("document types are not supported")
        }
        quote = nil
        tail = 0
    }

    private mutating func take(into fixes: inout [Fix]) throws(PositionsError) {
        visited += tag.count
        let name = String(decoding: localName(tag[...]), as: UTF8.self)
        if tag.first == UInt8(ascii: "/") { return try end(name, into: &fixes) }
        guard isGPX || name == "gpx" else { throw notGPX }
        isGPX = true
        switch name {
        case "trkpt", "rtept":
            visited += 2 * tag.count
            point = Point(latitude: attribute("lat", of: tag[...]), longitude: attribute("lon", of: tag[...]))
        case "trk", "rte": hasTrack = true
        case "time": field = .time
        case "hdop": field = .dilution
        case "speed": field = .speed
        default: break
        }
        if tag.last == UInt8(ascii: "/") { try end(name, into: &fixes) }
    }

    /// The element's name without a namespace prefix.
    private func localName(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let named = tag.first == UInt8(ascii: "/") ? tag.dropFirst() : tag
        let name = named.prefix { !isSpace($0) && $0 != UInt8(ascii: "/") }
        guard name.count <= 64 else { return [] }
        return name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

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
                return value.count <= Self.maximumTextLength ? Double(decimal: value) : nil
            }
            rest = quoted[(end + 1)...]
        }
        return nil
    }

    private mutating func end(_ name: String, into fixes: inout [Fix]) throws(PositionsError) {
        field = nil
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
        if name == "trkpt" {
            isTrack = true
            route = []
            fixes.append(fix)
        } else if !isTrack {
            guard route.count < Self.maximumRoutePoints else {
                throw failure("a route has more than \(Self.maximumRoutePoints) points; export it as a track")
            }
            route.append(fix)
        }
    }

    private func accuracy(_ dilution: Double?) -> Double {
        guard let dilution, dilution > 0, dilution < 100 else { return assumedAccuracy }
        return dilution * NMEAReader.rangeError
    }
}
