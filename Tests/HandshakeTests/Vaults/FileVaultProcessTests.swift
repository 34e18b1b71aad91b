import Foundation
import Handshake
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
@Suite("A file vault in several processes", .heavy, .ownThreads, .serialized)
struct FileVaultProcessTests {
    private let folder: VaultFolder

    init() throws { folder = try VaultFolder() }

    @Test("E2: two processes that count in one record lose nothing, and a third sees it")
    func exclusivity() async throws {
        async let first: Void = countInAnotherProcess(folder.place)
        async let second: Void = countInAnotherProcess(folder.place)
        _ = await (first, second)
        #expect(try await folder.open().record(.alice)?.count == 400)
    }

    @Test("processes that create one vault concurrently agree on its key")
    func racingOpens() async throws {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<4 {
                group.addTask { await putInAnotherProcess(folder.place, index) }
            }
        }
        let listing = try await folder.open().keys(of: .signIn)
        #expect(listing.keys.count == 4 && listing.damaged.isEmpty)
    }

    @Test("a process that dies with a key in its hand releases it")
    func deadHolder() async throws {
        let place = folder.place
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as VaultPlace] in
            try await place.open().update(.alice) { record in
                try await record.replace(with: [1])
                kill(getpid(), SIGKILL)
            }
        }
        try await folder.open(timeout: .zero).update(.alice) { #expect(await $0.contents == [1]) }
    }

    @Test("a write that the system cuts short and then refuses leaves the old record and nothing else")
    func shortWrite() async throws {
        let place = folder.place
        await #expect(processExitsWith: .success) { [place = place as VaultPlace] in
            let vault = try place.open()
            try await vault.put([1], under: .alice)
            signal(SIGXFSZ, SIG_IGN)
            limitFileSize(to: 1000)
            let error = await #expect(throws: VaultError.self) {
                try await vault.put([UInt8](repeating: 2, count: 5000), under: .alice)
            }
            limitFileSize(to: rlim_t.max)
            #expect(error?.code == "vault_unavailable")
            #expect(try await vault.record(.alice) == [1])
        }
        #expect(try await folder.open().record(.alice) == [1])
        #expect(folder.files().count == 4)
    }

    /// 20 rounds, or as many as `HANDSHAKE_KILL_ROUNDS` says.
    @Test("E1, E6: kill -9 at any moment tears and loses no record")
    func kills() async throws {
        let rounds = ProcessInfo.processInfo.environment["HANDSHAKE_KILL_ROUNDS"].flatMap(Int.init) ?? 20
        let harness = KillHarness(path: folder.place.journal)
        for round in 0..<rounds {
            await beKilledInAnotherProcess(folder.place, fromTheStart: round % 2 == 0)
            try await harness.check(round: round, in: folder.open())
            #expect(folder.files().allSatisfy { !$0.hasSuffix(".new") }, "round \(round): unfinished files remain")
        }
        let journal = try harness.journal()
        #expect(journal.done.values.reduce(0, +) >= UInt64(rounds / 2), "every other process replaces a record first")
    }
}

private func countInAnotherProcess(_ place: VaultPlace) async {
    await #expect(processExitsWith: .success) { [place = place as VaultPlace] in
        let vault = try place.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<50 { try await vault.increment(.alice) } }
            }
            try await group.waitForAll()
        }
    }
}

private func putInAnotherProcess(_ place: VaultPlace, _ index: Int) async {
    await #expect(processExitsWith: .success) { [place = place as VaultPlace, index = index as Int] in
        let vault = try place.open()
        try await vault.put([1], under: VaultKey(.signIn, ["\(index)"]))
    }
}

private func beKilledInAnotherProcess(_ place: VaultPlace, fromTheStart: Bool) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
        [place = place as VaultPlace, fromTheStart = fromTheStart as Bool] in
        try await KillHarness(path: place.journal).beKilled(fromTheStart: fromTheStart) { try place.open() }
    }
}
#endif
