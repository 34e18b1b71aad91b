public import OAuth

extension Account {
    /// Exchanges this account's token for another one (RFC 8693). The other one may be for a further API.
    ///
    /// ```swift
    /// guard case .accessToken(let token) = try await account.exchangedToken(audiences: ["billing"]) else { return }
    /// ```
    ///
    /// The new token is the caller's to keep; the account stays as it is.
    ///
    /// - Parameters:
    ///   - requested: what to issue; nil leaves it to the server.
    ///   - subject: which of the account's tokens stands for the user: the access token, or the ID token, which
    ///     `TokenType.identityAssertion` needs.
    ///   - actor: stands for the one who will use the new token, when that is another one.
    ///   - audiences: the names of the services that the new token is for, as the server knows them.
    ///   - resources: the addresses of the APIs that the new token is for (RFC 8707).
    ///   - scopes: the scopes to ask for.
    /// - Throws: what ``accessToken()`` throws; ``HandshakeError/exchange(_:)`` when the server refuses, or has issued
    ///   another kind than was asked for.
    public func exchangedToken(
        for requested: TokenType? = .accessToken, of subject: TokenType = .accessToken,
        actor: TokenExchange.TypedToken? = nil, audiences: [String] = [], resources: [ResourceIndicator] = [],
        scopes: [String] = []
    ) async throws -> ExchangedToken {
        // The access token may live on when the ID token has expired.
        let idToken = subject == .idToken ? try await idToken() : nil
        let record = try await credential().record
        let token: Secret?
        switch subject {
        case .accessToken: token = record.grant.accessToken
        case .idToken: token = idToken ?? record.grant.idToken
        default:
            throw HandshakeError.configuration(
                member: "subject_token_type", problem: "An account exchanges only its access token or its ID token.")
        }
        guard let token else {
            throw HandshakeError.configuration(
                member: "subject_token", problem: "The account has no ID token. Sign in with the scope openid.")
        }
        let exchange = TokenExchange(
            of: .init(token, subject), actor: actor, for: requested, audiences: audiences, scopes: scopes)
        let server = try await environment.server(of: client, known: record.server)
        let key = record.binding?.key
        return try await environment.retryingRotatedSecret(of: client) {
            let request = try client.tokenRequest(
                .tokenExchange(exchange), at: server, provingBy: key, keeping: record.binding,
                resources: resources.map(\.string), in: environment)
            let now = environment.time.now()
            return try await environment.exchange(
                provingBy: key, presenting: client.certificate, { try request.message },
                { try request.exchangedToken(from: $0, now: now) })
        }
    }
}
