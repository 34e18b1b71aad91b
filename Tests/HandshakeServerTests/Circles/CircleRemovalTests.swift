import Handshake
import Testing

@testable import HandshakeServer

@Suite("Members who are removed from a circle, or are signed out for good")
struct CircleRemovalTests {
    private static let ada = CircleApplicant(number: 759, name: "Ada Example")
    private static let zoe = CircleApplicant(number: 65_535, name: "Zoë Ångström")
    private let vault = MemoryVault()
    private let time = SharedTime()

    /// Seconds since the test began.
    private var elapsed: Double { time.now - SharedTime().now }

    private func open() async throws -> MemberCircle {
        try await MemberCircle(
            named: "Recurse Center", at: try PublicAddress(CircleWorld.address), in: vault, time: time.serverSource)
    }

    /// Whether a person who asks becomes a member.
    private func admits(_ person: CircleApplicant, _ circle: MemberCircle) async throws -> Bool {
        do {
            _ = try await circle.admit(person)
            return true
        } catch let refusal as RequestRefusal {
            #expect(refusal.code == "removed")
            return false
        }
    }

    @Test("CI33: a removal holds for a member who has just left, with a new epoch, and for one who has not joined yet")
    func left() async throws {
        let circle = try await open()
        #expect(try await admits(Self.zoe, circle))
        try await circle.leave(65_535)
        try await circle.remove(65_535)
        #expect(await circle.state.epoch == 2, "the keys that were fetched before are of no use")
        #expect(try await !admits(Self.zoe, circle))
        time.advance(by: CircleWorld.day)
        let before = try await circle.memberPage(for: 65_535, since: nil, limit: 10).cursor
        try await circle.remove(759)
        #expect(try await !admits(Self.ada, circle))
        let page = try await circle.memberPage(for: 65_535, since: before, limit: 10)
        #expect(page.rows.isEmpty, "no member is told who was removed without having joined")
        #expect(await circle.state.epoch == 2, "who has not joined has fetched no keys")
        #expect(await circle.count == 0)
    }

    @Test("CI33: a removed member cannot join after 30 days either, until the operator readmits the number")
    func lasting() async throws {
        let circle = try await open()
        for person in [Self.ada, Self.zoe] { #expect(try await admits(person, circle)) }
        try await circle.remove(65_535)
        time.advance(by: 31 * CircleWorld.day)
        try await circle.inTurn { try await $0.cleanIfDue() }
        #expect(try await !admits(Self.zoe, circle))
        let kept = try #require(await circle.members[65_535])
        #expect(kept.stored == kept.forgotten.stored, "the number, and that it was removed")
        // Who hides from the number is not told that it was a member's.
        let before = try await circle.memberPage(for: 759, since: nil, limit: 10).cursor
        try await circle.hide(65_535, from: 759, true)
        let page = try await circle.memberPage(for: 759, since: before, limit: 10)
        #expect(page.rows.isEmpty && page.cursor != before)
        let started = try await open()
        #expect(try await !admits(Self.zoe, started))
        try await started.readmit(65_535)
        #expect(try await admits(Self.zoe, started))
        #expect(await started.count == 2)
    }

    @Test("CI59: a member whose last sign-in ended 30 days ago has left, also after a restart")
    func signedOut() async throws {
        _ = try await open().admit(Self.ada)
        for day in 1...61 {
            time.advance(by: CircleWorld.day)
            let circle = try await open()
            try await circle.inTurn { try await $0.cleanIfDue() }
            #expect(await circle.count == (day < 61 ? 1 : 0), "after \(day) days")
        }
    }

    @Test("CI59: for a member who has joined again, the 30 days begin when that sign-in ends")
    func signedInAgain() async throws {
        let circle = try await open()
        _ = try await circle.admit(Self.ada)
        for day in 1...101 {
            time.advance(by: CircleWorld.day)
            try await circle.inTurn { try await $0.cleanIfDue() }
            #expect(await circle.count == (day < 101 ? 1 : 0), "after \(day) days")
            if day == 40 { _ = try await circle.admit(Self.ada) }
        }
    }

    @Test("CI59: for a member who joins and signs out between two cleanings, the 30 days begin again")
    func signedInBriefly() async throws {
        let circle = try await open()
        _ = try await circle.admit(Self.ada)
        for day in 1...72 {
            time.advance(by: CircleWorld.day)
            try await circle.inTurn { try await $0.cleanIfDue() }
            #expect(await circle.count == (day < 72 ? 1 : 0), "after \(day) days")
            guard day == 40 else { continue }
            let bearer = try await circle.admit(Self.ada).bearer
            try await circle.signOut(bearer, of: 759)
        }
    }

    @Test("CI59: times in a damaged record that no clock can have are read, and can be stored again")
    func hugeTimes() throws {
        let most = Int64.max
        let text =
            #"{"version":1,"instance":"i","epoch":1,"revision":1,"epoch_raised":\#(most),"cleaned":\#(most),"observed":\#(most)}"#
        let state = try #require(MemberCircle.State(stored: Array(text.utf8)))
        let again = try #require(MemberCircle.State(stored: state.stored))
        #expect(again.observedTime == state.observedTime && again.cleaned == state.cleaned)
        #expect(again.epochRaised == state.epochRaised && state.epochRaised > 0)
    }

    @Test("CI59: a server whose clock is set months ahead, and back later, neither removes a member nor signs one out")
    func clockAhead() async throws {
        let circle = try await open()
        let bearer = try await circle.admit(Self.ada).bearer
        for days in [61.0, 92, 123, 1] {
            time.advance(by: days * CircleWorld.day - elapsed)
            try await circle.inTurn { try await $0.cleanIfDue() }
            #expect(await circle.count == 1, "at \(days) days")
        }
        let started = try await open()
        #expect(try await started.owner(ofBearer: bearer).signedOut == nil)
    }

    @Test("CI59: a clock that is set ahead and back signs no device out whose member has a valid bearer on another one")
    func clockAheadWithTwoDevices() async throws {
        let circle = try await open()
        let first = try await circle.admit(Self.ada).bearer
        time.advance(by: 20 * CircleWorld.day)
        let second = try await circle.admit(Self.ada).bearer
        for days in [40.0, 41, 21] {
            time.advance(by: days * CircleWorld.day - elapsed)
            try await circle.inTurn { try await $0.cleanIfDue() }
            #expect(try await circle.owner(ofBearer: second).number == 759, "at \(days) days")
        }
        #expect(try await circle.owner(ofBearer: first).expiredBearers.isEmpty)
    }

    @Test("CI59: an expired bearer is removed 30 days later, although another one is valid, also after restarts")
    func prunedBearer() async throws {
        _ = try await open().admit(Self.ada)
        for day in 1...61 {
            time.advance(by: CircleWorld.day)
            let circle = try await open()
            try await circle.inTurn { try await $0.cleanIfDue() }
            if day == 29 || day == 45 { _ = try await circle.admit(Self.ada) }
            let expected = day < 29 ? 1 : day < 45 ? 2 : day < 61 ? 3 : 2
            #expect(await circle.members[759]?.bearers.count == expected, "after \(day) days")
        }
    }
}
