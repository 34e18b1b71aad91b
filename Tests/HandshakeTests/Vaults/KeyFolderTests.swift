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

@Suite("The folder of a vault's key", .heavy, .ownThreads)
struct KeyFolderTests {
    private let folder: VaultFolder
    private var place: KeyPlace { KeyPlace(parent: folder.parent) }

    init() throws { folder = try VaultFolder() }

    @Test("E5: a new vault's key lies in the key folder alone, with mode 0600, and opens the vault again")
    func newVault() async throws {
        let vault = try #require(try place.keys.make(folder.directory))
        try await vault.put([1], under: .alice)
        let identifier = try #require(try VaultIdentifier.ofVault(in: folder.directory))
        #expect(try Files.mode(place.keys.file(of: identifier)) == 0o600)
        #expect(try await place.keys.open(folder.directory, identifier).record(.alice) == [1])
        #expect(try place.keys.make(folder.directory) == nil, "an existing vault gets no second key")
    }

    @Test(
        "E5: a vault whose key lay beside it is opened with the key moved, whatever a crash left",
        arguments: State.allCases)
    fileprivate func move(_ state: State) async throws {
        try await folder.open().put([1], under: .alice)
        let identifier = try #require(try VaultIdentifier.ofVault(in: folder.directory))
        try state.make(place, identifier)
        try place.keys.move(place.former, of: identifier)
        #expect(!Files.exists(place.former))
        #expect(try await place.keys.open(folder.directory, identifier).record(.alice) == [1])
    }

    /// What lies there when a move begins: as before the first one, or as a crash during one leaves it.
    fileprivate enum State: CaseIterable {
        case former, unfinishedCopy, both, moved

        func make(_ place: KeyPlace, _ identifier: VaultIdentifier) throws {
            let file = place.keys.file(of: identifier)
            let key = try Files.read(place.former)
            if self != .former {
                try FileManager.default.createDirectory(
                    atPath: place.keys.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            switch self {
            case .former: break
            case .unfinishedCopy: try Files.make(Array(key.prefix(7)), at: file + ".new")
            case .both: try Files.make(key, at: file)
            case .moved:
                try Files.make(key, at: file)
                try FileManager.default.removeItem(atPath: place.former)
            }
        }
    }

    @Test("E6: a different key in the key folder is not replaced, and the former file stays")
    func otherKey() async throws {
        _ = try folder.open()
        let identifier = try #require(try VaultIdentifier.ofVault(in: folder.directory))
        let file = place.keys.file(of: identifier)
        try FileManager.default.createDirectory(
            atPath: place.keys.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Files.make([UInt8](repeating: 7, count: 32), at: file)
        try place.keys.move(place.former, of: identifier)
        #expect(Files.exists(place.former))
        #expect(try Files.read(file) == [UInt8](repeating: 7, count: 32))
    }

    @Test("E5: no key is put into a folder that other users can write to")
    func openFolder() throws {
        try FileManager.default.createDirectory(
            atPath: place.keys.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.keys.path)
        let error = #expect(throws: VaultError.self) { try place.keys.make(folder.directory) }
        #expect(error?.code == "vault_denied")
        #expect("\(error.map { "\($0)" } ?? "")".contains("chmod go-w \(place.keys.path)"))
    }

    @Test("E5: no key is read out of a folder that other users can write to", arguments: [0o777, 0o770, 0o702])
    func openFolderOnRead(_ mode: Int) async throws {
        let vault = try #require(try place.keys.make(folder.directory))
        try await vault.put([1], under: .alice)
        let identifier = try #require(try VaultIdentifier.ofVault(in: folder.directory))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.keys.path)
        let error = #expect(throws: VaultError.self) { try place.keys.open(folder.directory, identifier) }
        #expect(error?.code == "vault_denied")
        #expect("\(error.map { "\($0)" } ?? "")".contains("chmod go-w \(place.keys.path)"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.keys.path)
        #expect(try await place.keys.open(folder.directory, identifier).record(.alice) == [1])
    }

    @Test("E5: the key of a vault that is no folder is read out of no folder that other users can write to")
    func openFolderOfDatabase() async throws {
        let key = VaultMasterKey.random()
        let identifier = VaultIdentifier.random()
        try await place.keys.store(key, of: identifier, label: "a database")
        #expect(try await place.keys.key(of: identifier)?.reveal() == key.reveal())
        for mode in [0o777, 0o770, 0o702] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.keys.path)
            let error = await #expect(throws: VaultError.self) { try await place.keys.key(of: identifier) }
            #expect(error?.code == "vault_denied")
            #expect("\(error.map { "\($0)" } ?? "")".contains("chmod go-w \(place.keys.path)"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.keys.path)
        #expect(try await place.keys.key(of: identifier)?.reveal() == key.reveal())
    }

    #if os(Linux) || os(macOS)
    /// 20 rounds, or as many as `HANDSHAKE_KILL_ROUNDS` says.
    @Test("E1, E6: kill -9 at any moment of the move loses no key")
    func kills() async throws {
        let rounds = ProcessInfo.processInfo.environment["HANDSHAKE_KILL_ROUNDS"].flatMap(Int.init) ?? 20
        try await folder.open().put([1], under: .alice)
        let identifier = try #require(try VaultIdentifier.ofVault(in: folder.directory))
        for round in 0..<rounds {
            await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as KeyPlace] in
                killAtRandom(countingUpTo: 50_000)
                let identifier = try #require(try VaultIdentifier.ofVault(in: place.directory))
                // There and back, so that the signal comes at some point of a move.
                while true {
                    try place.keys.move(place.former, of: identifier)
                    try FileManager.default.copyItem(
                        atPath: place.keys.file(of: identifier), toPath: place.former + ".new")
                    rename(place.former + ".new", place.former)
                    unlink(place.keys.file(of: identifier))
                }
            }
            try? FileManager.default.removeItem(atPath: place.former + ".new")
            try place.keys.move(place.former, of: identifier)
            #expect(
                try await place.keys.open(folder.directory, identifier).record(.alice) == [1], "round \(round)")
        }
    }
    #endif
}

