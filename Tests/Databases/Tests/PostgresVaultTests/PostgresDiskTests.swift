#if os(Linux)
import Foundation
import HTTPTypes
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import PostgresVault

/// Unlike a function of the database that refuses a write: here the operating system has no room, and the server finds it where it may.
@Suite(
    "A PostgreSQL server whose disk is full", .heavy, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"),
    .enabled(if: SmallDisk.isPossible, "this process may not mount a file system"))
struct PostgresDiskTests {
    private let disk: SmallDisk
    private let server: PostgresServer
    private let folder: PostgresFolder
    private let vault: PostgresVault

    init() async throws {
        disk = try await PostgresServer.blocking { try SmallDisk(megabytes: 64) }
        server = try await PostgresServer.running(storage: disk.storage(ofLog: false))
        folder = try await PostgresFolder(server)
        vault = try await folder.vault(nil)
    }

    @Test("VL40: a full disk below the tables loses nothing, names itself and the cure, and ends when there is room")
    func tables() async throws {
        try await vault.put([1], under: .alice)
        try disk.fill()
        // Of a record as large as may be, the server has no room for long.
        let large = [UInt8](repeating: 7, count: 1 << 20)
        var stored = 0
        let error = await #expect(throws: VaultError.self) {
            while stored < 200 {
                try await vault.put(large, under: VaultKey(.account, ["\(stored)"]))
                stored += 1
            }
        }
        #expect(error?.code == "vault_unavailable")
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("no space is left") && text.contains("Make room"))
        // Nothing that was stored is lost, and what was not is not half there.
        #expect(try await vault.record(.alice) == [1])
        for index in 0..<stored { #expect(try await vault.record(VaultKey(.account, ["\(index)"])) == large) }
        #expect(try await vault.record(VaultKey(.account, ["\(stored)"])) == nil)
        try disk.clear()
        try await vault.put(large, under: VaultKey(.account, ["\(stored)"]))
        try await vault.put([2], under: .alice)
        #expect(try await folder.place.open().record(VaultKey(.account, ["\(stored)"])) == large)
        #expect(try await folder.place.open().record(.alice) == [2])
    }

    @Test(
        "VL40: an answer that a full disk has no room for is stored when there is room, and the service is not asked again"
    )
    func answer() async throws {
        var service = try StrictService(folder.place)
        // A record that lies beside its row: each change of it needs room.
        service.padding = String(repeating: "x", count: 50_000)
        try await service.make(accountIn: vault)
        let isFilling = Shared(false)
        service.isProcessed = { [disk] in if isFilling.value { try? disk.fill() } }
        let account = try #require(try await service.app(vault).account())
        try await account.refresh()
        isFilling.change { $0 = true }
        // After 30 s, in which there might have been room.
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_unavailable" && error.map { "\($0)".contains("Make room") } == true)
        #expect(try await service.sends() == 2)
        isFilling.change { $0 = false }
        try disk.clear()
        #expect(try await account.send(.get, "me").head.status == .ok)
        #expect(try await service.sends() == 2)
        let stored = try #require(try await service.app(folder.place.open()).account())
        #expect(stored.status.state == .signedIn && stored.status.generation == account.status.generation)
    }
}

/// With a server that cannot go on without room, and ends.
@Suite(
    "A PostgreSQL server whose log has no room", .heavy, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"),
    .enabled(if: SmallDisk.isPossible, "this process may not mount a file system"))
struct PostgresLogDiskTests {
    @Test(
        "VL40: a server that ends because its log has no room loses nothing, and what waits for it is stored afterwards"
    )
    func log() async throws {
        let disk = try await PostgresServer.blocking { try SmallDisk(megabytes: 24) }
        let server = try await PostgresServer.running(storage: disk.storage(ofLog: true))
        let folder = try await PostgresFolder(server)
        let vault = try await folder.vault(nil)
        try await vault.put([9], under: .bob)
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            try disk.fill()
            // Until the server has ended.
            while (try? await folder.edit("SELECT pg_logical_emit_message(false, 'x', repeat('x', 100000))")) != nil {}
            await #expect(throws: PostgresFailure.self) { try await folder.edit("SELECT 1") }
            let writing = Task { try await record.replace(with: [2]) }
            try await server.restart(isImmediate: true) { try disk.clear() }
            try await writing.value
        }
        #expect(try await vault.record(.alice) == [2])
        #expect(try await vault.record(.bob) == [9])
        try await vault.put([3], under: .alice)
        #expect(try await folder.place.open().record(.alice) == [3])
    }
}
#endif
