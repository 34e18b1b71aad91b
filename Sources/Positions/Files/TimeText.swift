#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// A time of RFC 3339: `2026-03-02T15:00:00.000Z`, with an offset instead of `Z`, or with neither for UTC.
    ///
    /// Written by hand: a day of fixes has 86,400 of them, and the general formatter takes longer than all the rest.
    init?(iso8601 text: some Collection<UInt8>) {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2)
        else { return nil }
        let fraction = reader.take(".") || reader.take(",") ? reader.fraction() : 0
        var offset = 0
        if !reader.isAtEnd, !(reader.take("Z") || reader.take("z")) {
            let sign = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
            guard sign != 0, let hours = reader.number(2), hours < 24 else { return nil }
            _ = reader.take(":")
            guard let minutes = reader.number(2), minutes < 60 else { return nil }
            offset = sign * (hours * 3_600 + minutes * 60)
        }
        guard reader.isAtEnd else { return nil }
        self.init(
            year: year, month: month, day: day, seconds: hour * 3_600 + minute * 60 + second, hour, minute, second)
        self += fraction - Double(offset)
    }

    /// A civil date of the Gregorian calendar, in UTC; nil for one that does not exist. Second 60 is a leap second.
    init?(year: Int, month: Int, day: Int, seconds: Int, _ hour: Int, _ minute: Int, _ second: Int) {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...9999).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let before = year - 1
        let days =
            before * 365 + before / 4 - before / 100 + before / 400 + lengths.prefix(month - 1).reduce(0, +) + day - 1
        self.init(timeIntervalSince1970: Double((days - 719_162) * 86_400 + seconds))
    }
}

/// Takes digits and separators off the front of a text.
struct DigitReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: some Collection<UInt8>) { bytes = Array(text.prefix(64)) }

    var isAtEnd: Bool { place == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// A number of exactly this many digits.
    mutating func number(_ digits: Int) -> Int? {
        guard place + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[place..<place + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        place += digits
        return value
    }

    /// The digits that follow, as a decimal fraction.
    mutating func fraction() -> Double {
        var value = 0.0
        var scale = 0.1
        while place < bytes.count, (0x30...0x39).contains(bytes[place]) {
            value += Double(bytes[place] - 0x30) * scale
            scale /= 10
            place += 1
        }
        return value
    }
}
