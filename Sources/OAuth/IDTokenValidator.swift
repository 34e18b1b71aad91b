/// The rules by which an ID token is believed: all of OpenID Connect Core, section 3.1.3.7, and none can be left out.
///
/// It asks for no network and no clock: keys and time are given to it. The signature is always checked, also for a
/// token that came straight from the token endpoint (`oauth-security.md` D2).
public struct IDTokenValidator: Sendable {
    /// The server whose word counts.
    public let issuer: Issuer
    /// The client that the token must be for.
    public let clientID: String
    /// Other audiences that may stand beside this client. Empty by default: a token shared with strangers is refused.
    public var trustedAudiences: Set<String> = []
    /// The algorithms that are accepted. The token's header chooses among these, and the key has to fit the choice.
    public let algorithms: [SignatureAlgorithm]
    /// How many seconds the server's clock may be ahead or behind: for `exp`, `iat` and `nbf`; never negative.
    public let leeway: Double

    private let nonce: Secret?
    private let accessToken: Secret?

    /// States the rules for one token.
    ///
    /// - Parameters:
    ///   - issuer: who must have issued the token.
    ///   - clientID: for whom it must be.
    ///   - nonce: the nonce of the ``AuthorizationRequest``; nil when none was sent, and then the token must not have
    ///     one.
    ///   - accessToken: the access token that came along, against which `at_hash` is checked whenever the token has
    ///     one.
    ///   - algorithms: the client's policy, all asymmetric algorithms by default.
    ///   - leeway: seconds, 60 by default. What is negative or no number counts as 0.
    public init(
        issuer: Issuer, clientID: String, nonce: Secret?, accessToken: Secret?,
        algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases, leeway: Double = 60
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.nonce = nonce
        self.accessToken = accessToken
        self.algorithms = algorithms
        self.leeway = leeway.isFinite ? max(0, leeway) : 0
    }

    /// Checks the ID token of a sign-in.
    ///
    /// - Parameters:
    ///   - token: the ID token as it came.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/refused(_:)``. ``Refusal/Check/key`` may mean that the server has new keys: fetch them
    ///   once and try again. Every other check is final.
    public func claims(of token: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> IDTokenClaims {
        let (all, claims) = try checked(token, keys: keys, now: now)
        try checkNonce(all["nonce"], isDemanded: true)
        return claims
    }

    /// Checks the ID token of a refresh, which must speak of the same sign-in (OpenID Connect Core, section 12.2).
    ///
    /// Its nonce may be missing; where it is there and this validator knows one, the two must be equal.
    ///
    /// - Parameters:
    ///   - token: the ID token as it came.
    ///   - previous: the claims that the session has now.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/refused(_:)``. The old claims stay true of the session.
    public func claims(
        ofRefreshed token: Secret, previous: IDTokenClaims, keys: JSONWebKeySet, now: Double
    ) throws(OAuthError) -> IDTokenClaims {
        let (all, claims) = try checked(token, keys: keys, now: now)
        try checkNonce(all["nonce"], isDemanded: false)
        try require(.issuer, "iss", claims.issuer, is: previous.issuer)
        try require(.subject, "sub", claims.subject, is: previous.subject)
        guard Set(claims.audience.map { Array($0.utf8) }) == Set(previous.audience.map { Array($0.utf8) }) else {
            throw refusal(.audience, "aud: the same as at sign-in", found: claims.audience.joined(separator: ", "))
        }
        try require(.authorizedParty, "azp", claims.authorizedParty, is: previous.authorizedParty)
        if let before = previous.authenticatedAt, let after = claims.authenticatedAt, before != after {
            throw refusal(.tokenTime, "auth_time: \(before), as at sign-in", found: "\(after)")
        }
        guard claims.issuedAt >= previous.issuedAt - leeway else {
            throw refusal(.tokenTime, "iat: not before \(previous.issuedAt)", found: "\(claims.issuedAt)")
        }
        return claims
    }

    /// Signature first, then what every ID token owes.
    private func checked(
        _ token: Secret, keys: JSONWebKeySet, now: Double
    ) throws(OAuthError) -> (all: [String: JSONValue], claims: IDTokenClaims) {
        let signed = try JSONWebSignature(compact: token).verify(with: keys, allowing: algorithms)
        guard let all = (try? JSONValue(parsing: signed.payload))?.object else {
            throw refusal(.tokenForm, "payload: a JSON object", found: "something else")
        }
        let claims = try IDTokenClaims(claims: all)
        try require(.issuer, "iss", claims.issuer, is: issuer.string)
        try checkAudience(of: claims)
        try checkTime(of: claims, now: now)
        try checkHash(all["at_hash"], by: signed.algorithm)
        return (all, claims)
    }

    /// OpenID Connect Core, section 3.1.3.7, points 3 to 5.
    private func checkAudience(of claims: IDTokenClaims) throws(OAuthError) {
        let isOurs = { (name: String) in name.utf8.elementsEqual(clientID.utf8) }
        guard claims.audience.contains(where: isOurs) else {
            throw refusal(.audience, "aud: \(clientID)", found: claims.audience.joined(separator: ", "))
        }
        if let stranger = claims.audience.first(where: { !isOurs($0) && !trustedAudiences.contains($0) }) {
            throw refusal(.audience, "aud: nobody but \(clientID) and trusted audiences", found: stranger)
        }
        if claims.audience.count > 1 || claims.authorizedParty != nil {
            try require(.authorizedParty, "azp", claims.authorizedParty, is: clientID)
        }
    }

    private func checkTime(of claims: IDTokenClaims, now: Double) throws(OAuthError) {
        guard now.isFinite, now < claims.expiresAt + leeway else {
            throw refusal(.tokenTime, "exp: later than \(now) less \(leeway) s", found: "\(claims.expiresAt)")
        }
        guard claims.leewayNeeded(at: now) <= leeway else {
            throw refusal(
                .tokenTime, "iat and nbf: no later than \(now) plus \(leeway) s",
                found: "\(claims.leewayNeeded(at: now)) s later")
        }
    }

    /// Neither nonce is ever printed: the one that came may be another session's.
    private func checkNonce(_ found: JSONValue?, isDemanded: Bool) throws(OAuthError) {
        switch (nonce, found) {
        case (nil, nil): return
        case (_?, nil) where !isDemanded: return
        case (nil, _?) where !isDemanded: return
        case (let nonce?, .string(let text)?) where nonce.matches(Secret(text)): return
        case (nil, _?): throw refusal(.nonce, "nonce: none, because none was sent", found: "one")
        case (_?, nil): throw refusal(.nonce, "nonce: the one that was sent", found: "nothing")
        case (_?, _?): throw refusal(.nonce, "nonce: the one that was sent", found: "another")
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

    /// Equal byte for byte: Swift's own equality also takes canonically equivalent spellings.
    private func require(
        _ check: Refusal.Check, _ name: String, _ found: String?, is expected: String?
    ) throws(OAuthError) {
        guard found.map({ Array($0.utf8) }) == expected.map({ Array($0.utf8) }) else {
            throw refusal(check, "\(name): \(expected ?? "nothing")", found: found ?? "nothing")
        }
    }

    private func refusal(_ check: Refusal.Check, _ expected: String, found: String) -> OAuthError {
        .refused(Refusal(check, expected: quoted(expected, limit: 300), found: quoted(found, limit: 200)))
    }
}
