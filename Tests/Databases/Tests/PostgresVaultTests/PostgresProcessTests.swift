import Foundation
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import PostgresVault

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

#if os(Linux) || os(macOS)
@Suite(
    "A PostgreSQL vault in several processes", .heavy, .ownThreads, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresProcessTests {
    private let folder: PostgresFolder

    init() async throws { folder = try await PostgresFolder() }

    @Test("VL1: two processes that update one key 10,000 times never overlap and lose nothing")
    func exclusivity() async throws {
        let vault = try await folder.vault(nil)
        async let first: Void = countInAnotherProcess(folder.place)
        async let second: Void = countInAnotherProcess(folder.place)
        _ = await (first, second)
        #expect(try await vault.count == 10_000)
        #expect(try await folder.look("SELECT version FROM @.lease") == [10_000])
    }

    @Test("VL44: four processes that migrate together make one vault, without an error")
    func migration() async throws {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<4 { group.addTask { await migrateInAnotherProcess(folder.place, index) } }
        }
        let listing = try await folder.place.open().keys(of: .signIn)
        #expect(listing.keys.count == 4 && listing.damaged.isEmpty)
        #expect(try await folder.look("SELECT count(*) FROM @.meta") == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.place.keys).count == 1)
    }

    @Test("VL2: a process that is killed with a key in its hand loses it when its lease has ended, and not before")
    func deadHolder() async throws {
        let vault = try await folder.vault(PostgresPlace.shortTiming)
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = folder.place as PostgresPlace] in
            try await place.open(timing: PostgresPlace.shortTiming).update(.alice) { record in
                try await record.replace(with: [1])
                kill(getpid(), SIGKILL)
            }
        }
        let error = await #expect(throws: VaultError.self) {
            try await folder.place.open(timeout: .zero, timing: PostgresPlace.shortTiming).put([2], under: .alice)
        }
        #expect(error?.code == "vault_busy")
        try await vault.update(.alice) { #expect(await $0.contents == [1]) }
        #expect(try await folder.look("SELECT fence FROM @.lease") == [2])
    }

    #if os(Linux)
    @Test(
        "VL5: a holder that was stopped until another one took its record writes nothing when it goes on",
        .timeLimit(.minutes(10)))
    func stoppedHolder() async throws {
        let vault = try await folder.vault(PostgresPlace.shortTiming)
        async let holder: Void = holdWhileStopped(folder.place)
        try await folder.place.whileStopped { try await vault.put([2], under: .alice) }
        await holder
        #expect(try await vault.record(.alice) == [2])
    }

    @Test(
        "VL4: a holder that was stopped while no other waited stores its answer when it goes on",
        .timeLimit(.minutes(10)))
    func stoppedAlone() async throws {
        let vault = try await folder.vault()
        async let holder: Void = holdWhileStopped(folder.place, isRobbed: false)
        try await folder.place.whileStopped {
            // As if the lease had ended a minute ago by the server's clock.
            try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
        }
        await holder
        #expect(try await vault.record(.alice) == [3])
    }
    #endif

    /// 6 rounds, or as many as `HANDSHAKE_KILL_ROUNDS` says.
    @Test("VL2, E1, E6: kill -9 at any moment tears and loses no record")
    func kills() async throws {
        _ = try await folder.vault()
        let rounds = ProcessInfo.processInfo.environment["HANDSHAKE_KILL_ROUNDS"].flatMap(Int.init) ?? 6
        let harness = KillHarness(path: folder.place.journal)
        for round in 0..<rounds {
            await beKilledInAnotherProcess(folder.place)
            try await harness.check(round: round, in: folder.place.open(timing: PostgresPlace.shortTiming))
        }
        #expect(try harness.journal().done.values.reduce(0, +) >= UInt64(rounds))
    }

    @Test("VL47: a listing goes by pages and has every record once, while others come and go")
    func listing() async throws {
        let vault = try await folder.vault(nil)
        let names = (0..<1_100).map(String.init)
        await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    for name in names where Int(name)! % 4 == part {
                        try await vault.put([], under: VaultKey(.delivery, [name]))
                    }
                }
            }
        }
        try await vault.expectListings(of: names, times: 3, while: 30)
        let sizes = Mutex<[Int]>([])
        try await vault.forEachPage(of: .delivery) { page in sizes.withLock { $0.append(page.keys.count) } }
        // A listing begins at a random place and goes round, so its last page may be a third one.
        let pages = sizes.withLock { $0 }
        #expect((2...3).contains(pages.count) && pages.allSatisfy { $0 <= 1_000 })
    }
}

private func countInAnotherProcess(_ place: PostgresPlace) async {
    await #expect(processExitsWith: .success) { [place = place as PostgresPlace] in
        try await place.open(timing: nil).countOn()
    }
}

private func migrateInAnotherProcess(_ place: PostgresPlace, _ index: Int) async {
    await #expect(processExitsWith: .success) { [place = place as PostgresPlace, index = index as Int] in
        _ = try await place.migrate()
        try await place.open().put([1], under: VaultKey(.signIn, ["\(index)"]))
    }
}

private func holdWhileStopped(_ place: PostgresPlace, isRobbed: Bool = true) async {
    await #expect(processExitsWith: .success) { [place = place as PostgresPlace, isRobbed = isRobbed as Bool] in
        try await place.open(timing: PostgresPlace.shortTiming).update(.alice) { record in
            try await record.replace(with: [1])
            place.stop()
            if isRobbed {
                for _ in 1...2 {
                    let error = await #expect(throws: VaultError.self) { try await record.replace(with: [3]) }
                    #expect(error?.code == "vault_unavailable")
                }
            } else {
                try await record.replace(with: [3])
            }
        }
    }
}

private func beKilledInAnotherProcess(_ place: PostgresPlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as PostgresPlace] in
        let harness = KillHarness(path: place.journal)
        let vault = try await place.open(timing: PostgresPlace.shortTiming)
        try await harness.work(in: vault) { killAtRandom(countingUpTo: 3_000_000) }
    }
}
#endif
