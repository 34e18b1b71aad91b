public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads fixes from NMEA 0183 sentences. It reads RMC for position, time and speed, GGA for the dilution, ZDA for the
/// date.
///
/// Sentences of every talker are read; those with a wrong checksum, of other kinds, and without a fix are passed over,
/// as receivers send damaged ones when they start. Time is linear in the length.
public enum NMEA {
    /// Reads all fixes.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - assumedAccuracy: the accuracy in metres where no GGA of the last 10 seconds gives the dilution.
    /// - Throws: ``PositionsError/noPositions(kind:reason:)``.
    public static func fixes(in bytes: [UInt8], assumedAccuracy: Double = 15) throws(PositionsError) -> [Fix] {
        var reader = NMEAReader(assumedAccuracy: assumedAccuracy)
        var fixes: [Fix] = []
        reader.read(bytes[...], into: &fixes)
        try reader.end(into: &fixes)
        return fixes
    }
}

/// Turns sentences into fixes, piece by piece.
struct NMEAReader: TrackReader {
    /// 82 characters by the standard; receivers send somewhat more.
    private static let maximumSentenceLength = 256

    private let assumedAccuracy: Double
    /// The sentence from its `$` on; nil until one begins.
    private var sentence: [UInt8]?
    private var sentences = 0
    /// Whether any sentence was valid.
    var hasSentences: Bool { sentences > 0 }
    /// Always 0: until a receiver has a position it sends sentences without one, which would all count.
    var passedOver: Int { 0 }
    private var hasFix = false
    /// The accuracy that the last GGA gave, and its seconds of the day.
    private var dilution: (seconds: Int, accuracy: Double)?
    private var date: (year: Int, month: Int, day: Int)?
    private var hasRMC = false

    /// Metres of error for each unit of dilution (HDOP), of a receiver without corrections.
    static let rangeError = 5.0

    init(assumedAccuracy: Double = 15) { self.assumedAccuracy = assumedAccuracy }

    mutating func read(_ piece: ArraySlice<UInt8>, into fixes: inout [Fix]) {
        for byte in piece {
            switch byte {
            case 0x0A, 0x0D: finish(into: &fixes)
            case UInt8(ascii: "$"): sentence = []
            default:
                guard let count = sentence?.count else { continue }
                if count < Self.maximumSentenceLength { sentence?.append(byte) } else { sentence = nil }
            }
        }
    }

    mutating func end(into fixes: inout [Fix]) throws(PositionsError) {
        finish(into: &fixes)
        guard !hasFix else { return }
        throw missingBeginning
            ?? .noPositions(kind: "NMEA", reason: "no sentence has a position and a date (RMC, or GGA with ZDA)")
    }

    var missingBeginning: PositionsError? {
        hasSentences ? nil : .noPositions(kind: "NMEA", reason: "it has no valid sentence ($…*checksum)")
    }

    private mutating func finish(into fixes: inout [Fix]) {
        guard let text = sentence else { return }
        sentence = nil
        guard let fix = fix(of: text) else { return }
        hasFix = true
        fixes.append(fix)
    }

    private mutating func fix(of text: [UInt8]) -> Fix? {
        guard let fields = Self.fields(of: text), let kind = fields.first, kind.count == 5 else { return nil }
        sentences += 1
        switch String(decoding: kind.suffix(3), as: UTF8.self) {
        case "RMC": return recommendedMinimum(fields)
        case "GGA": return fixData(fields)
        case "ZDA":
            guard fields.count > 4, let day = Self.integer(fields[2]), let month = Self.integer(fields[3]),
                let year = Self.integer(fields[4])
            else { return nil }
            date = (year, month, day)
            return nil
        default: return nil
        }
    }

    /// The fields between `$` and `*` when the checksum is right.
    private static func fields(of text: [UInt8]) -> [ArraySlice<UInt8>]? {
        guard let star = text.lastIndex(of: UInt8(ascii: "*")), text.endIndex - star >= 3,
            let checksum = UInt8(String(decoding: text[star + 1...star + 2], as: UTF8.self), radix: 16),
            text[..<star].reduce(0, ^) == checksum
        else { return nil }
        return text[..<star].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    }

