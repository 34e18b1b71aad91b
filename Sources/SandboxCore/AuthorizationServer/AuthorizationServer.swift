#if Sandbox
package import Synchronization

/// The authorization server inside a stand-in: its state, behind one lock that is never held while waiting.
///
/// A class, because the routes of a service and the sandbox share its state.
package final class AuthorizationServer: Sendable {
    package struct State: Sendable {
        var root = ""
        package var store = GrantStore()
        package var sessions: [String: BrowserSession] = [:]
        package var pushed = PushedRequests()
        /// The clients that have registered themselves, by their identifiers.
        package var registered: [String: SandboxClient] = [:]
        /// The identifiers of the APIs that tokens can be for (RFC 8707).
        package var resources: Set<String> = []
        /// The issuer that responses name in place of the server's own; nil at an honest server.
        package var borrowedIssuer: String?
        /// Where clients with a certificate call it (RFC 8705 section 5); nil for a server that asks for none.
        package var certificateOrigin: String?
    }

    package let dialect: Dialect
    /// The path below which the server is; empty at most.
    package let prefix: String
    /// What the issuer has behind that: a slash at some servers.
    private let issuerSuffix: String
    package let clock: SandboxClock
    package let state = Mutex(State())
    /// What the server signs and what it reads that clients have signed; nil for a server that knows neither.
    package let signedMessages: (any SignedMessages)?

    package init(
        dialect: Dialect, clock: SandboxClock, signedMessages: (any SignedMessages)? = nil, prefix: String = "",
        issuerSuffix: String = ""
    ) {
        self.prefix = prefix
        self.issuerSuffix = issuerSuffix
        self.dialect = dialect
        self.clock = clock
        self.signedMessages = signedMessages
    }

    /// Who the server says it is.
    package var issuer: String { origin + issuerSuffix }

    /// What its responses call it: at a hostile server the name of another one.
    package var issuerInResponses: String { state.withLock { $0.borrowedIssuer } ?? issuer }

    /// The client of an identifier: one of the fixtures, or one that has registered itself.
    package func client(_ id: String) -> SandboxClient? {
        dialect.client(id) ?? state.withLock { $0.registered[id] }
    }

    /// Scheme, host and port, and the path below which the server is. Known once the service listens and before its first
    /// request.
    package var origin: String {
        root + prefix
    }

    /// Scheme, host and port.
    package var root: String {
        get { state.withLock { $0.root } }
        set { state.withLock { $0.root = newValue } }
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
            let before = state
            state = State()
            (state.root, state.resources) = (before.root, before.resources)
            state.borrowedIssuer = before.borrowedIssuer
            state.certificateOrigin = before.certificateOrigin
        }
    }

    /// Creates a code for an approved request (RFC 6749 section 4.1.2).
    ///
    /// - Parameter browser: the session of the browser that it was approved in; nil for none.
    package func issueCode(
        for request: PendingAuthorization, user: SandboxUser, authenticatedAt: Double, in browser: String? = nil
    ) -> String {
        let code = RandomText.base64URL(bytes: 24)
        let sessionID = sessionID(of: request.client.id, in: browser)
        forgetPushed(request.target)
        state.withLock { state in
            var grant = SandboxGrant(
                clientID: request.client.id, user: user, scope: request.scope, authenticatedAt: authenticatedAt)
            grant.nonce = request.nonce
            grant.sessionID = sessionID
            grant.isStronglyAuthenticated = request.wantsStrongAuthentication
            grant.keyThumbprint = request.keyThumbprint
            grant.authorizationDetails = request.authorizationDetails
            grant.resources = request.resources
            state.store.codes[code] = GrantStore.Code(
                grantID: state.store.add(grant), redirectURI: request.redirectURI, challenge: request.challenge,
                expiresAt: clock.now + dialect.codeLifetime)
        }
        return code
    }
}
#endif
