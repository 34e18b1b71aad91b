/// A date and time of RFC 3339, as in `2026-11-22T11:30:00Z`.
enum DateTime {
    /// Seconds since 1970; nil for a text that is none, or one before 1970.
    static func seconds(_ text: String) -> Double? {
        let bytes = Array(text.utf8)
        guard (20...40).contains(bytes.count), bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74,
            bytes[13] == 0x3A, bytes[16] == 0x3A
        else { return nil }
        func number(_ range: Range<Int>) -> Int? { wholeNumber(String(decoding: bytes[range], as: UTF8.self)) }
        guard let year = number(0..<4), year >= 1970, let month = number(5..<7), (1...12).contains(month),
            let day = number(8..<10), (1...31).contains(day), let hour = number(11..<13), hour < 24,
            let minute = number(14..<16), minute < 60, let second = number(17..<19), second <= 60
        else { return nil }
        var rest = bytes[19...]
        if rest.first == 0x2E {
            rest = rest.dropFirst()
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
        }
        guard let offset = offset(Array(rest)) else { return nil }
        let time = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return time < 0 ? nil : Double(time)
    }

    /// Seconds east of Greenwich.
    private static func offset(_ bytes: [UInt8]) -> Int? {
        if bytes == [0x5A] || bytes == [0x7A] { return 0 }
        guard bytes.count == 6, bytes[0] == 0x2B || bytes[0] == 0x2D, bytes[3] == 0x3A,
            let hours = wholeNumber(String(decoding: bytes[1...2], as: UTF8.self)), hours < 24,
            let minutes = wholeNumber(String(decoding: bytes[4...5], as: UTF8.self)), minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (bytes[0] == 0x2D ? -1 : 1)
    }

    /// Days since 1970 in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
