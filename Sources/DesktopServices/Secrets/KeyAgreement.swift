#if Desktop
import BigInt
import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The key agreement and the cipher of `dh-ietf1024-sha256-aes128-cbc-pkcs7` (Secret Service API, “Transfer of Secrets”).
///
/// It protects secrets from logs of bus traffic and from the buffers of the bus. It has no authentication, so it does not
/// protect from an attacker who modifies the traffic.
struct KeyAgreement {
    static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    private let exponent: BigUInt

    /// The Second Oakley Group (RFC 2409, section 6.2).
    private static let prime = BigUInt(Data(primeBytes))
    static let primeBytes: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34, 0xC4, 0xC6,
        0x62,
        0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74, 0x02, 0x0B, 0xBE, 0xA6, 0x3B,
        0x13,
        0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD, 0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B,
        0x30,
        0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37, 0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5,
        0x76,
        0x62, 0x5E, 0x7E, 0xC6, 0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06,
        0xB7,
        0xED, 0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6, 0x49,
        0x28,
        0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    ]

    /// The length of the private key in bytes: an exponent needs twice the bits of the group's strength, which is about 80
    /// for 1024 bits (RFC 3766). More only costs time.
    static let privateKeyLength = 32

    /// Creates a private key from ``privateKeyLength`` random bytes.
    init(random: [UInt8]) {
        exponent = BigUInt(Data(random.prefix(Self.privateKeyLength)))
    }

    /// The public key: an unsigned integer, most significant byte first.
    var publicKey: [UInt8] {
        Array(BigUInt(2).power(exponent, modulus: Self.prime).serialize())
    }

    /// Derives the session key.
    ///
    /// - Throws: ``DesktopServicesError/malformed(answer:problem:)`` for a public key that would make the shared one
    ///   predictable.
    func sharedKey(with peer: [UInt8]) throws(DesktopServicesError) -> SessionKey {
        let peer = BigUInt(Data(peer))
        guard peer > 1, peer < Self.prime - 1 else {
            throw .malformed(answer: "OpenSession", problem: "its public key is out of range")
        }
        let shared = peer.power(exponent, modulus: Self.prime).serialize()
        // HKDF's input has the length of the prime, as in other implementations.
        let padded = Data(count: Self.primeBytes.count - shared.count) + shared
        return SessionKey(
            key: HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: padded), outputByteCount: 16))
    }
}

/// Encrypts the secrets of one session: AES-128 in CBC mode with PKCS #7 padding.
struct SessionKey: Sendable {
    let key: SymmetricKey

    func seal(_ secret: [UInt8], vector: [UInt8]) throws(DesktopServicesError) -> [UInt8] {
        do {
            return Array(try AES._CBC.encrypt(secret, using: key, iv: AES._CBC.IV(ivBytes: vector)))
        } catch {
            throw .malformed(answer: "CreateItem", problem: "the secret cannot be encrypted")
        }
    }

    func open(_ sealed: [UInt8], vector: [UInt8]) throws(DesktopServicesError) -> [UInt8] {
        do {
            return Array(try AES._CBC.decrypt(sealed, using: key, iv: AES._CBC.IV(ivBytes: vector)))
        } catch {
            throw .malformed(answer: "GetSecrets", problem: "the secret cannot be decrypted with the session key")
        }
    }
}
#endif
