public import OAuth

extension Handshake {
    /// Takes over a grant that was not got by a sign-in of this package: a token that the service delivered in a way of
    /// its own.
    ///
    /// The grant is durable before the account is returned, and is treated like any other from then on. Whether it is
    /// this user's has to be known by the caller: nothing here can tell.
    ///
    /// - Parameters:
    ///   - grant: the grant.
    ///   - name: the app's name for the account. One that exists is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: ``HandshakeError/vault(_:)``, ``HandshakeError/network(_:)`` when the server has to be discovered and is
    ///   not there, ``HandshakeError/configuration(member:problem:)`` for an unknown service.
    public func adopt(
        _ grant: Grant, as name: String = AccountID.defaultName, of service: String? = nil
    ) async throws -> Account {
        let client = try client(of: service)
        return try await store(
            grant, as: AccountID(client, name: name), client: client,
            server: try await environment.server(of: client.service), renewal: .refreshToken, asked: grant.scopes)
    }
}
