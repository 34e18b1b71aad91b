#if Sandbox
import Synchronization

extension AuthorizationServer {
    /// Answers a revocation request as the RFC has it (RFC 7009 section 2.2).
    package func revocation(
        _ request: IncomingRequest, authenticate: (IncomingRequest) throws(OAuthFailure) -> SandboxClient
    ) -> Answer {
        do throws(OAuthFailure) {
            let client = try authenticate(request)
            guard let token = request.form["token"] else { throw .invalidRequest("token is missing.") }
            try revoke(token, by: client, revokesFamily: true)
            return Answer(status: 200)
        } catch {
            return error.challengingAnswer
        }
    }

    /// Revokes a token of this client (RFC 7009 section 2.1); an unknown token is no error.
    ///
    /// - Parameter revokesFamily: whether revoking a refresh token ends its access tokens too.
    /// - Throws: `unauthorized_client` when the token belongs to another client.
    package func revoke(_ token: String, by client: SandboxClient, revokesFamily: Bool) throws(OAuthFailure) {
        let isForeign = state.withLock { state -> Bool in
            let access = state.store.accessTokens[token]
            let refresh = state.store.refreshTokens[token]
            guard let grantID = access?.grantID ?? refresh?.grantID else { return false }
            guard state.store.grants[grantID].clientID == client.id else { return true }
            state.store.accessTokens[token]?.isRevoked = true
            state.store.refreshTokens[token]?.isRevoked = true
            if refresh != nil, revokesFamily { state.store.revokeGrant(grantID) }
            return false
        }
        if isForeign {
            throw OAuthFailure(code: "unauthorized_client", detail: "The token belongs to another client.")
        }
    }
}
#endif
