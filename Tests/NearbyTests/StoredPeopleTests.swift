import Beacons
import Circles
import Foundation
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import Nearby

@Suite("What is stored about people, and how it goes")
struct StoredPeopleTests {
    private let ada = person(759)
    private let grace = person(36)
    private let now = 1_767_225_600.0
    private let vault = MemoryVault()

    private var stored: StoredPeople { StoredPeople(in: vault, community: "c") }

    /// Remembers whom alerts are no longer shown of.
    private final class Board: Alerts {
        let withdrawn = Mutex<[Set<UserNumber>]>([])
        let cleared = Mutex(0)

        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
        func withdraw(_ people: Set<UserNumber>) async { withdrawn.withLock { $0.append(people) } }
        func withdrawAll() async { cleared.withLock { $0 += 1 } }
    }

    @Test("CI49, CI50: alerts that are still shown go with the person, and after 30 days by themselves")
    func alerts() async throws {
        let board = Board()
        let stored = StoredPeople(in: vault, community: "c", alerts: board)
        for (number, time) in [(36, 0.0), (759, 86_400)] {
            let notices = ShownNotices(in: vault, community: "c") { time }
            try await notices.note(UInt32(number), of: "desktop", about: person(number))
        }
        _ = try await stored.expire(at: 30 * 86_400 + 1)
        #expect(board.withdrawn.withLock(\.self) == [[person(36)]])
        #expect(try await ShownNotices(in: vault, community: "c").people(before: .infinity) == [person(759)])
        _ = try await stored.forget(person(1))
        #expect(board.withdrawn.withLock(\.self) == [[person(36)], [person(1)]])
        await QuietableAlerts(board, except: DoNotDisturb(in: vault, community: "c")) { 0 }.withdrawAll()
        #expect(board.cleared.withLock(\.self) == 1)
        #expect(try await stored.forgetEveryone().isEmpty)
        #expect(board.cleared.withLock(\.self) == 2)
        #expect(try await vault.keys(of: .beaconSeed).keys == [])
    }

    @Test("CI47: of too many notifications, numbers that any device can send are forgotten first, and friends last")
    func trustedNotices() async throws {
        let notices = ShownNotices(in: vault, community: "c") { 0 }
        var dropped: [UInt32] = []
        for number in 1...516 {
            let trust: Trust = number == 1 ? .paired : number < 512 ? .circle : .unverified
            dropped += try await notices.note(
                UInt32(number), of: "desktop", about: person(number), trust: trust
            ).map(\.id)
        }
        #expect(dropped == [512, 513, 514, 515], "the next number takes the place of the one before")
        try await notices.note(517, of: "desktop", about: person(517), trust: .paired)
        let last = try await notices.note(518, of: "desktop", about: person(518), trust: .paired)
        #expect(last.map(\.id) == [2])
    }

    @Test("of a flood of alerts the newest 512 are remembered, and a record that cannot be read begins again")
    func manyNotices() async throws {
        let time = Mutex(0.0)
        let notices = ShownNotices(in: vault, community: "c") {
            time.withLock { time in
                time += 1
                return time
            }
        }
        try await vault.replace(ShownNotices.key(of: "c"), with: Array("{".utf8))
        var dropped: [UInt32] = []
        for number in 1...514 {
            dropped += try await notices.note(UInt32(number), of: "desktop", about: person(number)).map(\.id)
        }
        #expect(dropped == [1, 2], "they are closed")
        let people = try await notices.people(before: .infinity)
        #expect(people.count == 512 && !people.contains(person(2)) && people.contains(person(3)))
        #expect(try await notices.take { person, _ in person.value < 10 }.map(\.id).sorted() == Array(3...9))
        #expect(try await notices.people(before: .infinity).count == 505)
    }

