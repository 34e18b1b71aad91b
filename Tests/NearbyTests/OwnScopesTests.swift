import Beacons
import Circles
import Foundation
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import Nearby

@Suite("What the user is recognised by")
struct OwnScopesTests {
    private let ada = person(759)
    /// Times the waits for records. It stands still: none of them ends by a timeout.
    private let clock = ManualClock()
    private let vault: MemoryVault
    private let newYear: Timestamp

    private var keys: RollingKeys { RollingKeys(in: vault, community: "c") }

    init() throws {
        vault = MemoryVault(clock: clock)
        newYear = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    }

    private func after(days: Double) -> Timestamp { newYear.advanced(by: .seconds(days * 86_400)) }

    private func scopes(at time: Timestamp? = nil) async throws -> OwnScopes {
        try await OwnScopes(in: vault, community: "c", at: time ?? newYear)
    }

    private func sent(at time: Timestamp? = nil) async throws -> [[UInt8]] {
        try await scopes(at: time).sent.map { $0.reveal() }
    }

    /// Puts the user into a circle.
    private func join(_ name: String, _ change: @Sendable (inout CircleRecords.State) -> Void) async throws {
        let address = "https://\(name).example"
        let records = CircleRecords(in: vault, community: "c", scope: CircleScope(circleAt: address))
        try await records.change { state in
            var new = CircleRecords.State(
                address: address, circle: name, service: "service", number: 5, name: "Me", batch: "", bearer: "",
                expires: 0, keys: Data())
            // The keys of four days, today's first, are published.
            new.publishedUntil = 20_457
            change(&new)
            state = new
        }
    }