/// Where a vault, its former key file and its key folder are, in a form that goes to another process.
private struct KeyPlace: Codable, Sendable {
    let parent: String
    var directory: String { parent + "/vault" }
    var former: String { parent + "/key" }
    var keys: KeyFolder { KeyFolder(path: parent + "/config/keys") }
}

@Suite("Files of the user that are checked before they are read")
struct TrustedFileTests {
    private let folder: VaultFolder

    init() throws { folder = try VaultFolder() }

    private func file(_ mode: Int) throws -> String {
        let path = folder.parent + "/file"
        try Files.make([1, 2], at: path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("E5: a file that only its owner can write is read; there is nothing where no file is")
    func trusted() throws {
        #expect(try TrustedFile.contents(of: file(0o600), limit: 10, others: .mayDoNothing) == [1, 2])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.parent + "/file")
        #expect(try TrustedFile.contents(of: folder.parent + "/file", limit: 10, others: .mayRead) == [1, 2])
        #expect(try TrustedFile.contents(of: folder.parent + "/none", limit: 10, others: .mayRead) == nil)
        #expect(try TrustedFile.contents(of: folder.parent + "/none/file", limit: 10, others: .mayRead) == nil)
    }

    @Test(
        "E5: a file that others can write is refused with the cure, and so is a secret that they can read",
        arguments: [(0o666, false), (0o620, false), (0o602, false), (0o604, true), (0o640, true), (0o666, true)])
    func openToOthers(_ mode: Int, isSecret: Bool) throws {
        let path = try file(mode)
        let error = #expect(throws: VaultError.self) {
            try TrustedFile.contents(of: path, limit: 10, others: isSecret ? .mayDoNothing : .mayRead)
        }
        #expect(error?.code == "vault_denied")
        #expect("\(error.map { "\($0)" } ?? "")".contains(isSecret ? "chmod 600 \(path)" : "chmod go-w \(path)"))
    }

    @Test("E5: a symbolic link, a second name and a named pipe are refused", arguments: [false, true])
    func links(isSecret: Bool) throws {
        let others: TrustedFile.Others = isSecret ? .mayDoNothing : .mayRead
        let path = try file(0o600)
        symlink(path, folder.parent + "/link")
        mkfifo(folder.parent + "/pipe", 0o600)
        for name in ["/link", "/pipe"] {
            let error = #expect(throws: VaultError.self) {
                try TrustedFile.contents(of: folder.parent + name, limit: 10, others: others)
            }
            #expect(error?.code == "vault_denied", "\(name)")
        }
        link(path, folder.parent + "/second")
        let error = #expect(throws: VaultError.self) { try TrustedFile.contents(of: path, limit: 10, others: others) }
        #expect(error?.code == "vault_denied")
    }

    @Test("E5: a file in a folder that others can write to is refused, unless the folder is sticky")
    func folders() throws {
        let path = try file(0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.parent)
        let error = #expect(throws: VaultError.self) {
            try TrustedFile.contents(of: path, limit: 10, others: .mayDoNothing)
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("chmod go-w \(folder.parent)"))
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.parent)
        #expect(try TrustedFile.contents(of: path, limit: 10, others: .mayDoNothing) == [1, 2])
    }

    @Test(
        "E5: a file of another user, or in a folder of another user, is refused, and so is a secret",
        .enabled(if: geteuid() == 0, "only root can give files away"), arguments: [false, true])
    func foreign(isSecret: Bool) throws {
        let others: TrustedFile.Others = isSecret ? .mayDoNothing : .mayRead
        let path = try file(0o600)
        #expect(chown(path, 12345, 12345) == 0)
        let error = #expect(throws: VaultError.self) { try TrustedFile.contents(of: path, limit: 10, others: others) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("chown 0 \(path)"))
        #expect(chown(path, 0, 0) == 0)
        #expect(chown(folder.parent, 12345, 12345) == 0)
        let above = #expect(throws: VaultError.self) { try TrustedFile.contents(of: path, limit: 10, others: others) }
        #expect("\(above.map { "\($0)" } ?? "")".contains("this folder belongs to user 12345"))
        #expect(chown(folder.parent, 0, 0) == 0)
        #expect(try TrustedFile.contents(of: path, limit: 10, others: others) == [1, 2])
    }

    @Test("a file that is longer than the limit is not read")
    func limit() throws {
        let path = try file(0o600)
        let error = #expect(throws: VaultError.self) {
            try TrustedFile.contents(of: path, limit: 1, others: .mayDoNothing)
        }
        #expect(error?.code == "vault_damaged")
    }
}
