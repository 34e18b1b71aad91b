public import OAuth

extension Client {
    /// Describes a client without users that exchanges signed assertions for tokens. Source: RFC 7523, section 2.1.
    ///
    /// Sign in with ``Handshake/Handshake/signInAsClient(as:to:)``. Each token is asked for with an assertion of its own.
    ///
    /// - Parameters:
    ///   - claims: what the assertions say; `issuer` is usually the client's identifier.
    ///   - key: what signs it.
    ///   - service: what one connects to.
    ///   - id: the identifier that the service gave to the client.
    ///   - scopes: what to ask for; nil asks for the service's smallest useful scope.
    ///   - resources: the APIs that tokens are for (RFC 8707).
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
    public static func asserting(
        _ claims: JWTBearerAssertion.Claims, signedBy key: SigningKey, service: Service, id: String,
        scopes: [String]? = nil, resources: [ResourceIndicator] = []
    ) -> Client {
        asserting(
            claims, signedBy: key, service: service, id: id, scopes: scopes, resources: resources,
            authenticatedBy: nil)
    }

    /// The same for a client that authenticates besides, as some servers demand.
    package static func asserting(
        _ claims: JWTBearerAssertion.Claims, signedBy key: SigningKey, service: Service, id: String, scopes: [String]?,
        resources: [ResourceIndicator], authenticatedBy credential: Credential?
    ) -> Client {
        var client = Client(
            service: service, id: id, redirect: .loopback, scopes: scopes, resources: resources, parameters: [:],
            credential: credential)
        client.assertion = SignedAssertion(claims: claims, key: key)
        return client
    }

    /// Describes a Google service account, from its key file.
    ///
    /// ```swift
    /// let file = try ServiceAccountKey(parsing: bytes)
    /// let drive = try EndpointURL("https://www.googleapis.com/")
    /// let client = try Client.serviceAccount(
    ///     file, apiRoot: drive, scopes: ["https://www.googleapis.com/auth/drive.readonly"])
    /// let account = try await Handshake(client, vault: vault).signInAsClient()
    /// ```
    ///
    /// - Parameters:
    ///   - file: the account and its key.
    ///   - name: the service's name for this app.
    ///   - user: whom to act for, where an administrator has delegated that; nil for the account itself.
    ///   - apiRoot: the API that tokens go to.
    ///   - scopes: the scopes to ask for.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a name that is none.
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
    public static func serviceAccount(
        _ file: ServiceAccountKey, name: String = "google-service-account", actingFor user: String? = nil,
        apiRoot: EndpointURL, scopes: [String]
    ) throws(HandshakeError) -> Client {
        let server = AuthorizationServerMetadata(
            issuer: Issuer(originOf: file.tokenEndpoint), tokenEndpoint: file.tokenEndpoint,
            security: file.tokenEndpoint.security)
        let service = try Service(
            name: name, displayName: "Google", authorizationServer: .described(server), apiRoot: apiRoot,
            defaultScopes: scopes)
        return asserting(
            file.claims(actingFor: user), signedBy: file.key, service: service, id: file.email, scopes: scopes)
    }

    /// What the client itself exchanges for tokens: a new signed assertion, or its own authentication.
    func ownGrant(
        at server: AuthorizationServerMetadata, in environment: Environment
    ) -> TokenRequest.GrantType {
        guard let assertion else { return .clientCredentials(scopes: scopes) }
        return .jwtBearer(
            JWTBearerAssertion(
                assertion.claims, signedBy: assertion.key, scopes: scopes,
                now: { environment.proofs.time(of: server, now: environment.time.now()) }, random: environment.random))
    }
}

extension Handshake {
    /// Signs a user in with an assertion that another server has issued. Source: RFC 7523, section 2.1.
    ///
    /// For an assertion from ``Account/exchangedToken(for:of:actor:audiences:resources:scopes:)`` with
    /// `TokenType.identityAssertion`: the user signs in at one server, and this one believes it.
    ///
    /// - Parameters:
    ///   - assertion: it is used once.
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: what ``signIn(as:to:through:timeout:)`` throws. After any of it nothing is stored.
    public func signIn(
        withAssertion assertion: Secret, as name: String = AccountID.defaultName, to service: String? = nil
    ) async throws -> Account {
        let client = try client(of: service)
        try client.checkProfile(allows: "sign-in by another server's assertion", false)
        let server = try await environment.server(of: client)
        let asked = try client.requestedAuthentication()
        let now = environment.time.now()
        let key = try client.newDPoPKey(at: server)
        let response = try await token(
            .jwtBearer(JWTBearerAssertion(assertion, scopes: client.scopes)), at: server, client: client,
            provingBy: key, now: now)
        let identity = try await environment.identity(inDeviceGrant: response, at: server, client: client)
        try environment.check(asked, in: identity, now: now, hiding: response.secrets)
        return try await store(
            response, identity: identity, as: name, client: client, server: server, provingBy: key, now: now)
    }
}
