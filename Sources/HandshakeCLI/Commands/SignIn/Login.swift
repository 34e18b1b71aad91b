#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to a service.",
        discussion: """
            SERVICE is one that handshake services lists, or a name of your choice together with --issuer, with --authorize-url \
            and --token-url, or with --resource, the address of an API that names its server itself, such as an MCP server. The account gets \
            the same name unless --account gives it another one.

            For an account that exists, options that you leave out are as in its last sign-in. These count for one sign-in only: --browser, \
            --timeout, --param max_age=0 and the word login in --param prompt. After a sign-in with --device, --browser system uses a \
            page on this machine again.

            Examples: a service by name, one that gives apps a secret, a server of your own, the same server without a browser on this \
            machine, a server that registers apps itself, and an MCP server:
              handshake login spotify --client-id ID
              handshake login github --client-id ID --client-secret-file FILE
              handshake login mine --issuer https://id.example --client-id ID
              handshake login mine --issuer https://id.example --client-id ID --device
              handshake login mine --issuer https://id.example
              handshake login --resource https://mcp.example/mcp

            The client ID comes from the service, where you register an app with the redirect URI http://127.0.0.1/callback, \
            or with http://127.0.0.1:PORT/callback and --redirect loopback:PORT. A server that --issuer or an API names \
            registers the app itself where it can.

            A program signs in without a user by assertions that its key signs (RFC 7523): by the key file of a Google service \
            account, or by any key:
              handshake login google --grant jwt-bearer --key FILE --scope SCOPE
              handshake login mine --grant jwt-bearer --issuer https://id.example \\
                --client-id ID --key FILE --scope SCOPE
            Each token is asked for with a new assertion. The key, its name and what the assertions say are stored encrypted in the \
            vault, so that later commands need no file; logout removes them. No key is printed.
            """)

    @Argument(help: "The service, or a name of your choice; with --resource the API's host and path unless given.")
    var service: String?

    @OptionGroup var options: LoginOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try options.check()
        let service = try name()
        let files = [("--token-file", options.tokenFile), ("--registration-token-file", options.registrationTokenFile)]
            .map { option, file in file.map { " \(option) \(KnownAccount.shellWord($0))" } ?? "" }.joined()
        let command = options.command(service) + options.clientWords + files
        let waiting = SignInWait()
        try await CommandDeadline.run(options.timeout) {
            waiting.error(
                "The service did not answer within \(options.timeout) s.",
                command: "\(command) --timeout \(min(86_400, options.timeout * 4))")
        } _: {
            try await signIn(service, waiting)
        }
    }

    private func name() throws -> String {
        if let service { return service }
        guard let resource = options.resource.first else {
            guard options.issuer == nil, options.tokenURL == nil else {
                throw CommandError.usage(
                    "The name is missing. Choose one: \(options.command("NAME"))\(options.clientWords)")
            }
            throw CommandError.usage("Name the service: handshake login SERVICE. handshake services lists them.")
        }
        return DiscoveredResource.name(for: try StatedValue(value: resource, name: "--resource").endpoint())
    }

    private func signIn(_ service: String, _ waiting: SignInWait) async throws {
        let settings = try Settings.load()
        let vault = try await common.openVault(settings)
        let registrations = Registrations(in: vault)
        let name = options.account ?? service
        let previous = try await KnownAccount.naming(name) { try await registrations.client(named: name) }
        let wasWithoutUser = try await KnownAccount.naming(name) {
            guard let previous else { return false }
            return try await Handshake(previous, vault: vault).account(name)?.status.isWithoutUser ?? false
        }
        let unfinished = UnfinishedRegistrations(of: name, in: vault)
        let known = try await unfinished.clients().map(\.id) + (previous.map { [$0.id] } ?? [])
        let makePlan = { (isPurged: Bool) in
            try await LoginPlan(
                service: service, options: options, settings: settings, previous: previous,
                wasWithoutUser: wasWithoutUser, isPurged: isPurged, unfinished: unfinished, vault: vault,
                servers: registrations.issuers)
        }
        let first = try await makePlan(false)
        if previous?.id != first.client.id {
            try ServiceChoice(service, options: options, settings: settings).requireCredential(of: first)
        }
        let isKnown = first.client.registration != nil && known.contains(first.client.id)
        if isKnown { waiting.note(registered: first.account) }
        let earlier = try await KnownAccount.naming(first.account) {
            try await Self.account(of: previous, before: first, in: vault)
        }
        let earlierSubject = earlier?.status.identity?.subject
        let work = await UnfinishedWork(of: earlier, in: vault)
        let (account, plan) = try await signIn(first, waiting, unfinished, in: vault) {
            isKnown ? try await makePlan(true) : nil
        }
        // Also when time runs out just now: the account is stored, and commands find it by this.
        _ = try await Task { try await registrations.remember(plan.client, as: plan.account, after: previous) }.value
        let before = previous.map { AccountID($0, name: plan.account) }
        try await Task { try await work.pass(to: account, from: before, in: vault) }.value
        await Self.remove(previous, unfinished, replacedBy: plan, in: vault)
        await report(account, plan)
        if let earlierSubject, let subject = account.status.identity?.subject, subject != earlierSubject {
            Output.note(
                "Another user was signed in as “\(plan.account)” and has been signed out. To keep both, give each account a name with "
                    + "--account NAME")
        }
    }

    /// The account that a sign-in is to replace; nil for none.
    private static func account(
        of previous: Client?, before plan: LoginPlan, in vault: any Vault
    ) async throws -> Account? {
        // One name, one account: the tokens of the other one would live on where no command could reach them.
        let outdated = try await outdated(previous, by: plan, in: vault)
        // A client that was registered again for the same API is no other one to the user.
        if let previous, outdated != nil, !plan.replaces(previous) {
            throw otherClient(previous, of: plan.account)
        }
        // A damaged record cannot be replaced. Reading it here reports that before the user signs in.
        let current = try await Handshake(plan.client, vault: vault).account(plan.account)
        return outdated ?? current
    }

    /// The error of a sign-in that would give an account another client.
    static func otherClient(_ previous: Client, of account: String) -> CommandError {
        .usage(
            "The account “\(quoted(account, limit: 200))” was made with another client ID, "
                + "\(quoted(previous.id, limit: 80)) at \(previous.service.authorizationServer.issuer). "
                + "Sign it out with: handshake logout \(KnownAccount.shellWord(account)), or give the new account "
                + "another name with --account NAME")
    }

    /// Removes what a finished sign-in has replaced, as well as that is possible: a session, and registrations.
    private static func remove(
        _ previous: Client?, _ unfinished: UnfinishedRegistrations, replacedBy plan: LoginPlan, in vault: any Vault
    ) async {
        // The registration that was used is the account's from here on.
        for other in (try? await unfinished.forget()) ?? [] where other.id != plan.client.id {
            await other.unregister()
        }
        if let outdated = try? await outdated(previous, by: plan, in: vault),
            (try? await outdated.signOut())?.isForgotten != true
        {
            _ = try? await outdated.signOut(revoking: false)
        }
        if let previous, AccountID(previous) != AccountID(plan.client), plan.replaces(previous) {
            await previous.unregister()
        }
    }

    /// The account of the last sign-in, when this one is through another client.
    private static func outdated(_ previous: Client?, by plan: LoginPlan, in vault: any Vault) async throws -> Account?
    {
        guard let previous, AccountID(previous, name: plan.account) != AccountID(plan.client, name: plan.account) else {
            return nil
        }
        return try await Handshake(previous, vault: vault).account(plan.account)
    }

    /// Notes that the service has signed the user in otherwise than was asked for. Without an ID token it does not say how.
    private func noteContext(of account: Account, _ plan: LoginPlan) {
        let asked = (plan.client.parameters["acr_values"] ?? "").split(separator: " ").map(String.init)
        guard !asked.isEmpty, let identity = account.status.identity else { return }
        let found = identity.claims["acr"]?.string
        guard !asked.contains(where: { $0 == found }) else { return }
        let wanted = asked.map { "“\(quoted($0, limit: 80))”" }.joined(separator: " or ")
        let given =
            found.map { "the service signed you in by “\(quoted($0, limit: 80))”" }
            ?? "the service does not say how it signed you in"
        Output.note(
            "You asked for the sign-in \(wanted) (acr_values); \(given). To refuse such a sign-in, add: --require-acr")
    }

    private func report(_ account: Account, _ plan: LoginPlan) async {
        noteContext(of: account, plan)
        let user = await SignedInUser(account, needsName: !common.json)
        let status = account.status
        if common.json {
            Output.result(
                JSONText.object([
                    ("account", .string(plan.account)), ("service", .string(plan.client.service.name)),
                    ("scope", .string(status.scopes.joined(separator: " "))),
                    ("token_type", .string(status.isBound ? "DPoP" : "Bearer")),
                    ("expires_at", .seconds(status.expiresAt)), ("subject", .optional(user.subject)),
                    ("refreshable", .bool(status.isRefreshable)),
                ]).text)
        } else {
            let who = user.greeting.map { " as \(quoted($0, limit: 200))" } ?? ""
            let name = plan.account == service ? "" : " The account is called “\(plan.account)”."
            Output.note(
                plan.tokenFile == nil || plan.client.service.identityEndpoint != nil
                    ? "Signed in to \(plan.client.service.displayName)\(who).\(name)"
                    : "Stored the token as “\(plan.account)”. It was not checked: the service has no userinfo URL.")
        }
    }

    /// Signs in as planned.
    ///
    /// - Parameter renewed: the plan with a new registration, for a server that no longer knows the client; nil when this command
    ///   has registered it, because what a server says of a new client is its last word.
    private func signIn(
        _ plan: LoginPlan, _ waiting: SignInWait, _ unfinished: UnfinishedRegistrations, in vault: any Vault,
        renewed: () async throws -> LoginPlan?
    ) async throws -> (Account, LoginPlan) {
        if let tokenFile = plan.tokenFile {
            return (try await PersonalToken(from: tokenFile).signIn(plan.client, as: plan.account, in: vault), plan)
        }
        let plan = try await plan.askingForIdentity()
        do {
            return (try await signIn(Handshake(plan.client, vault: vault), plan, waiting), plan)
        } catch let error where plan.client.wasPurged(error) {
            // So that no later try uses it.
            try await unfinished.forget(plan.client.id)
            guard let next = try await renewed() else { throw error }
            Output.note("\(plan.client.service.displayName) no longer knows this app. Registering it again.")
            return try await signIn(next, waiting, unfinished, in: vault) { nil }
        } catch HandshakeError.exchange(.server(let error))
            where error.code == "invalid_scope" && plan.choosesScopes
        {
            throw plan.refusal(of: error, options)
        } catch HandshakeError.exchange(.configuration(member: "jwks_uri", problem: _))
            where plan.client.scopes.contains("openid")
        {
            throw CommandError.usage(
                "“\(plan.client.service.name)” is described by its endpoints alone, so that no ID token can be checked. Leave "
                    + "out the scope “openid”, or name the server by its issuer.")
        } catch HandshakeError.exchange(.server(let error)) where error.demandsProof && options.dpop == nil {
            throw CommandError(
                status: .serviceError, code: error.code ?? "invalid_dpop_proof",
                message: "\(plan.client.service.displayName) gives only tokens that are bound to a key (DPoP). Add "
                    + "to the command: --dpop")
        }
    }

    private func signIn(_ handshake: Handshake, _ plan: LoginPlan, _ waiting: SignInWait) async throws -> Account {
        switch plan.grant {
        case .clientCredentials, .jwtBearer: return try await handshake.signInAsClient(as: plan.account)
        case .authorizationCode: break
        }
        let timeout = Duration.seconds(options.timeout)
        if plan.isOnAnotherDevice {
            do {
                return try await handshake.signInOnAnotherDevice(as: plan.account, timeout: timeout) { code in
                    waiting.begin()
                    DeviceCodeText(code: code).show()
                }
            } catch HandshakeError.configuration("device_authorization_endpoint", _) {
                let command = options.inBrowser(after: plan.wasOnAnotherDevice).command(plan.client.service.name)
                throw LoginOptions.noDeviceGrant(
                    plan.client.service.noDeviceGrant, by: command + options.clientWords)
            }
        }
        switch plan.browser {
        case .print:
            let printed = PrintingBrowser(
                print: { page in
                    Output.note(page.prompt())
                    Output.result(page.url)
                },
                readRedirect: { try await RedirectQuestion.ask($0) })
            return try await handshake.signIn(
                as: plan.account, through: WaitingBrowser(browser: printed, wait: waiting), timeout: timeout)
        case .system:
            return try await handshake.signIn(
                as: plan.account, through: WaitingBrowser(browser: AnnouncedBrowser(), wait: waiting), timeout: timeout)
        }
    }
}

