import Foundation
import Handshake
import SQLiteVault
import TestFixtures
import Testing

@Suite("Rotating the key of a SQLite vault", .heavy, .ownThreads, .serialized)
struct SQLiteRotationTests {
    private static let names = (0..<40).map(String.init)
    private let folder: SQLiteFolder
    private let place: SQLitePlace
    private let vault: SQLiteVault

    init() async throws {
        folder = try SQLiteFolder()
        place = folder.place
        vault = try folder.vault()
        for name in Self.names { try await vault.put(Array(name.utf8), under: VaultKey(.account, [name])) }
    }

    @Test("a rotation seals every record with a new key and retires the old one, which nothing needs any more")
    func rotated() async throws {
        for number in Int64(2)...3 {
            let rotation = try await vault.rotateKey()
            #expect(rotation.key == number && rotation.resealed == 40 && rotation.isComplete && !rotation.isResumed)
            #expect(rotation.retired == [number - 1])
            #expect(try folder.look("SELECT DISTINCT key FROM record") == [number])
        }
        for file in [place.keyFile, try folder.keyFile(2)] { try FileManager.default.removeItem(atPath: file) }
        for opened in [vault, try place.open()] {
            try await expectAll(in: opened)
            try await opened.put([1], under: .alice)
            #expect(try await opened.record(.alice) == [1])
        }
        #expect(try folder.look("SELECT state FROM key ORDER BY id") == ["retired", "retired", "active"])
    }

    @Test("a vault that was opened before a rotation reads, lists and writes with the new key")
    func openBefore() async throws {
        let (reader, lister) = (try place.open(), try place.open())
        let (writer, maker) = (try place.open(), try place.open())
        _ = try await vault.rotateKey()
        #expect(try await reader.record(VaultKey(.account, ["7"])) == Array("7".utf8))
        #expect(try await lister.keys(of: .account).keys.count == 40)
        try await writer.put([9], under: VaultKey(.account, ["7"]))
        try await maker.put([9], under: .alice)
        #expect(try folder.look("SELECT DISTINCT key FROM record") == [2])
        #expect(try await reader.record(.alice) == [9])
    }

    @Test("what a holder writes during a rotation has the new key, and the rotation waits for the record")
    func held() async throws {
        let key = VaultKey(.account, ["7"])
        let clock = ManualClock()
        let rotator = try place.open(clock: clock)
        let rotating = try await vault.update(key) { record in
            let rotating = Task { try await rotator.rotateKey() }
            let isWaiting = Shared(false)
            Task {
                await clock.sleepers(1)
                isWaiting.change { $0 = true }
            }
            // Until the rotation waits for this record, or has passed all of them.
            while !isWaiting.value, try folder.look("SELECT count(*) FROM record WHERE key = 1") != [0] {
                await Task.yield()
            }
            try await record.replace(with: [9])
            return rotating
        }
        clock.advance(by: .milliseconds(10))
        #expect(try await rotating.value.retired == [1])
        #expect(try await vault.record(key) == [9])
        #expect(try folder.look("SELECT DISTINCT key FROM record") == [2])
    }

    @Test("a record that does not open keeps its key in use, and a rotation without it completes this one")
    func damaged() async throws {
        try folder.edit("UPDATE record SET body = zeroblob(64) WHERE rowid = 8")
        let first = try await vault.rotateKey()
        #expect(first.resealed == 39 && first.retired.isEmpty && first.failures.map(\.code) == ["vault_damaged"])
        let key = VaultKey(.account, [Self.names[7]])
        let error = await #expect(throws: VaultError.self) { try await vault.record(key) }
        #expect(error?.code == "vault_damaged")
        #expect(try await vault.remove(key))
        let second = try await vault.rotateKey()
        #expect(second.key == 2 && second.isResumed && second.retired == [1] && second.isComplete)
    }

