/// What holds for every text that a server signs for one client, besides the ID token: type, issuer, audience and times.
struct SignedTextRules: Sendable {
    /// What is made of `exp`.
    enum Expiry: Sendable {
        case ignored, checked, required
    }

    let kind: Refusal.SignedText
    /// The accepted values of `typ` (RFC 8725, section 3.11).
    var types = ["jwt"]
    /// Whether `typ` has to be there.
    var needsType = false
    let issuer: Issuer
    /// The issuers of the server's tenants, where ``issuer`` is an address that many share. One of them may have signed.
    var issuerTemplate: IssuerTemplate?
    let clientID: String
    /// Whether the text may be for other clients too.
    var allowsOtherAudiences = false
    /// Whether `iat` has to be there. Where it is, it counts.
    var needsIssueTime = true
    var expiry = Expiry.checked
    /// The client's policy. The header's `alg` has to be one of these.
    let algorithms: [SignatureAlgorithm]
    /// By how many seconds the clocks may differ. A negative or infinite value counts as 0.
    let leeway: Double
    /// What no error may show, besides the text.
    var secrets: [Secret] = []

    /// The claims of a text whose signature, issuer, audience and times are right.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/signedText``.
    func claims(of text: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> JSONObject {
        try about { () throws(OAuthError) -> JSONObject in
            let signature = try JSONWebSignature(compact: text, types: types, needsType: needsType, hiding: secrets)
            let signed = try signature.verify(with: keys.limited(to: signature, of: tenants), allowing: algorithms)
            guard let claims = (try? JSONValue(parsing: signed.payload))?.object else {
                throw refusal(.tokenForm, "payload: a JSON object", found: "something else")
            }
            // A logout token has all the claims of other texts (OpenID Connect Back-Channel Logout, section 2.4).
            guard kind == .logoutToken || claims["events"] == nil else {
                throw refusal(.tokenForm, "events: absent", found: "a security event")
            }
            let reader = ClaimReader(claims: claims)
            try checkParties(reader)
            try checkTimes(reader, now: now)
            return claims
        }
    }

    /// The template, where the server's issuer is an address that many tenants share.
    private var tenants: IssuerTemplate? {
        issuerTemplate.flatMap { $0.isShared(issuer) ? $0 : nil }
    }

    private func checkParties(_ reader: ClaimReader) throws(OAuthError) {
        let stated = try reader.required("iss", try reader.string("iss"))
        let tenant = tenants.flatMap { $0.tenant(ofIssuer: stated) }
        guard tenants == nil ? issuer.isSpelled(stated) : tenant != nil else {
            throw refusal(.issuer, "iss: \(tenants?.string ?? issuer.string)", found: stated)
        }
        if let tenants, let named = reader.claims[tenants.claim] {
            guard let named = named.string, named.isIdentical(to: tenant?.string ?? "") else {
                throw refusal(.issuer, tenants.expectation, found: "another tenant")
            }
        }
        let audience = try reader.audience()
        let isOurs = { (name: String) in name.isIdentical(to: clientID) }
        guard allowsOtherAudiences ? audience.contains(where: isOurs) : audience.allSatisfy(isOurs) else {
            throw refusal(
                .audience, "aud: \(clientID)\(allowsOtherAudiences ? "" : " alone")",
                found: audience.joined(separator: ", "))
        }
    }

    private func checkTimes(_ reader: ClaimReader, now: Double) throws(OAuthError) {
        let leeway = leeway.isFinite ? max(0, leeway) : 0
        if needsIssueTime { _ = try reader.required("iat", try reader.time("iat")) }
        for name in ["iat", "nbf"] {
            guard let start = try reader.time(name), !(now.isFinite && start <= now + leeway) else { continue }
            throw refusal(.tokenTime, "\(name): no later than \(now) plus \(leeway) s", found: "\(start)")
        }
        guard expiry != .ignored else { return }
        guard let end = try reader.time("exp") else {
            guard expiry != .required else { throw reader.wrong("exp", expected: "a value") }
            return
        }
        guard now.isFinite, now < end + leeway else {
            throw refusal(.tokenTime, "exp: later than \(now) minus \(leeway) s", found: "\(end)")
        }
    }

    /// Runs a check; a refusal names this kind of text.
    func about<Value>(_ check: () throws(OAuthError) -> Value) throws(OAuthError) -> Value {
        do {
            return try check()
        } catch .refused(var refusal) {
            refusal.signedText = kind
            throw .refused(refusal)
        }
    }

    func refusal(_ check: Refusal.Check, _ expected: String, found: String) -> OAuthError {
        var refusal = Refusal(
            check, expected: quoted(expected, limit: 300), found: Redaction(secrets)(found, limit: 200))
        refusal.signedText = kind
        return .refused(refusal)
    }
}
