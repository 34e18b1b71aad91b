#if canImport(Security)
import Foundation
import Security

/// The Keychain as the place of the keys of any vault.
///
/// A vault in a database takes it as `keyIn`, and the name of its key, such as “Keychain”, as `called`. ``KeychainVault`` is a vault of files with it.
/// Each key is a generic password, accessible after the device was unlocked once. It never leaves the device: copy a vault to another one, which has
/// a key of its own, instead of its file.
public struct KeychainKeys: VaultKeyStore {
    private let accessGroup: String?

    /// Names the Keychain access group. Nothing is asked yet.
    ///
    /// - Parameter accessGroup: the group that holds the keys, for an app and its extensions; nil for the app's own.
    public init(accessGroup: String? = nil) {
        self.accessGroup = accessGroup
    }

    public func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
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

    public func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        var item = attributes(of: identifier)
        item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        item[kSecAttrLabel] = label
        item[kSecValueData] = Data(key.reveal())
        try Self.check(SecItemAdd(NSDictionary(dictionary: item) as CFDictionary, nil))
    }

    public func remove(_ identifier: VaultIdentifier) async throws {
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