/// The system's browser, with the prompt and the URL in the terminal, in case no browser opens.
///
/// Where no listener receives the redirect, the user gives its URL to the command, or the code that the page shows.
struct AnnouncedBrowser: Browser {
    func show(_ page: SignInPage) async throws -> String? {
        Output.note(page.prompt())
        do {
            _ = try await SystemBrowser().show(page)
            // The redirect has arrived.
            guard !Task.isCancelled else { return nil }
            Output.note("If no page opens, open this URL:\n\(page.url)")
        } catch {
            guard EndpointURL.isSafeToOpen(page.url) else { throw error }
            // Also with --quiet: without it the user could do nothing but wait.
            let place = page.redirectURI.kind == .loopback ? " on this machine" : ""
            Output.error("No browser could be opened. Open this URL\(place):\n\(page.url)")
        }
        guard page.redirectURI.kind != .loopback else {
            Output.note("Waiting until the browser comes back to \(page.redirectURI). Press Ctrl-C to cancel.")
            return nil
        }
        guard let text = try await RedirectQuestion.ask(page), !text.isEmpty else {
            throw HandshakeError.signInAbandoned(.closed)
        }
        return page.redirectURI.kind == .outOfBand ? try page.redirect(carrying: Secret(text)) : text
    }
}

/// Asks the user for the code or the URL that the browser shows at the end.
enum RedirectQuestion {
    /// The line that the user gave; nil when there is none.
    static func ask(_ page: SignInPage) async throws -> String? {
        Output.note(
            page.redirectURI.kind == .outOfBand
                ? "Paste the code that the page shows here:"
                : "Paste the URL that begins with \(page.redirectURI) here:")
        return try await StandardInput.line()?.trimmingCharacters(in: .whitespaces)
    }
}
#endif