    @Test("records that do not open keep the vault from no further key, and each keeps its own key in use")
    func damagedAgain() async throws {
        for number in Int64(2)...4 {
            try folder.edit("UPDATE record SET body = zeroblob(64) WHERE rowid = \(number)")
            let rotation = try await vault.rotateKey()
            #expect(rotation.key == number && !rotation.isResumed && rotation.resealed == 41 - Int(number))
            #expect(rotation.retired.isEmpty && rotation.failures.count == Int(number) - 1)
            #expect(try folder.look("SELECT count(*) FROM record WHERE key = \(number)") == [41 - number])
        }
        #expect(try folder.look("SELECT state FROM key ORDER BY id") == ["old", "old", "old", "active"])
        for opened in [vault, try place.open()] {
            #expect(try await opened.keys(of: .account).keys.count == 40)
            #expect(try await opened.record(VaultKey(.account, ["0"])) == Array("0".utf8))
        }
        for name in Self.names[1...3] { #expect(try await vault.remove(VaultKey(.account, [name]))) }
        let rotation = try await vault.rotateKey()
        #expect(rotation.key == 4 && rotation.isResumed && rotation.retired == [1, 2, 3])
    }

    @Test("a page of a listing that was read before a rotation opens after it")
    func pageBefore() async throws {
        let reader = try place.open()
        try folder.edit("CREATE TABLE kept AS SELECT * FROM record; CREATE TABLE leased AS SELECT * FROM lease")
        _ = try await vault.rotateKey()
        // What the reader has learned of the rotation when it comes to the records of its page.
        #expect(try await reader.record(VaultKey(.account, ["0"])) == Array("0".utf8))
        try folder.edit(
            """
            UPDATE record SET (key, version, label, body) =
                (SELECT key, version, label, body FROM kept WHERE kept.name = record.name) WHERE rowid > 20;
            UPDATE lease SET version = (SELECT version FROM leased WHERE leased.name = lease.name)
                WHERE name IN (SELECT name FROM record WHERE rowid > 20);
            """)
        let listing = try await reader.keys(of: .account)
        #expect(listing.keys.count == 40 && listing.damaged.isEmpty)
    }

    @Test("vaults that share their first key file rotate apart from each other")
    func sharedFile() async throws {
        let path = place.parent + "/other/vault.sqlite"
        _ = try SQLiteVault.migrate(path, keyFile: place.keyFile)
        let other = try SQLiteVault(path, keyFile: place.keyFile)
        try await other.put([1], under: .alice)
        #expect(try await other.rotateKey().key == 2)
        #expect(try await vault.rotateKey().key == 2)
        let keys = try FileManager.default.contentsOfDirectory(atPath: place.parent).filter { $0.hasPrefix("key.") }
        #expect(keys.count == 2)
        let (own, others) = (try folder.keyFile(2), "\(place.keyFile).\(other.keyIdentifier)")
        #expect(try Data(contentsOf: URL(filePath: own)) != Data(contentsOf: URL(filePath: others)))
        try FileManager.default.removeItem(atPath: others)
        try await expectAll(in: place.open())
    }

    @Test("a new key that is missing, changed or bound to another vault opens nothing, and puts nothing back")
    func missing() async throws {
        _ = try await vault.rotateKey()
        let file = try folder.keyFile(2)
        let key = try Data(contentsOf: URL(filePath: file))
        try FileManager.default.removeItem(atPath: file)
        let error = try #require(throws: VaultError.self) { try place.open() }
        #expect(error.code == "vault_locked" && "\(error)".contains(file))
        try FileManager.default.copyItem(atPath: place.keyFile, toPath: file)
        #expect(throws: VaultError.self) { try place.open() }
        try FileManager.default.removeItem(atPath: file)
        try #require(
            FileManager.default.createFile(atPath: file, contents: key, attributes: [.posixPermissions: 0o600]))
        try folder.edit("UPDATE key SET names = zeroblob(60) WHERE id = 2")
        let damaged = try #require(throws: VaultError.self) { try place.open() }
        #expect(damaged.code == "vault_damaged")
    }

