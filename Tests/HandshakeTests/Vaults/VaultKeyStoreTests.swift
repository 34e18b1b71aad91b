import Handshake
import Testing

/// The logic that SecretServiceVault and KeychainVault share, with a key store in memory.
@Suite("A file vault whose key another store keeps")
struct VaultKeyStoreTests {
    private let key = VaultKey(.registration, ["example"])

    @Test("a vault is made once, and opened again with the key that the store kept; no file has the key")
    func reopened() async throws {
        let folder = try VaultFolder()
        let keys = MemoryKeyStore()
        let vault = try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        try await vault.update(key) { try await $0.replace(with: [1, 2, 3]) }
        let again = try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        #expect(try await again.record(key) == [1, 2, 3])
        #expect(keys.keys.value.count == 1)
        let secret = try #require(keys.keys.value.values.first)
        for file in folder.files() { #expect(try Files.read(file).firstRange(of: secret) == nil) }
    }

    @Test("a store that lost the key is a locked vault with the cure, and no new key is made over the old records")
    func lost() async throws {
        let folder = try VaultFolder()
        let keys = MemoryKeyStore()
        _ = try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        let files = folder.files()
        let empty = MemoryKeyStore()
        let error = await #expect(throws: VaultError.self) {
            try await FileVault.open(directory: folder.directory, keyIn: empty, called: "test store")
        }
        guard case .locked(let reason) = try #require(error) else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(reason.contains("test store"))
        #expect(reason.contains("sign in again"))
        #expect(empty.keys.value.isEmpty)
        #expect(folder.files() == files)
    }

    @Test("another vault's key opens nothing")
    func foreign() async throws {
        let folder = try VaultFolder()
        let keys = MemoryKeyStore()
        _ = try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        keys.keys.change { keys in
            for identifier in keys.keys { keys[identifier] = VaultMasterKey.random().reveal() }
        }
        let error = await #expect(throws: VaultError.self) {
            try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        }
        #expect(error?.code == "vault_locked")
    }

    @Test("a store that cannot keep the key makes no vault")
    func unstorable() async throws {
        let folder = try VaultFolder()
        let keys = MemoryKeyStore(fails: true)
        let error = await #expect(throws: VaultError.self) {
            try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        }
        #expect(error?.code == "vault_denied")
        #expect(folder.files().isEmpty)
    }

    @Test("many who make the same vault concurrently end with one vault and one key")
    func race() async throws {
        let folder = try VaultFolder()
        let keys = MemoryKeyStore()
        try await withThrowingTaskGroup(of: FileVault.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
                }
            }
            var number: UInt8 = 0
            for try await vault in group {
                number += 1
                try await vault.update(key) { try await $0.replace(with: ($0.contents ?? []) + [1]) }
            }
            #expect(number == 8)
        }
        let vault = try await FileVault.open(directory: folder.directory, keyIn: keys, called: "test store")
        #expect(try await vault.record(key)?.count == 8)
        #expect(keys.keys.value.count == 1)
    }
}

/// A key store in memory.
private struct MemoryKeyStore: VaultKeyStore {
    let keys = Shared<[VaultIdentifier: [UInt8]]>([:])
    var fails = false

    func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
        keys.value[identifier].flatMap(VaultMasterKey.init(revealed:))
    }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        guard !fails else { throw VaultError.denied(what: "the store", reason: "it is full") }
        keys.change { $0[identifier] = key.reveal() }
    }

    func remove(_ identifier: VaultIdentifier) async throws {
        keys.change { _ = $0.removeValue(forKey: identifier) }
    }
}
