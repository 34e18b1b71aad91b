/// The authentication of the user that an authorization request asks for.
///
/// A server may answer with an older or a weaker one, and anyone who holds the address may change it. So the verified ID token decides
/// (OpenID Connect Core, section 3.1.3.7, steps 12 and 13; RFC 9470, section 5; `oauth-security.md` D8).
package struct RequestedAuthentication: Sendable, Hashable, Codable {
    /// How long ago the user may have authenticated, in seconds (`max_age`); nil for any time.
    package let maximumAge: Int?
    /// The authentication contexts of which one is wanted (`acr_values`), in order; empty for any.
    package let contexts: [String]
    /// Whether one of ``contexts`` is demanded. Otherwise they are voluntary, and another one is accepted (`any-server.md` 6.5).
    package let demandsContext: Bool

    /// No demand.
    package static let any = RequestedAuthentication(maximumAge: nil, contexts: [], demandsContext: false)

    private init(maximumAge: Int?, contexts: [String], demandsContext: Bool) {
        self.maximumAge = maximumAge
        self.contexts = contexts
        self.demandsContext = demandsContext
    }

    /// Reads what the parameters of a request ask for.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a `max_age` that is no number of seconds.
    package init(parameters: [String: String], demandingContext: Bool) throws(OAuthError) {
        let age = parameters["max_age"].flatMap { $0.isEmpty ? nil : $0 }
        maximumAge = age.flatMap(wholeNumber)
        guard maximumAge != nil || age == nil else {
            throw .configuration(member: "max_age", problem: "it has to be a whole number of seconds")
        }
        contexts = (parameters["acr_values"] ?? "").split(separator: " ").map(String.init)
        demandsContext = demandingContext
    }

    /// Whether the user was authenticated in one of ``contexts``, or none is asked for.
    package func hasContext(of claims: IDTokenClaims) -> Bool {
        contexts.isEmpty || contexts.contains(where: { claims.claims["acr"]?.string?.isIdentical(to: $0) == true })
    }

    /// Checks the claims of the request's ID token, without which an age or a context that is demanded is refused.
    ///
    /// - Parameters:
    ///   - claims: the verified claims; nil for a sign-in without an ID token.
    ///   - now: seconds since 1970.
    ///   - leeway: by how many seconds the clocks may differ.
    ///   - secrets: what no error may show.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/authentication``.
    package func check(
        _ claims: IDTokenClaims?, now: Double, leeway: Double = 60, hiding secrets: [Secret] = []
    ) throws(OAuthError) {
        guard let claims else {
            let demands = [maximumAge.map { _ in "auth_time" }, demandsContext && !contexts.isEmpty ? "acr" : nil]
            let needed = demands.compactMap(\.self).joined(separator: " and ")
            guard needed.isEmpty else {
                throw .refused(Refusal(.authentication, expected: needed, found: Refusal.noIDToken))
            }
            return
        }
        if let maximumAge {
            guard let time = claims.authenticatedAt, now - time <= Double(maximumAge) + leeway else {
                let age = claims.authenticatedAt.map { "\(Int(min(max(now - $0, 0), 1e12))) s ago" }
                throw .refused(
                    Refusal(
                        .authentication, expected: "auth_time: at most \(maximumAge) s ago", found: age ?? "nothing"))
            }
        }
        guard !demandsContext || hasContext(of: claims) else {
            throw .refused(
                Refusal(
                    .authentication, expected: quoted("acr: " + contexts.joined(separator: " or "), limit: 200),
                    found: claims.claims["acr"]?.string.map { Redaction(secrets)($0, limit: 200) } ?? "nothing"))
        }
    }
}

extension RequestedAuthentication {
    /// Decodes it. In older records, every context is demanded.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            maximumAge: try values.decodeIfPresent(Int.self, forKey: .maximumAge),
            contexts: try values.decode([String].self, forKey: .contexts),
            demandsContext: try values.decodeIfPresent(Bool.self, forKey: .demandsContext) ?? true)
    }
}
