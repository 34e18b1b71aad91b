#if Sandbox
import Crypto
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signs ID tokens and the server's other texts with ES256 (RFC 7518 section 3.4), unless a fault wants another key.
struct IDTokenSigner: Sendable {
    private let keys = ServerKeys()

    var keySet: JSON { keys.set }

    /// Makes another signing key; the last one stays published.
    func rotateKeys() {
        keys.rotate()
    }

    /// The ID token of a token answer (OpenID Connect Core sections 2, 3.1.3.6 and 12.2).
    ///
    /// - Returns: nil when `openid` was not granted, or if the key fails to sign.
    func idToken(for tokens: IssuedTokens, issuer: String) -> String? {
        guard tokens.scope.contains("openid"), let user = tokens.grant.user else { return nil }
        let issuedAt = Int(tokens.issuedAt)
        var claims: JSON = [
            "iss": .string(issuer), "sub": .string(user.subject), "aud": .string(tokens.grant.clientID),
            "exp": .number(issuedAt + tokens.lifetime), "iat": .number(issuedAt),
            "auth_time": .number(Int(tokens.grant.authenticatedAt)),
            "at_hash": .string(Self.halfHash(tokens.accessToken)),
        ]
        if !tokens.isRefresh { claims = claims.adding("nonce", tokens.grant.nonce.map(JSON.string)) }
        if tokens.grant.isStronglyAuthenticated {
            claims = claims.adding("acr", .string(PendingAuthorization.strongContextClass))
        }
        if tokens.scope.contains("profile") { claims = claims.adding("name", .string(user.displayName)) }
        if tokens.scope.contains("email") {
            claims = claims.adding("email", .string(user.name)).adding("email_verified", true)
        }
        return sign(claims.adding("sid", tokens.grant.sessionID.map(JSON.string)), as: .idToken)
    }

    /// Signs claims (RFC 7515 section 7.1).
    ///
    /// - Parameters:
    ///   - kind: what faults call the text; nil for one that has none.
    ///   - type: `typ` in the header.
    ///   - changes: in place of the usual header members, be they wrong.
    /// - Returns: nil if the key fails to sign.
    func sign(
        _ claims: JSON, as kind: SignedTextKind? = nil, type: String = "JWT", changing changes: [String: String] = [:]
    ) -> String? {
        let text = SpoiledText(claims, of: kind)
        let (algorithm, keyID) = keys.header(of: text.key)
        let usual: JSON = ["alg": .string(algorithm), "typ": .string(type)]
        let header = changes.sorted { $0.key < $1.key }
            .reduce(usual.adding("kid", keyID.map(JSON.string))) { $0.replacing($1.key, with: .string($1.value)) }
        let input = [text.header(header), text.claims].map { URLSafeBase64.encoded($0.text.utf8) }
            .joined(separator: ".")
        return keys.signature(of: input, by: text.key).map { "\(input).\(URLSafeBase64.encoded($0))" }
    }

    /// The claims of a text that a key of this server has signed, whatever they say; nil for any other text.
    func claims(of text: String) -> (header: JSON, claims: JSON)? {
        guard let token = SignedText(text), token.header["alg"]?.scalarText == "ES256",
            keys.haveSigned(token.signed, token.signature)
        else { return nil }
        return (token.header, token.claims)
    }

    /// `at_hash`: the left half of the token's SHA-256 (OpenID Connect Core section 3.1.3.6).
    private static func halfHash(_ token: String) -> String {
        URLSafeBase64.encoded(Array(SHA256.hash(data: Data(token.utf8))).prefix(16))
    }
}
#endif