    /// Stores everything that there can be about a person.
    private func remember(_ person: UserNumber, at time: Double, in vault: any Vault) async throws {
        let log = EncounterLog(in: vault, community: "c")
        _ = try await log.note(
            Encounter(firstSeen: time, lastSeen: time + 10, duration: 10), with: person, wasLogged: false)
        try await log.introduce(person, as: Person(name: "Ada Example"))
        for kind in [VaultKey.Kind.profile, .photo] {
            let record = DatedRecord(storedAt: time, content: Array("Ada Example".utf8))
            try await vault.replace(VaultKey(kind, ["c", "account", person.description]), with: record.bytes)
        }
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        let moment = try #require(Timestamp(secondsSince1970: time))
        try await RollingKeys(in: vault, community: "c").addFriend(
            try await friend.share(person, days: 7, from: moment), at: moment)
    }

    private func rememberOneself(in vault: any Vault) async throws {
        let keys = RollingKeys(in: vault, community: "c")
        _ = try await keys.share(person(1), days: 1, from: try #require(Timestamp(secondsSince1970: now)))
        try await OwnNumber(in: vault, community: "c", account: "account").remember(person(1))
    }

    private func count(_ kind: VaultKey.Kind) async throws -> Int { try await vault.keys(of: kind).keys.count }

    /// The kinds of the records that are there.
    private func kinds(in vault: any Vault) async throws -> [VaultKey.Kind] {
        var kinds: [VaultKey.Kind] = []
        for kind in VaultKey.Kind.allCases where try await !vault.keys(of: kind).keys.isEmpty { kinds.append(kind) }
        return kinds
    }

    @Test(
        "RC-27, BE-29: forgetting a person removes encounters, profile, photo and keys, says so, and leaves the others")
    func one() async throws {
        for person in [ada, grace] { try await remember(person, at: now, in: vault) }
        let deletion = try await stored.forget(ada)
        #expect(deletion.people == [ada])
        #expect(deletion.records == [.encounters: 1, .profiles: 1, .photos: 1, .friends: 1])
        for kind in [VaultKey.Kind.encounters, .profile, .photo, .beaconFriend] {
            #expect(try await vault.keys(of: kind).keys.map(\.components.last) == ["36"])
        }
        #expect(try await stored.forget(ada).isEmpty)
    }

    @Test("CI49: of damaged records the person's by name go, and any other stays and is told")
    func damagedRecords() async throws {
        for person in [ada, grace] { try await remember(person, at: now, in: vault) }
        let own = VaultKey(.encounters, ["c", ada.description])
        // Its name is not known to who forgets: it has an account's name in it.
        let other = VaultKey(.profile, ["c", "account", ada.description])
        let damaged = DamagedVault(base: vault, damaged: [own, other])
        let deletion = try await StoredPeople(in: damaged, community: "c").forget(ada)
        #expect(deletion.records == [.encounters: 1, .photos: 1, .friends: 1])
        #expect(deletion.damaged == [.vault(DamagedVault.damage(of: other))])
        #expect(try await vault.keys(of: .encounters).keys.map(\.components.last) == ["36"])
        #expect(try await vault.record(other) != nil)
    }

    @Test("CI49: of everyone, damaged records that were removed by name are not told of, and the others once each")
    func damagedRecordsOfEveryone() async throws {
        try await remember(ada, at: now, in: vault)
        try await ChangeMark.note(in: vault, community: "c")
        let other = VaultKey(.profile, ["c", "account", ada.description])
        let mark = ChangeMark.key(of: "c")
        #expect(try await vault.record(mark) != nil)
        let damaged = DamagedVault(base: vault, damaged: [mark, other])
        let deletion = try await StoredPeople(in: damaged, community: "c").forgetEveryone()
        #expect(try await vault.record(mark) == nil)
        #expect(deletion.damaged == [.vault(DamagedVault.damage(of: other))])
        var sum = deletion
        sum.add(deletion)
        #expect(sum.damaged == deletion.damaged)
    }

    @Test("RC-27: forgetting everyone leaves no record, of other people or one's own, and another community's stay")
    func everyone() async throws {
        for person in [ada, grace] { try await remember(person, at: now, in: vault) }
        try await rememberOneself(in: vault)
        _ = try await PeopleVault.open(vault, community: "c")
        _ = try await EncounterLog(in: vault, community: "d").announce(ada, at: now)
        let deletion = try await stored.forgetEveryone()
        #expect(deletion.people == [ada, grace])
        #expect(deletion.records == [.encounters: 2, .profiles: 2, .photos: 2, .friends: 2, .own: 4])
        #expect(try await count(.encounters) == 1)
        #expect(try await StoredPeople(in: vault, community: "d").forgetEveryone().people == [ada])
        #expect(try await kinds(in: vault) == [])
        #expect(try await stored.forgetEveryone().isEmpty)
    }

    @Test("BE-29, CI50: after 31 days nothing of a person remains, and after 29 everything but past keys does")
    func retention() async throws {
        try await remember(ada, at: now, in: vault)
        let before = try await stored.expire(at: now + 29 * 86_400)
        #expect(before.records == [.friends: 1] && before.people == [ada])
        let after = try await stored.expire(at: now + 31 * 86_400)
        #expect(after.records == [.encounters: 1, .profiles: 1, .photos: 1])
        // The mark that friends have changed, which holds no name.
        try await vault.remove(ChangeMark.key(of: "c"))
        #expect(try await kinds(in: vault) == [])
    }

    @Test("a friend's keys stay to the end of their last day, and a quarter of an hour for its last window")
    func friendsKeys() async throws {
        try await remember(ada, at: now, in: vault)
        #expect(try await stored.expire(at: now + 7 * 86_400 + 899).isEmpty)
        #expect(try await stored.expire(at: now + 7 * 86_400 + 900).records == [.friends: 1])
    }

    @Test("CI50: 31 days after a pairing nothing of its card remains, and before its last day is over all of it does")
    func pairCard() async throws {
        let noon = try #require(Timestamp(secondsSince1970: now + 43_200))
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        let card = try await friend.pairingCard(
            in: CircleScope(circleAt: "https://circle.example"), number: ada, name: "Ada Example", at: noon)
        let keys = RollingKeys(in: vault, community: "c")
        #expect(try await keys.addPaired(card, at: noon) == ada)
        #expect(try await keys.friends().keys.count == 31)
        #expect(try await stored.expire(at: now + 31 * 86_400).isEmpty)
        let past = try await stored.expire(at: noon.secondsSince1970 + 31 * 86_400)
        #expect(past.records == [.friends: 1] && past.people == [ada])
        #expect(try await keys.friends().keys.isEmpty)
        #expect(try await count(.beaconFriend) == 0)
    }

    @Test("a profile or photo of a person whom the log does not have expires a minute after it came")
    func orphans() async throws {
        try await remember(ada, at: now, in: vault)
        try await EncounterLog(in: vault, community: "c").forget(ada)
        #expect(try await stored.expire(at: now + 60).isEmpty)
        #expect(try await stored.expire(at: now + 61).records == [.profiles: 1, .photos: 1])
    }

    @Test("what was stored at a time to come, before the clock was set back, expires")
    func future() async throws {
        try await remember(ada, at: now + 1e6, in: vault)
        #expect(try await stored.expire(at: now).records == [.profiles: 1, .photos: 1])
    }

    @Test("a watch that runs for weeks deletes what expires meanwhile, each six hours")
    func whileWatching() async throws {
        try await remember(ada, at: now, in: vault)
        let (_, ask) = AsyncStream.makeStream(of: Watch.Question.self)
        let (_, show) = AsyncStream.makeStream(of: Watch.Notice.self)
        let log = EncounterLog(in: vault, community: "c")
        let watch = Watch(log: log, ignoring: nil, report: { _ in }, ask: ask, show: show)
        for (hours, left) in [(0, 1), (24 * 30 - 1, 1), (24 * 30 + 5, 0)] {
            let time = now + Double(hours) * 3600
            await watch.take(SightingList(time: time, instant: .seconds(hours * 3600), sightings: []))
            #expect(try await count(.photo) == left, "after \(hours) hours")
        }
        try await vault.remove(ChangeMark.key(of: "c"))
        #expect(try await kinds(in: vault) == [])
    }

    @Test("CI50: a watch that runs for weeks removes alerts that have expired from where they are shown")
    func alertsWhileWatching() async throws {
        let (_, ask) = AsyncStream.makeStream(of: Watch.Question.self)
        let (_, show) = AsyncStream.makeStream(of: Watch.Notice.self)
        let (board, log) = (Board(), EncounterLog(in: vault, community: "c"))
        let watch = Watch(log: log, ignoring: nil, report: { _ in }, ask: ask, show: show, alerts: board)
        let notices = ShownNotices(in: vault, community: "c") { [now] in now }
        try await notices.note(1, of: "desktop", about: ada)
        for days in [29, 31] {
            let (time, instant) = (now + Double(days) * 86_400, Duration.seconds(days * 86_400))
            #expect(board.withdrawn.withLock(\.self) == [])
            await watch.take(SightingList(time: time, instant: instant, sightings: []))
        }
        #expect(board.withdrawn.withLock(\.self) == [[ada]])
        #expect(try await notices.people(before: .infinity).isEmpty)
    }

    @Test(
        "CI49: a byte search of the vault's files finds no name, before forgetting and after it, when no record is left"
    )
    func byteSearch() async throws {
        let folder = try TemporaryFolder()
        let files = try FileVault(directory: folder.path + "/vault", keyFile: folder.path + "/key")
        try await remember(ada, at: now, in: files)
        try await rememberOneself(in: files)
        func contents() throws -> [Data] {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .compactMap { FileManager.default.contents(atPath: folder.path + "/" + $0) }
        }
        let written = try contents()
        #expect(written.count > 7)
        #expect(!written.contains { $0.firstRange(of: Data("Ada".utf8)) != nil })
        _ = try await StoredPeople(in: files, community: "c").forgetEveryone()
        #expect(try await kinds(in: files) == [])
        let records = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/vault")
            .filter { $0.contains("/") && !$0.hasSuffix("/") }
        // A folder has no contents of its own.
        #expect(
            records.allSatisfy { FileManager.default.contents(atPath: folder.path + "/vault/" + $0)?.isEmpty ?? true },
            "\(records)")
    }

