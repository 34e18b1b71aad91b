/// What holds for every text that a server signs for one client, besides the ID token: issuer, audience and time.
struct SignedTextRules: Sendable {
    let kind: Refusal.SignedText
    /// The accepted values of `typ` (RFC 8725, section 3.11).
    let types: [String]
    /// Whether `typ` has to be there.
    var needsType = false
    let issuer: Issuer
    let clientID: String
    let algorithms: [SignatureAlgorithm]
    let leeway: Double

    /// The claims of a text whose signature, issuer, audience and time of issue are right.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/signedText``.
    func claims(of text: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> JSONObject {
        try about { () throws(OAuthError) -> JSONObject in
            let signed = try JSONWebSignature(compact: text, types: types, needsType: needsType).verify(
                with: keys, allowing: algorithms)
            guard let claims = (try? JSONValue(parsing: signed.payload))?.object else {
                throw refusal(.tokenForm, "payload: a JSON object", found: "something else")
            }
            let reader = ClaimReader(claims: claims)
            let stated = try reader.required("iss", try reader.string("iss"))
            guard issuer.isSpelled(stated) else {
                throw refusal(.issuer, "iss: \(issuer.string)", found: stated)
            }
            let audience = try reader.audience()
            guard audience.allSatisfy({ $0.isIdentical(to: clientID) }) else {
                throw refusal(.audience, "aud: \(clientID) alone", found: audience.joined(separator: ", "))
            }
            let issuedAt = try reader.required("iat", try reader.time("iat"))
            guard now.isFinite, issuedAt <= now + leeway else {
                throw refusal(.tokenTime, "iat: no later than \(now) plus \(leeway) s", found: "\(issuedAt)")
            }
            return claims
        }
    }

    /// Runs a check; what it refuses is told to be about this kind of text.
    func about<Value>(_ check: () throws(OAuthError) -> Value) throws(OAuthError) -> Value {
        do {
            return try check()
        } catch .refused(var refusal) {
            refusal.signedText = kind
            throw .refused(refusal)
        }
    }

    func refusal(_ check: Refusal.Check, _ expected: String, found: String) -> OAuthError {
        var refusal = Refusal(check, expected: quoted(expected, limit: 300), found: Redaction()(found, limit: 200))
        refusal.signedText = kind
        return .refused(refusal)
    }
}
