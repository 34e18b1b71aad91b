/// The rules by which signed UserInfo is accepted. Source: OpenID Connect Core, section 5.3.2.
package struct UserInfoValidator: Sendable {
    private let rules: SignedTextRules

    /// States the rules.
    ///
    /// - Parameters:
    ///   - issuer: the server that must have signed the response.
    ///   - clientID: the client that it must be for.
    ///   - algorithms: the client's policy; all asymmetric algorithms by default.
    ///   - leeway: by how many seconds the clocks may differ.
    ///   - secrets: what no error may show.
    package init(
        issuer: Issuer, clientID: String, algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases,
        leeway: Double = 60, hiding secrets: [Secret] = []
    ) {
        rules = SignedTextRules(
            kind: .userInfo, issuer: issuer, clientID: clientID, allowsOtherAudiences: true, needsIssueTime: false,
            algorithms: algorithms, leeway: leeway, secrets: secrets)
    }

    /// The claims of a response whose signature, issuer and audience are right.
    ///
    /// Claims without a subject are refused. No `exp` is needed; where one is, it counts. Whether the subject is the one
    /// who signed in is for the caller to compare.
    ///
    /// - Throws: ``OAuthError/refused(_:)``; where ``Refusal/Check/mayNeedNewKeys`` is true, fetch the keys once and try
    ///   again.
    package func claims(of token: Secret, keys: JSONWebKeySet, now: Double) throws(OAuthError) -> JSONObject {
        let claims = try rules.claims(of: token, keys: keys, now: now)
        // An ID token has all that UserInfo has, and more (RFC 8725, section 3.12).
        if let name = ["nonce", "at_hash", "c_hash"].first(where: { claims[$0] != nil }) {
            throw rules.refusal(.tokenForm, "\(name): absent", found: "an ID token")
        }
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else {
            throw rules.refusal(.tokenForm, "sub: a string", found: claims["sub"]?.kind ?? "nothing")
        }
        return claims
    }
}
