import HTTPTypes

/// What a service asks for in `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Longer wishes count as this: a day.
    private static let longest = 86_400

    /// The pause that a response asks for; nil when it asks for none that can be read.
    ///
    /// - Parameter now: seconds since 1970, for wishes that name a time.
    static func pause(in response: HTTPResponse, now: Double) -> Duration? {
        guard let text = response.headerFields[.retryAfter], text.utf8.count <= 64 else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int(text) ?? longest, longest))
        }
        guard let time = seconds(imfDate: text) else { return nil }
        return .seconds(min(max(time - now, 0), Double(longest)))
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    private static func seconds(imfDate text: String) -> Double? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].count == 4, words[0].last == ",", words[5] == "GMT",
            let month = months.firstIndex(of: String(words[2])),
            let date = CalendarDate("\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])")
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        let numbers = time.compactMap { $0.utf8.count == 2 ? UInt8($0) : nil }
        guard time.count == 3, numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else {
            return nil
        }
        return Double(date.daysSince1970 * 86_400 + Int(numbers[0]) * 3600 + Int(numbers[1]) * 60 + Int(numbers[2]))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
