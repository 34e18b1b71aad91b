import Foundation
import Handshake
import OAuth
import RecurseCenter
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("The directory of people", .heavy)
struct ProfileDirectoryTests {
    /// A service that counts who is asked for, and answers as the test says.
    private final class Lookups: Sendable {
        private let asked = Mutex<[Int64]>([])
        private let answers = Mutex<[Int64: Result<String, RecurseCenterError>]>([:])

        var count: Int { asked.withLock { $0.count } }

        func answer(_ id: Int64, _ result: Result<String, RecurseCenterError>) {
            answers.withLock { $0[id] = result }
        }

        func profile(_ id: PersonID) throws -> Profile {
            asked.withLock { $0.append(id.number) }
            let name = try answers.withLock { $0[id.number] }?.get() ?? "Person \(id)"
            return try Profile(.object(["id": .number(id.description), "name": .string(name)]))
        }
    }

    private let vault = MemoryVault()
    private let time = TestTime()
    private let lookups = Lookups()

    private func directory(
        lifetime: Duration = .seconds(3600), capacity: Int = 100, in vault: (any Vault)? = nil
    ) -> ProfileDirectory {
        ProfileDirectory(
            in: vault ?? self.vault, community: "recurse-center", account: "ada", lifetime: lifetime,
            capacity: capacity, time: time.source
        ) { [lookups] in try lookups.profile($0) }
    }

    /// The people whose profiles are stored, in order.
    private var stored: [String] {
        get async throws { try await vault.keys(of: .profile).keys.compactMap(\.components.last).sorted() }
    }

    private func id(_ number: Int64) throws -> PersonID {
        try #require(PersonID(number))
    }

    private static let offline = RecurseCenterError.account(.network(.unreachable(host: "h", reason: "no route")))

    @Test("D4, scenario 5: two people in range for five minutes, once a second, are asked for once each")
    func inRange() async throws {
        let directory = directory()
        for _ in 0..<300 {
            for number: Int64 in [1, 2] { _ = try await directory.entry(id(number)) }
            time.advance(by: 1)
        }
        #expect(lookups.count == 2)
    }

