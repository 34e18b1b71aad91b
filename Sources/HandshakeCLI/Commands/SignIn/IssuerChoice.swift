#if CommandLine
import Handshake
import OAuth

/// The client of a server that registers apps itself, without an API that names it: `login NAME --issuer URL`.
struct IssuerChoice {
    let service: Service
    /// What the sign-in asks for; nil for what the server offers to say who the user is (``IdentityScopes``).
    let scopes: [String]?
    /// The name of the sign-in.
    let name: String
    /// A key of the client's own; nil for a client without one.
    let key: SigningKey?
    let registration: RegistrationChoice

    /// The registered client; nil where the server registers none and none is known.
    ///
    /// - Throws: ``CommandError``.
    func client() async throws -> Client? {
        // Endpoints that the user states are vouched for by no metadata.
        guard case .discovered = service.authorizationServer else { return nil }
        var found = try await DiscoveredServer.discover(service, scopes: scopes)
        if scopes == nil { found.scopes = IdentityScopes.offered(by: found.server) }
        if let previous = registration.previous,
            let client = try await registration.client(of: previous, at: found, key: key)
        {
            return client
        }
        guard found.server.registrationEndpoint != nil else {
            guard registration.options.registrationTokenFile == nil else {
                throw CommandError.usage(
                    "\(found.server.issuer) registers no apps itself. Register one there, and sign in with its identifier: "
                        + "\(registration.options.command(name))\(registration.options.clientWords) --client-id ID")
            }
            return nil
        }
        let client = try await registration.client(
            at: found, for: found.scopes, key: key,
            by: registration.options.command(name) + registration.options.clientWords,
            inBrowser: registration.optionsInBrowser.command(name) + registration.options.clientWords
        ) { _ in }
        Output.note("\(found.server.issuer) registers apps itself. This app is now registered there.")
        guard scopes == nil, let registered = client.registration?.registeredScopes else { return client }
        return client.asking(for: IdentityScopes.offered(by: found.server, registered: registered), client.parameters)
    }
}
#endif
