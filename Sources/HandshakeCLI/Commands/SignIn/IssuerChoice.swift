#if CommandLine
import Handshake
import OAuth

/// The client of a server that registers apps itself, without an API that names it: `login NAME --issuer URL`.
struct IssuerChoice {
    let service: Service
    /// What the sign-in asks for.
    let scopes: [String]
    /// This sign-in, for the user to complete.
    let command: String
    /// A key of the client's own; nil for a client without one.
    let key: SigningKey?
    let registration: RegistrationChoice

    /// The registered client; nil where the server registers none and none is known.
    ///
    /// - Throws: ``CommandError`` when the account's client is another server's: what one server has given goes to no other
    ///   (`any-server.md` 9).
    func client() async throws -> Client? {
        let found = try await DiscoveredServer.discover(service, scopes: scopes)
        if let previous = registration.previous {
            let known = previous.service.authorizationServer.issuer
            guard known == service.authorizationServer.issuer else {
                let account = registration.options.account ?? service.name
                throw CommandError.usage(
                    "“\(quoted(account, limit: 200))” is an account at \(known), where the app registered itself. Sign it out with: "
                        + "handshake logout \(KnownAccount.shellWord(account)), or give the new account another name with "
                        + "--account NAME")
            }
            if let client = try await registration.client(of: previous, at: found, key: key) { return client }
        }
        guard found.server.registrationEndpoint != nil else { return nil }
        let client = try await registration.client(at: found, for: scopes, key: key, by: command) { _ in }
        Output.note("\(found.server.issuer) registers apps itself: this one is registered there.")
        return client
    }
}
#endif
