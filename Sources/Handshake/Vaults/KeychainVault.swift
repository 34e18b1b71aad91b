#if canImport(Security)
import Foundation

/// A vault of encrypted files in the app's container. Its master key rests in the Keychain.
///
/// The key is accessible after the device was unlocked once, so that background refreshes work, and never leaves the
/// device: it is neither synchronized nor restored to another one. The records are therefore left out of backups.
public enum KeychainVault {
    /// Opens the vault, or makes it on first use.
    ///
    /// - Parameters:
    ///   - appGroup: the app group whose container holds the records, for an app and its extensions; nil keeps them in the
    ///     app's own container.
    ///   - accessGroup: the Keychain access group that holds the key; needed together with `appGroup`.
    ///   - name: distinguishes several vaults of one app.
    /// - Throws: ``VaultError/locked(_:)`` before the first unlock after a restart; ``VaultError/denied(what:reason:)`` when
    ///   the app lacks the entitlement for a group; what `FileVault` throws.
    public static func open(
        appGroup: String? = nil, accessGroup: String? = nil, name: String = "vault"
    ) async throws -> FileVault {
        let directory = try folder(appGroup: appGroup).appendingPathComponent(name, isDirectory: true)
        let vault = try await FileVault.open(
            directory: directory.path, keyIn: KeychainKeys(accessGroup: accessGroup), called: "Keychain")
        try leaveOutOfBackups(directory)
        return vault
    }

    private static func folder(appGroup: String?) throws(VaultError) -> URL {
        let manager = FileManager.default
        guard let appGroup else {
            guard let support = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first else {
                throw .unavailable("there is no application support folder")
            }
            return support.appendingPathComponent("Handshake", isDirectory: true)
        }
        guard let container = manager.containerURL(forSecurityApplicationGroupIdentifier: appGroup) else {
            throw .denied(
                what: "the container of \(appGroup)", reason: "add the app group to the app's entitlements")
        }
        return container.appendingPathComponent("Handshake", isDirectory: true)
    }

    private static func leaveOutOfBackups(_ directory: URL) throws(VaultError) {
        var directory = directory
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        do {
            try directory.setResourceValues(values)
        } catch {
            throw .unavailable("the vault's folder cannot be left out of backups")
        }
    }
}
#endif
