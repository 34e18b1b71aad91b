import Foundation
import Handshake
import SQLiteVault
import TestFixtures
import Testing

@Suite("Copying to and from a SQLite vault", .heavy, .ownThreads, .serialized)
struct SQLiteCopyTests {
    private static let names = (0..<300).map(String.init)
    private let folder: SQLiteFolder
    private let place: SQLitePlace

    init() async throws {
        folder = try SQLiteFolder()
        place = folder.place
        let vault = try folder.vault()
        for name in Self.names { try await vault.put(Array(name.utf8), under: VaultKey(.account, [name])) }
        try await vault.put([1], under: VaultKey(.signIn, ["pending"]))
    }

    @Test("a copy that is killed at any moment is completed by the next, there and back")
    func killed() async throws {
        for _ in 0..<4 { await copyInAnotherProcess(place) }
        let vault = try place.open()
        let files = try place.files()
        let report = try await vault.copyRecords(to: files)
        #expect(report.isComplete && report.copied + report.present == 301)
        #expect(try await files.inventory().failures.isEmpty)
        for name in Self.names { try await vault.remove(VaultKey(.account, [name])) }
        let back = try await files.copyRecords(to: vault)
        #expect(back.isComplete && back.copied == 300 && back.present == 1)
        for name in Self.names { #expect(try await vault.record(VaultKey(.account, [name])) == Array(name.utf8)) }
    }

    @Test("an inventory asks for names a page at a time, and never for all of them")
    func inventoryOfPages() async throws {
        let paged = PagedVault(base: try place.open())
        let inventory = try await paged.inventory()
        #expect(inventory.failures.isEmpty)
        #expect(inventory.counts.map(\.records).sorted() == [1, 300])
        #expect(inventory.counts.map(\.bytes).sorted() == [1, 10 + 2 * 90 + 3 * 200])
        #expect(inventory.counts.map(\.largest).sorted() == [1, 3])
        #expect(paged.pages.value == 301)
    }

    @Test("damaged records are counted and left out, and the rest is copied")
    func damaged() async throws {
        try folder.edit(
            "UPDATE record SET body = zeroblob(64) WHERE rowid = 1; UPDATE record SET label = zeroblob(64) WHERE rowid = 2"
        )
        let vault = try place.open()
        #expect(try await vault.inventory().failures.map(\.code) == ["vault_damaged", "vault_damaged"])
        let report = try await vault.copyRecords(to: MemoryVault())
        #expect(report.copied == 299 && report.failures.count == 2 && !report.isComplete)
        try await vault.checkIntegrity()
    }
}

extension SQLitePlace {
    fileprivate func files() throws -> FileVault {
        try FileVault(directory: parent + "/files", keyFile: parent + "/files.key")
    }
}

/// Copies until it is done or killed, whichever comes first.
private func copyInAnotherProcess(_ place: SQLitePlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as SQLitePlace] in
        killAtRandom(countingUpTo: 10_000_000)
        _ = try await place.open().copyRecords(to: place.files())
        while true { try await Task.sleep(for: .seconds(1)) }
    }
}
