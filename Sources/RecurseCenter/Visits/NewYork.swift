#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Time in New York, where the hub is (dossier 4.1).
///
/// Uses the platform's time zone database. Without one, as in a minimal container, it applies the law in force since 2007:
/// daylight saving time from the second Sunday of March to the first Sunday of November, at two o'clock. The machine's own
/// zone or UTC would put visits on the wrong day.
enum NewYork {
    /// New York's offset from UTC in seconds, which is negative, at a time in seconds since 1970.
    static func offset(at seconds: Double) -> Int {
        zone?.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)) ?? statutoryOffset(at: seconds)
    }

    private static let zone = TimeZone(identifier: "America/New_York")

    /// The offset by the Energy Policy Act of 2005.
    static func statutoryOffset(at seconds: Double) -> Int {
        let winter = -5 * 3600
        let year = CalendarDate(daysSince1970: Int(((seconds + Double(winter)) / 86_400).rounded(.down))).year
        let begin = Double(CalendarDate.sunday(2, month: 3, year: year) * 86_400 + 7 * 3600)
        let end = Double(CalendarDate.sunday(1, month: 11, year: year) * 86_400 + 6 * 3600)
        return seconds >= begin && seconds < end ? winter + 3600 : winter
    }
}

extension CalendarDate {
    /// The date in New York at a time.
    ///
    /// - Parameter seconds: since 1970; clamped to the years 1 to 9999.
    public init(inNewYorkAt seconds: Double) {
        let bounded = seconds.isFinite ? min(max(seconds, -62_100_000_000), 253_370_000_000) : 0
        let local = bounded + Double(NewYork.offset(at: bounded))
        self.init(daysSince1970: Int((local / 86_400).rounded(.down)))
    }
}
