#if Sandbox
import SandboxCore
import Synchronization

/// What IFTTT and the partner's back end need of the partner's authorization server (IFTTT Connect dossier, sections
/// 2.8 and 2.12).
extension AuthorizationServer {
    /// The client that IFTTT is at the partner.
    static let iftttClientID = "ifttt"

    /// A code for IFTTT as the partner gives it to its own signed-in app.
    func issueCode(_ code: String, for user: SandboxUser) {
        state.withLock { state in
            let grant = SandboxGrant(
                clientID: Self.iftttClientID, user: user, scope: ["ifttt"], authenticatedAt: clock.now)
            state.store.codes[code] = GrantStore.Code(
                grantID: state.store.add(grant), redirectURI: Self.iftttCodeRedirect, challenge: nil,
                expiresAt: clock.now + dialect.codeLifetime)
        }
    }

    /// The user of a code that the partner ever issued to IFTTT, used or not, until it expires.
    func issuedCode(_ code: String) -> SandboxUser? {
        let now = clock.now
        return state.withLock { state in
            guard let found = state.store.codes[code], now < found.expiresAt else { return nil }
            return state.store.grants[found.grantID].user
        }
    }

    /// The user of a code that IFTTT can still exchange.
    func unusedCode(_ code: String) -> SandboxUser? {
        guard state.withLock({ $0.store.codes[code]?.isUsed }) == false else { return nil }
        return issuedCode(code)
    }

    /// Exchanges a code on IFTTT's behalf, through the same checks as the token endpoint.
    func redeemForIFTTT(_ code: String) throws(OAuthFailure) -> SandboxUser {
        let redirect = state.withLock { $0.store.codes[code]?.redirectURI } ?? Self.iftttCodeRedirect
        guard let client = dialect.client(Self.iftttClientID) else { throw .unauthorizedClient }
        let parameters = FormParameters([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
        ])
        guard let user = try exchange(parameters, by: client).grant.user else {
            throw .invalidGrant("The code has no user.")
        }
        return user
    }

    /// An access token of known text that does not expire.
    func grantAccess(_ token: String, to user: SandboxUser) {
        state.withLock { state in
            let grant = SandboxGrant(
                clientID: Self.iftttClientID, user: user, scope: ["ifttt"], authenticatedAt: clock.now)
            state.store.accessTokens[token] = GrantStore.AccessToken(
                grantID: state.store.add(grant), scope: ["ifttt"], issuedAt: clock.now, expiresAt: .infinity)
        }
    }

    /// The redirect of codes that the app hands on itself (section 2.12).
    static let iftttCodeRedirect = "https://ifttt.com/channels/lumen_garden/authorize"
}
#endif
