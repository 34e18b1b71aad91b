#if CommandLine
import Handshake
import OAuth

extension ServiceChoice {
    /// Refuses a sign-in without the secret or the key that the service's description demands, before a page opens.
    ///
    /// Services that are known to take apps without one are not asked for it, nor sign-ins on another device: many services take
    /// those without it. `--auth none` says that the app has none.
    ///
    /// - Throws: ``CommandError`` with the command that has it.
    func requireCredential(of plan: LoginPlan) throws(CommandError) {
        let method = settings.choose(options.auth?.rawValue, "AUTH", settings.service(name).auth)
        guard plan.client.credential == nil, plan.client.confinement == nil, plan.client.registration == nil,
            plan.grant == .authorizationCode, options.opensPage, method != "none",
            let demanded = demandedCredential
        else { return }
        let title = plan.client.service.displayName
        throw .usage(
            "“\(title)” requires the app's \(demanded.noun) to sign in. Put it into a file that only you can read, "
                + "and sign in with: \(options.command(name)) --client-id \(KnownAccount.shellWord(plan.client.id)) "
                + "\(demanded.option) FILE\n"
                + "If the app “\(quoted(plan.client.id, limit: 80))” has none, add instead: --auth none")
    }

    /// What the description demands of clients; nil for nothing.
    var demandedCredential: (noun: String, option: String)? {
        let facts = self.facts
        guard facts["public_clients"]?.bool != true else { return nil }
        if facts["signed_client_secret"] != nil { return ("key", "--key") }
        switch facts["client_authentication"]?.string {
        case "basic", "post", "either", "client_secret_jwt": return ("secret", "--client-secret-file")
        case "private_key_jwt": return ("key", "--key")
        default: return nil
        }
    }
}
#endif
