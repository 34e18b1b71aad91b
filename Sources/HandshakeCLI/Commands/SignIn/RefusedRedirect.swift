#if CommandLine
import Handshake
import OAuth

extension LoginPlan {
    /// Refuses a redirect to this machine where the service is known to refuse it, before a page opens, and says what to do.
    ///
    /// - Parameters:
    ///   - facts: the members of the service's description.
    ///   - knowsClient: whether it is known which client signs in.
    ///   - credential: what the service demands of clients and nothing has stated.
    static func checkRedirect(
        _ redirect: Client.Redirect, at service: Service, _ facts: JSONObject, _ options: LoginOptions,
        knowsClient: Bool, demanding credential: (noun: String, option: String)?
    ) throws {
        guard options.opensPage, service.refuses(redirect) else { return }
        let isEncrypted = facts["loopback_redirects"]?.string == "https"
        let (wanted, value) =
            isEncrypted ? ("https://127.0.0.1", "https://127.0.0.1") : ("another redirect URI", "URI")
        var next = options
        next.redirect = nil
        var command = "\(next.command(service.name)) --redirect \(value)\(options.clientWords)"
        if !knowsClient { command += " --client-id ID" }
        if let credential, options.auth?.rawValue != "none" { command += " \(credential.option) FILE" }
        throw CommandError.usage(
            "\(service.displayName) accepts no http redirect to this machine. Register \(wanted) there, and sign in with: "
                + "\(command)\nAt the end, copy the address that the browser shows, and give it to the command."
                + (knowsClient ? "" : ServiceChoice.registrationAdvice(service.name)))
    }
}
#endif
