#if Sandbox
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authority that issues the sandbox's certificates (RFC 5280): those of its listeners, and those of clients.
///
/// Its key is new in every process and never leaves it, because a user may have told a program to trust it.
package struct CertificateAuthority: Sendable {
    /// That of this process.
    package static let shared = CertificateAuthority()

    /// A certificate with its key.
    package struct Issued: Sendable {
        package let certificate: [UInt8]
        let key: P256.Signing.PrivateKey

        /// Both as PEM, as programs read them.
        package var pem: String { CertificateAuthority.pem(certificate) + key.pemRepresentation + "\n" }

        /// `x5t#S256` (RFC 8705 section 3.1).
        package var thumbprint: String { CertificateAuthority.thumbprint(of: certificate) }
    }

    private static let name = DistinguishedEncoding.name("Sandbox authority")
    private static let ecdsaWithSHA256 = DistinguishedEncoding.sequence(
        DistinguishedEncoding.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))

    private let key = P256.Signing.PrivateKey()
    /// The authority's own certificate, in DER.
    package let certificate: [UInt8]

    /// The same as PEM.
    package var pem: String { Self.pem(certificate) }

    private init() {
        certificate = Self.signed(
            of: Self.name, key.publicKey, by: key, issuer: Self.name,
            extensions: [
                // Basic constraints and key usage (RFC 5280 sections 4.2.1.9 and 4.2.1.3).
                Self.extending(
                    [0x55, 0x1D, 0x13], isCritical: true, DistinguishedEncoding.sequence([0x01, 0x01, 0xFF])),
                Self.extending([0x55, 0x1D, 0x0F], isCritical: true, DistinguishedEncoding.bits([0x06], unused: 1)),
            ])
    }

    /// A certificate for a listener of this machine.
    func issueServer() -> Issued {
        let loopback: [[UInt8]] = [
            DistinguishedEncoding.value(0x82, Array("localhost".utf8)),
            DistinguishedEncoding.value(0x87, [127, 0, 0, 1]),
            DistinguishedEncoding.value(0x87, [UInt8](repeating: 0, count: 15) + [1]),
        ]
        let names = DistinguishedEncoding.value(0x30, loopback.flatMap(\.self))
        return issue("localhost", [Self.extending([0x55, 0x1D, 0x11], names), Self.usage(1)])
    }

    /// A certificate for a client of this name.
    package func issueClient(_ commonName: String) -> Issued { issue(commonName, [Self.usage(2)]) }

    /// A client's certificate that no authority has issued.
    package static func selfSigned(_ commonName: String) -> Issued {
        let (key, name) = (P256.Signing.PrivateKey(), DistinguishedEncoding.name(commonName))
        return Issued(
            certificate: signed(of: name, key.publicKey, by: key, issuer: name, extensions: [usage(2)]), key: key)
    }

    private func issue(_ commonName: String, _ extensions: [[UInt8]]) -> Issued {
        let own = P256.Signing.PrivateKey()
        return Issued(
            certificate: Self.signed(
                of: DistinguishedEncoding.name(commonName), own.publicKey, by: key, issuer: Self.name,
                extensions: extensions),
            key: own)
    }

    /// Whether the authority has issued a certificate to a client of this name.
    package func hasIssued(_ certificate: [UInt8], to commonName: String) -> Bool {
        guard let parts = SignedCertificate(certificate),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: parts.signature)
        else { return false }
        return parts.subject == DistinguishedEncoding.name(commonName)
            && key.publicKey.isValidSignature(signature, for: Data(parts.signed))
    }

    /// `x5t#S256` of a certificate (RFC 8705 section 3.1).
    package static func thumbprint(of certificate: [UInt8]) -> String {
        URLSafeBase64.encoded(SHA256.hash(data: Data(certificate)))
    }

    private static func pem(_ certificate: [UInt8]) -> String {
        let text = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    private static func signed(
        of subject: [UInt8], _ subjectKey: P256.Signing.PublicKey, by key: P256.Signing.PrivateKey, issuer: [UInt8],
        extensions: [[UInt8]]
    ) -> [UInt8] {
        // Positive, and without leading zeros.
        let serial = [0x40] + (0..<15).map { _ in UInt8.random(in: .min ... .max) }
        let validity = DistinguishedEncoding.sequence(
            DistinguishedEncoding.value(0x17, Array("240101000000Z".utf8)),
            DistinguishedEncoding.value(0x18, Array("21240101000000Z".utf8)))
        let content = DistinguishedEncoding.sequence(
            [0xA0, 0x03, 0x02, 0x01, 0x02], DistinguishedEncoding.value(0x02, serial), ecdsaWithSHA256, issuer,
            validity,
            subject, Array(subjectKey.derRepresentation),
            DistinguishedEncoding.value(0xA3, DistinguishedEncoding.value(0x30, extensions.flatMap(\.self))))
        guard let signature = try? key.signature(for: Data(content)) else { return [] }
        return DistinguishedEncoding.sequence(
            content, ecdsaWithSHA256, DistinguishedEncoding.bits(Array(signature.derRepresentation)))
    }

    private static func extending(
        _ identifier: [UInt8], isCritical: Bool = false, _ content: [UInt8]
    ) -> [UInt8] {
        DistinguishedEncoding.sequence(
            DistinguishedEncoding.identifier(identifier), isCritical ? [0x01, 0x01, 0xFF] : [],
            DistinguishedEncoding.octets(content))
    }

    /// Extended key usage: 1 for servers, 2 for clients (RFC 5280 section 4.2.1.12).
    private static func usage(_ purpose: UInt8) -> [UInt8] {
        extending(
            [0x55, 0x1D, 0x25],
            DistinguishedEncoding.sequence(
                DistinguishedEncoding.identifier([0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, purpose])))
    }
}

/// The parts of a certificate that say whose it is, and who has signed it (RFC 5280 section 4.1).
private struct SignedCertificate {
    let signed: [UInt8]
    let subject: [UInt8]
    let signature: [UInt8]

    /// Nil for bytes that are no certificate of version 3.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let outer = DistinguishedEncoding.read(&rest), outer.tag == 0x30, rest.isEmpty else { return nil }
        var parts = outer.content
        guard let body = DistinguishedEncoding.read(&parts), body.tag == 0x30,
            DistinguishedEncoding.read(&parts) != nil,
            let bits = DistinguishedEncoding.read(&parts), bits.tag == 0x03, bits.content.first == 0, parts.isEmpty
        else { return nil }
        var members = body.content
        // Version, serial number, algorithm, issuer and validity come before the subject.
        for _ in 0..<5 { guard DistinguishedEncoding.read(&members) != nil else { return nil } }
        guard let subject = DistinguishedEncoding.read(&members) else { return nil }
        signed = body.whole
        self.subject = subject.whole
        signature = Array(bits.content.dropFirst())
    }
}
#endif
