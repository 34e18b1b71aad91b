package import OAuth

/// Clients that a command remembers between its runs, sealed into the same vault as the accounts they belong to.
///
/// An app states its client in code and needs none of this. A command learns it once, at sign-in, and has to refresh
/// later with the same identifier, secret and server.
package struct Registrations: Sendable {
    private let vault: any Vault

    /// The registrations in a vault.
    package init(in vault: any Vault) {
        self.vault = vault
    }

    /// The client remembered under a name, or nil.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    package func client(named name: String) async throws -> Client? {
        do {
            let key = Self.key(name)
            var client = try await vault.record(key).map { try Self.client(stored: $0, as: name) }
            client?.registration?.vaultKey = key
            return client
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// A client as bytes to be sealed.
    static func stored(_ client: Client) throws(HandshakeError) -> [UInt8] {
        try StoredForm.encode(StoredClient(client))
    }

    /// Reads what ``remember(_:as:after:)`` wrote.
    static func client(stored bytes: [UInt8], as name: String) throws(HandshakeError) -> Client {
        let what = "the registration \(quoted(name, limit: 80))"
        let stored: StoredClient = try StoredForm.decode(bytes, what: what)
        do {
            return try stored.client()
        } catch {
            throw .vault(.damaged(what: what, reason: "\(error)"))
        }
    }

    /// Remembers a client under a name, in place of the one before.
    ///
    /// The parameter `max_age=0` and the word `login` of `prompt`, which an API may have demanded of one sign-in, are not
    /// remembered: every later one would ask for a password too. A user who wants that states it each time.
    ///
    /// - Parameter previous: the client that was read from the vault before the sign-in; nil for none. A change of its registration
    ///   since then is kept: its old secret and management token may no longer be valid.
    /// - Returns: the client as it is remembered.
    @discardableResult
    package func remember(_ client: Client, as name: String, after previous: Client? = nil) async throws -> Client {
        let key = Self.key(name)
        do {
            return try await vault.update(key) { locked -> Client in
                var known = client
                // A registration that was not read here is a new one, also where the server gave it the same identifier.
                if let previous, client.registration?.vaultKey == key, let bytes = await locked.contents,
                    let stored = try? Self.client(stored: bytes, as: name), stored.isSame(as: client),
                    var registration = stored.registration
                {
                    registration.vaultKey = key
                    // A sign-in with this client has just succeeded, so a mark is wrong.
                    registration.isForgotten = false
                    // The user may have stated another credential for this sign-in.
                    let isRotated = !stored.hasSameSecret(as: previous)
                    known = client.registered(registration, isRotated ? stored.credential : client.credential)
                }
                try await locked.replace(with: Self.stored(known.lasting))
                return known
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Remembers the scopes that the user of a client has chosen.
    ///
    /// - Returns: the client as it is remembered.
    package func remember(_ scopes: [String], of client: Client, as name: String) async throws -> Client {
        var chosen = client.asking(for: scopes, client.parameters)
        chosen.hasChosenScopes = true
        return try await remember(chosen, as: name, after: client)
    }

    /// Forgets the client under a name, also when what is remembered of it is damaged.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    package func forget(_ name: String) async throws {
        do {
            try await vault.remove(Self.key(name))
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Takes over the secret that a client's server has given to another process or task.
    ///
    /// It waits for a process that is changing the registration. A credential that the user states is not replaced.
    ///
    /// - Parameters:
    ///   - client: the client with the credential that the server has refused.
    ///   - isForgotten: whether to mark a stored registration that has no new secret as one that the server no longer knows. The next
    ///     sign-in then registers the app again. A registration that was made in its place meanwhile stays as it is.
    /// - Returns: the client with the new secret; nil where there is none, also where the stored registration is damaged.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    func takeOverSecret(of client: Client, markingForgotten isForgotten: Bool) async throws -> Client? {
        guard let key = client.registration?.vaultKey, !client.hasStatedCredential else { return nil }
        do {
            return try await vault.update(key) { locked -> Client? in
                guard let bytes = await locked.contents else { return nil }
                let stored = try Self.client(stored: bytes, as: key.components[0])
                guard stored.isSame(as: client), var known = stored.registration, !known.isForgotten else { return nil }
                guard stored.hasSameSecret(as: client), known.expiresAt == client.registration?.expiresAt else {
                    known.vaultKey = key
                    return stored.hasSameSecret(as: client) ? nil : client.registered(known, stored.credential)
                }
                guard isForgotten else { return nil }
                known.isForgotten = true
                try await locked.replace(with: Self.stored(stored.registered(known, stored.credential)))
                return nil
            }
        } catch VaultError.damaged, HandshakeError.vault(.damaged) {
            return nil
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// The names of all remembered clients, sorted, and what could not be read beside them.
    package func names() async throws -> (names: [String], damaged: [VaultError]) {
        do {
            let listing = try await vault.keys(of: .registration)
            return (listing.keys.compactMap(\.components.first).sorted(), listing.damaged)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// The servers of all remembered clients. What is damaged is left out.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    package func issuers() async throws -> [Issuer] {
        var issuers: [Issuer] = []
        for name in try await names().names {
            do {
                guard let client = try await client(named: name) else { continue }
                issuers.append(client.service.authorizationServer.issuer)
            } catch HandshakeError.vault(.damaged) {
                continue
            }
        }
        return issuers
    }

    private static func key(_ name: String) -> VaultKey {
        VaultKey(.registration, [name])
    }
}

extension Client {
    /// The client without what an API has demanded of one sign-in (``Registrations/remember(_:as:after:)``).
    fileprivate var lasting: Client {
        var lasting = parameters.filter { $0.key != "max_age" || $0.value != "0" }
        // An empty value stays: it leaves out what the service's description states.
        if let words = lasting["prompt"]?.split(separator: " "), words.contains("login") {
            let words = words.filter { $0 != "login" }
            lasting["prompt"] = words.isEmpty ? nil : words.joined(separator: " ")
        }
        return asking(for: scopes, lasting)
    }

    /// Whether both are one client of one server. Another server can give its clients any identifier.
    func isSame(as other: Client) -> Bool {
        id.isIdentical(to: other.id)
            && service.authorizationServer.issuer == other.service.authorizationServer.issuer
    }

    /// Whether both have the same secret, or none.
    fileprivate func hasSameSecret(as other: Client) -> Bool {
        switch (credential?.secret, other.credential?.secret) {
        case (let secret?, let other?): secret.matches(other)
        case (nil, nil): true
        default: false
        }
    }
}
