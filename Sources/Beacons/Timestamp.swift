#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A point in time: whole microseconds since 1970, from year 1 to year 9999.
///
/// Arithmetic stays within that range and never traps, so a wrong clock cannot end the program.
public struct Timestamp: Sendable, Hashable {
    /// Microseconds since the start of 1970.
    public let microseconds: Int64

    private static let range: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

    /// The nearest time within the range.
    public init(clampingMicroseconds microseconds: Int64) {
        self.microseconds = min(max(microseconds, Self.range.lowerBound), Self.range.upperBound)
    }

    /// A number of seconds since 1970, rounded to microseconds. Nil for NaN or a time out of range.
    public init?(secondsSince1970 seconds: Double) {
        let microseconds = (seconds * 1_000_000).rounded()
        guard microseconds >= Double(Self.range.lowerBound), microseconds < Double(Self.range.upperBound) else {
            return nil
        }
        self.init(clampingMicroseconds: Int64(microseconds))
    }

    /// Seconds since the start of 1970.
    public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

    /// Whole seconds since the start of 1970, rounded down.
    public var wholeSeconds: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The present, by the machine's calendar clock.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clampingMicroseconds: Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000)
    }
}

extension Timestamp: InstantProtocol {
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The time `duration` later, clamped to the range.
    public func advanced(by duration: Duration) -> Timestamp {
        let (sum, overflows) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
        return Timestamp(clampingMicroseconds: overflows ? (duration < .zero ? .min : .max) : sum)
    }

    public func duration(to other: Timestamp) -> Duration {
        // Both are within the range, whose width fits into 64 bits.
        .microseconds(other.microseconds - microseconds)
    }
}

extension Timestamp: CustomStringConvertible {
    public var description: String { "\(secondsSince1970) s since 1970" }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(secondsSince1970: try container.decode(Double.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a time outside the years 1 to 9999")
        }
        self = time
    }

    /// Seconds since 1970, as a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(secondsSince1970)
    }
}

extension Duration {
    /// Whole microseconds, rounded towards zero and clamped to 64 bits.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        let (sum, overflowsToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return overflowsToo ? (seconds < 0 ? .min : .max) : sum
    }
}
