import Logging
package import OAuth

/// A server where an app registers itself (RFC 7591): that of an API, or one that is known by its issuer.
package protocol RegisteringServer: Sendable {
    /// What the server says about itself.
    var server: AuthorizationServerMetadata { get }
    /// The scopes that a sign-in asks for.
    var scopes: [String] { get }
    /// What registrations at one server are kept apart by: the address of the API, or that there is none.
    var registeredFor: String { get }
    var transport: any Transport { get }
    var limits: TransferLimits { get }

    /// A client by an identifier of the server's.
    func registeredClient(id: String, redirect: Client.Redirect, credential: Client.Credential?) throws -> Client
}

extension RegisteringServer {
    var environment: Environment { Environment(transport: transport, limits: limits) }

    /// Registers the app at the server (RFC 7591).
    ///
    /// - Parameters:
    ///   - all: what the client may ever ask for; a sign-in asks for ``scopes``.
    ///   - isForDevices: whether users approve on another device too (RFC 8628).
    ///   - key: what the client signs with in place of a secret; its public half is registered.
    package func register(
        as name: String, redirect: Client.Redirect, for all: [String], onDevices isForDevices: Bool = false,
        key: SigningKey? = nil, presenting initialAccessToken: Secret? = nil
    ) async throws -> Client {
        guard let endpoint = server.registrationEndpoint else {
            throw HandshakeError.exchange(server.lacks("registration_endpoint"))
        }
        if key != nil, let methods = server.tokenEndpointAuthMethods, !methods.contains("private_key_jwt") {
            throw HandshakeError.configuration(
                member: "key",
                problem: "The server accepts no key, only \(quoted(methods.joined(separator: ", "), limit: 200)).")
        }
        let (redirect, uri) = try Self.fixed(redirect)
        var request = ClientRegistrationRequest(at: endpoint, name: name, redirectURI: uri, scopes: all)
        request.isForDevices = isForDevices
        request.key = key
        request.idTokenAlgorithm = idTokenAlgorithm(isKeyed: key != nil)
        request.initialAccessToken = initialAccessToken
        let registered = try await environment.exchange(
            { [request] in try request.message }, request.client(from:))
        var client = try registeredClient(
            id: registered.id, redirect: redirect, credential: key.map { .key($0) } ?? registered.credential)
        client.registration = ClientRegistration(
            name: name, endpoint: endpoint, scopes: all, redirect: redirect, redirectURI: uri,
            isForDevices: isForDevices, expiresAt: registered.expiresAt, management: registered.management,
            registeredScopes: registered.scopes, idTokenAlgorithm: registered.idTokenAlgorithm)
        return client
    }

    /// What is asked to sign ID tokens, of what the server publishes; nil where it publishes nothing that is known here.
    ///
    /// That is RS256 where the server has it, as the default of those that do not know the member. A client with a key may keep to
    /// the FAPI 2.0 profile, which refuses RS256.
    private func idTokenAlgorithm(isKeyed: Bool) -> SignatureAlgorithm? {
        let wanted = (isKeyed ? SignatureAlgorithm.fapi2 : []) + SignatureAlgorithm.allCases
        return wanted.first { server.idTokenSigningAlgorithms?.contains($0.rawValue) == true }
    }

    /// The redirect with a port that was free just now.
    private static func fixed(_ redirect: Client.Redirect) throws -> (Client.Redirect, RedirectURI) {
        switch redirect {
        case .uri(let uri): return (redirect, uri)
        case .loopback(let port, let path):
            // It is closed when this returns, and opened again by the sign-in.
            let uri = try LoopbackListener(port: port, path: path).redirectURI
            let chosen = try EndpointURL(uri.string, security: .allowingInsecureLoopback).origin.port
            return (.loopback(port: UInt16(chosen), path: path), uri)
        }
    }

    /// The client that the vault keeps, changed or registered again where it does not serve any more; a new one otherwise.
    func registered(
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
    func forgetRegistration(_ redirect: Client.Redirect, isKeyed: Bool, in vault: any Vault) async throws {
        do {
            try await vault.remove(registrationKey(redirect, isKeyed: isKeyed))
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
        return VaultKey(.appRegistration, [server.issuer.string, place, registeredFor] + method)
    }

    /// The registered client with the scopes of now.
    package func client(of stored: Client, _ registration: ClientRegistration) throws -> Client {
        var client = try registeredClient(
            id: stored.id, redirect: registration.redirect, credential: stored.credential)
        client.registration = registration
        return client
    }

    /// Changes a registration so that it is for ``scopes`` too, or asks for its new secret (RFC 7592).
    ///
    /// - Parameter store: stores the client before it is used: the answer may have ended the token and the secret of before.
    /// - Returns: nil when the server does not do it, or does not know the client any more.
    private func changed(
        _ stored: Client, _ store: (Client) async throws -> Void
    ) async throws -> Client? {
        guard let changed = try await stored.changed(for: scopes, in: environment),
            let registration = changed.registration
        else { return nil }
        let client = try client(of: changed, registration)
        try await store(client)
        return client
    }

    /// Does the same to the registration of an earlier sign-in, while no other process can change it.
    ///
    /// It reads the registration again first: another process may have changed it since. So the newest answer is stored last.
    ///
    /// - Returns: nil when the server does not do it, or when it or the vault does not know the client any more.
    package func changed(_ previous: Client, in vault: any Vault) async throws -> Client? {
        let environment = Environment(vault: vault, transport: transport, limits: limits)
        guard let changed = try await environment.changed(previous, for: scopes),
            let registration = changed.registration
        else { return nil }
        return try client(of: changed, registration)
    }
}

extension Environment {
    /// For exchanges of no account.
    convenience init(vault: any Vault = MemoryVault(), transport: any Transport, limits: TransferLimits) {
        self.init(
            vault: vault, transport: transport, time: .system, random: .system, limits: limits,
            log: .init(label: "handshake"))
    }
}
