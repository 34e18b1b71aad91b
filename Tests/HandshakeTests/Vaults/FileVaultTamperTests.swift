import Foundation
import TestFixtures
import Testing

@testable import Handshake

@Suite("A file vault's records, tampered with", .heavy)
struct FileVaultTamperTests {
    private static let contents = Array("canary-refresh-token-8c1f".utf8)

    private let folder: VaultFolder

    init() throws { folder = try VaultFolder() }

    @Test("E5: a plain search of all files finds neither the secret nor the names of the account")
    func search() async throws {
        let key = VaultKey(.account, ["https://service.example", "canary-client", "canary-alice"])
        let path = try await folder.put(Self.contents, under: key)
        try Files.make(try Files.read(path), at: path + ".new")
        for file in folder.files() {
            let found = Data(try Files.read(file)).range(of: Data("canary".utf8))
            #expect(found == nil && !file.contains("canary"), "\(file)")
            #expect(Data(try Files.read(file)).range(of: Data("service.example".utf8)) == nil, "\(file)")
        }
        #expect(folder.files().count == 5)
    }

    @Test("E5: the same record sealed twice shares no bytes that would tell so")
    func nonces() async throws {
        let path = try await folder.put(Self.contents, under: .alice)
        let first = try Files.read(path)
        try await folder.open().put(Self.contents, under: .alice)
        let second = try Files.read(path)
        #expect(first.count == second.count)
        #expect(zip(first.dropFirst(4), second.dropFirst(4)).count { $0 == $1 } < 20)
    }

    @Test("E7: a flip of any bit of a record is damage, and the others stay usable")
    func flips() async throws {
        let path = try await folder.put(Self.contents, under: .alice)
        _ = try await folder.put([2], under: .bob)
        let sealed = try Files.read(path)
        let vault = try folder.open()
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << UInt8(index % 8)
            try Files.write(changed, to: path)
            try await expectDamaged(.alice, in: vault, "byte \(index)")
        }
        try await expectListing(vault, damaged: 1, [.bob])
        try await vault.put([3], under: .bob)
        #expect(
            try Files.read(path)
                == Array(sealed.dropLast() + [sealed[sealed.count - 1] ^ 1 << UInt8((sealed.count - 1) % 8)]))
        try Files.write(sealed, to: path)
        #expect(try await vault.record(.alice) == Self.contents)
    }

    @Test("E7: a record cut anywhere, or longer than written, is damage")
    func lengths() async throws {
        let path = try await folder.put(Self.contents, under: .alice)
        let sealed = try Files.read(path)
        let vault = try folder.open()
        for count in 0..<sealed.count {
            try Files.write(Array(sealed.prefix(count)), to: path)
            try await expectDamaged(.alice, in: vault, "\(count) bytes")
        }
        for excess in [1, 16, 4096, 1 << 21] {
            try Files.write(sealed + [UInt8](repeating: 0, count: excess), to: path)
            try await expectDamaged(.alice, in: vault, "\(excess) bytes more")
        }
        try await expectListing(vault, damaged: 1, [])
    }

    @Test("E7: two records that changed places are both damage")
    func swap() async throws {
        let (alice, bob) = (try await folder.put([1], under: .alice), try await folder.put([2], under: .bob))
        let (first, second) = (try Files.read(alice), try Files.read(bob))
        try Files.write(second, to: alice)
        try Files.write(first, to: bob)
        let vault = try folder.open()
        try await expectDamaged(.alice, in: vault, "swapped")
        try await expectDamaged(.bob, in: vault, "swapped")
        try await expectListing(vault, damaged: 2, [])
    }

    @Test("E7: a record under another name, or in another folder, is damaged and has no account")
    func renamed() async throws {
        let path = try await folder.put([1], under: .alice)
        let name = (path as NSString).lastPathComponent
        let otherName = String(name.dropLast()) + (name.hasSuffix("0") ? "1" : "0")
        let shard = folder.directory + (name.hasPrefix("00") ? "/01" : "/00")
        try FileManager.default.createDirectory(
            atPath: shard, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for other in [(path as NSString).deletingLastPathComponent + "/" + otherName, shard + "/" + name] {
            try FileManager.default.moveItem(atPath: path, toPath: other)
            let vault = try folder.open()
            #expect(try await vault.record(.alice) == nil)
            try await expectListing(vault, damaged: 1, [])
            try FileManager.default.moveItem(atPath: other, toPath: path)
        }
        #expect(try await folder.open().record(.alice) == [1])
    }

    @Test("E7: a record from another vault is damage, even with the same key file")
    func foreign() async throws {
        let vault = try folder.open()
        let other = try FileVault(directory: folder.parent + "/other", keyFile: folder.keyFile)
        try await other.put([1], under: .alice)
        let brought = try Files.read(try #require(folder.records().first))
        let path = try await folder.put([2], under: .alice)
        try Files.write(brought, to: path)
        try await expectDamaged(.alice, in: vault, "brought from another vault")
    }

    @Test("E7: a record that names another key than its file is damage, though the vault's own key sealed it")
    func innerKey() async throws {
        let path = try await folder.put([1], under: .alice)
        let vault = try folder.open()
        let name = vault.seal.name(of: .alice)
        try Files.write(vault.seal.seal([2], of: .bob, as: name, path: path), to: path)
        try await expectDamaged(.alice, in: vault, "sealed for another")
        try Files.write(vault.seal.seal([2], of: .alice, as: name, path: path), to: path)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("E7: a vault's description with another id or check does not open the vault")
    func description() async throws {
        _ = try await folder.put([1], under: .alice)
        let path = folder.directory + "/vault.json"
        let text = try Files.read(path)
        for index in text.indices.dropLast() {
            var changed = text
            changed[index] ^= 1
            try Files.write(changed, to: path)
            let error = #expect(throws: VaultError.self, "byte \(index)") { try folder.open() }
            #expect(["vault_damaged", "vault_locked"].contains(error?.code))
        }
    }

    @Test("E6: a damaged record is not updated, not removed, and its body does not run")
    func update() async throws {
        let path = try await folder.put([1], under: .alice)
        try Files.write([1, 2, 3], to: path)
        let vault = try folder.open()
        await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { _ in Issue.record("the body of a damaged record ran") }
        }.map { #expect($0.code == "vault_damaged") }
        #expect(try Files.read(path) == [1, 2, 3])
    }

    @Test("E6: a damaged record is removed only on request")
    func remove() async throws {
        let path = try await folder.put([1], under: .alice)
        _ = try await folder.put([2], under: .bob)
        let vault = try folder.open()
        for damage in [[], [1, 2, 3], [UInt8](repeating: 7, count: 2_000_000)] {
            try Files.write(damage, to: path)
            try await expectListing(vault, damaged: 1, [.bob])
            #expect(try await vault.remove(.alice))
            #expect(try await vault.record(.alice) == nil)
            try await expectListing(vault, damaged: 0, [.bob])
            _ = try await folder.put([1], under: .alice)
        }
    }

    private func expectDamaged(_ key: VaultKey, in vault: FileVault, _ comment: Comment) async throws {
        let error = await #expect(throws: VaultError.self, comment) { try await vault.record(key) }
        #expect(error?.code == "vault_damaged", comment)
    }

    private func expectListing(_ vault: FileVault, damaged: Int, _ keys: [VaultKey]) async throws {
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys == keys)
        #expect(listing.damaged.count == damaged)
        #expect(listing.damaged.allSatisfy { $0.code == "vault_damaged" })
    }
}
