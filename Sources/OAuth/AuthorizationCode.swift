/// An authorization code from a checked redirect (RFC 6749, section 4.1.3). It has all that its exchange needs.
///
/// Only ``AuthorizationRequest/code(from:now:)`` makes one, so the code of an unchecked redirect cannot reach a token
/// endpoint.
public struct AuthorizationCode: Sendable {
    /// The request that this code answers. The code is sent only to this request's server.
    public let request: AuthorizationRequest

    package let secret: Secret
}

extension AuthorizationRequest {
    /// Checks a redirect against this request and takes the code out of it.
    ///
    /// The order is that of RFC 9700 and `oauth-security.md` B: state first and in constant time, then address, age,
    /// repeated parameters, issuer, error, code.
    ///
    /// - Parameters:
    ///   - response: what arrived at the redirect URI.
    ///   - now: seconds since 1970.
    /// - Throws: ``OAuthError/unmatchedRedirect(problem:)`` when the state or the address is not this request's: ignore
    ///   the redirect and keep waiting. Every other error ends this attempt: ``OAuthError/refused(_:)`` for a failed
    ///   check, ``OAuthError/server(_:)`` when the server returned an error or the user declined (`access_denied`).
    public func code(from response: AuthorizationResponse, now: Double) throws(OAuthError) -> AuthorizationCode {
        try check(response, now: now)
        guard !responseMode.isSigned || response.isVerified else { throw Self.unsigned(response) }
        try checkIssuer(of: response)
        if let error = response.error {
            throw .server(
                ServerError(
                    step: .authorization, code: error, text: response.errorDescription, uri: response.errorURI,
                    hiding: secrets(of: response)))
        }
        guard let code = response.code else {
            throw .malformed(step: .authorization, member: "code", expected: "a code or an error", found: "neither")
        }
        return AuthorizationCode(request: self, secret: Secret(code))
    }

    /// Checks what needs no key: that a redirect is this request's, in time, and of the right form.
    ///
    /// - Throws: what ``code(from:now:)`` throws.
    package func check(_ response: AuthorizationResponse, now: Double) throws(OAuthError) {
        let stated = !responseMode.isSigned ? response.state : response.state ?? response.signedState
        guard let returned = stated else { throw .unmatchedRedirect(problem: "it has no state") }
        guard state.matches(Secret(returned)) else {
            throw .unmatchedRedirect(problem: "its state is not the one sent")
        }
        guard response.wasSent(to: redirectURI) else {
            throw .unmatchedRedirect(problem: "it arrived at another address than \(redirectURI.string)")
        }
        guard now < expiresAt else {
            throw .refused(
                Refusal(.expired, expected: "a redirect within the request's lifetime", found: "a later one"))
        }
        try checkForm(of: response)
        // An attacker may have taken the signature away: nothing of a plain response counts (JARM, section 2.4).
        if responseMode.isSigned, !response.isVerified, response.signed == nil || response.hasPlainParameters {
            throw Self.unsigned(response)
        }
    }

    /// The error for a response that should be signed. Nothing of it is shown.
    private static func unsigned(_ response: AuthorizationResponse) -> OAuthError {
        .refused(
            Refusal(
                .unsignedResponse, expected: "the parameter response alone, which is signed",
                found: response.signed == nil
                    ? "plain parameters"
                    : response.hasPlainParameters ? "others beside it" : "one that was not verified"))
    }

    private func checkForm(of response: AuthorizationResponse) throws(OAuthError) {
        switch response.defect {
        case nil: return
        case .repeated(let name):
            throw .refused(Refusal(.repeatedParameter, expected: "\(name) once", found: "\(name) more than once"))
        case .undecodable(let name):
            throw .malformed(
                step: .authorization, member: name, expected: "percent-encoded UTF-8 without control characters",
                found: "something else")
        }
    }

    /// `iss` must be this server's issuer whenever it is present, and must be present when the server announces it (RFC
    /// 9207, section 2.4). A server that never announced it is held to the same equality (`oauth-security.md` B3).
    private func checkIssuer(of response: AuthorizationResponse) throws(OAuthError) {
        guard let found = response.issuer else {
            guard server.announcesIssuerInResponse || requiresIssuer else { return }
            throw .refused(Refusal(.issuerMissing, expected: "iss=\(server.issuer.string)", found: "no iss"))
        }
        guard server.issuer.isSpelled(found) else {
            let shown = Redaction(secrets(of: response))(found, limit: 200)
            throw .refused(Refusal(.issuer, expected: server.issuer.string, found: shown))
        }
    }

    /// What must not be quoted from a response: the secrets of this request, and the code.
    private func secrets(of response: AuthorizationResponse) -> [Secret] {
        secrets + (response.code.map { [Secret($0)] } ?? [])
    }
}
