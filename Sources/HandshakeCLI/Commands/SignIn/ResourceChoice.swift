#if CommandLine
import Handshake
import OAuth

/// The client of an API that names its server itself: `login --resource URL`.
struct ResourceChoice {
    let name: String
    let options: LoginOptions
    /// How the API or its server departs from the standards, as the settings say.
    let deviations: DiscoveredResource.Deviations
    let credential: Client.Credential?
    let registration: RegistrationChoice
    /// The issuers of the vault's accounts.
    let servers: () async throws -> [Issuer]

    /// The client of the account's last sign-in.
    private var previous: Client? { registration.previous }
    private var redirect: Client.Redirect? { registration.redirect }
    private var account: String { options.account ?? name }

    /// The API's address: the option's, or that of the last sign-in.
    private var address: String? { options.resource.first ?? previous?.confinement?.string }

    /// Whether the API says where the service is.
    func isMeant(by service: ServiceChoice) -> Bool {
        address != nil && options.resource.count <= 1 && options.tokenFile == nil
            && (previous == nil || previous?.confinement != nil)
            && (!service.isKnown || (service.isIssuerAlone && options.grant == .authorizationCode && !isNamed))
    }

    /// Whether the API is identified by a name, which nothing can be asked at.
    private var isNamed: Bool { StatedValue(value: address ?? "", name: "--resource").isNameOfResource }

    /// Asks the API, says who will be asked, and finds or registers a client there.
    ///
    /// - Returns: nil when the server is given and the API names none: the API is then no more than an audience.
    func client() async throws -> Client? {
        guard options.grant == .authorizationCode else {
            throw CommandError.usage(
                "--resource alone signs a user in: leave out --grant, or give the server with --issuer.")
        }
        if let stated = options.resource.first { _ = try StatedValue(value: stated, name: "--resource").endpoint() }
        let known = previous?.service.authorizationServer.issuer
        let confirmed = try options.issuer.map { try StatedValue(value: $0, name: "--issuer").issuer() }
        // Of several servers one where the user has an account, unless the command or this account names one (`any-server.md` 5).
        let own = [confirmed, known].compactMap(\.self)
        guard var found = try await discover(preferring: own.isEmpty ? servers() : own, confirmed) else { return nil }
        if let previous, previous.confinement == found.address, known != found.server.issuer {
            throw CommandError.usage(
                "“\(quoted(account, limit: 200))” is an account at \(previous.service.authorizationServer.issuer), and "
                    + "\(found.resource.identifier) now names \(found.server.issuer) as its server. If you trust that server, "
                    + "sign in there with: \(command(found))")
        }
        if let previous, previous.confinement != found.address {
            throw otherAPI(than: previous)
        }
        let offered = found.scopes
        if !options.scope.isEmpty {
            found.scopes = options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        } else if let previous, previous.hasChosenScopes {
            found.scopes = previous.scopes
        }
        let asked = found.scopes.isEmpty ? "" : " Scopes: \(quoted(found.scopes.joined(separator: " "), limit: 500))."
        Output.note("\(found.resource.identifier) is protected by \(found.server.issuer).\(asked)")
        let ownParameters: [String: String]? =
            options.param.isEmpty ? nil : try LoginPlan.pairs(options.param, option: "--param")
        let parameters = IdentityScopes.parameters(ownParameters, after: previous, askingFor: found.scopes)
        let chosen = try await client(at: found, isConfirmed: confirmed != nil, offering: offered)
        var client = try found.client(
            id: chosen.id, redirect: chosen.redirect, credential: chosen.credential, parameters: parameters)
        client.registration = chosen.registration
        client.hasChosenScopes = !options.scope.isEmpty || previous?.hasChosenScopes == true
        return client
    }

    /// Asks the API for its server.
    ///
    /// - Parameter confirmed: the server that the user has given beside the API, which has to name it.
    private func discover(preferring known: [Issuer], _ confirmed: Issuer?) async throws -> DiscoveredResource? {
        guard let confirmed else {
            return try await DiscoveredResource.discover(
                address ?? "", named: name, preferring: known, deviating: deviations)
        }
        let found: DiscoveredResource
        do {
            found = try await DiscoveredResource.discover(
                address ?? "", named: name, preferring: known, deviating: deviations)
        } catch HandshakeError.network, HandshakeError.undiscovered {
            return nil
        }
        guard !found.resource.authorizationServers.isEmpty else { return nil }
        guard found.server.issuer == confirmed || found.server.issuer == confirmed.withOtherSlash else {
            throw CommandError(
                status: .refused, code: "issuer_mismatch",
                message: "\(found.resource.identifier) is not protected by \(confirmed): it names "
                    + "\(found.server.issuer). Check both addresses.")
        }
        return found
    }

