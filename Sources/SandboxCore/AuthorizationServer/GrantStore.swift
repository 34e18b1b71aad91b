#if Sandbox
/// A user's grant to a client, with everything issued for it.
package struct SandboxGrant: Sendable {
    package let clientID: String
    /// Nil for a grant of the client itself (`client_credentials`).
    package let user: SandboxUser?
    package let scope: [String]
    package let authenticatedAt: Double
    package var nonce: String?
    package var isStronglyAuthenticated = false
    /// `sid`: the session of the sign-in (OpenID Connect Front-Channel Logout section 3). Nil without a browser.
    package var sessionID: String?
    /// The thumbprint of the key that the code is bound to (RFC 9449 section 10); nil for a code that counts for everyone.
    package var keyThumbprint: String?

    /// What was asked for in detail (RFC 9396); nil for nothing.
    package var authorizationDetails: JSON?

    /// The APIs that its tokens are for (RFC 8707); empty for any of the service's own.
    package var resources: [String] = []

    package init(clientID: String, user: SandboxUser?, scope: [String], authenticatedAt: Double) {
        self.clientID = clientID
        self.user = user
        self.scope = scope
        self.authenticatedAt = authenticatedAt
    }
}

/// The codes and tokens of one service.
///
/// A grant is the family of all tokens from one sign-in; revoking it revokes them.
package struct GrantStore: Sendable {
    package struct Code: Sendable {
        package let grantID: Int
        package let redirectURI: String
        package let challenge: String?
        package let expiresAt: Double
        package var isUsed = false

        package init(grantID: Int, redirectURI: String, challenge: String?, expiresAt: Double) {
            self.grantID = grantID
            self.redirectURI = redirectURI
            self.challenge = challenge
            self.expiresAt = expiresAt
        }
    }

    package struct AccessToken: Sendable {
        package let grantID: Int
        package let scope: [String]
        package let issuedAt: Double
        package let expiresAt: Double
        /// The APIs that it is for; empty for any of the service's own.
        package let resources: [String]
        package var isRevoked = false

        package init(grantID: Int, scope: [String], issuedAt: Double, expiresAt: Double, resources: [String] = []) {
            self.grantID = grantID
            self.scope = scope
            self.issuedAt = issuedAt
            self.expiresAt = expiresAt
            self.resources = resources
        }
    }

    package struct RefreshToken: Sendable {
        package let grantID: Int
        package let scope: [String]
        var isSpent = false
        package var isRevoked = false
    }

    package private(set) var grants: [SandboxGrant] = []
    private var revokedGrants: Set<Int> = []
    package var codes: [String: Code] = [:]
    package var accessTokens: [String: AccessToken] = [:]
    var refreshTokens: [String: RefreshToken] = [:]

    package mutating func add(_ grant: SandboxGrant) -> Int {
        grants.append(grant)
        return grants.count - 1
    }

    mutating func revokeGrant(_ id: Int) {
        revokedGrants.insert(id)
    }

    mutating func revokeGrants(of clientID: String) {
        for (id, grant) in grants.enumerated() where grant.clientID == clientID { revokeGrant(id) }
    }

    func isRevoked(grant id: Int) -> Bool {
        revokedGrants.contains(id)
    }

    /// The grant behind a code, whatever its state.
    package func grant(ofCode code: String?) -> SandboxGrant? {
        code.flatMap { codes[$0] }.map { grants[$0.grantID] }
    }

    /// The grant and token behind a valid access token.
    func liveAccess(_ token: String, at now: Double) -> (grant: SandboxGrant, token: AccessToken)? {
        guard let access = accessTokens[token], !access.isRevoked, now < access.expiresAt,
            !isRevoked(grant: access.grantID)
        else { return nil }
        return (grants[access.grantID], access)
    }

    /// The grant and token of a valid refresh token.
    package func liveRefresh(_ token: String) -> (grant: SandboxGrant, token: RefreshToken)? {
        guard let refresh = refreshTokens[token], !refresh.isRevoked, !refresh.isSpent,
            !isRevoked(grant: refresh.grantID)
        else { return nil }
        return (grants[refresh.grantID], refresh)
    }

    mutating func revokeAllAccessTokens() {
        for token in accessTokens.keys { accessTokens[token]?.isRevoked = true }
    }

    mutating func revokeAllRefreshTokens() {
        for token in refreshTokens.keys { refreshTokens[token]?.isRevoked = true }
    }
}
#endif
