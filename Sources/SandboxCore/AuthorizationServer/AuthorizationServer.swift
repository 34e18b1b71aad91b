#if Sandbox
package import Synchronization

/// The authorization server inside a stand-in: its state, behind one lock that is never held while waiting.
///
/// A class, because the routes of a service and the sandbox share its state.
package final class AuthorizationServer: Sendable {
    package struct State: Sendable {
        package var origin = ""
        package var store = GrantStore()
        package var sessions: [String: BrowserSession] = [:]
        package var pushed = PushedRequests()
    }

    package let dialect: Dialect
    package let clock: SandboxClock
    package let state = Mutex(State())
    /// What the server signs and what it reads that clients have signed; nil for a server that knows neither.
    package let signedMessages: (any SignedMessages)?

    package init(dialect: Dialect, clock: SandboxClock, signedMessages: (any SignedMessages)? = nil) {
        self.dialect = dialect
        self.clock = clock
        self.signedMessages = signedMessages
    }

    /// Scheme, host and port, known once the service listens and before its first request.
    package var origin: String {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }

    func expireAccessTokens() {
        state.withLock { $0.store.revokeAllAccessTokens() }
    }

    /// Revokes one access token; its refresh token stays valid.
    package func endAccess(_ token: String) {
        state.withLock { $0.store.accessTokens[token]?.isRevoked = true }
    }

    func revokeRefreshTokens() {
        state.withLock { $0.store.revokeAllRefreshTokens() }
    }

    /// The grant and token behind a valid access token.
    package func liveAccess(_ token: String?) -> (grant: SandboxGrant, token: GrantStore.AccessToken)? {
        guard let token else { return nil }
        return state.withLock { $0.store.liveAccess(token, at: clock.now) }
    }

    /// Deletes codes, tokens and browser sessions, as after a restart.
    package func forgetAll() {
        state.withLock { state in
            let origin = state.origin
            state = State()
            state.origin = origin
        }
    }

    /// Creates a code for an approved request (RFC 6749 section 4.1.2).
    package func issueCode(for request: PendingAuthorization, user: SandboxUser, authenticatedAt: Double) -> String {
        let code = RandomText.base64URL(bytes: 24)
        forgetPushed(request.target)
        state.withLock { state in
            var grant = SandboxGrant(
                clientID: request.client.id, user: user, scope: request.scope, authenticatedAt: authenticatedAt)
            grant.nonce = request.nonce
            grant.sessionID = RandomText.base64URL(bytes: 12)
            grant.isStronglyAuthenticated = request.wantsStrongAuthentication
            grant.keyThumbprint = request.keyThumbprint
            grant.authorizationDetails = request.authorizationDetails
            state.store.codes[code] = GrantStore.Code(
                grantID: state.store.add(grant), redirectURI: request.redirectURI, challenge: request.challenge,
                expiresAt: clock.now + dialect.codeLifetime)
        }
        return code
    }
}
#endif