    // MARK: A run of the watch

    @Test(
        "CI49: what a running watch writes after everyone was forgotten is refused, and what it was writing is taken back"
    )
    func runningWatch() async throws {
        let period = try await PeopleVault.open(vault, community: "c")
        try await remember(ada, at: now, in: period)
        _ = try await stored.forgetEveryone()
        await #expect(throws: NearbyError.everyoneForgotten) { try await remember(ada, at: now, in: period) }
        #expect(try await kinds(in: vault) == [])

        // The check before the write passes, and everyone is forgotten before the record is there.
        let slow = PausingVault(vault)
        let next = try await PeopleVault.open(slow, community: "c")
        slow.beforeReplacing { [stored] in _ = try await stored.forgetEveryone() }
        await #expect(throws: NearbyError.everyoneForgotten) {
            try await EncounterLog(in: next, community: "c").announce(ada, at: now)
        }
        #expect(try await kinds(in: vault) == [])
    }

    @Test("a run ends when everyone is forgotten, and another run begins with another seed")
    func runEnds() async throws {
        let period = try await PeopleVault.open(vault, community: "c")
        let seed = try await RollingKeys(in: period, community: "c").seed().reveal()
        let clock = HurriedClock()
        let ending = try await period.run(on: clock) { [stored] in
            _ = try await stored.forgetEveryone()
            try await waitForCancellation()
        }
        #expect(ending == .everyoneForgotten)
        let again = try await PeopleVault.open(vault, community: "c")
        let (renewed, ended) = try await (again.isCurrent, period.isCurrent)
        #expect(renewed && !ended)
        #expect(try await RollingKeys(in: again, community: "c").seed().reveal() != seed)
        #expect(try await again.run(on: clock) {} == .ended)
        // A new seed, or another friend, is another basis.
        let changed = try await again.run(on: clock) { [vault] in
            try await RollingKeys(in: vault, community: "c").forgetSeed()
            try await waitForCancellation()
        }
        #expect(changed == .changed)
    }

    @Test("a run whose vault cannot be read goes on")
    func unreadable() async throws {
        let period = try await PeopleVault.open(vault, community: "c")
        #expect(try await period.isCurrent)
        let flaky = FlakyVault(vault)
        let run = try await PeopleVault.open(flaky, community: "c")
        flaky.isGone.withLock { $0 = true }
        let ending = try await run.run(on: HurriedClock()) { for _ in 0..<100 { await Task.yield() } }
        #expect(ending == .ended)
    }

    @Test("a replay that stores nothing reads the vault, and changes it in no way")
    func replay() async throws {
        try await remember(ada, at: now, in: vault)
        let replay = ReplayVault(over: vault)
        let log = EncounterLog(in: replay, community: "c")
        #expect(try await log.history(of: ada)?.known?.name == "Ada Example")
        try await log.introduce(ada, as: Person(name: "Another Name"))
        #expect(try await log.history(of: ada)?.known?.name == "Another Name")
        _ = try await log.announce(grace, at: now)
        #expect(try await replay.keys(of: .encounters).keys.count == 2)
        #expect(try await log.forget(ada))
        #expect(try await log.history(of: ada) == nil)
        #expect(try await replay.keys(of: .encounters).keys.map(\.components.last) == ["36"])
        _ = try await log.announce(ada, at: now)
        #expect(try await log.history(of: ada)?.known == nil)
        let untouched = EncounterLog(in: vault, community: "c")
        #expect(try await untouched.history(of: ada)?.known?.name == "Ada Example")
        #expect(try await untouched.history(of: grace) == nil)
    }
}

