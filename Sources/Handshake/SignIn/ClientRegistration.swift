import Logging
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
    /// Where the registration rests in the vault; nil when it does not.
    var vaultKey: VaultKey?

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
    @available(iOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    public func confidentialClient(
        registeredAs name: String, key: SigningKey, redirect: Client.Redirect = .loopback,
        presenting initialAccessToken: Secret? = nil, in vault: any Vault, time: TimeSource = .system
    ) async throws -> Client {
        try await registered(as: name, redirect: redirect, key: key, presenting: initialAccessToken, in: vault, time)
    }

    private func registered(
        as name: String, redirect: Client.Redirect, key: SigningKey?, presenting initialAccessToken: Secret?,
        in vault: any Vault, _ time: TimeSource
    ) async throws -> Client {
        let place = registrationKey(redirect, isKeyed: key != nil)
        var known = try await recording(place, in: vault) { locked in
            if let bytes = await locked.contents {
                let stored = try Registrations.client(stored: bytes, as: name)
                if let registration = stored.registration, !registration.isForgotten,
                    stored.credential?.key?.thumbprint == key?.thumbprint
                {
                    if registration.covers(scopes), !registration.hasExpired(at: time.now()) {
                        return try client(of: stored, registration)
                    }
                    let changed = try await changed(stored) { try await locked.replace(with: Registrations.stored($0)) }
                    if let changed, let registration = changed.registration, !registration.hasExpired(at: time.now()) {
                        return changed
                    }
                }
            }
            let registered = try await register(
                as: name, redirect: redirect, for: scopes, key: key, presenting: initialAccessToken)
            try await locked.replace(with: Registrations.stored(registered))
            return registered
        }
        known.registration?.vaultKey = place
        return known
    }

    /// Forgets the registration that the vault keeps.
    ///
    /// The next ``client(registeredAs:redirect:presenting:in:time:)`` registers the app again.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``, also when nothing was kept.
    public func forgetClient(redirect: Client.Redirect = .loopback, in vault: any Vault) async throws {
        try await forget(registrationKey(redirect, isKeyed: false), in: vault)
    }

    /// Forgets the registration of the client with a key.
    ///
    /// The client without one, which the same vault may keep, stays. Not available in apps, as the client is not.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    @available(iOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    public func forgetConfidentialClient(redirect: Client.Redirect = .loopback, in vault: any Vault) async throws {
        try await forget(registrationKey(redirect, isKeyed: true), in: vault)
    }

    private func forget(_ registration: VaultKey, in vault: any Vault) async throws {
        do {
            try await vault.remove(registration)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    private func recording<Value: Sendable>(
        _ key: VaultKey, in vault: any Vault,
        _ body: @escaping @Sendable (any LockedRecord) async throws -> Value
    ) async throws -> Value {
        do {
            return try await vault.update(key, body)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Credentials are kept by issuer, so that none goes to another server when the API names another one, and by method: a
    /// program may be both a client with a key and one without.
    private func registrationKey(_ redirect: Client.Redirect, isKeyed: Bool) -> VaultKey {
        let place =
            switch redirect {
            case .uri(let uri): uri.string
            case .loopback(let port, let path): "loopback:\(port.map(String.init) ?? "")\(path)"
            }
        let method = isKeyed ? ["private_key_jwt"] : []
        return VaultKey(.appRegistration, [server.issuer.string, place, address.string] + method)
    }

    /// The registered client with the scopes of now.
    package func client(of stored: Client, _ registration: ClientRegistration) throws -> Client {
        var client = try client(id: stored.id, redirect: registration.redirect, credential: stored.credential)
        client.registration = registration
        return client
    }

    /// Changes a registration so that it is for ``scopes`` too, or asks for its new secret (RFC 7592).
    ///
    /// - Parameter store: stores the client before it is used: the answer may have ended the token and the secret of before.
    /// - Returns: nil when the server does not do it, or does not know the client any more.
    package func changed(
        _ stored: Client, _ store: (Client) async throws -> Void
    ) async throws -> Client? {
        guard let registration = stored.registration, let management = registration.management else { return nil }
        let isNarrow = !registration.covers(scopes)
        let all = registration.scopes + scopes.filter { !registration.scopes.contains($0) }
        let request = ClientManagementRequest(
            isNarrow ? .update : .read, clientID: stored.id, by: management,
            registration: registration.request(for: all, stored.credential?.key))
        let answer: RegisteredClient
        do {
            answer = try await environment.exchange({ try request.message }, request.client)
        } catch HandshakeError.exchange(.server(let error)) where (error.status ?? 400) < 500 && error.status != 429 {
            return nil
        } catch HandshakeError.exchange(.malformed) {
            return nil
        }
        let next = ClientRegistration(
            name: registration.name, endpoint: registration.endpoint, scopes: all, redirect: registration.redirect,
            redirectURI: registration.redirectURI, isForDevices: registration.isForDevices, expiresAt: answer.expiresAt,
            management: answer.management)
        let credential = stored.credential?.key.map { .key($0) } ?? answer.credential
        var client = try client(id: stored.id, redirect: next.redirect, credential: credential)
        client.registration = next
        try await store(client)
        return client
    }

    /// Removes a registration at its server (RFC 7592, section 2.3). Best effort: what fails is left to the server.
    package static func unregister(
        _ client: Client, transport: any Transport = .platform,
        limits: TransferLimits = TransferLimits(timeout: .seconds(5))
    ) async {
        guard let registration = client.registration, let management = registration.management else { return }
        let request = ClientManagementRequest(
            .delete, clientID: client.id, by: management,
            registration: registration.request(for: registration.scopes, client.credential?.key))
        let environment = Environment(
            vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: limits,
            log: .init(label: "handshake"))
        _ = try? await environment.exchange({ try request.message }, request.confirmDeletion)
    }
}

extension RegisteredClient {
    /// What proves to the token endpoint that a request is the client's.
    var credential: Client.Credential? {
        secret.map { .secret($0, usesBasic ? .basic : .post) }
    }
}
