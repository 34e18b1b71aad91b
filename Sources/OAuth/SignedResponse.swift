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
        guard responseMode.isSigned, let text = response.signed else { return response }
        let rules = SignedTextRules(
            kind: .authorizationResponse, issuer: server.issuer, clientID: clientID, allowsOtherAudiences: true,
            needsIssueTime: false, expiry: .required, algorithms: algorithms, leeway: leeway,
            secrets: secrets + [text])
        let claims = try rules.claims(of: text, keys: keys, now: now)
        return try rules.about { () throws(OAuthError) in
            try AuthorizationResponse(verified: claims, of: response)
        }
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
