import Foundation
import TestFixtures
import Testing

@testable import Handshake

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("A file vault", .heavy)
struct FileVaultTests {
    private let folder: VaultFolder

    init() throws { folder = try VaultFolder() }

    @Test("E5: a new vault has folders of mode 0700 and files of mode 0600, whatever was missing above it")
    func modes() async throws {
        let directory = folder.parent + "/a/b/vault/"
        let vault = try FileVault(directory: directory, keyFile: folder.parent + "/c/d/key")
        try await vault.put([1], under: .alice)
        for path in ["/a", "/a/b", "/a/b/vault", "/c", "/c/d"] {
            #expect(try Files.mode(folder.parent + path) == 0o700)
        }
        #expect(folder.files().count == 4)
        for path in folder.files() { #expect(try Files.mode(path) == 0o600, "\(path)") }
        let record = try #require(folder.records().first)
        #expect(try Files.mode((record as NSString).deletingLastPathComponent) == 0o700)
    }

    @Test("tasks and handles that create one vault concurrently agree on it")
    func racingOpens() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<32 {
                group.addTask { try await folder.open().put([UInt8(index)], under: VaultKey(.signIn, ["\(index)"])) }
            }
            try await group.waitForAll()
        }
        let listing = try await folder.open().keys(of: .signIn)
        #expect(listing.keys.count == 32 && listing.damaged.isEmpty)
    }

    @Test("two vaults may share a key file, and create it concurrently")
    func sharedKey() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let directory = "\(folder.parent)/vault-\(index)"
                    try await FileVault(directory: directory, keyFile: folder.keyFile).put([1], under: .alice)
                }
            }
            try await group.waitForAll()
        }
        for index in 0..<8 {
            let vault = try FileVault(directory: "\(folder.parent)/vault-\(index)", keyFile: folder.keyFile)
            #expect(try await vault.record(.alice) == [1])
        }
    }

    @Test("while another process creates a vault in the folder, or a key beside its own, no second one is created")
    func heldSetup() throws {
        do {
            let beside = try Descriptor(path: folder.parent, O_RDONLY)
            #expect(flock(beside.number, LOCK_EX | LOCK_NB) == 0)
            expectBusy()
        }
        let locks = try FileLocks(in: Folder.openOrMake(folder.directory, isOurs: true))
        #expect(try locks.take(FileLocks.setup))
        expectBusy()
        locks.giveBack(FileLocks.setup)
        _ = try folder.open(timeout: .zero)
    }

    private func expectBusy() {
        let error = #expect(throws: VaultError.self) { try folder.open(timeout: .zero) }
        #expect(error?.code == "vault_busy")
        #expect(!Files.exists(folder.keyFile) && !Files.exists(folder.directory + "/vault.json"))
    }

    @Test("E6: a vault whose key is missing is locked, names the key file and the cure, and gets no new key")
    func missingKey() async throws {
        _ = try await folder.put([1], under: .alice)
        let key = try Files.read(folder.keyFile)
        try FileManager.default.removeItem(atPath: folder.keyFile)
        let error = #expect(throws: VaultError.self) { try folder.open() }
        #expect(error?.code == "vault_locked")
        #expect("\(error, default: "")".contains(folder.keyFile))
        #expect("\(error, default: "")".contains("put it back"))
        #expect(!Files.exists(folder.keyFile))
        try Files.make(key, at: folder.keyFile)
        #expect(try await folder.open().record(.alice) == [1])
    }

    @Test("E6: a vault is locked for another vault's key, and nothing changes")
    func wrongKey() async throws {
        _ = try await folder.put([1], under: .alice)
        let key = try Files.read(folder.keyFile)
        try Files.write([UInt8](repeating: 7, count: 32), to: folder.keyFile)
        #expect(throws: VaultError.self) { try folder.open() }.map { #expect($0.code == "vault_locked") }
        try Files.write(key, to: folder.keyFile)
        #expect(try await folder.open().record(.alice) == [1])
    }

    @Test("E6: a key file of another length is damaged, and is left alone", arguments: [0, 1, 31, 33, 64, 5000])
    func keyLength(length: Int) async throws {
        _ = try await folder.put([1], under: .alice)
        try Files.write([UInt8](repeating: 7, count: length), to: folder.keyFile)
        #expect(throws: VaultError.self) { try folder.open() }.map { #expect($0.code == "vault_damaged") }
        #expect(try Files.read(folder.keyFile).count == length)
    }

    @Test("a key may not lie in the folder that it protects")
    func keyInside() throws {
        for key in ["\(folder.directory)/key", "\(folder.directory)/../vault/key"] {
            let error = #expect(throws: VaultError.self) { try FileVault(directory: folder.directory, keyFile: key) }
            #expect(error?.code == "vault_denied")
            #expect(!Files.exists(key))
        }
    }

    @Test(
        "E6: a damaged description of the vault is damaged, and is left alone",
        arguments: [
            "", "{", "[]", "null", "{}", #"{"format":"1"}"#, #"{"format":1}"#, #"{"format":1,"id":"","check":""}"#,
            #"{"format":1,"id":"zz","check":"zz"}"#, #"{"format":1.5,"id":"","check":""}"#, "\u{0}\u{FFFD}",
            #"{"format":1,"id":"\#(String(repeating: "A", count: 32))","check":"\#(String(repeating: "0", count: 32))"}"#,
            String(repeating: " ", count: 5000), String(repeating: "[", count: 4000),
        ])
    func description(text: String) async throws {
        _ = try await folder.put([1], under: .alice)
        let path = folder.directory + "/vault.json"
        try Files.write(Array(text.utf8), to: path)
        let error = #expect(throws: VaultError.self) { try folder.open() }
        #expect(error?.code == "vault_damaged")
        #expect("\(error, default: "")".contains(path))
        #expect(try Files.read(path) == Array(text.utf8))
    }

    @Test(
        "E6: a description that has a member twice is damaged, also when both are the same",
        arguments: ["format", "id", "check"])
    func doubledMember(_ name: String) async throws {
        _ = try await folder.put([1], under: .alice)
        let path = folder.directory + "/vault.json"
        let text = String(decoding: try Files.read(path), as: UTF8.self).trimmingCharacters(in: .newlines)
        let members = text.dropFirst().dropLast().split(separator: ",")
        let member = try #require(members.first { $0.hasPrefix("\"\(name)\":") })
        let rest = members.joined(separator: ",")
        try Files.write(Array("{\(member),\(rest)}".utf8), to: path)
        let error = #expect(throws: VaultError.self) { try folder.open() }
        #expect(error?.code == "vault_damaged")
        try Files.write(Array("{\(rest)}".utf8), to: path)
        _ = try folder.open()
    }

    @Test("a vault of an unknown format is damaged, and both formats are named")
    func format() async throws {
        _ = try await folder.put([1], under: .alice)
        try Files.write(Array(#"{"format":2,"other":true}"#.utf8), to: folder.directory + "/vault.json")
        let error = #expect(throws: VaultError.self) { try folder.open() }
        #expect(error?.code == "vault_damaged")
        #expect("\(error, default: "")".contains("format 2"))
        #expect("\(error, default: "")".contains("format 1"))
    }

    @Test("E6: a vault without its description is damaged, and gets no new one", arguments: [true, false])
    func missingDescription(keyIsThere: Bool) async throws {
        _ = try await folder.put([1], under: .alice)
        let path = folder.directory + "/vault.json"
        try FileManager.default.removeItem(atPath: path)
        if !keyIsThere { try FileManager.default.removeItem(atPath: folder.keyFile) }
        #expect(throws: VaultError.self) { try folder.open() }.map { #expect($0.code == "vault_damaged") }
        #expect(!Files.exists(path))
        #expect(Files.exists(folder.keyFile) == keyIsThere)
    }

    @Test("a vault that was begun and never finished is finished by the next")
    func unfinishedSetup() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Files.make([], at: folder.directory + "/lock")
        try Files.make([1], at: folder.directory + "/vault.json.new")
        try Files.make([1], at: folder.keyFile + ".new")
        try await folder.open().put([1], under: .alice)
        #expect(try await folder.open().record(.alice) == [1])
        #expect(folder.files().allSatisfy { !$0.hasSuffix(".new") })
    }

    @Test("what a dead writer left goes with the next listing, replacement or removal, and never while its key is held")
    func leftovers() async throws {
        let vault = try folder.open()
        let unfinished = try await folder.put([1], under: .alice) + ".new"
        func leave() throws { try Files.make([1, 2, 3], at: unfinished) }

        try leave()
        #expect(try await vault.record(.alice) == [1])
        for handle in [vault, try folder.open()] {
            try await vault.update(.alice) { _ in
                let listing = try await handle.keys(of: .account)
                #expect(listing.keys == [.alice])
                #expect(Files.exists(unfinished))
            }
        }
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys == [.alice] && listing.damaged.isEmpty)
        #expect(!Files.exists(unfinished))

        try leave()
        try await vault.put([2], under: .alice)
        #expect(!Files.exists(unfinished))

        try leave()
        try await vault.update(.alice) { try await $0.remove() }
        #expect(!Files.exists(unfinished) && folder.records().isEmpty)
    }

    @Test("foreign files and folders in the vault's folder are no business of the vault")
    func foreign() async throws {
        let record = try await folder.put([1], under: .alice)
        let shard = (record as NSString).deletingLastPathComponent
        for path in [folder.directory + "/.DS_Store", folder.directory + "/zz", shard + "/notes", record + "~"] {
            try Files.make([1], at: path)
        }
        let listing = try await folder.open().keys(of: .account)
        #expect(listing.keys == [.alice] && listing.damaged.isEmpty)
    }

    @Test("contents of one byte more than 1 MiB are refused, and the old record stays")
    func tooLarge() async throws {
        let vault = try folder.open()
        try await vault.put([1], under: .alice)
        for (key, size) in [
            (VaultKey.alice, 1 << 20 + 1), (VaultKey(.account, [String(repeating: "a", count: 1 << 16)]), 1),
        ] {
            await #expect(throws: VaultError.self) {
                try await vault.put([UInt8](repeating: 0, count: size), under: key)
            }.map { #expect($0.code == "vault_denied") }
        }
        #expect(try await vault.record(.alice) == [1])
        #expect(folder.files().count == 4)
    }

    @Test("a vault whose folder was removed is unavailable, not empty")
    func removedFolder() async throws {
        let vault = try folder.open()
        try await vault.put([1], under: .alice)
        try FileManager.default.removeItem(atPath: folder.directory)
        for operation in [
            { _ = try await vault.record(.alice) }, { _ = try await vault.keys(of: .account) },
            { try await vault.put([1], under: .alice) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: VaultError.self) { try await operation() }
            #expect(error?.code == "vault_unavailable")
        }
    }

    @Test("a vault whose lock file was removed or replaced does not change records any more", arguments: [true, false])
    func removedLock(replaced: Bool) async throws {
        let vault = try folder.open()
        let lock = folder.directory + "/lock"
        let error = await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try await record.replace(with: [1])
                try FileManager.default.removeItem(atPath: lock)
                if replaced { _ = try folder.open() }
                try await record.replace(with: [2])
            }
        }
        #expect(error?.code == "vault_unavailable")
        await #expect(throws: VaultError.self) { try await vault.put([3], under: .alice) }
        #expect(try await vault.record(.alice) == [1])
        try await folder.open().put([4], under: .alice)
    }
}
