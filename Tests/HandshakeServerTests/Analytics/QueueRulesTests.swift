import Handshake
import IFTTTConnect
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("What a server counts: consent, queue and sending")
struct QueueRulesTests {
    private let vault = MemoryVault()

    /// Runs while `body` does, which begins when what was there at the start is dealt with.
    private func running(
        _ analytics: ConnectAnalytics, on clock: ManualClock, _ body: () async throws -> Void
    ) async throws {
        let running = Task { try await analytics.run() }
        do {
            await clock.sleeper(of: .seconds(30))
            try await body()
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        try await running.value
    }

    @Test("W24, F101: a user without consent is not counted, and the vault has no record of them")
    func withoutConsent() async throws {
        let inbox = EventInbox()
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox)
        try await analytics.record(0..<20, for: "ada")
        try await analytics.runAndShutDown()
        #expect(try await analytics.isAllowed(for: "ada") == false)
        #expect(await analytics.anonymousID(of: "ada") == nil)
        #expect(try await vault.keys(of: .analytics).keys.isEmpty && inbox.requests.isEmpty)
    }

    @Test("F101, F102: consent counts in every process; taking it back removes identifier and events in all of them")
    func consent() async throws {
        let inbox = EventInbox()
        let (one, other) = (
            ConnectAnalytics.counting(in: vault, to: inbox), ConnectAnalytics.counting(in: vault, to: inbox)
        )
        try await one.allow(for: "ada")
        let id = try #require(await other.anonymousID(of: "ada"))
        try await other.allow(for: "ada")
        #expect(await one.anonymousID(of: "ada") == id, "agreeing twice changes nothing")
        #expect(await one.anonymousID(of: "bob") == nil)
        try await other.record(0..<4, for: "ada")
        try await one.refuse(for: "ada")
        #expect(try await other.isAllowed(for: "ada") == false)
        #expect(try await vault.keys(of: .analytics).keys.isEmpty)
        try await other.runAndShutDown()
        #expect(inbox.requests.isEmpty)
        try await other.allow(for: "ada")
        #expect(try #require(await one.anonymousID(of: "ada")) != id)
    }