/// A vault that does something before it replaces a record, once.
private final class PausingVault: ForwardingVault {
    let base: MemoryVault
    private let before = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ base: MemoryVault) { self.base = base }

    func beforeReplacing(_ body: @escaping @Sendable () async throws -> Void) { before.withLock { $0 = body } }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { try await body(Record(base: $0, vault: self)) }
    }

    private struct Record: LockedRecord {
        let base: any LockedRecord
        let vault: PausingVault

        var contents: [UInt8]? { get async { await base.contents } }

        func replace(with contents: [UInt8]) async throws {
            let before = vault.before.withLock { before in
                defer { before = nil }
                return before
            }
            try await before?()
            try await base.replace(with: contents)
        }

        func remove() async throws { try await base.remove() }
    }
}

/// A vault of which some records are damaged: they are told of, and not listed.
private struct DamagedVault: ForwardingVault {
    let base: MemoryVault
    let damaged: Set<VaultKey>

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        let keys = try await base.keys(of: kind).keys
        return VaultListing(
            keys: keys.filter { !damaged.contains($0) },
            damaged: keys.filter { damaged.contains($0) }.map { Self.damage(of: $0) })
    }

    static func damage(of key: VaultKey) -> VaultError {
        .damaged(what: "the record \(key.kind.rawValue)", reason: "its contents are truncated")
    }
}

/// A vault that can be opened, and not read afterwards.
private final class FlakyVault: ForwardingVault {
    let base: MemoryVault
    let isGone = Mutex(false)

    init(_ base: MemoryVault) { self.base = base }

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        guard !isGone.withLock(\.self) else { throw VaultError.unavailable("the disk is gone") }
        return try await base.record(key)
    }
}
