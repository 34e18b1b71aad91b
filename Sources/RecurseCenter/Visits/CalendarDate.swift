/// A day of the Gregorian calendar, `YYYY-MM-DD` (dossier 4.3). It has no time and no time zone.
public struct CalendarDate: Sendable, Hashable {
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int

    /// - Returns: nil when the calendar has no such day, or the year is not 1 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
        guard CalendarDate(daysSince1970: daysSince1970) == self else { return nil }
    }

    /// Parses exactly `YYYY-MM-DD`.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isDate =
            parts.map(\.count) == [4, 2, 2]
            && parts.allSatisfy { $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDate, let year = Int(Substring(parts[0])), let month = Int(Substring(parts[1])),
            let day = Int(Substring(parts[2]))
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day `days` after 1970-01-01.
    init(daysSince1970 days: Int) {
        // Counts eras of 400 years that begin with March, so that a leap day comes last.
        let shifted = days + 719_468
        let era = shifted >= 0 ? shifted / 146_097 : (shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// The number of days since 1970-01-01.
    var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day of a month's nth Sunday.
    static func sunday(_ number: Int, month: Int, year: Int) -> Int {
        let first = CalendarDate(unchecked: year, month, 1).daysSince1970
        // 1970-01-01 was a Thursday.
        let weekday = ((first + 4) % 7 + 7) % 7
        return first + (7 - weekday) % 7 + 7 * (number - 1)
    }

    private init(unchecked year: Int, _ month: Int, _ day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

extension CalendarDate: CustomStringConvertible, Comparable {
    public var description: String {
        "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    }

    public static func < (one: CalendarDate, other: CalendarDate) -> Bool {
        (one.year, one.month, one.day) < (other.year, other.month, other.day)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