    @Test("F101: consent that is taken back while a request is under way is not brought back by its answer")
    func refusedMeanwhile() async throws {
        let (inbox, clock) = (EventInbox(), ManualClock())
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox, clock: clock)
        try await analytics.allow(for: "ada")
        try await analytics.allow(for: "bob")
        inbox.hold()
        try await running(analytics, on: clock) {
            try await analytics.record(0..<5, for: "ada")
            try await analytics.record(0..<5, for: "bob")
            await inbox.received(1)
            try await analytics.refuse(for: "ada")
            try await analytics.refuse(for: "bob")
            try await analytics.allow(for: "bob")
            try await analytics.record(5..<6, for: "bob")
            inbox.release()
            // A later request shows that the earlier one's answer was taken in.
            try await analytics.record(6..<10, for: "bob")
            await inbox.received(2)
        }
        #expect(try await analytics.isAllowed(for: "ada") == false)
        #expect(try await vault.keys(of: .analytics).keys == [CountedUser.key("bob")])
        #expect(inbox.requests.last?.objects == ["5", "6", "7", "8", "9"], "what the old identifier had is gone")
    }

    /// Records five events of a user, which are sent immediately; then does what the test wants, before the run ends.
    private func sendingFive(
        to inbox: EventInbox, then body: (ConnectAnalytics) async throws -> Void = { _ in }
    ) async throws -> ConnectAnalytics {
        let clock = ManualClock()
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox, clock: clock)
        try await analytics.allow(for: "ada")
        try await running(analytics, on: clock) {
            try await analytics.record(0..<5, for: "ada")
            await inbox.received(1)
            try await body(analytics)
        }
        return analytics
    }

    @Test("F100, 12: five events of a user are sent immediately, under the user's identifier and without a token")
    func enough() async throws {
        let inbox = EventInbox()
        let analytics = try await sendingFive(to: inbox)
        let request = try #require(inbox.requests.first)
        #expect(request.objects == ["0", "1", "2", "3", "4"] && !request.hasToken)
        #expect(request.anonymousID == (await analytics.anonymousID(of: "ada"))?.rawValue)
    }

    @Test("F100: fewer wait for the next thirty seconds, and each user's go under the user's own identifier")
    func interval() async throws {
        let (inbox, clock) = (EventInbox(), ManualClock())
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox, clock: clock)
        for user in ["ada", "bob"] { try await analytics.allow(for: user) }
        try await running(analytics, on: clock) {
            try await analytics.record(0..<4, for: "ada")
            try await analytics.record(4..<7, for: "bob")
            clock.advance(by: .seconds(30))
            await inbox.received(2)
        }
        #expect(inbox.requests.map(\.objects) == [["0", "1", "2", "3"], ["4", "5", "6"]])
        #expect(Set(inbox.requests.compactMap(\.anonymousID)).count == 2)
    }

    @Test("F100: a graceful shutdown sends all that waits, ten at a time, the oldest first")
    func shutdown() async throws {
        let inbox = EventInbox()
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox)
        try await analytics.allow(for: "ada")
        try await analytics.record(0..<23, for: "ada")
        try await analytics.runAndShutDown()
        #expect(inbox.requests.map(\.objects.count) == [10, 10, 3])
        #expect(inbox.requests.flatMap(\.objects) == (0..<23).map(String.init))
    }

    @Test("F100: at most a hundred events of a user wait, and the oldest goes")
    func bounded() async throws {
        let inbox = EventInbox()
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox)
        try await analytics.allow(for: "ada")
        try await analytics.record(0..<130, for: "ada")
        try await analytics.runAndShutDown()
        #expect(inbox.requests.flatMap(\.objects) == (30..<130).map(String.init))
    }

    @Test("F100: what is refused stays, and nothing more is sent until the next thirty seconds are over")
    func failure() async throws {
        let clock = ManualClock()
        let inbox = EventInbox(500, 204, clock: clock)
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox, clock: clock)
        for user in ["ada", "bob"] { try await analytics.allow(for: user) }
        try await running(analytics, on: clock) {
            inbox.hold()
            try await analytics.record(0..<5, for: "ada")
            await inbox.received(1)
            try await analytics.record(5..<8, for: "ada")
            inbox.release()
            try await analytics.record(10..<15, for: "bob")
            for _ in 0..<1000 { await Task.yield() }
            clock.advance(by: .seconds(30))
            await inbox.received(3)
        }
        #expect(inbox.requests.map(\.at) == [.zero, .seconds(30), .seconds(30)])
        #expect(inbox.requests.map(\.objects.count).sorted() == [5, 5, 8])
    }

    @Test("F100: one user's events that IFTTT does not take do not keep the others' from being sent")
    func oneFails() async throws {
        let (inbox, clock) = (EventInbox(422, 204), ManualClock())
        let analytics = ConnectAnalytics.counting(in: vault, to: inbox, clock: clock)
        for user in ["ada", "bob"] { try await analytics.allow(for: user) }
        try await running(analytics, on: clock) {
            try await analytics.record(0..<1, for: "ada")
            try await analytics.record(1..<2, for: "bob")
            for requests in [1, 3] {
                clock.advance(by: .seconds(30))
                await inbox.received(requests)
                await clock.sleeper(of: .seconds(30))
            }
        }
        #expect(inbox.requests.map(\.objects) == [["0"], ["1"], ["0"]])
    }

    @Test("F100: what another process has left behind is sent by the next one that starts")
    func leftBehind() async throws {
        let inbox = EventInbox()
        let gone = ConnectAnalytics.counting(in: vault, to: inbox)
        for user in ["ada", "bob", "eve"] { try await gone.allow(for: user) }
        try await gone.record(0..<2, for: "ada")
        try await gone.record(2..<3, for: "eve")
        let next = ConnectAnalytics.counting(in: vault, to: inbox)
        try await next.runAndShutDown()
        #expect(inbox.requests.flatMap(\.objects).sorted() == ["0", "1", "2"])
        #expect(inbox.requests.count == 2, "nothing is sent of whom nothing waits")
    }

    @Test("F100: while one process sends a user's events no other does, unless it has died")
    func oneRequest() async throws {
        let inbox = EventInbox()
        let now = Mutex(1_735_689_600.0)
        let users = CountedUsers(
            vault: vault, time: TimeSource(now: { now.withLock { $0 } }, clock: ManualClock()))
        let other = ConnectAnalytics.counting(in: vault, to: inbox) { now.withLock { $0 } }
        try await other.allow(for: "ada")
        try await other.record(0..<3, for: "ada")
        guard case .taken = try await users.claim(CountedUser.key("ada")) else { throw Absent() }
        try await other.runAndShutDown()
        #expect(inbox.requests.isEmpty)
        now.withLock { $0 += CountedUser.lease + 1 }
        try await other.runAndShutDown()
        #expect(inbox.requests.map(\.objects) == [["0", "1", "2"]])
    }

    @Test("a second run does no harm and ends with its service group")
    func twice() async throws {
        let inbox = EventInbox()
        _ = try await sendingFive(to: inbox) { try await $0.runAndShutDown() }
        #expect(inbox.requests.count == 1)
    }

    @Test("F100: a damaged record does not prevent sending other users' events, immediately and later")
    func unreadable() async throws {
        let (inbox, clock) = (EventInbox(), ManualClock())
        let whole = ConnectAnalytics.counting(in: vault, to: inbox)
        for user in ["ada", "bob"] { try await whole.allow(for: user) }
        try await whole.record(0..<1, for: "ada")
        let torn = VaultWithout(kind: .analytics, key: CountedUser.key("ada"), vault: vault)
        let analytics = ConnectAnalytics.counting(in: torn, to: inbox, clock: clock)
        try await analytics.record(1..<2, for: "bob")
        try await running(analytics, on: clock) {
            try await analytics.record(2..<7, for: "bob")
            await inbox.received(2)
        }
        #expect(inbox.requests.map(\.objects) == [["1"], ["2", "3", "4", "5", "6"]])
    }

    @Test("a record that holds something else is no consent", arguments: ["", "{}", "[1]", "\u{0}", #"{"version":2}"#])
    func damaged(text: String) async throws {
        try await vault.update(CountedUser.key("ada")) { try await $0.replace(with: Array(text.utf8)) }
        let analytics = ConnectAnalytics.counting(in: vault, to: EventInbox())
        #expect(try await analytics.isAllowed(for: "ada") == false)
        try await analytics.record(0..<1, for: "ada")
        try await analytics.runAndShutDown()
        try await analytics.allow(for: "ada")
        #expect(try await analytics.isAllowed(for: "ada"))
    }

    @Test(
        "a vault that cannot be used is said when consent is given, and is no reason to fail when something is counted")
    func brokenVault() async throws {
        let analytics = ConnectAnalytics.counting(in: VaultWithout(kind: .analytics), to: EventInbox())
        for change in [analytics.allow(for:), analytics.refuse(for:)] {
            await #expect(throws: HandshakeServerError.vault(.busy("the test"))) { try await change("ada") }
        }
        await #expect(throws: HandshakeServerError.self) { try await analytics.isAllowed(for: "ada") }
        try await analytics.record(0..<1, for: "ada")
        try await analytics.runAndShutDown()
    }

    @Test("F100: the list of those who wait is bounded, and says when it is not whole")
    func list() {
        var due = DueUsers()
        due.isIncomplete = false
        let keys = (0..<DueUsers.capacity).map { CountedUser.key("\($0)") }
        for key in keys + keys { due.note(key, isReady: false) }
        due.note(keys[7], isReady: true)
        due.note(keys[7], isReady: false)
        #expect(!due.isIncomplete)
        due.note(CountedUser.key("one more"), isReady: true)
        #expect(due.isIncomplete)
        #expect(due.take(all: false) == [keys[7]])
        due.forget(keys[0])
        #expect(due.take(all: true) == keys.filter { $0 != keys[7] && $0 != keys[0] })
        #expect(due.isEmpty)
    }
}
