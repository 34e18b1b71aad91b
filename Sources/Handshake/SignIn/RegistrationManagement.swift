import OAuth

/// What a server does with a registration that it manages (RFC 7592).
extension Client {
    /// Changes the registration at its server so that it is for these scopes too, or asks for its new secret.
    ///
    /// Store what it returns before you use it: the answer may have ended the token and the secret of before.
    ///
    /// - Returns: nil when the server does not do it, or does not know the client any more, and for more scopes than a
    ///   registration may have: an API names scopes.
    /// - Throws: ``HandshakeError/exchange(_:)`` when the server failed or is busy; ``HandshakeError/network(_:)``,
    ///   `CancellationError`.
    func changed(for scopes: [String], in environment: Environment) async throws -> Client? {
        guard let registration, let management = registration.management else { return nil }
        let isNarrow = !registration.covers(scopes)
        let known = Set(registration.scopes)
        let all = registration.scopes + scopes.filter { !known.contains($0) }
        guard !isNarrow || all.joined(separator: " ").utf8.count <= ClientRegistration.maximumScopesLength else {
            return nil
        }
        var request = ClientManagementRequest(
            isNarrow ? .update : .read, clientID: id, by: management,
            registration: registration.request(for: all, credential?.key))
        request.hidden = [credential?.secret].compactMap(\.self)
        let answer: RegisteredClient
        do {
            answer = try await environment.exchange({ [request] in try request.message }, request.client(from:))
        } catch HandshakeError.exchange(.server(let error)) where (error.status ?? 400) < 500 && error.status != 429 {
            return nil
        } catch HandshakeError.exchange(.malformed) {
            return nil
        }
        let next = ClientRegistration(
            name: registration.name, endpoint: registration.endpoint, scopes: all, redirect: registration.redirect,
            redirectURI: registration.redirectURI, isForDevices: registration.isForDevices, expiresAt: answer.expiresAt,
            management: answer.management, registeredScopes: answer.scopes,
            idTokenAlgorithm: answer.idTokenAlgorithm ?? registration.idTokenAlgorithm, vaultKey: registration.vaultKey)
        return registered(next, credential?.key.map { .key($0) } ?? answer.credential)
    }

    /// Removes the registration at its server (RFC 7592, section 2.3). Best effort: what fails is left to the server.
    package func unregister(
        transport: any Transport = .platform, limits: TransferLimits = TransferLimits(timeout: .seconds(5))
    ) async {
        guard let registration, let management = registration.management else { return }
        let request = ClientManagementRequest(
            .delete, clientID: id, by: management,
            registration: registration.request(for: registration.scopes, credential?.key))
        let environment = Environment(transport: transport, limits: limits)
        _ = try? await environment.exchange({ try request.message }, request.confirmDeletion)
    }
}

extension Environment {
    /// The client with a registration for these scopes too, where its server changes registrations.
    ///
    /// - Returns: the client as it was where the server changes nothing. The server may grant the scopes all the same.
    /// - Throws: what ``changed(_:for:)`` throws.
    func widened(_ client: Client, for scopes: [String]) async throws -> Client {
        guard let registration = client.registration, !registration.covers(scopes),
            let widened = try await changed(client, for: scopes)
        else { return client }
        note(widened)
        return widened
    }

    /// Changes a client's registration so that it is for these scopes too, or asks for its new secret.
    ///
    /// The change is stored where the registration rests before it is used, also when the task is cancelled meanwhile.
    ///
    /// - Returns: nil when nothing is changed, also where the vault has no registration of this client: the change would be lost.
    /// - Throws: what ``Client/changed(for:in:)`` throws; ``HandshakeError/vault(_:)``.
    func changed(_ client: Client, for scopes: [String]) async throws -> Client? {
        try await Task { () -> Client? in
            guard let place = client.registration?.vaultKey else {
                return try await client.changed(for: scopes, in: self)
            }
            return try await self.changed(client, for: scopes, at: place)
        }.value
    }

    /// Changes a registration that rests in the vault, or takes over the change of another process.
    private func changed(_ client: Client, for scopes: [String], at place: VaultKey) async throws -> Client? {
        do {
            return try await vault.update(place) { locked -> Client? in
                guard let bytes = await locked.contents else { return nil }
                let stored = try Registrations.client(stored: bytes, as: place.components[0])
                guard stored.isSame(as: client), var known = stored.registration, !known.isForgotten else { return nil }
                known.vaultKey = place
                let present = client.registered(known, stored.credential)
                guard !known.covers(scopes) || known.hasExpired(at: time.now()) else { return present }
                try await locked.confirm(for: limits.timeout)
                guard let changed = try await present.changed(for: scopes, in: self),
                    let registration = changed.registration
                else { return nil }
                try await locked.replace(
                    with: Registrations.stored(stored.registered(registration, changed.credential)))
                return changed
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }
}
