#if Sandbox
import Crypto
import SandboxCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clients that sign instead of showing a secret.
enum AssertingClients {
    static let keyed = "sandbox-key"
    /// For a server that departs from the standard: the audience of assertions is the token endpoint.
    static let keyedForTokens = "sandbox-key-token-endpoint"
    /// The same: the audience of assertions is the endpoint that is called.
    static let keyedForEndpoints = "sandbox-key-endpoint"
    /// The same: assertions are for either of these or the issuer.
    static let keyedForEither = "sandbox-key-either"
    static let hashed = "sandbox-hmac"
    static let signing = "sandbox-signing"
    static let fapi = "sandbox-fapi"
    static let keyID = "sandbox-client-1"
    static let key = P256.Signing.PrivateKey()

    /// The private key as a client keeps it (RFC 7518 section 6.2.2).
    static let privateKey: String = {
        let point = key.publicKey.rawRepresentation
        let jwk: JSON = [
            "kty": "EC", "crv": "P-256", "kid": .string(keyID), "use": "sig", "alg": "ES256",
            "x": .string(URLSafeBase64.encoded(point.prefix(32))),
            "y": .string(URLSafeBase64.encoded(point.suffix(32))),
            "d": .string(URLSafeBase64.encoded(key.rawRepresentation)),
        ]
        return jwk.text
    }()
}

/// Verifies the assertions of clients (RFC 7523 section 3, OpenID Connect Core section 9).
///
/// A class, because the assertions that were used are kept: each counts once.
final class ClientAssertions: Sendable {
    private let used = Mutex<Set<String>>([])

    /// The longest that an assertion may count, in seconds.
    private static let maximumLifetime = 300
    private static let leeway = 10.0

    /// The client that an assertion in a form proves.
    func client(
        of form: FormParameters, to path: String, at server: AuthorizationServer
    ) throws(OAuthFailure) -> SandboxClient {
        guard form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" else {
            throw .invalidClient("client_assertion_type is not the one of RFC 7523.")
        }
        guard let token = SignedText(form["client_assertion"] ?? "") else {
            throw .invalidClient("client_assertion is not a signed text of three parts.")
        }
        guard let id = token.claims["iss"]?.scalarText, token.claims["sub"]?.scalarText == id,
            let client = server.client(id), form["client_id"].map({ $0 == id }) ?? true
        else { throw .invalidClient("iss, sub and client_id have to be the client's identifier.") }
        try checkSignature(of: token, by: client)
        try checkAudience(of: token, by: client, to: path, at: server)
        try checkClaims(of: token, at: server)
        return client
    }

    private func checkSignature(of token: SignedText, by client: SandboxClient) throws(OAuthFailure) {
        guard ["client-authentication+jwt", "JWT"].contains(token.header["typ"]?.scalarText ?? "JWT"),
            token.header["crit"] == nil
        else { throw .invalidClient("The assertion's header is of another kind of text.") }
        let isSigned: Bool
        switch client.id {
        case AssertingClients.keyed, AssertingClients.keyedForTokens, AssertingClients.keyedForEndpoints,
            AssertingClients.keyedForEither, AssertingClients.signing, AssertingClients.fapi:
            let name = token.header["kid"]?.scalarText
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            isSigned =
                token.header["alg"]?.scalarText == "ES256" && (name == nil || name == AssertingClients.keyID)
                && signature.map {
                    AssertingClients.key.publicKey.isValidSignature($0, for: Data(token.signed.utf8))
                } ?? false
        case AssertingClients.hashed:
            isSigned =
                token.header["alg"]?.scalarText == "HS256"
                && HMAC<SHA256>.isValidAuthenticationCode(
                    token.signature, authenticating: Data(token.signed.utf8),
                    using: SymmetricKey(data: Data((client.secret ?? "").utf8)))
        default: isSigned = RegisteredKey.verifies(token, of: client)
        }
        guard isSigned else { throw .invalidClient("The assertion is not signed by the client.") }
    }

    /// One string: the issuer, or what the client's server takes in its place (`any-server.md` section 3).
    private func checkAudience(
        of token: SignedText, by client: SandboxClient, to path: String, at server: AuthorizationServer
    ) throws(OAuthFailure) {
        let (tokenEndpoint, endpoint) = (server.origin + "/token", server.origin + path)
        let (audiences, name): ([String], String) =
            switch client.id {
            case AssertingClients.keyedForTokens: ([tokenEndpoint], "the token endpoint")
            case AssertingClients.keyedForEndpoints: ([endpoint], "the endpoint that is called")
            case AssertingClients.keyedForEither:
                ([server.issuer, tokenEndpoint, endpoint], "the issuer, the token endpoint or the one that is called")
            default: ([server.issuer], "the issuer")
            }
        guard case .string(let audience)? = token.claims["aud"], audiences.contains(audience) else {
            throw .invalidClient("aud has to be \(name), as one string.")
        }
    }

    private func checkClaims(of token: SignedText, at server: AuthorizationServer) throws(OAuthFailure) {
        let now = server.clock.now
        guard let expiry = token.claims["exp"]?.integer, let issuedAt = token.claims["iat"]?.integer,
            Double(expiry) > now - Self.leeway, Double(issuedAt) < now + Self.leeway,
            issuedAt >= 0, issuedAt < expiry, expiry - issuedAt <= Self.maximumLifetime
        else { throw .invalidClient("The assertion is expired, of the future, or counts too long.") }
        guard let identifier = token.claims["jti"]?.scalarText, identifier.utf8.count >= 16 else {
            throw .invalidClient("jti is missing or too short.")
        }
        guard used.withLock({ $0.insert(identifier).inserted }) else {
            throw .invalidClient("The assertion was used before.")
        }
    }
}

/// A signed text, read but not verified (RFC 7515 section 7.1).
struct SignedText: Sendable {
    let header: JSON
    let claims: JSON
    let signed: String
    let signature: Data

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 65_536, parts.count == 3, let header = Self.decoded(parts[0]),
            let claims = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]), let headerValue = JSON(parsing: Array(header)),
            let claimsValue = JSON(parsing: Array(claims)), Self.hasUniqueNames(headerValue),
            Self.hasUniqueNames(claimsValue)
        else { return nil }
        self.header = headerValue
        self.claims = claimsValue
        self.signature = signature
        signed = "\(parts[0]).\(parts[1])"
    }

    /// Whether it is an object whose names are each there once (RFC 7515 section 4, RFC 7519 section 4).
    private static func hasUniqueNames(_ value: JSON) -> Bool {
        guard case .object(let members) = value else { return false }
        return Set(members.map(\.name)).count == members.count
    }

    static func decoded(_ part: Substring) -> Data? {
        guard !part.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let plain = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return Data(base64Encoded: String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
#endif
