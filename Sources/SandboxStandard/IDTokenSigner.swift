#if Sandbox
import Crypto
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signs ID tokens with ES256 (RFC 7518 section 3.4) by a key that lives as long as the sandbox.
struct IDTokenSigner: Sendable {
    static let keyID = "sandbox-es256-1"
    private let key = P256.Signing.PrivateKey()

    /// The key set (RFC 7517). Its first key has an unknown type, since section 5 asks clients to skip such keys.
    var keySet: JSON {
        let point = key.publicKey.rawRepresentation
        return [
            "keys": [
                ["kty": "SANDBOX-UNKNOWN", "kid": "sandbox-unknown-1", "use": "sig", "alg": "SANDBOX", "q": "AQAB"],
                [
                    "kty": "EC", "crv": "P-256", "kid": .string(Self.keyID), "use": "sig", "alg": "ES256",
                    "x": .string(URLSafeBase64.encoded(point.prefix(32))),
                    "y": .string(URLSafeBase64.encoded(point.suffix(32))),
                ],
            ]
        ]
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
        return sign(claims.adding("sid", tokens.grant.sessionID.map(JSON.string)))
    }

    /// Signs claims (RFC 7515 section 7.1).
    ///
    /// - Returns: nil if the key fails to sign.
    func sign(_ claims: JSON, type: String = "JWT") -> String? {
        sign(claims, header: ["alg": "ES256", "typ": .string(type), "kid": .string(Self.keyID)])
    }

    /// Signs claims under any header, be it a wrong one.
    func sign(_ claims: JSON, header: JSON) -> String? {
        let input = "\(URLSafeBase64.encoded(header.text.utf8)).\(URLSafeBase64.encoded(claims.text.utf8))"
        guard let signature = try? key.signature(for: Data(input.utf8)) else { return nil }
        return "\(input).\(URLSafeBase64.encoded(signature.rawRepresentation))"
    }

    /// The claims of a text that this key has signed, whatever they say; nil for any other text.
    func claims(of text: String) -> (header: JSON, claims: JSON)? {
        guard let token = SignedText(text), token.header["alg"]?.scalarText == "ES256",
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.publicKey.isValidSignature(signature, for: Data(token.signed.utf8))
        else { return nil }
        return (token.header, token.claims)
    }

    /// `at_hash`: the left half of the token's SHA-256 (OpenID Connect Core section 3.1.3.6).
    private static func halfHash(_ token: String) -> String {
        URLSafeBase64.encoded(Array(SHA256.hash(data: Data(token.utf8))).prefix(16))
    }
}
#endif