    private mutating func recommendedMinimum(_ fields: [ArraySlice<UInt8>]) -> Fix? {
        hasRMC = true
        guard fields.count > 9, fields[9].count == 6 else { return nil }
        var reader = DigitReader(fields[9])
        guard let day = reader.number(2), let month = reader.number(2), let year = reader.number(2) else { return nil }
        // Two digits: GPS began in 1980.
        date = (year < 80 ? 2_000 + year : 1_900 + year, month, day)
        guard fields[2].elementsEqual("A".utf8) else { return nil }
        let knots = Double(decimal: fields[7])
        return fix(time: fields[1], position: fields[3...6], speed: knots.map { $0 * 1_852 / 3_600 })
    }

    private mutating func fixData(_ fields: [ArraySlice<UInt8>]) -> Fix? {
        guard fields.count > 8, let quality = Self.integer(fields[6]) else { return nil }
        // The one of an earlier sentence no longer applies, even when this sentence has none.
        dilution = nil
        guard quality > 0 else { return nil }
        if let hdop = Double(decimal: fields[8]), hdop > 0, hdop < 100, let time = Self.time(fields[1]) {
            dilution = (time.seconds, hdop * Self.rangeError)
        }
        return hasRMC ? nil : fix(time: fields[1], position: fields[2...5], speed: nil)
    }

    private func fix(time: ArraySlice<UInt8>, position: ArraySlice<ArraySlice<UInt8>>, speed: Double?) -> Fix? {
        let parts = Array(position)
        guard let date, let latitude = Self.angle(parts[0], degrees: 2, parts[1], positive: "N", negative: "S"),
            let longitude = Self.angle(parts[2], degrees: 3, parts[3], positive: "E", negative: "W"),
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        guard let clock = Self.time(time),
            let moment = Date(
                year: date.year, month: date.month, day: date.day, seconds: clock.seconds, clock.hour, clock.minute,
                clock.second)
        else { return nil }
        // Receivers that send RMC before GGA give the dilution of the cycle before.
        let isRecent = dilution.map { (0...10).contains((clock.seconds - $0.seconds + 86_400) % 86_400) } ?? false
        let accuracy = isRecent ? dilution?.accuracy : nil
        return try? Fix(coordinate, accuracy: accuracy ?? assumedAccuracy, time: moment + clock.fraction, speed: speed)
    }

    /// A time of day: `150001.00`.
    private struct ClockTime {
        var hour: Int
        var minute: Int
        var second: Int
        var fraction: Double

        var seconds: Int { hour * 3_600 + minute * 60 + second }
    }

    private static func time(_ text: ArraySlice<UInt8>) -> ClockTime? {
        var reader = DigitReader(text)
        guard let hour = reader.number(2), let minute = reader.number(2), let second = reader.number(2) else {
            return nil
        }
        return ClockTime(
            hour: hour, minute: minute, second: second, fraction: reader.take(".") ? reader.fraction() : 0)
    }

    /// Degrees and minutes written together: `4041.4000`.
    private static func angle(
        _ text: ArraySlice<UInt8>, degrees digits: Int, _ hemisphere: ArraySlice<UInt8>, positive: String,
        negative: String
    ) -> Double? {
        var reader = DigitReader(text.prefix(digits))
        guard let degrees = reader.number(digits), let minutes = Double(decimal: text.dropFirst(digits)), minutes >= 0,
            minutes < 60
        else { return nil }
        let value = Double(degrees) + minutes / 60
        if hemisphere.elementsEqual(positive.utf8) { return value }
        return hemisphere.elementsEqual(negative.utf8) ? -value : nil
    }

    private static func integer(_ text: ArraySlice<UInt8>) -> Int? {
        text.count <= 4 ? Int(String(decoding: text, as: UTF8.self)) : nil
    }
}
