import Synchronization
import Testing

@testable import Handshake

@Suite("Values that are fetched from servers")
struct FetchedValuesTests {
    /// A cache of the numbers of fetches, and the keys that were fetched.
    private final class Fetches: Sendable {
        let values = FetchedValues<Int, Int>(.init(maximum: 1_000, maximumStale: 10_000, coolingPeriod: 60))
        private let fetched = Mutex<[Int]>([])
        var keys: [Int] { fetched.withLock { $0 } }

        func fetch(_ key: Int) -> Int {
            fetched.withLock { keys in
                keys.append(key)
                return keys.count
            }
        }

        func value(_ key: Int) async throws -> FetchedValues<Int, Int>.Entry {
            try await values.value(key, now: 0) { self.fetch(key) }
        }
    }

    private static let maximum = FetchedValues<Int, Int>.maximumCount

    @Test("C9, 9: of 65 issuers the one fetched longest ago is forgotten, and asked again when it is met")
    func bounded() async throws {
        #expect(Self.maximum == 64)
        let fetches = Fetches()
        for key in 0..<Self.maximum { _ = try await fetches.value(key) }
        for key in 0..<Self.maximum { _ = try await fetches.value(key) }
        #expect(fetches.keys.count == Self.maximum, "64 are cached")
        _ = try await fetches.value(Self.maximum)
        _ = try await fetches.value(1)
        #expect(fetches.keys.count == Self.maximum + 1, "the others stay")
        #expect(try await fetches.value(0).value == Self.maximum + 2)
        #expect(fetches.keys.last == 0)
    }

    @Test("C9, 9: a value that was forgotten meanwhile and fetched again counts as newer than before")
    func forgotten() async throws {
        let fetches = Fetches()
        let seen = try await fetches.value(0)
        for key in 1...Self.maximum { _ = try await fetches.value(key) }
        let newer = try await fetches.values.newer(than: seen, of: 0, now: 0) { fetches.fetch(0) }
        #expect(newer?.value == Self.maximum + 2)
    }

    @Test("C9, 9: the failure of a forgotten value is forgotten with it")
    func failure() async throws {
        let fetches = Fetches()
        let seen = try await fetches.value(0)
        await #expect(throws: HandshakeError.self) {
            try await fetches.values.newer(than: seen, of: 0, now: 0) {
                throw HandshakeError.configuration(member: "issuer", problem: "it cannot be reached")
            }
        }
        for key in 1...Self.maximum { _ = try await fetches.value(key) }
        #expect(try await fetches.value(0).value == Self.maximum + 2)
    }
}
