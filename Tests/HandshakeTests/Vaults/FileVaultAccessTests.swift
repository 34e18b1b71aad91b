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

@Suite("A file vault's owners, modes and links", .heavy, .ownThreads)
struct FileVaultAccessTests {
    /// What a vault consists of.
    enum Part: CaseIterable {
        case folder, description, lock, shard, record, key

        var isFolder: Bool { self == .folder || self == .shard }
    }

    private static let files = Part.allCases.filter { !$0.isFolder }

    private let folder: VaultFolder

    init() throws { folder = try VaultFolder() }

    @Test(
        "E5: what other users may read or write is denied, with the cure", arguments: Part.allCases,
        [0o640, 0o644, 0o620, 0o602, 0o601, 0o666, 0o777])
    func modes(part: Part, mode: Int) async throws {
        let path = try await path(of: part)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try await expectDenied(part, path, cure: "chmod \(part.isFolder ? 700 : 600) \(path)")
        try FileManager.default.setAttributes([.posixPermissions: part.isFolder ? 0o700 : 0o600], ofItemAtPath: path)
        #expect(try await folder.open().record(.alice) == [1])
    }

    @Test("E5: a folder of mode 0755 is denied", arguments: [Part.folder, .shard])
    func folderMode(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try await expectDenied(part, path, cure: "chmod 700 \(path)")
    }

    @Test("E5: an open vault notices when its folder is opened to others")
    func laterMode() async throws {
        let vault = try folder.open()
        try await vault.put([1], under: .alice)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.directory)
        await #expect(throws: VaultError.self) { try await vault.record(.alice) }
        await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
        await #expect(throws: VaultError.self) { try await vault.keys(of: .account) }
    }

    @Test(
        "E5: what belongs to another user is denied, with the cure",
        .enabled(if: geteuid() == 0, "only root can give files away"), arguments: Part.allCases)
    func owners(part: Part) async throws {
        let path = try await path(of: part)
        #expect(chown(path, 12345, 12345) == 0)
        try await expectDenied(part, path, cure: "chown 0 \(path)")
    }

    @Test("E5: a file or folder of another user is denied by its status alone", arguments: Part.allCases)
    func foreignStatus(part: Part) async throws {
        var status = try Descriptor(adopting: open(try await path(of: part), O_RDONLY)).status()
        func judge() throws(VaultError) {
            if part.isFolder {
                try status.requireOurFolder(at: "/vault")
            } else {
                try status.requireOurFile(at: "/vault")
            }
        }
        try judge()
        status.owner ^= 1
        let error = #expect(throws: VaultError.self) { try judge() }
        #expect("\(error, default: "")".contains("chown \(geteuid()) /vault"))
    }

    @Test("E5: a symbolic link is never followed", arguments: Part.allCases)
    func symbolicLinks(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.moveItem(atPath: path, toPath: folder.parent + "/moved")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.parent + "/moved")
        try await expectDenied(part, path, cure: "symbolic link")
    }

    @Test("E5: a symbolic link to nothing is no absence", arguments: files)
    func danglingLinks(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.parent + "/nothing")
        try await expectDenied(part, path, cure: "symbolic link")
        #expect(!Files.exists(folder.parent + "/nothing"))
    }

    @Test("E5: a symbolic link with a slash after it is not followed either")
    func slash() async throws {
        _ = try await path(of: .record)
        try FileManager.default.createSymbolicLink(
            atPath: folder.parent + "/link", withDestinationPath: folder.directory)
        let error = #expect(throws: VaultError.self) {
            try FileVault(directory: folder.parent + "/link//", keyFile: folder.keyFile)
        }
        #expect(error?.code == "vault_denied")
    }

    @Test("a symbolic link above the vault and above the key is the user's own affair")
    func linkAbove() async throws {
        _ = try await path(of: .record)
        let other = try VaultFolder()
        try FileManager.default.createSymbolicLink(atPath: other.parent + "/link", withDestinationPath: folder.parent)
        let vault = try FileVault(directory: other.parent + "/link/vault", keyFile: other.parent + "/link/key")
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("E5: a file with a second name is denied", arguments: files)
    func hardLinks(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.linkItem(atPath: path, toPath: folder.parent + "/second")
        try await expectDenied(part, path, cure: "find -samefile")
        try FileManager.default.removeItem(atPath: folder.parent + "/second")
        #expect(try await folder.open().record(.alice) == [1])
    }

    @Test("E5: a folder in place of a file is denied", arguments: files)
    func folderInPlace(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try await expectDenied(part, path, cure: "move it away")
    }

    @Test("E5: a named pipe in place of a file or folder is denied without blocking", arguments: Part.allCases)
    func pipe(part: Part) async throws {
        let path = try await path(of: part)
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        try await expectDenied(part, path, cure: part.isFolder ? "folder" : "named pipe")
    }

    @Test("what the operating system refuses is denied, and never taken for absent")
    func refused() async throws {
        let place = folder.place
        let path = try await path(of: .record)
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: path)
        // Root is refused nothing, so the looking is done by a process that is not root.
        await #expect(processExitsWith: .success) { [place = place as VaultPlace, path = path as String] in
            if geteuid() == 0 {
                for file in try Files.all(below: place.parent) + [place.parent] {
                    guard chown(file, 65_534, 65_534) == 0 else { exit(3) }
                }
                guard setgid(65_534) == 0, setuid(65_534) == 0 else { exit(4) }
            }
            do {
                _ = try await place.open().record(.alice)
                exit(5)
            } catch VaultError.denied(let what, let reason) {
                exit(what == path && reason.contains("refuses access") ? 0 : 6)
            }
        }
    }

    /// Makes a vault with one record, and tells where a part of it is.
    private func path(of part: Part) async throws -> String {
        let record = try await folder.put([1], under: .alice)
        return switch part {
        case .folder: folder.directory
        case .description: folder.directory + "/vault.json"
        case .lock: folder.directory + "/lock"
        case .shard: (record as NSString).deletingLastPathComponent
        case .record: record
        case .key: folder.keyFile
        }
    }

    /// Expects that a part is rejected by the first operation that needs it: the opening, the reading, or, for the lock, the
    /// updating.
    private func expectDenied(_ part: Part, _ path: String, cure: String) async throws {
        func attempt() async throws {
            let vault = try folder.open()
            if part == .lock { try await vault.put([2], under: .alice) } else { _ = try await vault.record(.alice) }
        }
        let error = await #expect(throws: VaultError.self) { try await attempt() }
        guard let error, case .denied(let what, let reason) = error else {
            Issue.record("not denied, but \(error?.code ?? "well")")
            return
        }
        #expect(what == path)
        #expect(reason.contains(cure))
        guard part == .record || part == .shard else { return }
        let vault = try folder.open()
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys.isEmpty && listing.damaged == [error])
        await #expect(throws: error) { try await vault.put([2], under: .alice) }
    }
}
