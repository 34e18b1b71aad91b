import Beacons
import Nearby
import Testing

/// The vectors are those of the circles dossier, 2: seeds A = 00 … 1f and B = 80 … 9f.
@Suite("What a scan in the background expects")
struct ExpectedIdentifierTests {
    private let ada: DayKey
    private let zoe: DayKey
    private let newYear: Timestamp

    init() throws {
        ada = try RollingSeed(revealed: (0..<32).map { UInt8($0) }).dayKey(for: RollingDay(number: 20454))
        zoe = try RollingSeed(revealed: (0x80..<0xA0).map { UInt8($0) }).dayKey(for: RollingDay(number: 20454))
        newYear = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    }

    private func expected(_ keys: [DayKey], seconds: Int) -> [String] {
        Recognition.expected(of: keys, at: newYear.advanced(by: .seconds(seconds))).map { "\($0)".lowercased() }
    }

    private static let first = "b3fe9844-9dfa-4470-ae08-68eb355c32c9"
    private static let second = "32c170d9-b408-4617-8d31-dbd5acd2c2c7"

    @Test("the identifier of the present window, and for seven minutes the one before it")
    func windows() {
        #expect(expected([ada], seconds: 600) == [Self.first])
        #expect(expected([ada], seconds: 900) == [Self.second, Self.first])
        #expect(expected([ada], seconds: 900 + 419) == [Self.second, Self.first])
        #expect(expected([ada], seconds: 900 + 420) == [Self.second])
    }

    @Test("in the order of the keys, so that friends are among the first hundred")
    func order() {
        #expect(expected([zoe, ada], seconds: 600) == ["d3f194fb-fa7d-4d4f-993d-ed692ab90300", Self.first])
    }

    @Test("a day's last identifier is expected after midnight too; other days and a clock before 1970 expect nothing")
    func others() {
        #expect(expected([ada], seconds: 86_400) == ["60507f95-2df3-460b-b5fd-2727b0822484"])
        #expect(expected([ada], seconds: 86_400 + 420) == [])
        #expect(expected([ada], seconds: -1_767_225_601) == [])
        #expect(expected([], seconds: 0) == [])
        // At midnight the window before is of the day before, whose key is another one.
        #expect(expected([ada], seconds: 0) == [Self.first])
    }
}
