import Crypto

/// The private keys of a member's identity (circles dossier 3).
///
/// One signs (Ed25519), and one agrees on secrets (X25519). They stay on the device. They cannot be printed, reflected, compared or encoded by accident.
public struct MemberKeys: Sendable {
    let signing: Curve25519.Signing.PrivateKey
    let agreement: Curve25519.KeyAgreement.PrivateKey

    /// New keys from the operating system's random bytes.
    public init() {
        signing = Curve25519.Signing.PrivateKey()
        agreement = Curve25519.KeyAgreement.PrivateKey()
    }

    /// Restores stored keys: 32 bytes of each; nil for another length.
    public init?(revealed bytes: [UInt8]) {
        guard bytes.count == 64,
            let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes[..<32]),
            let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes[32...])
        else { return nil }
        self.signing = signing
        self.agreement = agreement
    }

    /// The 64 bytes, for encrypted storage.
    public func reveal() -> [UInt8] {
        Array(signing.rawRepresentation) + Array(agreement.rawRepresentation)
    }

    /// The public key that signs.
    public var identity: [UInt8] { Array(signing.publicKey.rawRepresentation) }
    /// The public key of agreements.
    public var agreementKey: [UInt8] { Array(agreement.publicKey.rawRepresentation) }

    func signature(_ label: StaticString, _ content: [UInt8]) throws -> [UInt8] {
        Array(try signing.signature(for: label.label + content))
    }
}

extension MemberKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret keys of a member)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Checks of public keys.
enum PublicKeyCheck {
    /// Whether a signature is valid.
    static func isSigned(_ signature: [UInt8], _ label: StaticString, _ content: [UInt8], by identity: [UInt8]) -> Bool
    {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: identity) else { return false }
        return key.isValidSignature(signature, for: label.label + content)
    }

    /// Whether an Ed25519 key is a point of small order: signatures by it are valid for everything.
    static func isWeak(_ identity: [UInt8]) -> Bool {
        guard identity.count == 32 else { return true }
        var plain = identity
        plain[31] &= 0x7F
        return smallOrder.contains(plain)
    }

    /// The encodings of the points of order 1, 2, 4 and 8, without their sign.
    private static let smallOrder: Set<[UInt8]> = {
        let zeros = [UInt8](repeating: 0, count: 31)
        let ones = [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let eighth: [UInt8] = [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ]
        let other: [UInt8] = [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ]
        return [[0] + zeros, [1] + zeros, eighth, other, [0xEC] + ones, [0xED] + ones, [0xEE] + ones]
    }()
}
