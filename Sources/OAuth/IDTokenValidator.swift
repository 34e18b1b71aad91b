/// The rules by which an ID token is accepted. They are all of OpenID Connect Core, section 3.1.3.7. None can be left
/// out.
///
/// Needs no network and no clock: keys and time are passed in. The signature is always checked, also for a token that
/// came directly from the token endpoint (`oauth-security.md` D2).
public struct IDTokenValidator: Sendable {
    /// The server that must have issued the token.
    public let issuer: Issuer
    /// The client that the token must be for.
    public let clientID: String
    /// Other audiences that may be listed beside this client. Empty by default.
    public var trustedAudiences: Set<String> = []
    /// The issuers of the server's tenants, where many share ``issuer``. Nil by default: `iss` is ``issuer``.
    ///
    /// The token has to name the issuer of the tenant that it states itself, and a key that is published for other issuers does
    /// not count.
    public var issuerTemplate: IssuerTemplate?
    /// The accepted algorithms. The token's header selects one of these, and the key has to fit it.
    public let algorithms: [SignatureAlgorithm]
    /// How many seconds the server's clock may be ahead or behind. It applies to `exp`, `iat` and `nbf`, and is never
    /// negative.
    public let leeway: Double

    private let nonce: Secret?
    private let accessToken: Secret?
    private let code: Secret?
    private let secrets: [Secret]

    /// States the rules for one token.
    ///
    /// - Parameters:
    ///   - issuer: the server that must have issued the token.
    ///   - clientID: the client that it must be for.
    ///   - nonce: the nonce of the ``AuthorizationRequest``; nil when none was sent, and for a refresh.
    ///   - accessToken: the access token of the same response, which `at_hash` must match whenever the token has one.
    ///   - code: the code that was exchanged, which `c_hash` must match whenever the token has one. Nil without a code.
    ///   - algorithms: the client's policy; all asymmetric algorithms by default.
    ///   - leeway: seconds, 60 by default. A negative or infinite value counts as 0.
    ///   - secrets: what no error may show, besides the tokens and the nonce: what the exchange sent.
    public init(
        issuer: Issuer, clientID: String, nonce: Secret?, accessToken: Secret?, code: Secret? = nil,
        algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases, leeway: Double = 60,
        hiding secrets: [Secret] = []
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.nonce = nonce
        self.accessToken = accessToken
        self.code = code
        self.secrets = secrets + [nonce, accessToken, code].compactMap(\.self)
        self.algorithms = algorithms
        self.leeway = leeway.isFinite ? max(0, leeway) : 0
    }