    @Test("an old key that is missing locks its records alone")
    func oldMissing() async throws {
        try folder.edit("UPDATE record SET body = zeroblob(64) WHERE rowid = 8")
        _ = try await vault.rotateKey()
        try FileManager.default.removeItem(atPath: place.keyFile)
        let opened = try place.open()
        let error = await #expect(throws: VaultError.self) {
            try await opened.record(VaultKey(.account, [Self.names[7]]))
        }
        #expect(error?.code == "vault_locked")
        #expect(try await opened.keys(of: .account).damaged.map(\.code) == ["vault_locked"])
        #expect(try await opened.record(VaultKey(.account, ["0"])) == Array("0".utf8))
    }

    @Test("the keys of a key store rotate too, and one rotation at a time")
    func store() async throws {
        let keys = KeyShelf()
        let path = place.parent + "/data/other.sqlite"
        _ = try await SQLiteVault.migrate(path, keyIn: keys)
        let vault = try await SQLiteVault.open(path, keyIn: keys, called: "shelf")
        try await vault.put([1], under: .alice)
        let first = vault.keyIdentifier
        #expect(first == vault.identifier)
        keys.whileStoring = {
            let error = await #expect(throws: VaultError.self) { try await vault.rotateKey() }
            #expect(error?.code == "vault_busy")
            let other = try await SQLiteVault.open(path, keyIn: keys, called: "shelf")
            await #expect(throws: VaultError.self) { try await other.rotateKey() }
        }
        #expect(try await vault.rotateKey().retired == [1])
        #expect(vault.keyIdentifier != first && keys.count == 2)
        try await keys.remove(first)
        #expect(try await SQLiteVault.open(path, keyIn: keys, called: "shelf").record(.alice) == [1])
        keys.whileStoring = { throw VaultError.unavailable("the shelf is full") }
        await #expect(throws: VaultError.self) { try await vault.rotateKey() }
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("the caller has a new key's identifier before the vault names it, and that of a key a rotation goes on with")
    func named() async throws {
        let (folder, place, named) = (folder, place, Shared<[VaultIdentifier]>([]))
        // It keeps the first rotation from being completed.
        try folder.edit("UPDATE record SET body = zeroblob(64) WHERE rowid = 8")
        _ = try await vault.rotateKey { key in
            let count = try folder.look("SELECT count(*) FROM key", Int64.self)
            #expect(count == [1] && FileManager.default.fileExists(atPath: "\(place.keyFile).\(key)"))
            named.change { $0.append(key) }
        }
        let first = vault.keyIdentifier
        _ = try await vault.rotateKey { key in named.change { $0.append(key) } }
        #expect(named.value == [first, first, vault.keyIdentifier])
    }

    @Test("a new key that the caller refuses is named nowhere, and goes, from a file and from a key store")
    func refused() async throws {
        let keys = KeyShelf()
        let path = place.parent + "/data/other.sqlite"
        _ = try await SQLiteVault.migrate(path, keyIn: keys)
        for opened in [vault, try await SQLiteVault.open(path, keyIn: keys, called: "shelf")] {
            await #expect(throws: CancellationError.self) {
                try await opened.rotateKey { _ in throw CancellationError() }
            }
        }
        #expect(try folder.look("SELECT count(*) FROM key") == [1])
        let files = try FileManager.default.contentsOfDirectory(atPath: place.parent).filter { $0.hasPrefix("key.") }
        #expect(files.isEmpty && keys.count == 1)
        try await expectAll(in: vault)
    }

    @Test("a vault whose key the caller has opens with that key alone, and keeps it")
    func given() async throws {
        let (path, key) = (place.parent + "/data/given.sqlite", VaultMasterKey.random())
        #expect(try SQLiteVault.migrate(path, masterKey: key))
        #expect(try !SQLiteVault.migrate(path, masterKey: key))
        let given = try SQLiteVault(path, masterKey: key)
        try await given.put([1], under: .alice)
        let error = await #expect(throws: VaultError.self) { try await given.rotateKey() }
        #expect(error?.code == "vault_denied")
        #expect(try await SQLiteVault(path, masterKey: key).record(.alice) == [1])
        let other = #expect(throws: VaultError.self) { try SQLiteVault(path, masterKey: .random()) }
        #expect(other?.code == "vault_locked")
        // The key of a file, which an administrator moved to a key management service.
        let moved = try #require(VaultMasterKey(revealed: Array(Data(contentsOf: URL(filePath: place.keyFile)))))
        let opened = try SQLiteVault(place.database, masterKey: moved)
        #expect(try await opened.record(VaultKey(.account, ["0"])) == Array("0".utf8))
    }

    @Test("VL46: rotation under writers and kill -9: all records open")
    func killed() async throws {
        let harness = KillHarness(path: place.journal)
        for round in 0..<8 {
            async let writer: Void = writeInAnotherProcess(place)
            async let rotator: Void = rotateInAnotherProcess(place, isKilled: round % 2 == 0)
            _ = await (writer, rotator)
            try await harness.check(round: round, in: place.open())
            try await expectAll(in: place.open())
        }
        let opened = try place.open()
        var rotation = try await opened.rotateKey()
        if rotation.isResumed { rotation = try await opened.rotateKey() }
        #expect(rotation.isComplete)
        #expect(try folder.look("SELECT DISTINCT key FROM record") == [rotation.key])
        #expect(try folder.look("SELECT count(*) FROM key WHERE state = 'old'") == [0])
        for number in 1..<rotation.key {
            try? FileManager.default.removeItem(atPath: number == 1 ? place.keyFile : folder.keyFile(number))
        }
        try await harness.check(round: 8, in: place.open())
        try await expectAll(in: place.open())
        #expect(try harness.journal().done.values.reduce(0, +) > 8)
    }

    private func expectAll(in vault: SQLiteVault) async throws {
        for name in Self.names { #expect(try await vault.record(VaultKey(.account, [name])) == Array(name.utf8)) }
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys.count >= Self.names.count && listing.damaged.isEmpty)
    }
}

private func writeInAnotherProcess(_ place: SQLitePlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as SQLitePlace] in
        let harness = KillHarness(path: place.journal)
        try await harness.work(in: place.open()) { killAtRandom(countingUpTo: 40_000_000) }
    }
}

private func rotateInAnotherProcess(_ place: SQLitePlace, isKilled: Bool) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
        [place = place as SQLitePlace, isKilled = isKilled as Bool] in
        if isKilled { killAtRandom(countingUpTo: 20_000_000) }
        _ = try await place.open().rotateKey()
        kill(getpid(), SIGKILL)
    }
}

/// A key store in memory, which may do something else while it stores.
private final class KeyShelf: VaultKeyStore {
    private let keys = Shared<[VaultIdentifier: VaultMasterKey]>([:])
    private let action = Shared<(@Sendable () async throws -> Void)?>(nil)

    var count: Int { keys.value.count }

    var whileStoring: (@Sendable () async throws -> Void)? {
        get { action.value }
        set { action.change { $0 = newValue } }
    }

    func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? { keys.value[identifier] }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        try await whileStoring?()
        keys.change { $0[identifier] = key }
    }

    func remove(_ identifier: VaultIdentifier) async throws { keys.change { $0[identifier] = nil } }
}
