#if CommandLine
import Handshake
import OAuth

/// The client of an API that names its server itself: `login --resource URL`.
struct ResourceChoice {
    let name: String
    let options: LoginOptions
    let clientID: String?
    let credential: Client.Credential?
    let redirect: Client.Redirect
    /// The client of the account's last sign-in.
    let previous: Client?

    /// Whether the API is all that says where the service is.
    func isMeant(by service: ServiceChoice) -> Bool {
        options.resource.count == 1 && options.tokenFile == nil && !service.isKnown
            && (previous?.confinesTokens ?? true)
    }

    /// Asks the API, says who will be asked, and finds or registers a client there.
    func client() async throws -> Client {
        let known = previous?.service.authorizationServer.issuer
        var found = try await DiscoveredResource.discover(
            options.resource[0], named: name, preferring: [known].compactMap(\.self))
        if !options.scope.isEmpty {
            found.scopes = options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        }
        let asked = found.scopes.isEmpty ? "" : " Scopes: \(quoted(found.scopes.joined(separator: " "), limit: 500))."
        Output.note("\(found.resource.identifier) is protected by \(found.server.issuer).\(asked)")
        var parameters: [String: String]?
        if !options.param.isEmpty { parameters = try LoginPlan.pairs(options.param, option: "--param") }
        return try await client(at: found, isSameServer: known == found.server.issuer, parameters)
    }

    private func client(
        at found: DiscoveredResource, isSameServer: Bool, _ parameters: [String: String]?
    ) async throws -> Client {
        if let clientID {
            return try found.client(id: clientID, redirect: redirect, credential: credential, parameters: parameters)
        }
        // What one server has registered never goes to another, and is good for the registered scopes alone.
        if isSameServer, let previous, Set(previous.scopes).isSuperset(of: found.scopes) {
            return try found.client(
                id: previous.id, redirect: redirect.ifFree, credential: previous.credential, parameters: parameters)
        }
        guard found.server.registrationEndpoint != nil else {
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
        confinesTokens && other.confinesTokens && resources == other.resources
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
