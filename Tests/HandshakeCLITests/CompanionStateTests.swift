import Beacons
import Testing

@testable import HandshakeCLI

@Suite("What the companion's page shows")
struct CompanionStateTests {
    private let state = CompanionState()
    private let zoe: UserNumber
    private let ada: UserNumber

    init() throws {
        zoe = try UserNumber(7)
        ada = try UserNumber(8)
    }

    @Test("a reading that began earlier does not replace one that began later")
    func order() async throws {
        let (early, late) = (state.beginReading(), state.beginReading())
        state.show(CircleReading(waiting: [zoe]), of: late)
        state.show(CircleReading(waiting: [ada]), of: early)
        #expect(try await shown().contains(#""waiting":[7]"#))
    }

    @Test("what was read before a person was forgotten is not shown after it")
    func forgetting() async throws {
        let reading = state.beginReading()
        state.forget(nil)
        state.show(CircleReading(waiting: [ada]), of: reading)
        #expect(try await shown().contains(#""waiting":[]"#))
        state.show(CircleReading(waiting: [zoe]), of: state.beginReading())
        #expect(try await shown().contains(#""waiting":[7]"#))
    }

    @Test("of two attempts to join, the one that ends takes its own code away and leaves the other's")
    func joins() async throws {
        let first = state.beginJoining(code: "AAAA", page: "https://one.example")
        let second = state.beginJoining(code: "BBBB", page: "https://two.example")
        state.endJoining(first)
        #expect(try await shown().contains(#""joining":{"code":"BBBB""#))
        state.endJoining(second)
        #expect(try await shown().contains(#""joining":null"#))
    }

    @Test("of changes that come at the same time, the last one is what a reader gets last")
    func concurrentChanges() async throws {
        for _ in 0..<3_000 {
            var snapshots = state.snapshots().makeAsyncIterator()
            await withTaskGroup(of: Void.self) { group in
                for number in [zoe, ada, zoe, ada, zoe, ada] { group.addTask { [state] in state.set(own: number) } }
            }
            // A reader that is late gets the newest.
            #expect(await snapshots.next() == (try await shown()))
            state.set(own: nil)
        }
    }

    private func shown() async throws -> String {
        var snapshots = state.snapshots().makeAsyncIterator()
        return try #require(await snapshots.next())
    }
}