    /// A client ID or secret of variables or settings is for another server: only what is typed beside the API is for it.
    private func client(
        at found: DiscoveredResource, isConfirmed: Bool, offering offered: [String]
    ) async throws -> Client {
        let isTyped = options.clientSecretFile != nil || options.key != nil
        if let clientID = options.clientID {
            if clientID.hasPrefix("https://"), found.server.acceptsClientDocuments {
                // The API alone has named the server, and a document has no place for a secret.
                guard options.clientSecretFile == nil else {
                    throw CommandError.usage(
                        "A client that is named by the address of its document has no secret: leave out --client-secret-file, or "
                            + "give its key with --key FILE.")
                }
                return try found.client(
                    documentAt: clientID, redirect: redirect ?? previous?.redirect ?? .loopback,
                    credential: isTyped ? credential : nil)
            }
            try checkPairing(of: clientID, with: found, isConfirmed: isConfirmed)
            return try found.client(
                id: clientID, redirect: redirect ?? previous?.redirect ?? .loopback,
                credential: isTyped ? credential : nil)
        }
        if let previous, let client = try await client(of: previous, at: found, isTyped ? credential : nil) {
            return client
        }
        guard found.server.registrationEndpoint != nil else {
            throw CommandError.usage(
                "\(found.server.issuer) registers no apps itself. Register one there, and give its identifier: "
                    + "\(command(found)) --client-id ID")
        }
        return try await registration.client(
            at: found, for: offered + found.scopes.filter { !offered.contains($0) },
            key: options.key == nil ? nil : credential?.key, by: command(found) + options.clientWords,
            inBrowser: command(found, onDevice: false) + options.clientWords
        ) { file in
            // As with a client ID: otherwise an API could name a server that collects the token (`any-server.md` 9).
            guard isConfirmed else {
                throw CommandError.usage(
                    "\(found.resource.identifier) names \(found.server.issuer) as its server. If that is where the registration "
                        + "token comes from, say so with: \(command(found))\(options.clientWords) --registration-token-file "
                        + KnownAccount.shellWord(file))
            }
        }
    }

    /// An identifier that one server gave says nothing at another one, which the API alone has named. Otherwise an API could
    /// borrow the user's client, and the rights that come with it (`any-server.md` 9).
    private func checkPairing(of clientID: String, with found: DiscoveredResource, isConfirmed: Bool) throws {
        guard !isConfirmed, previous?.id != clientID else { return }
        throw CommandError.usage(
            "\(found.resource.identifier) names \(found.server.issuer) as its server. If that is where the client ID "
                + "“\(quoted(clientID, limit: 80))” comes from, say so with: \(command(found))\(options.clientWords)")
    }

    private func command(_ found: DiscoveredResource, onDevice: Bool? = nil) -> String {
        command(for: found.address.string, at: found.server.issuer.string, onDevice: onDevice)
    }

    /// The command of this sign-in, with the API and the server that it names.
    func command(for resource: String, at issuer: String, onDevice: Bool? = nil) -> String {
        var named = onDevice == false ? registration.optionsInBrowser : options
        named.resource = [resource]
        named.issuer = issuer
        return named.command(name, onDevice: onDevice)
    }

    /// The error of a sign-in that would give an account another API.
    func otherAPI(than previous: Client) -> CommandError {
        .usage(
            "“\(quoted(account, limit: 200))” is the account of \(previous.confinement?.description ?? "another API") "
                + "at \(previous.service.authorizationServer.issuer). Sign it out with: handshake logout "
                + "\(KnownAccount.shellWord(account)), or give the new account another name with --account NAME")
    }

    /// The client of the last sign-in, as long as it serves this one; nil when the app has to be registered again.
    private func client(
        of previous: Client, at found: DiscoveredResource, _ credential: Client.Credential?
    ) async throws -> Client? {
        guard previous.registration != nil else {
            // Registered by hand: its user knows what for.
            return try found.client(
                id: previous.id, redirect: redirect ?? previous.redirect,
                credential: credential ?? previous.credential)
        }
        return try await registration.client(of: previous, at: found, key: credential?.key)
    }
}

extension Client {
    /// Whether a sign-in failed because the server has forgotten the client that it had registered (`any-server.md` 5).
    ///
    /// A credential that the user states may be wrong: its refusal says nothing of the registration.
    func wasPurged(_ error: any Error) -> Bool {
        guard registration != nil, !hasStatedCredential, case HandshakeError.exchange(.server(let error)) = error else {
            return false
        }
        return error.step != .authorization && ["invalid_client", "unauthorized_client"].contains(error.code)
    }
}
#endif
