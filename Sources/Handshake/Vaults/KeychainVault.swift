#if canImport(Security)
import Foundation
import Security

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
            directory: directory.path, keyIn: KeychainKeyStore(accessGroup: accessGroup), called: "Keychain")
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

/// The master keys of file vaults as generic passwords in the Keychain.
struct KeychainKeyStore: VaultKeyStore {
    let accessGroup: String?

    func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
        var query = attributes(of: identifier)
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(NSDictionary(dictionary: query) as CFDictionary, &found)
        guard status != errSecItemNotFound else { return nil }
        try Self.check(status)
        guard let data = found as? Data, let key = VaultMasterKey(revealed: Array(data)) else {
            throw VaultError.damaged(
                what: "the vault's key in the Keychain", reason: "it does not have \(VaultMasterKey.length) bytes")
        }
        return key
    }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        var item = attributes(of: identifier)
        item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        item[kSecAttrLabel] = label
        item[kSecValueData] = Data(key.reveal())
        try Self.check(SecItemAdd(NSDictionary(dictionary: item) as CFDictionary, nil))
    }

    func remove(_ identifier: VaultIdentifier) async throws {
        let status = SecItemDelete(NSDictionary(dictionary: attributes(of: identifier)) as CFDictionary)
        if status != errSecItemNotFound { try Self.check(status) }
    }

    private func attributes(of identifier: VaultIdentifier) -> [CFString: Any] {
        var attributes: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "handshake.vault",
            kSecAttrAccount: identifier.description, kSecAttrSynchronizable: false,
            // On macOS too: only the data protection keychain knows accessibility and access groups.
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { attributes[kSecAttrAccessGroup] = accessGroup }
        return attributes
    }

    private static func check(_ status: OSStatus) throws(VaultError) {
        switch status {
        case errSecSuccess: return
        case errSecInteractionNotAllowed:
            throw .locked("the Keychain cannot be read until the device has been unlocked once")
        case errSecMissingEntitlement:
            throw .denied(
                what: "the Keychain access group", reason: "add it to the app's Keychain Sharing entitlement")
        case errSecDuplicateItem: throw .busy("the vault's key in the Keychain")
        default: throw .unavailable("the Keychain answered with status \(status)")
        }
    }
}
#endif
