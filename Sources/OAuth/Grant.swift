/// What the user gave (RFC 6749, sections 1.4 and 1.5). That is the tokens, when they really expire, and what they are
/// for.
public struct Grant: Sendable {
    /// Opaque: nothing here or above ever looks inside (`oauth-security.md` D13).
    public let accessToken: Secret
    /// When the access token really expires, in seconds since 1970. No margin is in it. Nil when the server did not
    /// say.
    public let expiresAt: Double?
    /// Seconds since 1970 at which the access token was asked for.
    public let issuedAt: Double
    /// What the next access token is asked for with (RFC 6749, section 1.5). Nil when the server gave none.
    public let refreshToken: Secret?
    /// When the refresh token expires if it is not used, in seconds since 1970. Nil when the server did not say.
    public private(set) var refreshTokenExpiresAt: Double?
    /// The granted scope, which may be another than the one asked for.
    public let scopes: [String]
    /// What the token authorizes in detail (RFC 9396, section 7). Nil when the server did not say.
    public let authorizationDetails: [AuthorizationDetail]?
    /// Who the user is, from a verified ID token; nil when there was none.
    public let identity: IDTokenClaims?
    /// The ID token that ``identity`` was verified from. For callers that need to hand it on. Nil when there was none.
    public let idToken: Secret?

    /// States a grant.
    public init(
        accessToken: Secret, expiresAt: Double?, issuedAt: Double, refreshToken: Secret?, scopes: [String],
        identity: IDTokenClaims? = nil, idToken: Secret? = nil, authorizationDetails: [AuthorizationDetail]? = nil,
        refreshTokenExpiresAt: Double? = nil
    ) {
        self.refreshTokenExpiresAt = refreshTokenExpiresAt
        self.authorizationDetails = authorizationDetails
        self.idToken = idToken
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
        self.refreshToken = refreshToken
        self.scopes = scopes
        self.identity = identity
    }

    /// The grant of a first exchange.
    ///
    /// - Parameters:
    ///   - response: the token endpoint's answer.
    ///   - requested: the scope asked for, which counts when the server does not name the granted one.
    ///   - identity: the verified claims of the ID token that came along.
    ///   - now: seconds since 1970 when the request was sent.
    public init(_ response: TokenResponse, requested: [String], identity: IDTokenClaims? = nil, now: Double) {
        self.init(
            accessToken: response.accessToken, expiresAt: response.expiresAt, issuedAt: now,
            refreshToken: response.refreshToken, scopes: response.scopes(ofRequested: requested), identity: identity,
            idToken: identity == nil ? nil : response.idToken, authorizationDetails: response.authorizationDetails)
        refreshTokenExpiresAt = response.refreshTokenExpiresAt
    }

    /// The grant after a refresh (RFC 6749, section 6). What the answer leaves out stays as it was.
    public func refreshed(by response: TokenResponse, identity newIdentity: IDTokenClaims? = nil, now: Double) -> Grant
    {
        var next = Grant(
            accessToken: response.accessToken, expiresAt: response.expiresAt, issuedAt: now,
            refreshToken: response.refreshToken ?? refreshToken, scopes: response.scopes(ofRequested: scopes),
            identity: newIdentity ?? identity, idToken: newIdentity == nil ? idToken : response.idToken,
            authorizationDetails: response.authorizationDetails ?? authorizationDetails)
        // What was said of the old refresh token is not true of a new one.
        let isSame = response.refreshToken == nil
        next.refreshTokenExpiresAt = response.refreshTokenExpiresAt ?? (isSame ? refreshTokenExpiresAt : nil)
        return next
    }

    /// The same grant with an ID token and the claims of it.
    package func with(_ idToken: Secret?, _ identity: IDTokenClaims?) -> Grant {
        Grant(
            accessToken: accessToken, expiresAt: expiresAt, issuedAt: issuedAt, refreshToken: refreshToken,
            scopes: scopes, identity: identity, idToken: idToken, authorizationDetails: authorizationDetails,
            refreshTokenExpiresAt: refreshTokenExpiresAt)
    }

    /// Whether the access token can still be used at `now`.
    ///
    /// `margin` seconds are kept in reserve, but never more than half of its whole lifetime (`sequencing.md` 9.4). A token of
    /// unknown life counts as usable until a service says otherwise.
    public func isFresh(at now: Double, margin: Double) -> Bool {
        now < freshUntil(margin: margin)
    }

    /// Until when ``isFresh(at:margin:)`` is true, in seconds since 1970. Infinite for a token of unknown life.
    package func freshUntil(margin: Double) -> Double {
        guard let expiresAt else { return .infinity }
        return expiresAt - min(margin, (expiresAt - issuedAt) / 2)
    }

    /// Whether the access token has come to its stated end. One of unknown life has not.
    public func isExpired(at now: Double) -> Bool {
        expiresAt.map { $0 <= now } ?? false
    }
}

extension TokenResponse {
    /// The granted scopes. A comma or a bar separates two, unless a requested one has it (RFC 6749, section 3.3).
    fileprivate func scopes(ofRequested requested: [String]) -> [String] {
        guard let words = scopes else { return requested }
        let granted = words.flatMap { word -> [String] in
            if requested.contains(where: { $0.isIdentical(to: word) }) { return [word] }
            return word.split { $0 == "," || $0 == "|" }.map(String.init)
        }
        return granted.isEmpty ? requested : granted
    }
}
