/// What a user allowed a client, and everything that was issued for it.
struct SandboxGrant: Sendable {
    let clientID: String
    /// Nil for a grant of the client itself (`client_credentials`).
    let user: SandboxUser?
    let scope: [String]
    let authenticatedAt: Double
    var nonce: String?
    var isStronglyAuthenticated = false
}

/// The codes and tokens of one service.
///
/// A grant is the family of everything that came from one sign-in; revoking it ends all of its tokens.
struct GrantStore: Sendable {
    struct Code: Sendable {
        let grantID: Int
        let redirectURI: String
        let challenge: String?
        let expiresAt: Double
        var isUsed = false
    }

    struct AccessToken: Sendable {
        let grantID: Int
        let scope: [String]
        let issuedAt: Double
        let expiresAt: Double
        var isRevoked = false
    }

    struct RefreshToken: Sendable {
        let grantID: Int
        let scope: [String]
        var isSpent = false
        var isRevoked = false
    }

    private(set) var grants: [SandboxGrant] = []
    private var revokedGrants: Set<Int> = []
    var codes: [String: Code] = [:]
    var accessTokens: [String: AccessToken] = [:]
    var refreshTokens: [String: RefreshToken] = [:]

    mutating func add(_ grant: SandboxGrant) -> Int {
        grants.append(grant)
        return grants.count - 1
    }

    mutating func revokeGrant(_ id: Int) {
        revokedGrants.insert(id)
    }

    func isRevoked(grant id: Int) -> Bool {
        revokedGrants.contains(id)
    }

    /// The grant and token behind an access token that is alive.
    func liveAccess(_ token: String, at now: Double) -> (grant: SandboxGrant, token: AccessToken)? {
        guard let access = accessTokens[token], !access.isRevoked, now < access.expiresAt,
            !isRevoked(grant: access.grantID)
        else { return nil }
        return (grants[access.grantID], access)
    }

    /// The grant and token behind a refresh token that would work.
    func liveRefresh(_ token: String) -> (grant: SandboxGrant, token: RefreshToken)? {
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
