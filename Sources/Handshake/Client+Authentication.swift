package import OAuth

extension Client {
    /// What proves to the token endpoint that a request is the client's.
    package enum Credential: Sendable {
        /// A secret and the way it is shown.
        case secret(Secret, AuthenticationMethod)
        /// A key that signs.
        case key(SigningKey)
        /// The certificate of the connection (RFC 8705, section 2).
        case certificate(isSelfSigned: Bool)

        package var secret: Secret? {
            if case .secret(let secret, _) = self { secret } else { nil }
        }

        package var method: AuthenticationMethod? {
            if case .secret(_, let method) = self { method } else { nil }
        }

        package var key: SigningKey? {
            if case .key(let key) = self { key } else { nil }
        }
    }

    /// How a confidential client shows its secret (RFC 6749, section 2.3.1).
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// What the server's metadata allows. Basic comes before the form, and the form before a signed assertion.
        case automatic
        case basic, post
        /// An assertion that is signed with the secret (OpenID Connect Core, section 9).
        case clientSecretJWT = "client_secret_jwt"
    }

    /// How this client authenticates at a server, by the credential that it has now.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/configuration(member:problem:)` when the server takes no
    ///   method or algorithm that the client has. Nothing was sent.
    func authentication(
        at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(HandshakeError) -> ClientAuthentication {
        do {
            switch environment.current(self).credential {
            case nil: return .none
            case .certificate(let isSelfSigned)?: return try authentication(isSelfSigned: isSelfSigned, at: server)
            case .key(let key)?: return try authentication(by: key, at: server, in: environment)
            case .secret(let secret, let method)?:
                return try authentication(by: secret, method, at: server, in: environment)
            }
        } catch {
            throw .exchange(error)
        }
    }

    private func authentication(
        by secret: Secret, _ method: AuthenticationMethod, at server: AuthorizationServerMetadata,
        in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let basic = ClientAuthentication.basic(secret: secret, encoding: service.deviations.credentialEncoding)
        let methods = server.tokenEndpointAuthMethods
        // A secret that the developer has signed goes into the form, as the service wants it.
        guard service.deviations.signedSecret == nil || method == .post else {
            throw .configuration(
                member: "client_secret",
                problem: "The service \(service.displayName) takes no fixed client secret, "
                    + "only one signed with your key. Use a key.")
        }
        switch method {
        case .basic: return basic
        case .post: return .post(secret: secret)
        case .clientSecretJWT: return try assertion(by: .secret(secret), at: server, in: environment)
        case .automatic where methods?.contains("client_secret_jwt") == true && !Self.takesSecret(methods):
            return try assertion(by: .secret(secret), at: server, in: environment)
        case .automatic:
            let safest = try ClientAuthentication.safest(secret: secret, supported: methods)
            if case .basic = safest { return basic }
            return safest
        }
    }

    private static func takesSecret(_ methods: [String]?) -> Bool {
        methods.map { $0.contains("client_secret_basic") || $0.contains("client_secret_post") } ?? true
    }

    private func authentication(
        by key: SigningKey, at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let method = service.deviations.signedSecret == nil ? "private_key_jwt" : "client_secret_post"
        if let methods = server.tokenEndpointAuthMethods, !methods.contains(method) {
            throw .configuration(
                member: "key",
                problem: "The server accepts no key at its token endpoint, only "
                    + "\(quoted(methods.joined(separator: ", "), limit: 200)).")
        }
        return try assertion(
            by: .key(options.fapi2 ? key.limited(to: SignatureAlgorithm.fapi2) : key), at: server, in: environment)
    }

    private func authentication(
        isSelfSigned: Bool, at server: AuthorizationServerMetadata
    ) throws(OAuthError) -> ClientAuthentication {
        let authentication = ClientAuthentication.certificate(isSelfSigned: isSelfSigned)
        guard certificate != nil else {
            throw .configuration(
                member: "certificate", problem: "The client's certificate is missing. Pass it with its key.")
        }
        if let methods = server.tokenEndpointAuthMethods, !methods.contains(authentication.method) {
            throw .configuration(
                member: "certificate",
                problem: "The server does not accept \(authentication.method) at its token endpoint, only "
                    + "\(quoted(methods.joined(separator: ", "), limit: 200)).")
        }
        return authentication
    }

    private func assertion(
        by signer: ClientAssertion.Signer, at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let deviations = service.deviations
        let assertion = ClientAssertion(
            by: signer,
            form: deviations.signedSecret.map { .secret($0) }
                ?? .assertion(audience: deviations.assertionAudience, type: deviations.assertionType),
            // By the server's clock, as far as it is known (`oauth-security.md` D11).
            now: { environment.proofs.time(of: server, now: environment.time.now()) }, random: environment.random)
        try assertion.check(at: server)
        return .assertion(assertion)
    }
}

extension Environment {
    /// Sends a request in which a client authenticates. Retries it once with a new secret.
    ///
    /// It retries where the server refuses the secret, and another process or task has stored a new one. A refresh that ends in
    /// ``HandshakeError/clientForgotten(_:_:)`` also marks the registration as forgotten. Other endpoints may refuse a client for
    /// reasons of their own.
    ///
    /// - Parameter send: makes the request and sends it. It runs again for the retry, so it reads the credential itself.
    /// - Throws: what `send` throws; ``HandshakeError/vault(_:)`` and `CancellationError` where a new secret cannot be looked for.
    func retryingRotatedSecret<Value>(of client: Client, _ send: () async throws -> Value) async throws -> Value {
        // As it is before the call: another task may change the registration until the answer comes.
        let present = current(client)
        do {
            return try await send()
        } catch let error as HandshakeError where error.refusesClient {
            let isForgotten = if case .clientForgotten = error { true } else { false }
            let registrations = Registrations(in: vault)
            guard let rotated = try await registrations.takeOverSecret(of: present, markingForgotten: isForgotten)
            else { throw error }
            note(rotated)
            return try await send()
        }
    }
}

extension HandshakeError {
    /// Whether the server refused the client or its secret.
    fileprivate var refusesClient: Bool {
        switch self {
        case .clientForgotten: true
        case .exchange(.server(let error)): error.isUnknownClient
        default: false
        }
    }
}
