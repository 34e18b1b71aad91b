import Foundation
import GRDB
import Handshake
import SQLiteVault
import TestFixtures
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

#if os(Linux) || os(macOS)
@Suite("A SQLite vault in several processes", .heavy, .ownThreads, .serialized)
struct SQLiteProcessTests {
    private let folder: SQLiteFolder

    init() throws { folder = try SQLiteFolder() }

    @Test("VL1: two processes that update one key 10,000 times never overlap and lose nothing")
    func exclusivity() async throws {
        let vault = try folder.vault()
        async let first: Void = countInAnotherProcess(folder.place)
        async let second: Void = countInAnotherProcess(folder.place)
        _ = await (first, second)
        #expect(try await vault.count == 10_000)
        #expect(try folder.look("SELECT version FROM lease") == [10_000])
    }

    @Test("VL44: four processes that migrate together make one vault, without an error")
    func migration() async throws {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<4 { group.addTask { await migrateInAnotherProcess(folder.place, index) } }
        }
        let listing = try await folder.place.open().keys(of: .signIn)
        #expect(listing.keys.count == 4 && listing.damaged.isEmpty)
        #expect(try folder.look("SELECT count(*) FROM meta") == [1])
    }

    @Test("VL2: a process that dies while it holds a key releases it immediately")
    func deadHolder() async throws {
        _ = try folder.vault()
        let place = folder.place
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as SQLitePlace] in
            try await place.open().update(.alice) { record in
                try await record.replace(with: [1])
                kill(getpid(), SIGKILL)
            }
        }
        try await place.open(timeout: .zero).update(.alice) { #expect(await $0.contents == [1]) }
    }

    @Test("VL30: a key that another process holds is busy when the wait ends, and nothing changed")
    func busy() async throws {
        let vault = try folder.vault()
        try await vault.put([1], under: .alice)
        let place = folder.place
        try await vault.update(.alice) { record in
            await #expect(processExitsWith: .success) { [place = place as SQLitePlace] in
                let error = await #expect(throws: VaultError.self) {
                    try await place.open(timeout: .zero).put([2], under: .alice)
                }
                #expect(error?.code == "vault_busy")
            }
            try await record.replace(with: [3])
        }
        #expect(try await vault.record(.alice) == [3])
    }

    @Test("VL35: while a body runs no transaction is open: another program can take the whole database")
    func body() async throws {
        let vault = try folder.vault()
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            try folder.edit("BEGIN EXCLUSIVE; CREATE TABLE other (x); COMMIT")
            try await record.replace(with: [2])
        }
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL40: a full disk at a commit leaves the old record or the new one, and the vault goes on afterwards")
    func full() async throws {
        _ = try folder.vault()
        let place = folder.place
        await #expect(processExitsWith: .success) { [place = place as SQLitePlace] in
            let vault = try place.open()
            try await vault.put([1], under: .alice)
            signal(SIGXFSZ, SIG_IGN)
            limitFileSize(to: 100_000)
            let error = await #expect(throws: VaultError.self) {
                try await vault.put([UInt8](repeating: 2, count: 500_000), under: .alice)
            }
            #expect(error?.code == "vault_unavailable")
            #expect(try await vault.record(.alice) == [1])
            // Within one hold too: what failed does not end it.
            try await vault.update(.alice) { record in
                await #expect(throws: VaultError.self) {
                    try await record.replace(with: [UInt8](repeating: 3, count: 500_000))
                }
                limitFileSize(to: rlim_t.max)
                try await record.replace(with: [4])
            }
        }
        #expect(try await place.open().record(.alice) == [4])
        try await place.open().checkIntegrity()
    }

    /// 20 rounds, or as many as `HANDSHAKE_KILL_ROUNDS` says.
    @Test("VL2, E1, E6: kill -9 at any moment tears and loses no record")
    func kills() async throws {
        _ = try folder.vault()
        let rounds = ProcessInfo.processInfo.environment["HANDSHAKE_KILL_ROUNDS"].flatMap(Int.init) ?? 20
        let harness = KillHarness(path: folder.place.journal)
        for round in 0..<rounds {
            await beKilledInAnotherProcess(folder.place, fromTheStart: round % 2 == 0)
            try await harness.check(round: round, in: folder.place.open())
        }
        let journal = try harness.journal()
        #expect(journal.done.values.reduce(0, +) >= UInt64(rounds / 2), "every other process replaces a record first")
        try await folder.place.open().checkIntegrity()
    }

    @Test("kill -9 while a vault is made leaves one that is made, or one that the next call makes")
    func killedMigration() async throws {
        let place = folder.place
        for _ in 0..<5 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as SQLitePlace] in
                killAtRandom(countingUpTo: 2_000_000)
                _ = try place.migrate()
                while true { try await Task.sleep(for: .seconds(1)) }
            }
            _ = try place.migrate()
            try await place.open().put([1], under: .alice)
            #expect(try await place.open().record(.alice) == [1])
            try FileManager.default.removeItem(atPath: place.parent + "/data")
        }
    }

    @Test("VL47: a listing goes by pages and has every record once, while others come and go")
    func listing() async throws {
        let vault = try folder.vault()
        let names = (0..<2_300).map(String.init)
        for name in names { try await vault.put([], under: VaultKey(.delivery, [name])) }
        try await vault.expectListings(of: names, times: 5, while: 60)
    }

    @Test("a listing of a table begins at a random record, so that none is always last")
    func randomStart() async throws {
        let vault = try folder.vault()
        let names = (10..<50).map(String.init)
        for name in names { try await vault.put([], under: VaultKey(.delivery, [name])) }
        var firsts: Set<String> = []
        for _ in 0..<10 {
            let listed = try await vault.keys(of: .delivery).keys.map { $0.components[0] }
            #expect(listed.sorted() == names)
            firsts.insert(listed.first ?? "")
        }
        #expect(firsts.count > 1)
    }

    @Test("names of records that were removed a month ago are forgotten, and others are not")
    func oldLeases() async throws {
        let vault = try folder.vault()
        for name in ["old", "new", "kept", "removed now"] { try await vault.put([1], under: VaultKey(.signIn, [name])) }
        for name in ["old", "new"] { try await vault.remove(VaultKey(.signIn, [name])) }
        try folder.edit(
            "UPDATE lease SET freed_at = freed_at - 31 * 86400000 WHERE name = (SELECT name FROM lease WHERE freed_at IS NOT NULL LIMIT 1)"
        )
        try await vault.remove(VaultKey(.signIn, ["removed now"]))
        #expect(try folder.look("SELECT count(*) FROM lease") == [3])
        #expect(try await vault.record(VaultKey(.signIn, ["kept"])) == [1])
        for name in ["old", "new"] {
            try await vault.put([2], under: VaultKey(.signIn, [name]))
            #expect(try await vault.record(VaultKey(.signIn, [name])) == [2])
        }
    }
}

private func countInAnotherProcess(_ place: SQLitePlace) async {
    await #expect(processExitsWith: .success) { [place = place as SQLitePlace] in
        try await place.open().countOn()
    }
}

private func migrateInAnotherProcess(_ place: SQLitePlace, _ index: Int) async {
    await #expect(processExitsWith: .success) { [place = place as SQLitePlace, index = index as Int] in
        _ = try place.migrate()
        try await place.open().put([1], under: VaultKey(.signIn, ["\(index)"]))
    }
}

private func beKilledInAnotherProcess(_ place: SQLitePlace, fromTheStart: Bool) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
        [place = place as SQLitePlace, fromTheStart = fromTheStart as Bool] in
        try await KillHarness(path: place.journal).beKilled(fromTheStart: fromTheStart) { try place.open() }
    }
}
#endif
