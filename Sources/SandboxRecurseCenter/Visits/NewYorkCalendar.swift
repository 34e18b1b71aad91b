#if Sandbox
import SandboxCore

/// Days in New York (Recurse Center dossier, section 4.1), by the rule of the Energy Policy Act of 2005 alone: summer time
/// from the second Sunday of March to the first Sunday of November, each at two o'clock.
enum NewYorkCalendar {
    /// The date there as `YYYY-MM-DD`.
    ///
    /// - Parameter seconds: since 1970.
    static func date(at seconds: Double) -> String {
        let moment = Int(seconds.rounded(.down))
        let winter = moment - 5 * 3600
        let year = civil(floorDivided(winter, 86_400)).year
        // Two o'clock is 7:00 in Greenwich before the change of spring and 6:00 before that of autumn.
        let begin = sunday(2, month: 3, year: year) * 86_400 + 7 * 3600
        let end = sunday(1, month: 11, year: year) * 86_400 + 6 * 3600
        let isSummer = (begin..<end).contains(moment)
        return text(civil(floorDivided(isSummer ? winter + 3600 : winter, 86_400)))
    }

    /// A moment as ISO 8601 in Greenwich's time.
    static func timestamp(at seconds: Double) -> String {
        let moment = Int(seconds.rounded(.down))
        let day = floorDivided(moment, 86_400)
        let second = moment - day * 86_400
        let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(text(civil(day)))T\(time)Z"
    }

    /// Whether a text is a date of the calendar, written `YYYY-MM-DD`.
    static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], text.allSatisfy({ $0 == "-" || ("0"..."9").contains($0) }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
        else { return false }
        return Self.text(civil(days(year, month, day))) == text
    }

    /// The day of a month's nth Sunday.
    private static func sunday(_ number: Int, month: Int, year: Int) -> Int {
        let first = days(year, month, 1)
        // Day 0, the first of 1970, was a Thursday.
        let weekday = ((first + 4) % 7 + 7) % 7
        return first + (7 - weekday) % 7 + 7 * (number - 1)
    }

    /// Days since 1970 of a date of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivided(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivided(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func text(_ date: (year: Int, month: Int, day: Int)) -> String {
        "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func floorDivided(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }
}
#endif
