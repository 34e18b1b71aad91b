package import HTTPTypes

/// What a service asks for in `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Longer delays are cut to this, 68 years.
    private static let longest = Int(Int32.max)

    /// The pause that a response asks for, never below zero; nil when it asks for none that can be read.
    ///
    /// - Parameter now: seconds since 1970, for a date.
    package static func pause(in response: HTTPResponse, now: Double) -> Duration? {
        guard let text = response.headerFields[.retryAfter], (1...64).contains(text.utf8.count) else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return .seconds(min(Int(text) ?? longest, longest)) }
        guard let time = seconds(httpDate: text, now: now) else { return nil }
        return .seconds(min(max(Double(time) - now, 0), Double(longest)))
    }

    /// Reads the three forms that a recipient has to accept: `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994` (RFC 9110, section 5.6.7).
    static func seconds(httpDate text: String, now: Double) -> Int? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch words.count {
        case 6 where words[0].count == 4 && words[0].last == "," && words[5] == "GMT":
            return seconds(words[1], words[2], number(words[3], digits: 4), words[4])
        case 4 where words[0].last == "," && words[3] == "GMT":
            let day = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard day.count == 3 else { return nil }
            return seconds(day[0], day[1], fullYear(day[2], now: now), words[2])
        case 5: return seconds(words[2], words[1], number(words[4], digits: 4), words[3])
        // A day below ten has a second space in front of it.
        case 6 where words[2].isEmpty && words[3].count == 1:
            return seconds("0" + words[3], words[1], number(words[5], digits: 4), words[4])
        default: return nil
        }
    }

    private static func seconds(_ day: Substring, _ month: Substring, _ year: Int?, _ time: Substring) -> Int? {
        let time = time.split(separator: ":", omittingEmptySubsequences: false).compactMap { number($0, digits: 2) }
        guard let day = number(day, digits: 2), let month = months.firstIndex(of: month), let year, time.count == 3,
            (1...daysOf(month, year)).contains(day), time[0] < 24, time[1] < 60, time[2] <= 60
        else { return nil }
        let days = daysBefore(year) + (0..<month).reduce(0) { $0 + daysOf($1, year) } + day - 1
        return (days - daysBefore(1970)) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }

    /// A year of two digits; one more than 50 years ahead is of the past century (RFC 9110, section 5.6.7).
    private static func fullYear(_ text: Substring, now: Double) -> Int? {
        guard let short = number(text, digits: 2) else { return nil }
        let thisYear = 1970 + Int(now / 31_556_952)
        let year = thisYear - thisYear % 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func daysBefore(_ year: Int) -> Int {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func daysOf(_ month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 1 && isLeap ? 29 : lengths[month]
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}
