public import OAuth

extension Handshake {
    /// Asks a service's server whether a token is active, and what it is for. Source: RFC 7662.
    ///
    /// For an API that is shown tokens which it cannot check itself. Its client authenticates with a secret, a key or a
    /// certificate. An active token is not yet one for this API: compare `TokenIntrospection/audience` with the API's own
    /// identifier, and `TokenIntrospection/scopes` with what the request needs (RFC 7662, section 4).
    ///
    /// - Parameters:
    ///   - token: what the API was shown. It need not be an account's.
    ///   - kind: which kind of token it is, as a hint.
    ///   - isSigned: whether the answer has to be signed (RFC 9701). It is checked with the server's keys, and is for this client
    ///     alone; a plain answer is then an error.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a client that does not authenticate;
    ///   ``HandshakeError/exchange(_:)`` when the server has no introspection endpoint, refuses the client, or answers what is
    ///   not in order; ``HandshakeError/network(_:)``, `CancellationError`.
    public func introspection(
        of token: Secret, kind: RevocationRequest.TokenKind = .accessToken, signed isSigned: Bool = false,
        at service: String? = nil
    ) async throws -> TokenIntrospection {
        let client = try client(of: service)
        let server = try await environment.server(of: client)
        return try await environment.introspection(of: token, kind, signed: isSigned, at: server, client)
    }
}

extension Account {
    /// Asks the server what it knows of this account's access token, as it is stored. Source: RFC 7662.
    ///
    /// The token is neither refreshed nor ended by the question.
    ///
    /// - Parameter isSigned: whether the answer has to be signed (RFC 9701).
    /// - Throws: ``HandshakeError/signInRequired(_:_:)`` when there is no token;
    ///   what ``Handshake/Handshake/introspection(of:kind:signed:at:)`` throws.
    public func introspection(signed isSigned: Bool = false) async throws -> TokenIntrospection {
        let record = self.record
        guard record.isUsable, !record.grant.accessToken.isEmpty else {
            throw HandshakeError.signInRequired(id, .absent)
        }
        let server = try await environment.server(of: client, known: record.server)
        return try await environment.introspection(
            of: record.grant.accessToken, .accessToken, signed: isSigned, at: server, client)
    }
}

extension Environment {
    fileprivate func introspection(
        of token: Secret, _ kind: RevocationRequest.TokenKind, signed isSigned: Bool,
        at server: AuthorizationServerMetadata, _ client: Client
    ) async throws -> TokenIntrospection {
        // Otherwise anyone could try which tokens are active (RFC 7662, section 2.1).
        guard client.isConfidential else {
            throw HandshakeError.configuration(
                member: "client",
                problem: "Only a client with a secret, key or certificate may ask a server about tokens.")
        }
        return try await retryingRotatedSecret(of: client) {
            let request = IntrospectionRequest(
                token, kind: kind, at: server, clientID: client.id,
                authentication: try client.authentication(at: server, in: self), signed: isSigned)
            guard isSigned else {
                return try await exchange(
                    presenting: client.certificate, { try request.message }, { try request.introspection(from: $0) })
            }
            guard let keys = server.keysEndpoint else { throw HandshakeError.exchange(server.lacks("jwks_uri")) }
            let response = try await exchange(presenting: client.certificate, { try request.message }, { $0 })
            let now = time.now()
            let algorithms = client.options.fapi2 ? SignatureAlgorithm.fapi2 : SignatureAlgorithm.allCases
            return try await verified(withKeysAt: keys) { keys throws(OAuthError) in
                try request.introspection(from: response, keys: keys, now: now, algorithms: algorithms)
            }
        }
    }
}
