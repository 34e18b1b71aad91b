import HTTPTypes
import Handshake
import Testing

@Suite("Retry-After")
struct RetryAfterTests {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the example of RFC 9110, section 5.6.7.
    private static let example = 784_111_777.0

    private func pause(_ text: String?, now: Double = example - 30) -> Duration? {
        var response = HTTPResponse(status: 503)
        response.headerFields[.retryAfter] = text
        return RetryAfter.pause(in: response, now: now)
    }

    @Test(
        "seconds are read as they are, however many",
        arguments: [
            ("0", 0), ("120", 120), ("86401", 86_401), ("172800", 172_800), ("99999999999999999999", Int(Int32.max)),
        ])
    func seconds(_ text: String, _ seconds: Int) {
        #expect(pause(text) == .seconds(seconds))
    }

    @Test(
        "each of the three forms of a time is read (RFC 9110, section 5.6.7)",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func times(_ text: String) {
        #expect(pause(text) == .seconds(30))
        #expect(pause(text, now: Self.example + 5) == .zero)
    }

    @Test("a day of two digits, leap days and the years of two digits")
    func days() {
        #expect(pause("Thu Nov 24 08:49:37 1994", now: Self.example) == .seconds(18 * 86_400))
        // 29 February 2024, 12:00, is 1709208000 seconds after 1970 began.
        #expect(pause("Thu, 29 Feb 2024 12:00:00 GMT", now: 1_709_208_000 - 7) == .seconds(7))
        #expect(pause("Thursday, 29-Feb-24 12:00:00 GMT", now: 1_709_208_000 - 7) == .seconds(7))
        // More than fifty years ahead: 1994, not 2094.
        #expect(pause("Sunday, 06-Nov-94 08:49:37 GMT", now: 1_709_208_000) == .zero)
    }

    @Test(
        "what cannot be read is no wish",
        arguments: [
            nil, "", "-1", "+5", "1.5", "soon", "٣", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 2025 16:00:30 GMT",
            "Sun, 29 Feb 2023 16:00:30 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sunday",
            "    ", String(repeating: "1", count: 65),
        ] as [String?])
    func unreadable(_ text: String?) {
        #expect(pause(text) == nil)
    }
}
