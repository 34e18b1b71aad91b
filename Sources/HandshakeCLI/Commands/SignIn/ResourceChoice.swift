#if CommandLine
import Handshake
import OAuth

/// The client of an API that names its server itself: `login --resource URL`.
struct ResourceChoice {
    let name: String
    let options: LoginOptions
    let credential: Client.Credential?
    let redirect: Client.Redirect
    /// The client of the account's last sign-in.
    let previous: Client?

    /// The API's address: the option's, or that of the last sign-in.
    private var address: String? { options.resource.first ?? previous?.confinement?.string }

    /// Whether the API is all that says where the service is.
    func isMeant(by service: ServiceChoice) -> Bool {
        address != nil && options.resource.count <= 1 && options.tokenFile == nil && !service.isKnown
            && (previous == nil || previous?.confinement != nil)
    }

    /// Asks the API, says who will be asked, and finds or registers a client there.
    func client() async throws -> Client {
        guard options.grant == .authorizationCode else {
            throw CommandError.usage(
                "--resource alone signs a user in: leave out --grant, or give the server with --issuer.")
        }
        let known = previous?.service.authorizationServer.issuer
        var found = try await DiscoveredResource.discover(
            address ?? "", named: name, preferring: [known].compactMap(\.self))
        if let previous, previous.confinement != found.address || known != found.server.issuer {
            throw CommandError.usage(
                "“\(name)” is the account of \(previous.confinement?.description ?? "another API") at "
                    + "\(previous.service.authorizationServer.issuer). Sign it out with: handshake logout \(name), or give the new "
                    + "account another name with --account NAME")
        }
        if !options.scope.isEmpty {
            found.scopes = options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        }
        let asked = found.scopes.isEmpty ? "" : " Scopes: \(quoted(found.scopes.joined(separator: " "), limit: 500))."
        Output.note("\(found.resource.identifier) is protected by \(found.server.issuer).\(asked)")
        let parameters =
            options.param.isEmpty ? previous?.parameters : try LoginPlan.pairs(options.param, option: "--param")
        return try await client(at: found, parameters)
    }

    /// A client ID or secret of variables or settings is for another server: only what is typed beside the API is for it.
    private func client(at found: DiscoveredResource, _ parameters: [String: String]?) async throws -> Client {
        let isTyped = options.clientSecretFile != nil || options.key != nil
        if let clientID = options.clientID {
            return try found.client(
                id: clientID, redirect: redirect, credential: isTyped ? credential : nil, parameters: parameters)
        }
        // A registration is good for its own scopes alone.
        let canRegister = found.server.registrationEndpoint != nil
        if let previous, Set(previous.scopes).isSuperset(of: found.scopes) || !canRegister {
            return try found.client(
                id: previous.id, redirect: redirect.ifFree, credential: isTyped ? credential : previous.credential,
                parameters: parameters)
        }
        guard canRegister else {
            throw CommandError.usage(
                "\(found.server.issuer) registers no apps itself. Register one there, and give its identifier with --client-id ID"
            )
        }
        let registered = try await found.register(
            as: "Handshake", redirect: options.redirect == nil ? .loopback : redirect)
        return try found.client(
            id: registered.id, redirect: registered.redirect, credential: registered.credential,
            parameters: parameters)
    }
}

extension Client {
    /// Whether this client was registered in place of another one, for the same API at the same server.
    func succeeds(_ other: Client) -> Bool {
        confinement != nil && confinement == other.confinement
            && service.authorizationServer.issuer == other.service.authorizationServer.issuer
    }
}

extension Client.Redirect {
    /// The same redirect; on any port where its own is taken now (RFC 8252, section 7.3).
    fileprivate var ifFree: Client.Redirect {
        guard case .loopback(let port?, let path) = self else { return self }
        return (try? LoopbackListener(port: port, path: path)) == nil ? .loopback(port: nil, path: path) : self
    }
}
#endif
