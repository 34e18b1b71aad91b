#if CommandLine
import Handshake
import OAuth

/// What a sign-in asks of a server of the user's own, where nothing says what: who the user is, and to stay signed in.
///
/// Without `openid` there is no ID token to check, and a server may refuse the request (OpenID Connect Core, section 3.1.2.1).
enum IdentityScopes {
    /// Those scopes, as far as a server lists them.
    ///
    /// - Parameter registered: what the server says it has registered for the client; nil where it does not say so. `openid` need not
    ///   be among it: it says what kind of request this is, and servers that take it from every client leave it out there.
    /// - Returns: none, where the server does not list `openid`.
    static func offered(by server: AuthorizationServerMetadata, registered: [String]? = nil) -> [String] {
        let scopes = ["openid", "profile", "offline_access"].filter { scope in
            server.scopes?.contains(scope) == true && (scope == "openid" || registered?.contains(scope) != false)
        }
        return scopes.first == "openid" ? scopes : []
    }

    /// What a page's address needs for scopes: offline access is given with consent only (OpenID Connect Core, section 11).
    static func parameters(for scopes: [String]) -> [String: String] {
        scopes.contains("offline_access") ? ["prompt": "consent"] : [:]
    }

    /// The parameters of a later sign-in: the consent page stays as long as the account asks for offline access.
    ///
    /// - Parameters:
    ///   - stated: what the user states now; nil for nothing, which keeps what was stated before.
    ///   - previous: the client of the account's last sign-in.
    ///   - scopes: what this sign-in asks for.
    /// - Returns: nil where nothing is stated, now or before.
    static func parameters(
        _ stated: [String: String]?, after previous: Client?, askingFor scopes: [String]
    ) -> [String: String]? {
        guard var later = stated ?? previous?.parameters else { return nil }
        guard let previous, stated?["prompt"] == nil, let consent = parameters(for: previous.scopes)["prompt"],
            previous.parameters["prompt"] == consent
        else { return later }
        later["prompt"] = parameters(for: scopes)["prompt"]
        return later
    }
}

extension LoginPlan {
    /// The plan that asks who the user is, where nothing says what to ask for and the server lists that.
    ///
    /// - Throws: what ``DiscoveredServer/discover(_:scopes:transport:limits:)`` throws.
    func askingForIdentity() async throws -> LoginPlan {
        guard leavesScopesOpen, case .discovered = client.service.authorizationServer else { return self }
        let server = try await DiscoveredServer.discover(client.service).server
        return asking(for: IdentityScopes.offered(by: server))
    }

    /// The plan with scopes in place of none.
    func asking(for scopes: [String]) -> LoginPlan {
        var plan = self
        plan.leavesScopesOpen = false
        plan.client = Self.client(client, askingFor: scopes, isOnAnotherDevice: isOnAnotherDevice)
        return plan
    }

    /// A client that asks for scopes, and for the consent that they need.
    static func client(_ client: Client, askingFor scopes: [String], isOnAnotherDevice: Bool) -> Client {
        let isOnPage = !isOnAnotherDevice && client.parameters["prompt"] == nil
        let added = isOnPage ? IdentityScopes.parameters(for: scopes) : [:]
        return client.asking(for: scopes, client.parameters.merging(added) { $1 })
    }

    /// The refusal of scopes that the command has chosen, with the command that asks for less.
    func refusal(of error: ServerError, _ options: LoginOptions) -> any Error {
        guard !client.scopes.isEmpty else { return HandshakeError.exchange(.server(error)) }
        let scopes = quoted(client.scopes.joined(separator: " "), limit: 200)
        return CommandError(
            status: .serviceError, code: error.code ?? "invalid_scope",
            message: "“\(client.service.displayName)” does not let this client ask for “\(scopes)”, which the command "
                + "asks for when you state no scope. Sign in again with: \(options.command(client.service.name))"
                + "\(options.clientWords) --scope \(client.scopes == ["openid"] ? "''" : "openid")")
    }
}
#endif
