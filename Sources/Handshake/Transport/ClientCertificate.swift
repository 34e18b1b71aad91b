import Crypto
package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Security)
public import Security
#endif

/// A certificate with its key, which connections present (RFC 8705). The key never prints.
public struct ClientCertificate: Sendable {
    /// The SHA-256 of the certificate, in Base64URL (`x5t#S256`). It names the certificate that tokens
    /// are bound to (RFC 8705, section 3.1).
    public let thumbprint: String
    /// The certificate and those of the authorities above it, each in DER, its own first.
    package let chain: [[UInt8]]
    /// Certificates and key as they were read, to be sealed; nil for a key that does not leave its place.
    package let source: Secret?

    #if canImport(Security)
    /// What the system presents; nil for a certificate that was read from a file.
    // Never changed, and the system's functions may be called with it from any thread.
    nonisolated(unsafe) let identity: SecIdentity?

    /// A certificate whose key the system keeps, in a keychain or a secure element.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the certificate cannot be read.
    public init(identity: SecIdentity) throws(HandshakeError) {
        var certificate: SecCertificate?
        guard SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess, let certificate else {
            throw Self.wrong("the keychain does not give it")
        }
        let bytes = Array(SecCertificateCopyData(certificate) as Data)
        self.identity = identity
        chain = [bytes]
        source = nil
        thumbprint = Self.thumbprint(of: bytes)
    }
    #endif

    /// Reads a certificate and its key from PEM.
    ///
    /// That is: blocks `CERTIFICATE`, the client's own first, and one private key.
    ///
    /// On Apple's platforms a connection presents only what a keychain has: use `init(identity:)` there.
    ///
    /// - Parameters:
    ///   - content: the certificates, and the key unless it is given apart.
    ///   - key: the private key; nil when it is in `content`.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` with the cure, and without a byte of the key: for a file
    ///   without certificate, an encrypted or missing key, or one that is not the certificate's.
    public init(pem content: [UInt8], key: [UInt8]? = nil) throws(HandshakeError) {
        guard content.count + (key?.count ?? 0) <= Self.maximumLength,
            let text = String(validating: content + (key.map { [0x0A] + $0 } ?? []), as: UTF8.self)
        else { throw Self.wrong("the file is no PEM text, or has more than \(Self.maximumLength) bytes") }
        let chain = try Self.certificates(in: text)
        guard let own = chain.first else {
            throw Self.wrong("the file has no block CERTIFICATE; give the certificate and its key in PEM form")
        }
        do {
            _ = try SigningKey(parsing: Array(text.utf8))
        } catch {
            throw .exchange(error)
        }
        #if canImport(Security)
        identity = nil
        #endif
        self.chain = chain
        source = Secret(text)
        thumbprint = Self.thumbprint(of: own)
    }

    /// The longest file that is read, in bytes.
    public static let maximumLength = 262_144

    private static func thumbprint(of certificate: [UInt8]) -> String {
        Base64URL.encode(SHA256.hash(data: certificate))
    }

    /// The certificates of a PEM text, in their order (RFC 7468, section 5).
    private static func certificates(in text: String) throws(HandshakeError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var lines: [Substring]?
        for line in text.split(whereSeparator: \.isNewline) {
            if line == "-----BEGIN CERTIFICATE-----" {
                lines = []
            } else if line.hasPrefix("-----END ") {
                if let block = lines {
                    guard let bytes = Data(base64Encoded: block.joined()), !bytes.isEmpty, found.count < 16 else {
                        throw wrong("a block CERTIFICATE is not Base64, or there are more than 16; copy the file again")
                    }
                    found.append(Array(bytes))
                }
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return found
    }

    static func wrong(_ problem: String) -> HandshakeError {
        .configuration(member: "certificate", problem: problem)
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The thumbprint, without the key.
    public var description: String { "client certificate \(thumbprint)" }

    public var customMirror: Mirror { Mirror(self, children: ["thumbprint": thumbprint], displayStyle: .struct) }
}
