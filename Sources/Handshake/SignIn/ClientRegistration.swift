public import OAuth

/// What a server has registered for a client, as later sign-ins need it (RFC 7591).
package struct ClientRegistration: Sendable {
    /// The name that the server shows to its users.
    package let name: String
    /// Where the client was registered.
    package let endpoint: EndpointURL
    /// All scopes that the client may ask for; each sign-in asks for some of them.
    package let scopes: [String]
    /// Where its redirects arrive. A loopback listener has the port that was registered.
    package let redirect: Client.Redirect
    /// The registered address of ``redirect``.
    package let redirectURI: RedirectURI
    /// Whether users may approve on another device (RFC 8628).
    package let isForDevices: Bool
    /// When the client's secret ends, in seconds since 1970; nil when it does not.
    package var expiresAt: Double?
    /// Where the registration is managed (RFC 7592); nil when the server does not offer it.
    package var management: ClientManagement?
    /// Whether the server has said that it no longer knows the client.
    package var isForgotten = false
    /// The scopes that the server says it has registered; nil where it has not said so.
    package var registeredScopes: [String]?
    /// What is registered to sign the client's ID tokens; nil where that is not known.
    var idTokenAlgorithm: SignatureAlgorithm?
    /// Where the registration rests in the vault; nil when it does not.
    var vaultKey: VaultKey?

    /// The longest list of scopes that a registration is widened to, in bytes, as long as that of a grant.
    ///
    /// Each demand of an API adds to it, also where the user declines, and it is stored.
    static let maximumScopesLength = 16_384

    /// Whether the client may ask for scopes.
    package func covers(_ scopes: [String]) -> Bool { Set(self.scopes).isSuperset(of: scopes) }

    /// Whether redirects arrive where it was registered. A listener on any port may have the registered one.
    package func serves(_ wanted: Client.Redirect) -> Bool {
        guard case .loopback(let port, let path) = redirect, case .loopback(let wantedPort, let wantedPath) = wanted
        else { return redirect == wanted }
        return path == wantedPath && (wantedPort == nil || wantedPort == port)
    }

    /// Whether the client's secret has ended.
    package func hasExpired(at now: Double) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// The request that registered this.
    ///
    /// - Parameter key: the client's own; nil for one without.
    func request(for scopes: [String], _ key: SigningKey?) -> ClientRegistrationRequest {
        var request = ClientRegistrationRequest(at: endpoint, name: name, redirectURI: redirectURI, scopes: scopes)
        request.isForDevices = isForDevices
        request.key = key
        request.idTokenAlgorithm = idTokenAlgorithm
        return request
    }
}

extension DiscoveredResource {
    /// The app's client at the server, registered once (RFC 7591).
    ///
    /// It is the one that an earlier call registered, or is registered now.
    /// What was registered is kept in the vault, for this server, this redirect and this API alone, and goes to no other server.
    /// A registration whose secret has expired, or that is for fewer ``scopes``, is changed where the server offers that
    /// (RFC 7592), and otherwise made again. A loopback redirect keeps its port as long as no other program has it.
    ///
    /// When the server says at a sign-in that it no longer knows the client (`invalid_client`, `unauthorized_client`), call
    /// ``forgetClient(redirect:in:)``, then this, and sign in again. After ``HandshakeError/clientForgotten(_:_:)`` this alone
    /// registers the app again, if `vault` is that of the accounts.
    ///
    /// - Parameters:
    ///   - name: the app's name, which the server shows to its users.
    ///   - redirect: where the browser brings the user back.
    ///   - initialAccessToken: what the server demands of those who register.
    ///   - vault: where the registration rests, sealed.
    ///   - time: what time it is.
    /// - Throws: what ``register(as:redirect:presenting:)`` throws; ``HandshakeError/vault(_:)``.
    public func client(
        registeredAs name: String, redirect: Client.Redirect = .loopback, presenting initialAccessToken: Secret? = nil,
        in vault: any Vault, time: TimeSource = .system
    ) async throws -> Client {
        try await registered(as: name, redirect: redirect, key: nil, presenting: initialAccessToken, in: vault, time)
    }

    /// The same for a server's client, which authenticates with its key. The public half is registered.
    ///
    /// It is kept beside a client without a key. ``forgetConfidentialClient(redirect:in:)`` forgets it.
    /// Not available in apps: a user who has the app has its key.
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
    public func confidentialClient(
        registeredAs name: String, key: SigningKey, redirect: Client.Redirect = .loopback,
        presenting initialAccessToken: Secret? = nil, in vault: any Vault, time: TimeSource = .system
    ) async throws -> Client {
        try await registered(as: name, redirect: redirect, key: key, presenting: initialAccessToken, in: vault, time)
    }

    /// Forgets the registration that the vault keeps.
    ///
    /// The next ``client(registeredAs:redirect:presenting:in:time:)`` registers the app again.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``, also when nothing was kept.
    public func forgetClient(redirect: Client.Redirect = .loopback, in vault: any Vault) async throws {
        try await forgetRegistration(redirect, isKeyed: false, in: vault)
    }

    /// Forgets the registration of the client with a key.
    ///
    /// The client without one, which the same vault may keep, stays. Not available in apps, as the client is not.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
    public func forgetConfidentialClient(redirect: Client.Redirect = .loopback, in vault: any Vault) async throws {
        try await forgetRegistration(redirect, isKeyed: true, in: vault)
    }
}

extension RegisteredClient {
    /// What proves to the token endpoint that a request is the client's.
    var credential: Client.Credential? {
        secret.map { .secret($0, usesBasic ? .basic : .post) }
    }
}
