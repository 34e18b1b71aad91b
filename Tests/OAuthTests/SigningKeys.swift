import Crypto
import CryptoExtras
import Testing

@testable import OAuth

/// Keys that sign in tests: one of each kind, generated in every run.
struct SigningKeys {
    static let shared = Result { try SigningKeys() }

    let rsa: _RSA.Signing.PrivateKey
    let p256 = P256.Signing.PrivateKey()
    let p384 = P384.Signing.PrivateKey()
    let p521 = P521.Signing.PrivateKey()
    let ed25519 = Curve25519.Signing.PrivateKey()

    private init() throws {
        rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    /// A key's public part as a JWK, with more members put behind.
    func jwk(for algorithm: SignatureAlgorithm, _ more: String = "") throws -> String {
        func ec(_ curve: String, _ point: some Sequence<UInt8>) -> String {
            let bytes = Array(point)
            let half = bytes.count / 2
            return
                #"{"kty":"EC","crv":"\#(curve)","x":"\#(Base64URL.encode(bytes[..<half]))","y":"\#(Base64URL.encode(bytes[half...]))"\#(more)}"#
        }
        switch algorithm {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            let numbers = try rsa.publicKey.getKeyPrimitives()
            return
                #"{"kty":"RSA","n":"\#(Base64URL.encode(numbers.modulus))","e":"\#(Base64URL.encode(numbers.publicExponent))"\#(more)}"#
        case .es256: return ec("P-256", p256.publicKey.rawRepresentation)
        case .es384: return ec("P-384", p384.publicKey.rawRepresentation)
        case .es512: return ec("P-521", p521.publicKey.rawRepresentation)
        case .edDSA, .ed25519:
            return
                #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(ed25519.publicKey.rawRepresentation))"\#(more)}"#
        }
    }

    func keySet(_ algorithms: SignatureAlgorithm..., more: String = "") throws -> JSONWebKeySet {
        try JSONWebKeySet(json: algorithms.map { try jwk(for: $0, more) })
    }

    /// A token with this header and payload, signed by the algorithm's own key.
    func token(_ algorithm: SignatureAlgorithm, header: String? = nil, payload: String) throws -> Secret {
        let header = header ?? #"{"alg":"\#(algorithm.rawValue)"}"#
        let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        return Secret(text + "." + Base64URL.encode(try signature(algorithm, of: Array(text.utf8))))
    }

    private func signature(_ algorithm: SignatureAlgorithm, of bytes: [UInt8]) throws -> [UInt8] {
        switch algorithm {
        case .rs256:
            Array(try rsa.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .rs384:
            Array(try rsa.signature(for: SHA384.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .rs512:
            Array(try rsa.signature(for: SHA512.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .ps256: Array(try rsa.signature(for: SHA256.hash(data: bytes), padding: .PSS).rawRepresentation)
        case .ps384: Array(try rsa.signature(for: SHA384.hash(data: bytes), padding: .PSS).rawRepresentation)
        case .ps512: Array(try rsa.signature(for: SHA512.hash(data: bytes), padding: .PSS).rawRepresentation)
        case .es256: Array(try p256.signature(for: bytes).rawRepresentation)
        case .es384: Array(try p384.signature(for: bytes).rawRepresentation)
        case .es512: Array(try p521.signature(for: bytes).rawRepresentation)
        case .edDSA, .ed25519: Array(try ed25519.signature(for: bytes))
        }
    }
}

extension JSONWebKeySet {
    init(json keys: [String]) throws {
        try self.init(parsing: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }
}