    /// Validates the ID token of a sign-in.
    ///
    /// - Parameters:
    ///   - token: the ID token of the token response.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/refused(_:)``. Where ``Refusal/Check/mayNeedNewKeys`` is true, the server may have new
    ///   keys: fetch them once and try again. Every other check is final.
    public func claims(of token: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> IDTokenClaims {
        let (nonce, claims) = try checked(token, keys: keys, now: now)
        try checkNonce(nonce)
        return claims
    }

    /// Validates the ID token of a refresh (OpenID Connect Core, section 12.2). It must be about the same sign-in.
    ///
    /// The nonce may be missing; one that is present must be the sign-in's.
    ///
    /// - Parameters:
    ///   - token: the ID token of the refresh response.
    ///   - previous: the session's claims so far.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    /// - Returns: the new claims. `auth_time` and the nonce, which a refresh does not change, stay those of `previous`.
    /// - Throws: ``OAuthError/refused(_:)``, as ``claims(of:keys:now:)``. The claims so far stay valid for the session.
    public func claims(
        ofRefreshed token: Secret, previous: IDTokenClaims, keys: JSONWebKeySet, now: Double
    ) throws(OAuthError) -> IDTokenClaims {
        let (nonce, claims) = try checked(token, after: previous, keys: keys, now: now)
        try require(.issuer, "iss", claims.issuer, is: previous.issuer)
        try require(.subject, "sub", claims.subject, is: previous.subject)
        if let missing = previous.audience.first(where: { earlier in
            !claims.audience.contains { $0.isIdentical(to: earlier) }
        }) {
            throw refusal(.audience, "aud: \(missing), as at sign-in", found: claims.audience.joined(separator: ", "))
        }
        try require(.authorizedParty, "azp", claims.authorizedParty, is: previous.authorizedParty)
        try checkAuthenticationTime(of: claims, after: previous)
        guard claims.issuedAt >= previous.issuedAt - leeway else {
            throw refusal(.tokenTime, "iat: not before \(previous.issuedAt)", found: "\(claims.issuedAt)")
        }
        try checkNonce(nonce, previous: previous)
        return claims
    }

    /// `auth_time` stays that of the sign-in. Where the sign-in's token had none, it is at least not later than that
    /// token.
    private func checkAuthenticationTime(of claims: IDTokenClaims, after previous: IDTokenClaims) throws(OAuthError) {
        guard let found = claims.authenticatedAt else { return }
        if let expected = previous.authenticatedAt {
            guard found == expected else {
                throw refusal(.tokenTime, "auth_time: \(expected), as at sign-in", found: "\(found)")
            }
        } else if found > previous.issuedAt + leeway {
            throw refusal(.tokenTime, "auth_time: not after \(previous.issuedAt)", found: "\(found)")
        }
    }

    /// Checks the signature first, then what holds for every ID token.
    private func checked(
        _ token: Secret, after previous: IDTokenClaims? = nil, keys: JSONWebKeySet, now: Double
    ) throws(OAuthError) -> (nonce: JSONValue?, claims: IDTokenClaims) {
        let signature = try JSONWebSignature(compact: token, hiding: secrets)
        let signed = try signature.verify(with: keys.limited(to: signature, of: tenants), allowing: algorithms)
        guard var all = (try? JSONValue(parsing: signed.payload))?.object else {
            throw refusal(.tokenForm, "payload: a JSON object", found: "something else")
        }
        // A logout token has an ID token's claims too (OpenID Connect Back-Channel Logout, section 2.4; RFC 8725, section 3.12).
        guard all["events"] == nil else { throw refusal(.tokenForm, "events: absent", found: "a security event") }
        all[IDTokenClaims.digestName] = nil
        let (nonce, accessTokenHash, codeHash) = (all["nonce"], all["at_hash"], all["c_hash"])
        let claims = try IDTokenClaims(claims: consume all, previous: previous)
        try checkIssuer(of: claims)
        try checkAudience(of: claims)
        try checkTime(of: claims, now: now)
        try checkHash(accessTokenHash, by: signed.algorithm)
        try checkCodeHash(codeHash, by: signed.algorithm)
        return (nonce, claims)
    }

    /// The template, where the server's issuer is an address that many tenants share.
    private var tenants: IssuerTemplate? {
        issuerTemplate.flatMap { $0.isShared(issuer) ? $0 : nil }
    }

    /// OpenID Connect Core, section 3.1.3.7, point 2.
    private func checkIssuer(of claims: IDTokenClaims) throws(OAuthError) {
        guard let tenants else { return try require(.issuer, "iss", claims.issuer, is: issuer.string) }
        guard let expected = tenants.issuer(statedBy: claims.claims) else {
            let stated = claims.claims[tenants.claim]
            throw refusal(.issuer, tenants.expectation, found: stated?.string ?? stated?.kind ?? "nothing")
        }
        try require(.issuer, "iss", claims.issuer, is: expected)
    }

    /// OpenID Connect Core, section 3.1.3.7, points 3 to 5.
    private func checkAudience(of claims: IDTokenClaims) throws(OAuthError) {
        guard claims.audience.contains(where: { $0.isIdentical(to: clientID) }) else {
            throw refusal(.audience, "aud: \(clientID)", found: claims.audience.joined(separator: ", "))
        }
        if let stranger = claims.audience.first(where: { name in
            !name.isIdentical(to: clientID) && !trustedAudiences.contains { $0.isIdentical(to: name) }
        }) {
            throw refusal(.audience, "aud: \(clientID) and trusted audiences only", found: stranger)
        }
        if claims.audience.count > 1 || claims.authorizedParty != nil {
            try require(.authorizedParty, "azp", claims.authorizedParty, is: clientID)
        }
    }

    private func checkTime(of claims: IDTokenClaims, now: Double) throws(OAuthError) {
        guard now.isFinite, now < claims.expiresAt + leeway else {
            throw refusal(.tokenTime, "exp: later than \(now) minus \(leeway) s", found: "\(claims.expiresAt)")
        }
        guard claims.leewayNeeded(at: now) <= leeway else {
            throw refusal(
                .tokenTime, "iat and nbf: no later than \(now) plus \(leeway) s",
                found: "\(claims.leewayNeeded(at: now)) s later")
        }
    }

    /// Neither nonce is shown: the token's may be another session's.
    private func checkNonce(_ found: JSONValue?) throws(OAuthError) {
        switch (nonce, found) {
        case (nil, nil): return
        case (let nonce?, .string(let text)?) where nonce.matches(Secret(text)): return
        case (nil, _?): throw refusal(.nonce, "nonce: none, because none was sent", found: "one")
        case (_?, nil): throw refusal(.nonce, "nonce: the one that was sent", found: "nothing")
        case (_?, _?): throw refusal(.nonce, "nonce: the one that was sent", found: "another")
        }
    }

    private func checkNonce(_ found: JSONValue?, previous: IDTokenClaims) throws(OAuthError) {
        guard let found else { return }
        guard let expected = previous.nonceDigest, let nonce = found.string, expected.matches(Secret(nonce)) else {
            throw refusal(.nonce, "nonce: none, or the one of the sign-in", found: "another")
        }
    }

    /// `at_hash` binds the access token to this sign-in (OpenID Connect Core, section 3.1.3.8).
    private func checkHash(_ found: JSONValue?, by algorithm: SignatureAlgorithm) throws(OAuthError) {
        guard let found else { return }
        guard let accessToken else {
            throw refusal(.tokenHash, "at_hash: an access token to compare it with", found: "none")
        }
        guard let text = found.string, Secret(text).matches(Secret(algorithm.halfHash(of: accessToken))) else {
            throw refusal(.tokenHash, "at_hash: the hash of the access token", found: "another value")
        }
    }

    /// `c_hash` binds the code to this sign-in (OpenID Connect Core, section 3.3.2.10). Where no code was exchanged, there is
    /// nothing to compare it with.
    private func checkCodeHash(_ found: JSONValue?, by algorithm: SignatureAlgorithm) throws(OAuthError) {
        guard let found, let code else { return }
        guard let text = found.string, Secret(text).matches(Secret(algorithm.halfHash(of: code))) else {
            throw refusal(.codeHash, "c_hash: the hash of the code", found: "another value")
        }
    }

    /// Compares bytes: Swift's own equality also takes canonically equivalent spellings.
    private func require(
        _ check: Refusal.Check, _ name: String, _ found: String?, is expected: String?
    ) throws(OAuthError) {
        let isEqual =
            switch (found, expected) {
            case (let found?, let expected?): found.isIdentical(to: expected)
            case (nil, nil): true
            default: false
            }
        guard isEqual else { throw refusal(check, "\(name): \(expected ?? "nothing")", found: found ?? "nothing") }
    }

    private func refusal(_ check: Refusal.Check, _ expected: String, found: String) -> OAuthError {
        .refused(
            Refusal(
                check, expected: quoted(expected, limit: 300),
                found: Redaction(secrets)(found, limit: 200)))
    }
}
