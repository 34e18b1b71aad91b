#if Sandbox
import SandboxCore

/// Exchanges tokens of this server for others (RFC 8693).
struct TokenExchanges: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let typePrefix = "urn:ietf:params:oauth:token-type:"
    /// The `typ` of an identity assertion for another server.
    static let identityAssertion = "oauth-id-jag+jwt"

    let server: AuthorizationServer
    let signer: IDTokenSigner

    /// What was issued: an access token, or a signed text that is none.
    struct Exchanged: Sendable {
        let type: String
        let tokens: IssuedTokens?
        let text: String?

        /// The answer (RFC 8693 section 2.2.1).
        func answer(isBound: Bool) -> JSON {
            guard let tokens else {
                return [
                    "access_token": JSON(text), "issued_token_type": .string(TokenExchanges.typePrefix + type),
                    "token_type": "N_A", "expires_in": 300,
                ]
            }
            return [
                "access_token": .string(tokens.accessToken),
                "issued_token_type": .string(TokenExchanges.typePrefix + type),
                "token_type": isBound ? "DPoP" : "Bearer", "expires_in": .number(tokens.lifetime),
                "scope": .string(tokens.scope.joined(separator: " ")),
            ]
        }
    }

    func exchange(_ form: FormParameters, by client: SandboxClient) throws(OAuthFailure) -> Exchanged {
        guard client.grantTypes.contains(Self.grantType) else { throw .unauthorizedClient }
        guard let subject = form["subject_token"], let subjectType = form["subject_token_type"] else {
            throw .invalidRequest("subject_token and subject_token_type are required.")
        }
        guard (form["actor_token"] == nil) == (form["actor_token_type"] == nil) else {
            throw .invalidRequest("actor_token and actor_token_type come together.")
        }
        if form["audience"] == "unknown" {
            throw OAuthFailure(code: "invalid_target", detail: "No service has this name.")
        }
        let (user, granted) = try owner(of: subject, type: subjectType, client)
        if let actor = form["actor_token"] {
            guard server.liveAccess(actor) != nil else { throw .invalidRequest("The actor token is not alive.") }
        }
        let scope =
            try form["scope"].map { text throws(OAuthFailure) in try server.dialect.scopes.read(text) } ?? granted
        guard scope.allSatisfy(granted.contains) else {
            throw OAuthFailure(code: "invalid_scope", detail: "An exchange cannot widen the scope.")
        }
        return try issue(
            form["requested_token_type"] ?? Self.typePrefix + "access_token", user, scope, form["audience"], client)
    }

    /// The user of a token of this server, and its scopes.
    private func owner(
        of token: String, type: String, _ client: SandboxClient
    ) throws(OAuthFailure) -> (SandboxUser, [String]) {
        let known = server.dialect.scopes.known
        switch type {
        case Self.typePrefix + "access_token":
            guard let access = server.liveAccess(token), let user = access.grant.user else {
                throw .invalidRequest("The subject token is not alive, or has no user.")
            }
            return (user, access.token.scope)
        case Self.typePrefix + "id_token":
            guard let claims = signer.claims(of: token)?.claims, claims["aud"]?.scalarText == client.id,
                let subject = claims["sub"]?.scalarText, let user = server.dialect.user(subject: subject)
            else { throw .invalidRequest("The subject token is no ID token of this client.") }
            return (user, known)
        default: throw .invalidRequest("Tokens of this type are not exchanged here.")
        }
    }

    private func issue(
        _ type: String, _ user: SandboxUser, _ scope: [String], _ audience: String?, _ client: SandboxClient
    ) throws(OAuthFailure) -> Exchanged {
        let now = Int(server.clock.now)
        let claims: JSON = [
            "iss": .string(server.issuer), "sub": .string(user.subject), "aud": .string(audience ?? client.id),
            "client_id": .string(client.id), "jti": .string(RandomText.base64URL(bytes: 12)), "iat": .number(now),
            "exp": .number(now + 300), "scope": .string(scope.joined(separator: " ")),
        ]
        switch type {
        case Self.typePrefix + "access_token":
            let grant = SandboxGrant(
                clientID: client.id, user: user, scope: scope, authenticatedAt: server.clock.now)
            return Exchanged(type: "access_token", tokens: server.issueTokens(for: grant, by: client), text: nil)
        case Self.typePrefix + "jwt": return Exchanged(type: "jwt", tokens: nil, text: signer.sign(claims, type: "JWT"))
        case Self.typePrefix + "id-jag":
            guard audience != nil else { throw .invalidRequest("audience is missing.") }
            return Exchanged(type: "id-jag", tokens: nil, text: signer.sign(claims, type: Self.identityAssertion))
        default: throw .invalidRequest("Tokens of this type are not issued here.")
        }
    }
}
#endif
