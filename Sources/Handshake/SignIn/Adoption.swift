public import OAuth

extension Handshake {
    /// Creates an account from a token that the user brings.
    ///
    /// For example a personal access token from a service's settings page (`recurse-center.md` 2.2). The token is sent as any other is. Without a refresh token the account cannot be refreshed: when the service refuses
    /// the token, the account says ``HandshakeError/signInRequired(_:_:)`` with
    /// ``HandshakeError/SignInReason/notRefreshable`` and stays, until another token is adopted under its name. Signing out
    /// forgets the token without revoking it, because it was not issued to this client. Nothing is asked of the
    /// service, so a wrong token is rejected by the first request.
    ///
    /// - Parameters:
    ///   - grant: the token; nil for `expiresAt` when it is valid until it is revoked.
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a token that cannot stand in an `Authorization`
    ///   field (RFC 6750, section 2.1); ``HandshakeError/vault(_:)``; for a service that is discovered also
    ///   ``HandshakeError/network(_:)`` and ``HandshakeError/exchange(_:)``.
    public func adopt(
        _ grant: Grant, as name: String = AccountID.defaultName, of service: String? = nil
    ) async throws -> Account {
        let client = try client(of: service)
        try client.checkProfile(allows: "token that was made elsewhere", false)
        for (member, token) in [("access_token", grant.accessToken), ("refresh_token", grant.refreshToken)] {
            if let token, !Self.isToken(token) {
                throw HandshakeError.configuration(
                    member: member, problem: "a token is 1 to 8192 characters of printable ASCII without spaces")
            }
        }
        return try await store(
            grant, as: AccountID(client, name: name), client: client,
            server: try await environment.server(of: client),
            refreshMethod: grant.refreshToken == nil ? .never : .refreshToken, binding: nil, asked: grant.scopes)
    }

    private static func isToken(_ token: Secret) -> Bool {
        let bytes = token.reveal().utf8
        return (1...8192).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
