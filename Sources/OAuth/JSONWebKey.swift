internal import Crypto
internal import CryptoExtras

/// A public key for signatures, as a server publishes it (RFC 7517, section 4).
final class JSONWebKey: Sendable {
    /// `kid`: the name by which a signature's header selects this key.
    let keyID: String?
    /// `issuer`: the only issuer whose signatures the key verifies. Not of RFC 7517: servers with many tenants state it.
    let issuer: String?
    /// `alg`: the one algorithm that the key is for; nil when it does not state one.
    private let algorithm: String?
    /// Whether `use` and `key_ops`, where present, allow the key to verify signatures (RFC 7517, sections 4.2 and 4.3).
    private let isForSignatures: Bool
    private let material: Material

    fileprivate enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// Reads a key; nil when it is not understood or must not be trusted.
    ///
    /// That is: an unknown type or curve, a member that is missing or of the wrong type, a point that is not on its
    /// curve, an RSA modulus of fewer than 2048 or more than 8192 bits, or a private part, because a published private
    /// key proves nothing.
    init?(_ members: JSONObject) {
        guard members["d"] == nil, let material = Material(members) else { return nil }
        let texts = [members["kid"], members["alg"], members["use"], members["issuer"]]
        guard texts.allSatisfy({ $0 == nil || $0?.string != nil }) else { return nil }
        let operations = members["key_ops"]?.array?.map(\.string)
        guard members["key_ops"] == nil || operations?.contains(nil) == false else { return nil }
        self.material = material
        keyID = members["kid"]?.string
        issuer = members["issuer"]?.string
        algorithm = members["alg"]?.string
        isForSignatures = (members["use"]?.string ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
    }

    /// Whether type, curve, `use`, `key_ops` and `alg` allow this key to verify a signature of this algorithm (RFC 8725,
    /// section 3.1).
    func fits(_ wanted: SignatureAlgorithm) -> Bool {
        guard isForSignatures,
            algorithm.map({ name in
                name == wanted.rawValue || wanted.namesakes.contains { $0.rawValue == name }
            }) ?? true
        else { return false }
        return switch (material, wanted) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512): true
        case (.p256, .es256), (.p384, .es384), (.p521, .es512), (.ed25519, .edDSA), (.ed25519, .ed25519): true
        default: false
        }
    }

    /// Whether `signature` is this key's signature of `bytes`. False for an algorithm that does not fit.
    func verifies(_ signature: [UInt8], of bytes: ArraySlice<UInt8>, by algorithm: SignatureAlgorithm) -> Bool {
        guard fits(algorithm) else { return false }
        switch material {
        case .rsa(let key):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return switch algorithm {
            case .rs256: key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .rs384: key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .rs512: key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .ps256: key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .PSS)
            case .ps384: key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .PSS)
            case .ps512: key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .PSS)
            case .es256, .es384, .es512, .edDSA, .ed25519: false
            }
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .p521(let key):
            guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .ed25519(let key):
            return key.isValidSignature(signature, for: bytes)
        }
    }
}

extension JSONWebKey.Material {
    /// Reads the key itself by `kty` and `crv` (RFC 7518, sections 6.2.1 and 6.3.1; RFC 8037, section 2).
    fileprivate init?(_ members: JSONObject) {
        func bytes(_ name: String) -> [UInt8]? {
            members[name]?.string.flatMap { $0.utf8.count <= 2048 ? Base64URL.decode($0) : nil }
        }
        switch (members["kty"]?.string, members["crv"]?.string) {
        case ("RSA", _):
            guard let modulus = bytes("n"), let exponent = bytes("e"),
                JSONWebKey.isAcceptable(modulus: modulus, exponent: exponent),
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
            else { return nil }
            self = .rsa(key)
        case ("EC", "P-256"):
            guard let point = Self.point(bytes("x"), bytes("y"), length: 32),
                let key = try? P256.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p256(key)
        case ("EC", "P-384"):
            guard let point = Self.point(bytes("x"), bytes("y"), length: 48),
                let key = try? P384.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p384(key)
        case ("EC", "P-521"):
            guard let point = Self.point(bytes("x"), bytes("y"), length: 66),
                let key = try? P521.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p521(key)
        case ("OKP", "Ed25519"):
            guard let point = bytes("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: point) else {
                return nil
            }
            self = .ed25519(key)
        default:
            return nil
        }
    }

    /// Both coordinates at full length (RFC 7518, section 6.2.1.2) as an uncompressed point.
    private static func point(_ x: [UInt8]?, _ y: [UInt8]?, length: Int) -> [UInt8]? {
        guard let x, let y, x.count == length, y.count == length else { return nil }
        return [0x04] + x + y
    }
}

extension JSONWebKey {
    /// A modulus of 2048 to 8192 bits, counted exactly, and an odd exponent from 3 on in 32 bits.
    ///
    /// These limits hold whatever limits the library has.
    static func isAcceptable(modulus: [UInt8], exponent: [UInt8]) -> Bool {
        let digits = modulus.drop { $0 == 0 }
        let bits = digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
        let exponent = exponent.drop { $0 == 0 }
        guard (2048...8192).contains(bits), (1...4).contains(exponent.count) else { return false }
        let value = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return value >= 3 && value % 2 == 1
    }
}
