internal import Crypto

/// An asymmetric signature algorithm, by its registered name. Source: RFC 7518, section 3.1; RFC 8037, section 3.1.
///
/// `none` and the HMAC family do not exist here: a key that is published cannot also be a shared secret (RFC 8725,
/// section 3.1).
public enum SignatureAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256. OpenID Connect Core, section 15.1 makes every provider support it.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// RSASSA-PSS with SHA-384.
    case ps384 = "PS384"
    /// RSASSA-PSS with SHA-512.
    case ps512 = "PS512"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"
    /// ECDSA on P-521 with SHA-512.
    case es512 = "ES512"
    /// Ed25519. Ed448, the other curve of this name, is not implemented.
    case edDSA = "EdDSA"
    /// The same under its full name (RFC 9864, section 2.2).
    case ed25519 = "Ed25519"

    /// The algorithms of the FAPI 2.0 Security Profile, section 5.4.1.
    public static let fapi2: [SignatureAlgorithm] = [.ps256, .es256, .edDSA, .ed25519]

    /// The algorithm under each of its names: Ed25519 has two.
    package var namesakes: [SignatureAlgorithm] {
        self == .edDSA || self == .ed25519 ? [.edDSA, .ed25519] : [self]
    }

    /// The left half of a value's hash, in Base64URL: what `at_hash` holds (OpenID Connect Core, section 3.1.3.6).
    ///
    /// The hash is the algorithm's own; for Ed25519 that is SHA-512 (RFC 8032, section 5.1).
    func halfHash(of value: Secret) -> String {
        let bytes = Array(value.reveal().utf8)
        return switch self {
        case .rs256, .ps256, .es256: Base64URL.encode(SHA256.hash(data: bytes).prefix(16))
        case .rs384, .ps384, .es384: Base64URL.encode(SHA384.hash(data: bytes).prefix(24))
        case .rs512, .ps512, .es512, .edDSA, .ed25519: Base64URL.encode(SHA512.hash(data: bytes).prefix(32))
        }
    }
}
