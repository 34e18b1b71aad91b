internal import Crypto

/// A server's statement that a user's session has ended. Source: OpenID Connect Back-Channel Logout, section 2.4.
///
/// Only ``LogoutTokenValidator`` makes one. It counts once: store ``id`` until ``expiresAt`` plus the leeway, and refuse
/// a second one with the same.
public struct LogoutToken: Sendable, Hashable {
    /// `iss`: the server that ended the session.
    public let issuer: String
    /// `sub`: the user. Nil when the token names a session alone.
    public let subject: String?
    /// `sid`: the session that has ended. Nil means all sessions of the user.
    public let sessionID: String?
    /// `jti`: what identifies the token, 1 to 1024 bytes.
    public let id: String
    /// `iat`: when the token was issued, in seconds since 1970.
    public let issuedAt: Double
    /// `exp`: when the token expires, in seconds since 1970.
    public let expiresAt: Double

    /// Whether a session with this ID token is one of those that have ended.
    ///
    /// A token that names a session and a user is about that session of that user.
    public func ends(_ identity: IDTokenClaims) -> Bool {
        guard identity.issuer.isIdentical(to: issuer) else { return false }
        if let subject, !identity.subject.isIdentical(to: subject) { return false }
        guard let sessionID else { return true }
        return identity.sessionID?.isIdentical(to: sessionID) ?? false
    }

    /// The Base64URL of a SHA-256 of issuer and identifier. It names the token in a store of those that were used.
    public var digest: String {
        Base64URL.encode(SHA256.hash(data: Array("\(issuer)\u{0}\(id)".utf8)))
    }
}

extension IDTokenClaims {
    /// `sid`: the session at the server. Source: OpenID Connect Front-Channel Logout, section 3. Nil when the token does
    /// not name it.
    public var sessionID: String? { claims["sid"]?.string }
}

/// The rules by which a logout token is accepted. Source: OpenID Connect Back-Channel Logout, section 2.6.
///
/// Needs no network, no clock and no store: keys and time are passed in, and a replay is the caller's to detect
/// (``LogoutToken/digest``).
public struct LogoutTokenValidator: Sendable {
    /// The server that must have issued the token.
    public let issuer: Issuer
    /// The client that the token must be for, and no other.
    public let clientID: String
    /// The accepted algorithms, as for ID tokens.
    public let algorithms: [SignatureAlgorithm]
    /// How many seconds the server's clock may be ahead or behind.
    public let leeway: Double
    /// Whether a token without `exp` is accepted until 120 seconds after `iat`. For servers of older drafts.
    public var acceptsMissingExpiry = false
    /// The issuers of the server's tenants, where many share ``issuer``. Nil by default: `iss` is ``issuer``.
    public var issuerTemplate: IssuerTemplate?

    /// The member of `events` that makes a token a logout token.
    static let event = "http://schemas.openid.net/event/backchannel-logout"
    private static let lifetimeWithoutExpiry: Double = 120
    private static let maximumTextLength = 1024

    /// States the rules for tokens of one server.
    ///
    /// - Parameters:
    ///   - issuer: the server that must have issued the token.
    ///   - clientID: the client that it must be for.
    ///   - algorithms: the client's policy for ID tokens; all asymmetric algorithms by default.
    ///   - leeway: seconds, 60 by default. A negative or infinite value counts as 0.
    public init(
        issuer: Issuer, clientID: String, algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases,
        leeway: Double = 60
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.algorithms = algorithms
        self.leeway = leeway.isFinite ? max(0, leeway) : 0
    }

    /// Validates a logout token.
    ///
    /// - Parameters:
    ///   - text: the form field `logout_token`.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/signedText``. Where ``Refusal/Check/mayNeedNewKeys`` is true,
    ///   fetch the server's keys once and try again. After any other, answer with status 400.
    public func token(_ text: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> LogoutToken {
        let rules = SignedTextRules(
            kind: .logoutToken, types: ["logout+jwt", "jwt"], issuer: issuer, issuerTemplate: issuerTemplate,
            clientID: clientID, expiry: acceptsMissingExpiry ? .checked : .required, algorithms: algorithms,
            leeway: leeway)
        let claims = try rules.claims(of: text, keys: keys, now: now)
        return try rules.about { () throws(OAuthError) -> LogoutToken in
            // An ID token with a nonce must not end a session.
            guard claims["nonce"] == nil else { throw rules.refusal(.tokenForm, "nonce: absent", found: "one") }
            guard case .object? = claims["events"]?.object?[Self.event] else {
                throw rules.refusal(
                    .tokenForm, "events: an object with the member \(Self.event), which is an object",
                    found: claims["events"]?.object?[Self.event]?.kind ?? claims["events"]?.kind ?? "nothing")
            }
            let reader = ClaimReader(claims: claims)
            let subject = try Self.text("sub", in: reader)
            let sessionID = try Self.text("sid", in: reader)
            guard subject != nil || sessionID != nil else {
                throw rules.refusal(.tokenForm, "sub or sid: a user or a session", found: "neither")
            }
            let issuedAt = try reader.required("iat", try reader.time("iat"))
            let expiresAt = try reader.time("exp") ?? issuedAt + Self.lifetimeWithoutExpiry
            guard now < expiresAt + leeway else {
                throw rules.refusal(.tokenTime, "exp: later than \(now) minus \(leeway) s", found: "\(expiresAt)")
            }
            return LogoutToken(
                issuer: try reader.required("iss", try reader.string("iss")), subject: subject, sessionID: sessionID,
                id: try reader.required("jti", try Self.text("jti", in: reader)), issuedAt: issuedAt,
                expiresAt: expiresAt)
        }
    }

    private static func text(_ name: String, in reader: ClaimReader) throws(OAuthError) -> String? {
        guard let text = try reader.string(name) else { return nil }
        guard (1...maximumTextLength).contains(text.utf8.count) else {
            throw reader.wrong(name, expected: "1 to \(maximumTextLength) bytes", found: "\(text.utf8.count)")
        }
        return text
    }
}
