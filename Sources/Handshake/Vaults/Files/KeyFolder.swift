#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder with the master keys of file vaults, apart from the vaults: one file each, named after the vault's identifier.
///
/// A copy of the vault's folder alone opens nothing, and a vault that is moved to another folder finds its key.
package struct KeyFolder: Sendable {
    package let path: String

    /// How long another process may take that moves or makes a key here; it takes milliseconds.
    private static let lockTimeout = Duration.seconds(10)

    package init(path: String) {
        self.path = Folder.trimmed(path)
    }

    /// Where the key of a vault lies, or would lie.
    package func file(of identifier: VaultIdentifier) -> String {
        "\(path)/\(identifier).key"
    }

    /// Whether the key of a vault lies here.
    package func hasKey(of identifier: VaultIdentifier) throws(VaultError) -> Bool {
        guard let folder = try Folder.open(path, isOurs: false) else { return false }
        return try folder.describing(path) { () throws(SystemFailure) in
            try folder.descriptor.status(of: "\(identifier).key")
        } != nil
    }

    /// Opens a vault whose key lies here.
    ///
    /// - Throws: as `FileVault`'s initializer; ``VaultError/locked(_:)`` when the key is missing;
    ///   ``VaultError/denied(what:reason:)`` for a folder in which other users can replace the key.
    package func open(_ directory: String, _ identifier: VaultIdentifier) throws(VaultError) -> FileVault {
        if let folder = try Folder.open(path, isOurs: false) { try requireTrusted(folder) }
        return try FileVault(directory: directory, keyFile: file(of: identifier))
    }

    /// Makes a vault in an empty or missing folder, its key first, so that no vault exists without its key.
    ///
    /// - Returns: nil when another process made the vault meanwhile.
    package func make(_ directory: String) throws(VaultError) -> FileVault? {
        let (identifier, key) = (VaultIdentifier.random(), VaultMasterKey.random())
        let folder = try openOrMake()
        var bytes = key.reveal()
        defer { bytes.resetBytes() }
        try folder.replace("\(identifier).key", with: bytes)
        do {
            return try FileVault(directory: directory, identifier: identifier, masterKey: key)
        } catch {
            // The key opens nothing. When it cannot be removed, it does no harm.
            _ = try? folder.remove("\(identifier).key")
            if let made = try VaultIdentifier.ofVault(in: directory), made != identifier { return nil }
            throw error
        }
    }

    /// Moves the key of a vault here from the file in which it was kept before. When there is no such file, nothing happens.
    ///
    /// The key is durable here before the former file goes, so a crash at any point leaves at least one of the two, and the next
    /// call completes the move. A different key that lies here already is left as it is, and so is the former file.
    ///
    /// - Throws: ``VaultError``; the former file is then still there.
    package func move(_ former: String, of identifier: VaultIdentifier) throws(VaultError) {
        let (above, name) = Folder.split(former)
        guard let formerFolder = try Folder.open(above, isOurs: false),
            try formerFolder.existing(name, O_RDONLY) != nil
        else { return }
        let folder = try openOrMake()
        // Two processes may begin the move; the second one finds it done. The lock ends when the folder is closed.
        try folder.lock(for: path, timeout: Self.lockTimeout)
        guard var bytes = try formerFolder.contents(of: name, limit: KeyFile.length) else { return }
        defer { bytes.resetBytes() }
        if let present = try folder.contents(of: "\(identifier).key", limit: KeyFile.length) {
            guard present == bytes else { return }
        } else {
            try folder.replace("\(identifier).key", with: bytes)
        }
        _ = try formerFolder.remove(name)
    }

    /// Other users may look into the folder, as into `~/.config`, but must not be able to replace what lies there.
    func openOrMake() throws(VaultError) -> Folder {
        let folder = try Folder.openOrMake(path, isOurs: false)
        try requireTrusted(folder)
        return folder
    }

    func requireTrusted(_ folder: borrowing Folder) throws(VaultError) {
        try folder.describing(path) { () throws(SystemFailure) in try folder.descriptor.status() }
            .requireTrustedFolder(at: path)
    }
}
