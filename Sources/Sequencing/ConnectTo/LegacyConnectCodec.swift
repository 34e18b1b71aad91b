import Crypto
import CryptoExtras
import Handshake
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encrypted link of the old Connect-To protocol (dossier 3.3).
///
/// Legacy and weak: the client's secret is the key, is part of the text, and its MD5 is in the URL; the initialisation
/// vector is a published constant; the text is not authenticated. It exists because the service supports no other form.
/// Create the link on a server, which may have the secret, and give the app the finished link. The link itself is
/// https only.
public struct LegacyConnectCodec: Sendable {
    private let secret: Secret

    /// Creates the codec of a client.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty secret.
    public init(secret: Secret) throws(SequencingError) {
        guard !secret.reveal().isEmpty else { throw .input(member: "client_secret", problem: "it is empty") }
        self.secret = secret
    }

    private static let initialisationVector = Array("3n3CrwwnzMqxOssv".utf8)

    /// The client's identifier in the link: the MD5 of its secret, in lower-case hexadecimal.
    var clientHash: String {
        Hexadecimal.text(of: Insecure.MD5.hash(data: Array(secret.reveal().utf8)))
    }

    /// The request, encrypted, in base64 on one line.
    func encrypt(_ request: ConnectRequest) throws(SequencingError) -> String {
        do {
            let cipher = try AES._CBC.encrypt(Array(plainText(request).utf8), using: key, iv: vector())
            return cipher.base64EncodedString()
        } catch {
            throw .input(member: "client_secret", problem: "the link cannot be encrypted: \(error)")
        }
    }

    /// The link for the user. https, or plain http on loopback where the hosts allow it.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for a link longer than 8 KiB.
    public func link(_ request: ConnectRequest, at hosts: Sequencing.Hosts = .production) throws(SequencingError)
        -> EndpointURL
    {
        let target = "/connect?c=\(clientHash)&json=\(PercentEncoding.query(try encrypt(request)))"
        guard target.utf8.count + hosts.site.origin.description.utf8.count <= 8192 else {
            throw .input(
                member: "files", problem: "the link would be longer than 8 KiB. Use several links with fewer files each"
            )
        }
        return try SequencingError.endpoint(hosts.site, target)
    }

    /// The first 32 bytes of the secret, padded with zeros.
    private var key: SymmetricKey {
        var bytes = Array(secret.reveal().utf8.prefix(32))
        bytes += [UInt8](repeating: 0, count: 32 - bytes.count)
        return SymmetricKey(data: bytes)
    }

    private func vector() throws -> AES._CBC.IV {
        try AES._CBC.IV(ivBytes: Self.initialisationVector)
    }

    /// Compact JSON, with the members in the order of the protocol's examples.
    private func plainText(_ request: ConnectRequest) -> String {
        func member(_ name: String, _ value: String) -> String { "\"\(name)\":\(JSONValue.string(value).json)" }
        let files = request.files.map { file in
            let members = [
                ("name", file.name), ("type", file.kind.rawValue), ("url", file.url), ("hashType", file.digestType),
                ("hashValue", file.digest), ("size", String(file.size ?? 0)),
            ]
            return "{" + members.map { member($0.0, $0.1) }.joined(separator: ",") + "}"
        }
        return "{\(member("client_id", secret.reveal())),\(member("email", request.email.string)),"
            + "\"files\":[\(files.joined(separator: ","))]}"
    }
}

extension LegacyConnectCodec: CustomReflectable {
    /// Empty, because it holds a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
