#if Sandbox
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The result of a successful token request.
package struct IssuedTokens: Sendable {
    package let grant: SandboxGrant
    package let accessToken: String
    package let refreshToken: String?
    package let scope: [String]
    package let lifetime: Int
    package let issuedAt: Double
    /// Whether it answers a refresh; an ID token then has no nonce.
    package var isRefresh = false
}

extension AuthorizationServer {
    /// Answers a token request of an authenticated client (RFC 6749 sections 4.1.3, 4.4.2 and 6).
    package func exchange(_ parameters: FormParameters, by client: SandboxClient) throws(OAuthFailure) -> IssuedTokens {
        guard let grantType = parameters["grant_type"] else { throw .invalidRequest("grant_type is missing.") }
        guard (dialect.clients + [client]).contains(where: { $0.grantTypes.contains(grantType) }) else {
            throw .unsupportedGrantType(grantType)
        }
        guard client.grantTypes.contains(grantType) else { throw .unauthorizedClient }
        let now = clock.now
        let resources = try knownResources(in: parameters)
        let result = state.withLock { state -> Result<IssuedTokens, OAuthFailure> in
            Result { () throws(OAuthFailure) in
                switch grantType {
                case "authorization_code":
                    try redeem(parameters, by: client, for: resources, at: now, in: &state.store)
                case "refresh_token": try refresh(parameters, by: client, for: resources, at: now, in: &state.store)
                default: try clientCredentials(parameters, by: client, for: resources, at: now, in: &state.store)
                }
            }
        }
        return try result.get()
    }

    private func redeem(
        _ parameters: FormParameters, by client: SandboxClient, for resources: [String], at now: Double,
        in store: inout GrantStore
    ) throws(OAuthFailure) -> IssuedTokens {
        guard let text = parameters["code"] else { throw .invalidRequest("code is missing.") }
        guard let code = store.codes[text], store.grants[code.grantID].clientID == client.id else {
            throw .invalidGrant("The authorization code is unknown or was issued to another client.")
        }
        guard !code.isUsed else {
            store.revokeGrant(code.grantID)
            throw .invalidGrant("The authorization code was used before; its tokens are revoked.")
        }
        guard now < code.expiresAt else { throw .invalidGrant("The authorization code has expired.") }
        guard parameters["redirect_uri"] == code.redirectURI else {
            throw .invalidGrant("redirect_uri is not the one of the authorization request.")
        }
        try Self.checkProofKey(verifier: parameters["code_verifier"], challenge: code.challenge)
        let grant = store.grants[code.grantID]
        let audience = try Self.narrowed(resources, within: grant.resources)
        store.codes[text]?.isUsed = true
        let refreshes = client.grantTypes.contains("refresh_token") && dialect.isOffline(grant.scope)
        return issue(
            code.grantID, scope: grant.scope, for: audience, withRefreshToken: refreshes, at: now, in: &store)
    }

    private func refresh(
        _ parameters: FormParameters, by client: SandboxClient, for resources: [String], at now: Double,
        in store: inout GrantStore
    ) throws(OAuthFailure) -> IssuedTokens {
        guard let text = parameters["refresh_token"] else { throw .invalidRequest("refresh_token is missing.") }
        guard let token = store.refreshTokens[text], store.grants[token.grantID].clientID == client.id else {
            throw .invalidGrant("The refresh token is unknown or was issued to another client.")
        }
        let policy = dialect.refresh(client)
        if token.isSpent, case .rotatedWithReuseDetection = policy { store.revokeGrant(token.grantID) }
        guard store.liveRefresh(text) != nil else {
            throw .invalidGrant("The refresh token was used before or is revoked.")
        }
        let scope = try narrowed(parameters["scope"], within: token.scope)
        let audience = try Self.narrowed(resources, within: store.grants[token.grantID].resources)
        var rotates = true
        if case .kept = policy { rotates = false }
        store.refreshTokens[text]?.isSpent = rotates
        var tokens = issue(
            token.grantID, scope: scope, for: audience, withRefreshToken: rotates, at: now, in: &store)
        tokens.isRefresh = true
        return tokens
    }

    private func clientCredentials(
        _ parameters: FormParameters, by client: SandboxClient, for resources: [String], at now: Double,
        in store: inout GrantStore
    ) throws(OAuthFailure) -> IssuedTokens {
        let scope = try self.scope(parameters["scope"], of: client)
        guard !scope.contains("openid"), !scope.contains("offline_access") else {
            throw .invalidScope("A client on its own has no user to identify.")
        }
        var grant = SandboxGrant(clientID: client.id, user: nil, scope: scope, authenticatedAt: now)
        grant.resources = resources
        return issue(store.add(grant), scope: scope, for: resources, withRefreshToken: false, at: now, in: &store)
    }

    /// Issues tokens for a grant that came about elsewhere, such as on another device (RFC 8628 section 3.5).
    package func issueTokens(for grant: SandboxGrant, by client: SandboxClient) -> IssuedTokens {
        let now = clock.now
        let isOffline = dialect.isOffline(grant.scope)
        return state.withLock { state in
            issue(
                state.store.add(grant), scope: grant.scope, for: grant.resources,
                withRefreshToken: isOffline && client.grantTypes.contains("refresh_token"), at: now, in: &state.store)
        }
    }

    private func narrowed(_ text: String?, within granted: [String]) throws(OAuthFailure) -> [String] {
        guard text != nil else { return granted }
        let scope = try dialect.scopes.read(text)
        guard Set(granted).isSuperset(of: scope) else {
            throw .invalidScope("A refresh cannot widen the scope.")
        }
        return scope
    }

    private func issue(
        _ grantID: Int, scope: [String], for resources: [String], withRefreshToken: Bool, at now: Double,
        in store: inout GrantStore
    ) -> IssuedTokens {
        let access = dialect.tokenForm.random
        let refresh = withRefreshToken ? dialect.tokenForm.random : nil
        store.accessTokens[access] = GrantStore.AccessToken(
            grantID: grantID, scope: scope, issuedAt: now, expiresAt: now + Double(dialect.accessTokenLifetime),
            resources: resources)
        if let refresh {
            // RFC 6749 section 6: the refresh token keeps the scope of the grant, however narrow this access token is.
            store.refreshTokens[refresh] = GrantStore.RefreshToken(
                grantID: grantID, scope: store.grants[grantID].scope)
        }
        return IssuedTokens(
            grant: store.grants[grantID], accessToken: access, refreshToken: refresh, scope: scope,
            lifetime: dialect.accessTokenLifetime, issuedAt: now)
    }

    /// RFC 7636 section 4.6; a verifier without a challenge is rejected too, as RFC 9700 section 4.8.2 requires.
    private static func checkProofKey(verifier: String?, challenge: String?) throws(OAuthFailure) {
        switch (verifier, challenge) {
        case (nil, nil): return
        case (let verifier?, let challenge?):
            guard URLSafeBase64.encoded(SHA256.hash(data: Data(verifier.utf8))) == challenge else {
                throw .invalidGrant("code_verifier does not match code_challenge.")
            }
        case (nil, _): throw .invalidGrant("code_verifier is missing.")
        case (_, nil): throw .invalidGrant("There was no code_challenge in the authorization request.")
        }
    }
}
#endif
