#if CommandLine
import Handshake
import OAuth

extension LoginPlan {
    /// Refuses another client for a server that only the account's last sign-in has named.
    ///
    /// - Throws: ``CommandError``, unless the last sign-in or this one is by a personal token.
    static func refuseOtherClient(after last: Client, of account: String, _ options: LoginOptions) throws {
        guard options.tokenFile == nil, last.id != PersonalToken.clientID else { return }
        let server: [(option: String, address: String?)] =
            switch (last.confinement, last.service.authorizationServer) {
            case (let resource?, _): [("--resource", resource.string)]
            case (nil, .discovered(let issuer, _)): [("--issuer", issuer.string)]
            case (nil, .described(let known)):
                [
                    ("--authorize-url", options.opensPage ? known.authorizationEndpoint?.string : nil),
                    ("--token-url", known.tokenEndpoint.string),
                ]
            }
        let named = server.map { option, address in address.map { " \(option) \(KnownAccount.shellWord($0))" } ?? "" }
        throw CommandError.usage(
            "The account “\(quoted(account, limit: 200))” was made with another client ID, “\(quoted(last.id, limit: 80))”. "
                + "Sign it out with: handshake logout \(KnownAccount.shellWord(account))\n"
                + "Then sign in with: \(options.command(last.service.name))\(named.joined())\(options.clientWords)\n"
                + "Or keep it, and give the new account another name in that command: --account NAME")
    }

    /// What to do without a client ID.
    static func missingClient(
        _ place: String, _ registration: String, of name: String, _ options: LoginOptions,
        demanding credential: (noun: String, option: String)?
    ) -> String {
        let command = options.command(name)
        let demanded = options.opensPage && options.auth?.rawValue != "none" ? credential : nil
        var text = "--client-id is missing. Register an app \(place)\(registration)"
        text += " and sign in with its identifier"
        text += (demanded.map { " and its \($0.noun)" } ?? "") + ": \(command) --client-id ID"
        text += demanded.map { " \($0.option) FILE" } ?? ""
        text += ServiceChoice.registrationAdvice(name)
        return text
    }

    /// What the registration of an app has to say of the redirect.
    static func registered(_ redirect: Client.Redirect, onDevices isForDevices: Bool) -> String {
        if isForDevices { return " for devices (RFC 8628)," }
        switch redirect {
        case .loopback(let port, let path):
            return ", with the redirect URI http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(path),"
        case .uri(let uri): return ", with the redirect URI \(uri),"
        }
    }
}
#endif
