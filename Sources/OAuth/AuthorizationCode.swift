/// A code whose redirect has been checked, together with all that its exchange needs (RFC 6749, section 4.1.3).
///
/// Only ``AuthorizationRequest/code(from:now:)-(AuthorizationResponse,_)`` makes one, so a redirect that was not
/// checked cannot reach a token endpoint.
public struct AuthorizationCode: Sendable {
    /// The request that this code answers: its server is the only one that may see the code.
    public let request: AuthorizationRequest

    let secret: Secret
}

extension AuthorizationRequest {
    /// Checks a redirect against this request and takes the code out of it.
    ///
    /// The order is that of RFC 9700 and `oauth-security.md` B: state first and in constant time, then address, age,
    /// doubled parameters, issuer, error, code.
    ///
    /// - Parameters:
    ///   - response: what came back to the redirect URI.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/unmatchedRedirect(problem:)`` when the state or the address is not this request's: drop
    ///   the redirect and keep waiting. Every other error ends this attempt: ``OAuthError/refused(_:)`` for a failed
    ///   check and ``OAuthError/server(_:)`` when the server or the user said no (`access_denied`).
    public func code(from response: AuthorizationResponse, now: Double) throws(OAuthError) -> AuthorizationCode {
        try checkMatch(response)
        return try accept(response, now: now)
    }

    /// Whether a response is this request's own: by its state first and then by the address it was sent to.
    func checkMatch(_ response: AuthorizationResponse) throws(OAuthError) {
        guard let returned = response.state else { throw .unmatchedRedirect(problem: "it has no state") }
        guard state.matches(Secret(returned)) else { throw .unmatchedRedirect(problem: "its state is another one") }
        guard response.wasSent(to: redirectURI) else {
            throw .unmatchedRedirect(problem: "it was sent to another address than \(redirectURI.string)")
        }
    }

    /// Takes the code out of a response that is this request's own.
    func accept(_ response: AuthorizationResponse, now: Double) throws(OAuthError) -> AuthorizationCode {
        guard now < expiresAt else {
            throw .refused(
                Refusal(.expired, expected: "a redirect within the request's lifetime", found: "a later one"))
        }
        switch response.defect {
        case nil: break
        case .repeated(let name):
            throw .refused(Refusal(.repeatedParameter, expected: "\(name) once", found: "\(name) more than once"))
        case .undecodable(let name):
            throw .malformed(
                step: .authorization, member: name, expected: "percent-encoded UTF-8 without control characters",
                found: "something else")
        }
        try checkIssuer(of: response)
        if let error = response.error {
            throw .server(
                ServerError(
                    step: .authorization, code: error, text: response.errorDescription, uri: response.errorURI))
        }
        guard let code = response.code else {
            throw .malformed(step: .authorization, member: "code", expected: "a code or an error", found: "neither")
        }
        return AuthorizationCode(request: self, secret: Secret(code))
    }

    /// Reads and checks a redirect URL in one step.
    public func code(from redirectURL: String, now: Double) throws(OAuthError) -> AuthorizationCode {
        try code(from: AuthorizationResponse(redirectURL: redirectURL), now: now)
    }

    /// `iss` must be this server's issuer whenever it is there, and must be there when the server announces it (RFC
    /// 9207, section 2.4). A server that never announced it is held to the same equality (`oauth-security.md` B3).
    private func checkIssuer(of response: AuthorizationResponse) throws(OAuthError) {
        guard let found = response.issuer else {
            guard server.announcesIssuerInResponse else { return }
            throw .refused(Refusal(.issuerMissing, expected: "iss=\(server.issuer.string)", found: "no iss"))
        }
        guard server.issuer.isSpelled(found) else {
            // Whoever made up an issuer may have put the code into it.
            let secrets = [response.code, response.state].compactMap(\.self).map(Secret.init)
            let shown = quoted(hidingTokens(in: found, and: secrets), limit: 200)
            throw .refused(Refusal(.issuer, expected: server.issuer.string, found: shown))
        }
    }
}