    @Test("the seed for friends is sent while a friend has keys of it, and is deleted when they are of past days")
    func held() async throws {
        #expect(try await sent().isEmpty, "no friend has keys")
        _ = try await keys.share(ada, days: 3, from: newYear)
        let seed = try await keys.seed().reveal()
        #expect(try await sent() == [seed])
        let scopes = try await scopes()
        #expect(scopes.circles == 0 && scopes.hasFriends)
        // Keys for fewer days do not shorten it.
        _ = try await keys.share(ada, days: 1, from: newYear)
        #expect(try await sent(at: after(days: 2.9)) == [seed])
        #expect(try await sent(at: after(days: 3.1)) == [seed], "a window around midnight uses yesterday's key")
        #expect(try await sent(at: after(days: 4)).isEmpty)
        let stored = StoredPeople(in: vault, community: "c")
        _ = try await stored.expire(at: after(days: 3.1).secondsSince1970)
        #expect(try await keys.existingSeed() != nil)
        _ = try await stored.expire(at: after(days: 4).secondsSince1970)
        #expect(try await keys.existingSeed() == nil)
        _ = try await stored.forgetEveryone()
        for kind in VaultKey.Kind.allCases { #expect(try await vault.keys(of: kind).keys.isEmpty) }
    }

    /// A vault in which something happens once: just after a record was read, or just before it is changed.
    private final class InterruptedVault: ForwardingVault {
        let base: MemoryVault
        private let isMeant: @Sendable (_ key: VaultKey, _ isChange: Bool) -> Bool
        private let event: Mutex<(@Sendable () async throws -> Void)?>

        init(
            over base: MemoryVault, at isMeant: @escaping @Sendable (_ key: VaultKey, _ isChange: Bool) -> Bool,
            event: @escaping @Sendable () async throws -> Void
        ) {
            self.base = base
            self.isMeant = isMeant
            self.event = Mutex(event)
        }

        private func interrupt(_ key: VaultKey, isChange: Bool) async throws {
            guard isMeant(key, isChange) else { return }
            let event = event.withLock { event in
                defer { event = nil }
                return event
            }
            try await event?()
        }

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            let contents = try await base.record(key)
            try await interrupt(key, isChange: false)
            return contents
        }

        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            try await interrupt(key, isChange: true)
            return try await base.update(key, body)
        }
    }

    @Test(
        "keys that are given while the seed expires are of a seed that stays: just before, and while it is deleted",
        arguments: [false, true])
    func expiryAndSharing(isDuring: Bool) async throws {
        let later = after(days: 10)
        _ = try await keys.share(ada, days: 3, from: newYear)
        let (vault, clock, ada) = (vault, clock, ada)
        let (seedKey, dayKey) = (keys.seedKey, keys.lastSharedDayKey)
        let sharing = Mutex<Task<RollingKeys.Shared, any Error>?>(nil)
        let (asked, ended) = (Gate(), Gate())
        let other = InterruptedVault(over: vault) { key, isChange in
            key == dayKey && isChange
        } event: {
            asked.open()
        }
        let interrupted = InterruptedVault(over: vault) { key, isChange in
            isDuring ? key == seedKey && isChange : key == dayKey
        } event: {
            let task = Task<RollingKeys.Shared, any Error> {
                defer { ended.open() }
                return try await RollingKeys(in: other, community: "c").share(ada, days: 3, from: later)
            }
            sharing.withLock { $0 = task }
            guard isDuring else {
                _ = try await task.value
                return
            }
            // Goes as far as it can: it waits for the record that is held.
            await asked.wait()
            while clock.sleeperCount == 0, !ended.isOpen { await Task.yield() }
        }
        try await RollingKeys(in: interrupted, community: "c").expireSeed(at: later)
        let started = sharing.withLock(\.self)
        let task = try #require(started)
        let given = try #require(try await task.value.dayKeys().first)
        let seed = try #require(try await keys.existingSeed())
        #expect(seed.dayKey(for: given.day).reveal() == given.reveal())
        #expect(try await keys.hasRecipients(at: later))
    }

    @Test("who begins to give keys makes a running watch begin again, and more keys do not")
    func begins() async throws {
        func mark() async throws -> [UInt8]? { try await ChangeMark.current(in: vault, community: "c") }
        _ = try await keys.share(ada, days: 3, from: newYear)
        let first = try await mark()
        #expect(first != nil)
        _ = try await keys.share(ada, days: 5, from: newYear)
        #expect(try await mark() == first)
    }

    @Test("the seed of an earlier version is the one for friends, and is sent for the longest time that keys last")
    func upgrade() async throws {
        let seed = [UInt8](0..<32)
        try await vault.replace(VaultKey(.beaconSeed, ["c"]), with: seed)
        #expect(try await sent() == [seed])
        #expect(try await sent(at: after(days: 30)) == [seed])
        #expect(try await sent(at: after(days: 32)).isEmpty)
    }

    @Test("a circle of an earlier version has members recognise the old seed, until it has one of its own")
    func upgradedCircle() async throws {
        let seed = try RollingSeed(revealed: Array(0..<32))
        try await vault.replace(VaultKey(.beaconSeed, ["c"]), with: seed.reveal())
        try await keys.noteShared(through: 0)
        #expect(try await sent().isEmpty)
        let last = RollingDay(number: 20_457)
        try await join("one") { state in
            state.publishedUntil = last.number
            state.publishedKey = JoinedCircle.digest(seed.dayKey(for: last))
        }
        #expect(try await sent() == [seed.reveal()])
        let own = [UInt8](1...32)
        try await join("one") { $0.seed = Data(own) }
        #expect(try await sent() == [own])
    }

    @Test("the one seed of an earlier version is not sent while a circle with its keys is paused")
    func upgradedPause() async throws {
        try await vault.replace(VaultKey(.beaconSeed, ["c"]), with: Array(0..<32))
        try await join("one") { $0.isPaused = true }
        #expect(try await sent().isEmpty)
        try await join("one") { $0.isPaused = false }
        #expect(try await sent() == [Array(0..<32)])
    }

    @Test("a pause in one circle leaves the others and the friends, and all keys count as the user's own")
    func pause() async throws {
        let (one, two) = ([UInt8](1...32), [UInt8](101...132))
        try await join("one") { $0.seed = Data(one) }
        try await join("two") { $0.seed = Data(two) }
        _ = try await keys.share(ada, days: 3, from: newYear)
        let friends = try await keys.seed().reveal()
        let both = try await sent()
        #expect(both.count == 3 && Set(both) == [one, two, friends] && both.last == friends)
        try await join("one") { state in
            state.seed = Data(one)
            state.isPaused = true
        }
        #expect(try await sent() == [two, friends])
        let scopes = try await scopes()
        #expect(scopes.circles == 1 && scopes.seeds.count == 3)
        let told = Set(scopes.all.map { "\($0.circle ?? "friends") \($0.isSent)" })
        #expect(told == ["one false", "two true", "friends true"] && scopes.all.last?.circle == nil)
        let today = try RollingWindow(at: newYear).day
        let days = scopes.dayKeys(around: newYear)
        for seed in [one, two, friends] {
            let key = try RollingSeed(revealed: seed).dayKey(for: today)
            #expect(scopes.contains(key) && days.contains { $0.day == today && $0.reveal() == key.reveal() })
        }
        #expect(try !scopes.contains(RollingSeed(revealed: Array(2...33)).dayKey(for: today)))
    }

    @Test("CI59: nothing is sent for a circle from the end of its published keys on, nor before there are any")
    func ended() async throws {
        let seed = try RollingSeed(revealed: Array(1...32))
        let last = try RollingWindow(at: newYear).day.number
        try await join("one") { state in
            state.seed = Data(seed.reveal())
            state.publishedUntil = last
        }
        // The identifier of the last window is sent until the next one would be.
        let end = seed.change(to: RollingWindow(number: (last + 1) * 96))
        #expect(end >= after(days: 1) && end < after(days: 1.01))
        #expect(try await sent(at: end.advanced(by: .seconds(-1))) == [seed.reveal()])
        #expect(try await sent(at: end).isEmpty)
        #expect(try await scopes(at: end).all.map(\.isSent) == [false])
        try await join("one") { state in
            state.seed = Data(seed.reveal())
            state.publishedUntil = 0
        }
        #expect(try await sent().isEmpty)
    }

    @Test("CI59: the end of published keys is waited for, also of those that follow in time")
    func waiting() async throws {
        let seed = [UInt8](1...32)
        let last = try RollingWindow(at: newYear).day.number
        try await join("one") { state in
            state.seed = Data(seed)
            state.publishedUntil = last
        }
        let scopes = try await scopes()
        // Each look at the clock is an hour after the one before.
        let hours = Mutex(0.0)
        let start = newYear.secondsSince1970
        let time = TimeSource(
            now: {
                hours.withLock { hours in
                    hours += 1
                    return start + hours * 3_600
                }
            }, clock: HurriedClock())
        #expect(try await scopes.waitForEnd(in: vault, community: "c", time: time))
        #expect(hours.withLock(\.self) == 25)
        // Others are published in time.
        hours.withLock { $0 = 0 }
        try await join("one") { $0.seed = Data(seed) }
        #expect(try await scopes.waitForEnd(in: vault, community: "c", time: time))
        let waited = hours.withLock(\.self)
        #expect(waited == 97, "\(waited)")
        try await join("one") { state in
            state.seed = Data(seed)
            state.isPaused = true
        }
        let paused = try await self.scopes()
        #expect(try await !paused.waitForEnd(in: vault, community: "c", time: time))
    }

    @Test("copied keys of the user are refused, whichever circle they are of")
    func copied() async throws {
        let seed = [UInt8](1...32)
        try await join("one") { $0.seed = Data(seed) }
        // A friend who copies them has them as a seed.
        let other = MemoryVault()
        try await other.replace(VaultKey(.beaconSeed, ["c"]), with: seed)
        let copier = RollingKeys(in: other, community: "c")
        let refusal = NearbyError.sharedKeys("they are your own")
        let file = try await copier.share(ada, days: 2, from: newYear)
        await #expect(throws: refusal) { try await keys.addFriend(file, at: newYear) }
        let card = try await copier.pairingCard(
            in: CircleScope(circleAt: "https://pair.example"), number: ada, name: "Ada Example", at: newYear)
        await #expect(throws: refusal) { try await keys.addPaired(card, at: newYear) }
        #expect(try await keys.friends().keys.isEmpty)
    }

    @Test("CI52: ending a friendship renews the seed for friends, and those of circles stay")
    func unfriend() async throws {
        let circle = [UInt8](1...32)
        try await join("one") { $0.seed = Data(circle) }
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        try await keys.addFriend(try await friend.share(ada, days: 3, from: newYear), at: newYear)
        let held = try await keys.share(person(5), days: 3, from: newYear)
        try await friend.addFriend(held, at: newYear)
        let before = try await keys.seed().reveal()
        #expect(try await keys.removeFriend(person(36)) == false)
        #expect(try await keys.existingSeed()?.reveal() == before, "who was no friend had nothing")
        #expect(try await keys.removeFriend(ada))
        #expect(try await sent() == [circle], "no friend has keys any more")
        _ = try await keys.share(person(5), days: 3, from: newYear)
        #expect(try await keys.seed().reveal() != before)
        #expect(try await sent().first == circle)
    }
}
