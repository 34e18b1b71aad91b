#if Sandbox
import Crypto
import CryptoExtras
import SandboxCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys of the standard server: one that signs, others that are published beside it, and two that are not.
///
/// A class, because the signing key can rotate.
final class ServerKeys: Sendable {
    private struct State: Sendable {
        var current = P256.Signing.PrivateKey()
        var number = 1
        /// The key before the last rotation, which stays published.
        var previous: P256.Signing.PrivateKey?
        /// All that ever signed; ID tokens of any age are hints.
        var past: [P256.Signing.PrivateKey] = []
    }

    private let state = Mutex(State())
    private let unpublished = P256.Signing.PrivateKey()
    private let edwards = Curve25519.Signing.PrivateKey()
    /// These two are one for all sandboxes of a process, since they take long to make.
    private static let longer = P384.Signing.PrivateKey()
    private static let rsa = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    /// The name of the signing key.
    var keyID: String { Self.name(state.withLock { $0.number }) }

    private static func name(_ number: Int) -> String { "sandbox-es256-\(number)" }

    /// Makes another signing key; the last one stays published.
    func rotate() {
        state.withLock { state in
            state.past.append(state.current)
            state.previous = state.current
            state.current = P256.Signing.PrivateKey()
            state.number += 1
        }
    }

    /// The key set (RFC 7517). Its first key has an unknown type, since section 5 asks clients to skip such keys; the Ed25519 key
    /// has no name; the one that signs is the last.
    var set: JSON {
        let state = state.withLock { $0 }
        var keys: [JSON] = [
            ["kty": "SANDBOX-UNKNOWN", "kid": "sandbox-unknown-1", "use": "sig", "alg": "SANDBOX", "q": "AQAB"]
        ]
        if let numbers = try? Self.rsa?.publicKey.getKeyPrimitives() {
            keys.append([
                "kty": "RSA", "kid": "sandbox-rsa-1", "use": "sig",
                "n": .string(URLSafeBase64.encoded(numbers.modulus.drop { $0 == 0 })),
                "e": .string(URLSafeBase64.encoded(numbers.publicExponent.drop { $0 == 0 })),
            ])
        }
        keys.append(Self.point("P-384", "ES384", "sandbox-es384-1", Self.longer.publicKey.rawRepresentation))
        keys.append([
            "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
            "x": .string(URLSafeBase64.encoded(edwards.publicKey.rawRepresentation)),
        ])
        if let previous = state.previous {
            keys.append(
                Self.point("P-256", "ES256", Self.name(state.number - 1), previous.publicKey.rawRepresentation))
        }
        keys.append(Self.point("P-256", "ES256", Self.name(state.number), state.current.publicKey.rawRepresentation))
        return ["keys": .array(keys)]
    }

    private static func point(_ curve: String, _ algorithm: String, _ name: String, _ point: Data) -> JSON {
        let half = point.count / 2
        return [
            "kty": "EC", "crv": .string(curve), "kid": .string(name), "use": "sig", "alg": .string(algorithm),
            "x": .string(URLSafeBase64.encoded(point.prefix(half))),
            "y": .string(URLSafeBase64.encoded(point.suffix(half))),
        ]
    }

    /// `alg` and `kid` of texts that a key signs; nil is the usual key.
    func header(of key: SignedTextKey?) -> (algorithm: String, keyID: String?) {
        switch key {
        case nil, .other, .damaged: ("ES256", keyID)
        case .unknown: ("ES256", "sandbox-unpublished-1")
        case .none?: ("none", nil)
        case .hs256: ("HS256", keyID)
        case .es384: ("ES384", "sandbox-es384-1")
        case .edDSA: ("EdDSA", nil)
        case .rs256: ("RS256", "sandbox-rsa-1")
        case .ps256: ("PS256", "sandbox-rsa-1")
        }
    }

    /// The signature of a text; nil if the key fails to sign.
    func signature(of text: String, by key: SignedTextKey?) -> [UInt8]? {
        let bytes = Data(text.utf8)
        let current = state.withLock { $0.current }
        switch key {
        case nil: return (try? current.signature(for: bytes)).map { Array($0.rawRepresentation) }
        case .other, .unknown: return (try? unpublished.signature(for: bytes)).map { Array($0.rawRepresentation) }
        case .damaged:
            guard var signature = signature(of: text, by: nil) else { return nil }
            signature[signature.count - 1] ^= 1
            return signature
        case .none?: return []
        case .hs256:
            let secret = SymmetricKey(data: Data(current.publicKey.pemRepresentation.utf8))
            return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: secret))
        case .es384: return (try? Self.longer.signature(for: bytes)).map { Array($0.rawRepresentation) }
        case .edDSA: return (try? edwards.signature(for: bytes)).map(Array.init)
        case .rs256, .ps256:
            let padding: _RSA.Signing.Padding = key == .ps256 ? .PSS : .insecurePKCS1v1_5
            return (try? Self.rsa?.signature(for: SHA256.hash(data: bytes), padding: padding)).map {
                Array($0.rawRepresentation)
            }
        }
    }

    /// Whether one of the keys that ever signed here has signed a text.
    func haveSigned(_ text: String, _ signature: Data) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        let keys = state.withLock { [$0.current] + $0.past.reversed() }
        return keys.contains { $0.publicKey.isValidSignature(signature, for: Data(text.utf8)) }
    }
}
#endif