    @Test("D4, RC-19: a hundred concurrent look-ups of one person cause one request")
    func concurrently() async throws {
        try await withHub { hub in
            try hub.inject("/api/v1/profiles/70000 => delay 0.05")
            let directory = ProfileDirectory(hub.center, in: vault)
            let quentin = try id(70_000)
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await directory.entry(quentin).profile.name } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(names == ["Quentin Late"])
            #expect(hub.paths == ["profiles/70000"])
        }
    }

    @Test("a caller who leaves does not take the answer from the others")
    func leaving() async throws {
        try await withHub { hub in
            try hub.inject("/api/v1/profiles/70000 => delay 0.2")
            let directory = ProfileDirectory(hub.center, in: vault)
            let quentin = try id(70_000)
            let leaver = Task { try await directory.entry(quentin) }
            let stayer = Task { try await directory.entry(quentin) }
            leaver.cancel()
            await #expect(throws: CancellationError.self) { try await leaver.value }
            #expect(try await stayer.value.profile.name == "Quentin Late")
            #expect(hub.paths == ["profiles/70000"])
        }
    }

    @Test("D5: an unknown person is looked up again after a minute, two, four, and at last once a day")
    func unknown() async throws {
        let directory = directory()
        let stranger = try id(404)
        lookups.answer(404, .failure(.unknownPerson(.id(stranger))))
        var moments: [Double] = []
        for _ in 0..<(4 * 24 * 60) {
            let before = lookups.count
            #expect(await centerError { try await directory.entry(stranger) } == .unknownPerson(.id(stranger)))
            if lookups.count > before { moments.append(time.elapsed.rounded()) }
            time.advance(by: 60)
        }
        #expect(
            zip(moments, moments.dropFirst()).map { $1 - $0 } == [
                60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 86_400, 86_400,
            ])
    }

    @Test("D5: a service that cannot be asked is asked again after 1, 2, 4 … 60 seconds, and success ends it")
    func passing() async throws {
        let directory = directory()
        let person = try id(7)
        lookups.answer(7, .failure(Self.offline))
        var moments: [Double] = []
        for _ in 0..<250 {
            let before = lookups.count
            #expect(await centerError { try await directory.entry(person) } == Self.offline)
            if lookups.count > before { moments.append(time.elapsed.rounded()) }
            time.advance(by: 1)
        }
        #expect(zip(moments, moments.dropFirst()).map { $1 - $0 } == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        lookups.answer(7, .success("Back"))
        time.advance(by: 60)
        #expect(try await directory.entry(person).profile.name == "Back")
    }

    @Test("D5: a failure of one person does not stand in another one's way")
    func apart() async throws {
        let directory = directory()
        lookups.answer(7, .failure(Self.offline))
        _ = await centerError { try await directory.entry(id(7)) }
        #expect(try await directory.entry(id(8)).profile.name == "Person 8")
    }

    @Test("D9: after its lifetime a profile is fetched again, with its new name")
    func refreshed() async throws {
        let directory = directory()
        let person = try id(1)
        #expect(try await directory.entry(person).profile.name == "Person 1")
        lookups.answer(1, .success("New Name"))
        time.advance(by: 3599)
        #expect(try await directory.entry(person).profile.name == "Person 1")
        time.advance(by: 1)
        #expect(try await directory.entry(person).profile.name == "New Name")
        #expect(lookups.count == 2)
    }

    @Test("D9: a person who was deleted at the service is gone after the lifetime, here and in the folder")
    func deleted() async throws {
        let directory = directory()
        let person = try id(1)
        _ = try await directory.entry(person)
        lookups.answer(1, .failure(.unknownPerson(.id(person))))
        time.advance(by: 3600)
        #expect(await centerError { try await directory.entry(person) } == .unknownPerson(.id(person)))
        #expect(await directory.known(person) == nil)
        #expect(try await stored.isEmpty)
    }

    @Test("RC-23: while the service cannot be asked, what is known is answered, old as it is")
    func stale() async throws {
        let directory = directory()
        let person = try id(1)
        let entry = try await directory.entry(person)
        #expect(!entry.isStale)
        lookups.answer(1, .failure(Self.offline))
        time.advance(by: 1e6)
        let old = try await directory.entry(person)
        #expect(old.isStale)
        #expect(old.profile == entry.profile)
        #expect(old.fetchedAt == entry.fetchedAt)
        _ = try await directory.entry(person)
        #expect(lookups.count == 2)
        lookups.answer(1, .success("Now"))
        time.advance(by: 1)
        #expect(try await directory.entry(person).isStale == false)
    }

    @Test("RC-23: people survive the process, for their account alone")
    func restart() async throws {
        do {
            let directory = directory()
            for number: Int64 in [1, 2, 70_000] { _ = try await directory.entry(id(number)) }
        }
        let later = directory()
        lookups.answer(1, .failure(Self.offline))
        #expect(await later.everyone().map(\.profile.id.number) == [1, 2, 70_000])
        #expect(try await later.entry(id(1)).profile.name == "Person 1")
        #expect(lookups.count == 3)
        #expect(try await stored == ["1", "2", "70000"])
        let other = ProfileDirectory(in: vault, community: "recurse-center", account: "eve") { [lookups] in
            try lookups.profile($0)
        }
        #expect(await other.everyone().isEmpty)
    }

    @Test(
        "a record that is damaged or another person's counts as absent",
        arguments: [[], [1, 2], Array("not a time {}".utf8), [0, 0, 0, 0, 0, 0, 0, 0] + Array(#"{"id":2}"#.utf8)])
    func damaged(_ bytes: [UInt8]) async throws {
        let key = VaultKey(.profile, ["recurse-center", "ada", "1"])
        try await vault.update(key) { try await $0.replace(with: bytes) }
        let directory = directory()
        #expect(try await directory.known(id(1)) == nil)
        #expect(try await directory.entry(id(1)).profile.name == "Person 1")
        #expect(try await directory.known(id(1)) != nil)
    }

    @Test("a clock that was set back does not keep a profile for ever")
    func clockSetBack() async throws {
        _ = try await directory().entry(id(1))
        let before = TestTime(1_000_000_000)
        let later = ProfileDirectory(
            in: vault, community: "recurse-center", account: "ada", time: before.source
        ) { [lookups] in try lookups.profile($0) }
        _ = try await later.entry(id(1))
        #expect(lookups.count == 2)
    }

    @Test("RC-27: who is forgotten is gone from memory and vault, also while being looked up")
    func forget() async throws {
        let directory = directory()
        _ = try await directory.entry(id(1))
        #expect(try await directory.forget(id(1)))
        #expect(try await directory.known(id(1)) == nil)
        #expect(try await stored.isEmpty)

        let started = AsyncStream.makeStream(of: Void.self)
        let release = AsyncStream.makeStream(of: Void.self)
        let slow = ProfileDirectory(
            in: vault, community: "recurse-center", account: "slow", time: time.source
        ) { [lookups] id in
            started.continuation.yield()
            for await _ in release.stream { break }
            return try lookups.profile(id)
        }
        let person = try id(2)
        let lookup = Task { try await slow.entry(person) }
        for await _ in started.stream { break }
        try await slow.forget(person)
        release.continuation.yield()
        #expect(try await lookup.value.profile.id == person)
        #expect(await slow.known(person) == nil)
        #expect(try await stored.isEmpty)
    }

    @Test("no more people are kept than there is room for; the oldest goes first")
    func bounded() async throws {
        let directory = directory(capacity: 3)
        for number: Int64 in 1...5 {
            _ = try await directory.entry(id(number))
            time.advance(by: 1)
        }
        #expect(await directory.everyone().map(\.profile.id.number) == [3, 4, 5])
        #expect(try await stored == ["3", "4", "5"])
    }

    @Test("a vault that cannot be written costs the records, not the answers, and is told of")
    func vaultGone() async throws {
        let directory = directory(in: ReadOnlyVault())
        #expect(try await directory.entry(id(1)).profile.name == "Person 1")
        #expect(await directory.vaultFailure == .unavailable("disk full"))
        #expect(try await directory.entry(id(1)).isStale == false)
    }
}
