/// The checks that hold for every signed response of a server but the ID token: JARM, section 2.4; OpenID Connect Core,
/// section 5.3.2.
struct SignedResponse {
    let issuer: Issuer
    let clientID: String
    /// The client's policy. The header's `alg` has to be one of these.
    let algorithms: [SignatureAlgorithm]
    /// By how many seconds the clocks may differ.
    let leeway: Double
    /// What no error may show.
    let secrets: [Secret]

    /// The claims of a text whose signature, issuer, audience and times are right.
    ///
    /// - Parameter demandsExpiry: whether `exp` has to be there. Where it is, it counts.
    /// - Throws: ``OAuthError/refused(_:)``.
    func claims(
        of token: Secret, keys: JSONWebKeySet, now: Double, demandsExpiry: Bool
    ) throws(OAuthError) -> JSONObject {
        let verified: (payload: [UInt8], algorithm: SignatureAlgorithm)
        do throws(OAuthError) {
            verified = try JSONWebSignature(compact: token, hiding: secrets).verify(with: keys, allowing: algorithms)
        } catch .refused(let refusal) where refusal.check == .tokenForm {
            throw .refused(Refusal(.responseForm, expected: refusal.expected, found: refusal.found))
        }
        guard let claims = (try? JSONValue(parsing: verified.payload))?.object else {
            throw refusal(.responseForm, "a JSON object", found: "something else")
        }
        // A logout token has all the claims of other texts (OpenID Connect Back-Channel Logout, section 2.4).
        guard claims["events"] == nil else { throw refusal(.responseForm, "events: absent", found: "a security event") }
        try checkParties(claims)
        try checkTimes(claims, now: now, demandsExpiry: demandsExpiry)
        return claims
    }

    private func checkParties(_ claims: JSONObject) throws(OAuthError) {
        guard let stated = claims["iss"]?.string, issuer.isSpelled(stated) else {
            throw refusal(
                .issuer, "iss: \(issuer.string)", found: claims["iss"].map { $0.string ?? $0.kind } ?? "nothing")
        }
        let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
        guard audience.contains(where: { $0.isIdentical(to: clientID) }) else {
            throw refusal(
                .audience, "aud: \(clientID)", found: audience.isEmpty ? "nothing" : audience.joined(separator: ", "))
        }
    }

    private func checkTimes(_ claims: JSONObject, now: Double, demandsExpiry: Bool) throws(OAuthError) {
        let expiry = try time("exp", in: claims)
        guard expiry != nil || !demandsExpiry else { throw refusal(.responseForm, "exp: a time", found: "nothing") }
        if let expiry, !(now.isFinite && now < expiry + leeway) {
            throw refusal(.responseTime, "exp: later than \(now) minus \(leeway) s", found: "\(expiry)")
        }
        for name in ["iat", "nbf"] {
            guard let start = try time(name, in: claims), start > now + leeway else { continue }
            throw refusal(.responseTime, "\(name): no later than \(now) plus \(leeway) s", found: "\(start)")
        }
    }

    /// A time in seconds since 1970; nil when the claim is absent.
    private func time(_ name: String, in claims: JSONObject) throws(OAuthError) -> Double? {
        guard let value = claims[name] else { return nil }
        // The end of the year 9999: a later time is a mistake of units.
        guard case .number(let spelling) = value, let seconds = Double(spelling),
            (0...253_402_300_799).contains(seconds)
        else { throw refusal(.responseForm, "\(name): seconds since 1970, before the year 10000", found: value.kind) }
        return seconds
    }

    func refusal(_ check: Refusal.Check, _ expected: String, found: String) -> OAuthError {
        .refused(
            Refusal(check, expected: quoted(expected, limit: 300), found: Redaction(secrets)(found, limit: 200)))
    }
}

extension AuthorizationRequest {
    /// Verifies a signed response. The parameters inside are a response for ``code(from:now:)``.
    ///
    /// The order is that of JARM, section 2.4: size and form, state, algorithm, key, signature, issuer, audience, times.
    /// Before all of them hold, no code and no error is read. A server's text is not shown when one of them fails.
    ///
    /// - Parameters:
    ///   - response: what arrived at the redirect URI.
    ///   - keys: the issuer's keys.
    ///   - algorithms: the client's policy; all asymmetric algorithms by default.
    ///   - leeway: by how many seconds the clocks may differ.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/unmatchedRedirect(problem:)`` when the state or the address is not this request's: ignore
    ///   the redirect and keep waiting. ``OAuthError/refused(_:)`` for every other defect; where
    ///   ``Refusal/Check/mayNeedNewKeys`` is true, fetch the keys once and try again.
    public func verified(
        _ response: AuthorizationResponse, with keys: JSONWebKeySet,
        allowing algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases, leeway: Double = 60, now: Double
    ) throws(OAuthError) -> AuthorizationResponse {
        try check(response, now: now)
        guard responseMode == .jwt, let text = response.signed else { return response }
        let rules = SignedResponse(
            issuer: server.issuer, clientID: clientID, algorithms: algorithms,
            leeway: leeway.isFinite ? max(0, leeway) : 0, secrets: secrets + [text])
        let claims = try rules.claims(of: text, keys: keys, now: now, demandsExpiry: true)
        return try AuthorizationResponse(verified: claims, of: response)
    }

    /// How long a verified text of a server counts, in seconds, where that is longer than the ten minutes that JARM,
    /// section 2.1 recommends; nil otherwise.
    package func excessiveLifetime(of response: AuthorizationResponse, now: Double) -> Double? {
        guard let text = response.signed, let signed = try? JSONWebSignature(compact: text),
            let claims = (try? JSONValue(parsing: signed.payload))?.object,
            case .number(let spelling)? = claims["exp"], let expiry = Double(spelling), expiry - now > 600 + 60
        else { return nil }
        return expiry - now
    }
}

/// The rules by which signed UserInfo is accepted. Source: OpenID Connect Core, section 5.3.2.
public struct UserInfoValidator: Sendable {
    private let rules: SignedResponse

    /// States the rules.
    ///
    /// - Parameters:
    ///   - issuer: the server that must have signed the response.
    ///   - clientID: the client that it must be for.
    ///   - algorithms: the client's policy; all asymmetric algorithms by default.
    ///   - leeway: by how many seconds the clocks may differ.
    ///   - secrets: what no error may show.
    public init(
        issuer: Issuer, clientID: String, algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases,
        leeway: Double = 60, hiding secrets: [Secret] = []
    ) {
        rules = SignedResponse(
            issuer: issuer, clientID: clientID, algorithms: algorithms, leeway: leeway.isFinite ? max(0, leeway) : 0,
            secrets: secrets)
    }

    /// The claims of a response whose signature, issuer and audience are right.
    ///
    /// They have a subject.
    ///
    /// No `exp` is needed; where one is, it counts. Whether the subject is the one who signed in is for the caller to
    /// compare.
    ///
    /// - Throws: ``OAuthError/refused(_:)``; where ``Refusal/Check/mayNeedNewKeys`` is true, fetch the keys once and try
    ///   again.
    public func claims(of token: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> JSONObject {
        let claims = try rules.claims(of: token, keys: keys, now: now, demandsExpiry: false)
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else {
            throw rules.refusal(.responseForm, "sub: a string", found: claims["sub"]?.kind ?? "nothing")
        }
        return claims
    }
}
