import Crypto

/// The key that a vault is sealed with. For apps that keep it elsewhere than in a file, such as in a keyring or
/// a key management service. It does not print, reflect or encode by accident.
public struct VaultMasterKey: Sendable {
    /// How many bytes a key has.
    public static let length = 32

    let key: SymmetricKey

    /// Takes a key from where it rests; nil for anything but 32 bytes.
    public init?(revealed bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        key = SymmetricKey(data: bytes)
    }

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// A new key of the system's random bytes.
    public static func random() -> VaultMasterKey {
        VaultMasterKey(SymmetricKey(size: .bits256))
    }

    /// The 32 bytes, for the one place that keeps them.
    public func reveal() -> [UInt8] {
        key.withUnsafeBytes { Array($0) }
    }
}

extension VaultMasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret key)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What distinguishes a vault from every other: 16 random bytes, no secret. A key store keeps the master key
/// under it.
public struct VaultIdentifier: Sendable, Hashable {
    package let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads one back; nil for anything but 16 bytes.
    package init?(stored bytes: [UInt8]) {
        guard bytes.count == VaultDescription.idLength else { return nil }
        self.bytes = bytes
    }

    /// A new one.
    public static func random() -> VaultIdentifier {
        VaultIdentifier(bytes: VaultDescription.newID())
    }

    /// The identifier of the vault in a folder; nil when there is none yet.
    ///
    /// - Throws: as `FileVault`'s initialiser.
    public static func ofVault(in directory: String) throws(VaultError) -> VaultIdentifier? {
        guard let folder = try Folder.open(Folder.trimmed(directory), isOurs: true) else { return nil }
        return try VaultDescription.read(in: folder).map { VaultIdentifier(bytes: $0.id) }
    }
}

extension VaultIdentifier: CustomStringConvertible {
    /// 32 hexadecimal digits.
    public var description: String { Hexadecimal.text(of: bytes) }
}
