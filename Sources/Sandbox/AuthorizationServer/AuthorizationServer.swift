import Synchronization

/// The authorization server inside a stand-in: its state, behind one lock that is never held while waiting.
///
/// A class, since the routes of a service and the sandbox share one state.
final class AuthorizationServer: Sendable {
    struct State: Sendable {
        var origin = ""
        var store = GrantStore()
        var sessions: [String: BrowserSession] = [:]
    }

    let dialect: Dialect
    let clock: SandboxClock
    let state = Mutex(State())

    init(dialect: Dialect, clock: SandboxClock) {
        self.dialect = dialect
        self.clock = clock
    }

    /// Scheme, host and port, known once the service listens and before its first request.
    var origin: String {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }

    func expireAccessTokens() {
        state.withLock { $0.store.revokeAllAccessTokens() }
    }

    /// Ends one access token; its refresh token goes on working.
    func endAccess(_ token: String) {
        state.withLock { $0.store.accessTokens[token]?.isRevoked = true }
    }

    func revokeRefreshTokens() {
        state.withLock { $0.store.revokeAllRefreshTokens() }
    }

    /// The grant and token behind an access token that is alive now.
    func liveAccess(_ token: String?) -> (grant: SandboxGrant, token: GrantStore.AccessToken)? {
        guard let token else { return nil }
        return state.withLock { $0.store.liveAccess(token, at: clock.now) }
    }

    /// Makes a code for an approved request (RFC 6749 section 4.1.2).
    func issueCode(for request: AuthorizationRequest, user: SandboxUser, authenticatedAt: Double) -> String {
        let code = RandomText.base64URL(bytes: 24)
        state.withLock { state in
            var grant = SandboxGrant(
                clientID: request.client.id, user: user, scope: request.scope, authenticatedAt: authenticatedAt)
            grant.nonce = request.nonce
            grant.isStronglyAuthenticated = request.wantsStrongAuthentication
            state.store.codes[code] = GrantStore.Code(
                grantID: state.store.add(grant), redirectURI: request.redirectURI, challenge: request.challenge,
                expiresAt: clock.now + dialect.codeLifetime)
        }
        return code
    }
}
