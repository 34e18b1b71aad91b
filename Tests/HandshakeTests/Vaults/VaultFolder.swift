import Foundation
import Handshake
import TestFixtures

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Where a file vault is, in a form that goes to another process.
struct VaultPlace: Codable, Sendable {
    let parent: String
    var directory: String { parent + "/vault" }
    var keyFile: String { parent + "/key" }
    var journal: String { parent + "/journal" }

    func open(timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous) throws -> FileVault {
        try FileVault(directory: directory, keyFile: keyFile, timeout: timeout, clock: clock)
    }
}

/// A file vault's place in a temporary folder, which is removed with this value.
final class VaultFolder: Sendable {
    private let temporary: TemporaryFolder
    var parent: String { temporary.path }
    var directory: String { place.directory }
    var keyFile: String { place.keyFile }

    /// Where the vault is, for another process.
    var place: VaultPlace { VaultPlace(parent: parent) }

    init() throws {
        temporary = try TemporaryFolder()
    }

    /// Opens the vault, which does not keep this folder.
    func open(timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous) throws -> FileVault {
        try place.open(timeout: timeout, clock: clock)
    }

    /// All files below the temporary folder.
    func files() -> [String] {
        let all = FileManager.default.enumerator(atPath: parent)?.compactMap { $0 as? String } ?? []
        return all.map { "\(parent)/\($0)" }.filter { !isFolder($0) }.sorted()
    }

    /// The files of records.
    func records() -> [String] {
        files().filter { $0.split(separator: "/").last?.count == 64 }
    }

    /// Puts a record in place and tells its file.
    func put(_ contents: [UInt8], under key: VaultKey) async throws -> String {
        let before = Set(records())
        try await open().put(contents, under: key)
        return records().first { !before.contains($0) } ?? ""
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

/// Files as bytes, without FileManager's opinions.
enum Files {
    /// Everything below a folder.
    static func all(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
    }

    static func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Overwrites a file in place: its mode, owner and links stay.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// Makes a file with mode 0600.
    static func make(_ bytes: [UInt8], at path: String) throws {
        guard
            FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }

    static func mode(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    static func exists(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }
}
