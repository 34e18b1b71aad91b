import Foundation
import Testing

@testable import RecurseCenter

@Suite("Days, and days in New York")
struct CalendarTests {
    @Test(
        "a date is YYYY-MM-DD of a day that there is",
        arguments: [
            ("2014-06-09", true), ("2024-02-29", true), ("2000-02-29", true), ("0001-01-01", true),
            ("9999-12-31", true),
            ("2023-02-29", false), ("1900-02-29", false), ("2024-02-30", false), ("2024-04-31", false),
            ("2024-13-01", false), ("2024-00-10", false), ("2024-01-00", false), ("0000-01-01", false),
            ("2024-1-01", false), ("24-01-01", false), ("2024-01-01T00:00:00Z", false), (" 2024-01-01", false),
            ("2024/01/01", false), ("+024-01-01", false), ("２０２４-01-01", false), ("", false), ("-", false),
        ])
    func parsing(_ text: String, _ isDate: Bool) {
        #expect(CalendarDate(text)?.description == (isDate ? text : nil))
    }

    @Test(
        "days are counted from the first of 1970",
        arguments: [("1970-01-01", 0), ("1969-12-31", -1), ("2000-03-01", 11_017), ("2025-07-01", 20_270)])
    func counting(_ text: String, _ days: Int) throws {
        #expect(try #require(CalendarDate(text)).daysSince1970 == days)
        #expect(CalendarDate(daysSince1970: days).description == text)
    }

    @Test("dates are ordered")
    func order() throws {
        let texts = ["2014-06-09", "2014-06-10", "2014-07-01", "2015-01-01"]
        #expect(texts.compactMap { CalendarDate($0) }.shuffled().sorted().map(\.description) == texts)
    }

    @Test(
        "RC-29: today is New York's, in winter, in summer and around both changes",
        arguments: [
            ("2025-01-15T04:59:59Z", "2025-01-14"), ("2025-01-15T05:00:00Z", "2025-01-15"),
            ("2025-07-01T03:59:59Z", "2025-06-30"), ("2025-07-01T04:00:00Z", "2025-07-01"),
            ("2025-03-09T04:59:59Z", "2025-03-08"), ("2025-03-10T03:59:59Z", "2025-03-09"),
            ("2025-11-02T03:59:59Z", "2025-11-01"), ("2025-11-03T04:59:59Z", "2025-11-02"),
            ("2024-12-31T23:00:00Z", "2024-12-31"), ("2025-01-01T04:30:00Z", "2024-12-31"),
        ])
    func newYork(_ moment: String, _ expected: String) throws {
        let seconds = try Date(moment, strategy: .iso8601).timeIntervalSince1970
        #expect(CalendarDate(inNewYorkAt: seconds).description == expected)
    }

    @Test("RC-29: the law of 2005, which counts where the platform knows no zones, agrees with the platform's zone")
    func statute() throws {
        let zone = try #require(TimeZone(identifier: "America/New_York"))
        // Each hour around each change, and each week, from 2007 on.
        for year in 2007...2037 {
            let first = Double(try #require(CalendarDate("\(year)-01-01")).daysSince1970 * 86_400)
            let changes = [CalendarDate.sunday(2, month: 3, year: year), CalendarDate.sunday(1, month: 11, year: year)]
            let hours = changes.flatMap { day in (0...30).map { Double(day * 86_400 + $0 * 3600) } }
            for seconds in stride(from: first, to: first + 365 * 86_400, by: 7 * 86_400) + hours + hours.map({ $0 - 1 })
            {
                let expected = zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds))
                #expect(NewYork.statutoryOffset(at: seconds) == expected, "\(seconds)")
            }
        }
    }

    @Test("a time beyond the calendar is no crash", arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func extremes(_ seconds: Double) {
        #expect((1...9999).contains(CalendarDate(inNewYorkAt: seconds).year))
    }
}

private func + (one: StrideTo<Double>, other: [Double]) -> [Double] {
    Array(one) + other
}
