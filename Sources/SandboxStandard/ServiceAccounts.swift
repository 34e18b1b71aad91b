#if Sandbox
import Crypto
import CryptoExtras
public import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An account of a program, as Google's: its assertions are signed by the key of its key file (RFC 7523 section 2.1).
enum ServiceAccounts {
    static let email = "sandbox-robot@sandbox.iam.example.test"
    private static let keyID = "sandbox-robot-1"
    /// Made when it is first asked for, since that takes long. New in every process, and protects nothing.
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    /// The key file, as a user downloads it.
    static func file(of server: AuthorizationServer) -> JSON {
        [
            "type": "service_account", "project_id": "sandbox", "private_key_id": .string(keyID),
            "private_key": JSON(key.map { $0.pkcs8PEMRepresentation + "\n" }), "client_email": .string(email),
            "client_id": "1", "auth_uri": .string(server.origin + "/authorize"),
            "token_uri": .string(server.origin + "/token"),
        ]
    }

    /// Whether an assertion is signed by the account's key, as RS256.
    static func hasSigned(_ token: SignedText) -> Bool {
        guard token.header["alg"]?.scalarText == "RS256", token.header["crit"] == nil,
            token.header["kid"]?.scalarText ?? keyID == keyID, token.claims["iss"]?.scalarText == email, let key
        else { return false }
        return key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: token.signature), for: Data(token.signed.utf8),
            padding: .insecurePKCS1v1_5)
    }
}

extension Sandbox {
    /// The key file of the standard server's service account, as JSON. Its key is new in every process.
    ///
    /// Other processes read it at `GET /_sandbox/service-account`. The first call makes the key, which takes long.
    public var serviceAccountKey: String {
        ServiceAccounts.file(of: standIn(StandardStandIn.self).server).text
    }
}
#endif
