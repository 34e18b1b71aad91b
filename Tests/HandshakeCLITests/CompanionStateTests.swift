import Beacons
import Testing

@testable import HandshakeCLI
@testable import Nearby

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

    @Test("CI57: who is hidden has the name that the log still has, and none after the person is forgotten")
    func hiddenNames() async throws {
        let summary = JoinedCircle.Summary(
            address: "https://circle.example/rc", circle: "Recurse Center", number: zoe, name: "Zoë", isPaused: false,
            expires: 0, members: 2, nextSync: 0, tableProblem: nil, trouble: nil)
        let visibility = JoinedCircle.Visibility(
            photo: true, hasPhoto: true, batch: true, waves: true, othersPhotos: true,
            hidden: [ada, try UserNumber(9)], isTold: true)
        let circles = CircleReading(joined: [(summary, visibility)], names: [ada: "Ada Example"])
        state.show(circles, of: state.beginReading())
        #expect(try await shown().contains(#""hidden":[8,9]"#))
        #expect(try await shown().contains(#""hidden_names":{"8":"Ada Example"}"#))
        state.forget(ada)
        #expect(try await shown().contains(#""hidden_names":{}"#))
        #expect(try await shown().contains(#""hidden":[8,9]"#))
        state.show(circles, of: state.beginReading())
        state.forget(nil)
        #expect(!(try await shown().contains("Ada Example")))
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
