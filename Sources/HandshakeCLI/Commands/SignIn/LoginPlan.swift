#if CommandLine
import Foundation
import Handshake
import OAuth

/// What `login` does: options before variables before settings.
struct LoginPlan {
    var client: Client
    let account: String
    let grant: LoginOptions.Grant
    /// The file with the personal token that replaces the sign-in.
    let tokenFile: String?
    let browser: LoginOptions.BrowserChoice
    /// Whether the user has named the server, and not an API alone.
    let namesServer: Bool
    /// Whether the user approves on another device (RFC 8628).
    let isOnAnotherDevice: Bool
    /// Whether the user approved the account's last sign-in in that way.
    let wasOnAnotherDevice: Bool
    /// Whether nothing says what to ask a server of the user's own for: ``askingForIdentity()`` asks it what it offers.
    var leavesScopesOpen = false
    /// Whether the command, and not the user, has chosen what to ask for.
    var choosesScopes = false

    /// - Parameters:
    ///   - previous: the client of the account's last sign-in, which counts where neither option, variable nor setting says
    ///     otherwise.
    ///   - wasWithoutUser: whether the client signed in to that account without a user.
    ///   - isPurged: whether the server no longer knows that client, so that it has to be registered again.
    ///   - unfinished: what was registered for sign-ins of this account that are not done.
    ///   - vault: where the client of the last sign-in is stored, and a change of its registration.
    ///   - servers: the issuers of the vault's accounts.
    init(
        service name: String, options: LoginOptions, settings: Settings, previous last: Client? = nil,
        wasWithoutUser: Bool = false, isPurged: Bool = false, unfinished: UnfinishedRegistrations? = nil,
        vault: any Vault = MemoryVault(), servers: @escaping () async throws -> [Issuer] = { [] }
    ) async throws {
        let table = settings.service(name)
        let stated = settings.choose(options.clientID, "CLIENT_ID", table.clientID)
        let previous = Self.applicable(
            last, to: name, clientID: stated,
            at: try options.issuer.map { try StatedValue(value: $0, name: "--issuer").issuer() }, options)
        let lastGrant = last?.assertion == nil ? LoginOptions.Grant.clientCredentials : .jwtBearer
        let repeated = wasWithoutUser ? options.repeating(lastGrant) : options
        let statedOptions = options
        // Only a sign-in on a page registers an app again (``ServiceChoice/mayRegister(_:authenticatedBy:statesSecret:)``).
        // ``AssertionChoice`` recognizes a client that makes assertions itself.
        let options = (previous == nil || isPurged || lastGrant == .jwtBearer ? options : repeated)
            .repeatingDevice(
                previous?.signsInOnDevice == true
                    && settings.choose(nil, "AUTHORIZATION_DETAILS", table.authorizationDetails) == nil)
        account = options.account ?? name
        guard (1...200).contains(account.utf8.count), account.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw CommandError.usage("An account's name has 1 to 200 bytes and no spaces.")
        }
        namesServer = options.issuer != nil
        isOnAnotherDevice = options.device
        wasOnAnotherDevice = previous?.signsInOnDevice == true
        tokenFile = options.tokenFile
        let assertions = AssertionChoice(name: name, options: options, settings: settings, previous: previous)
        if assertions.isMeant {
            try options.checkAssertion()
            (grant, browser) = (.jwtBearer, .system)
            var client = try await assertions.client()
            client.options = try await Self.clientOptions(options, settings, of: name, previous: previous?.options)
            self.client = client
            return
        }
        try options.checkNoAssertion()
        grant = options.grant
        let registration = RegistrationChoice(
            options: options,
            redirect: try settings.stated(options.redirect, "redirect", "REDIRECT", table.redirect, of: name)
                .map(Self.redirect),
            previous: previous, isPurged: isPurged, unfinished: unfinished, vault: vault)
        let credentials = ClientCredential(options: options, settings: settings, service: name)
        let credential = try await credentials.credential(previous: previous?.credential)
        let certificate = try credentials.certificate(previous: previous?.certificate)
        browser = try Self.browser(
            settings.stated(options.browser?.rawValue, "browser", "BROWSER_CHOICE", table.browser, of: name))
        let choice = ResourceChoice(
            name: name, options: options, deviations: try DiscoveredResource.Deviations(facts: table.facts),
            credential: credential, registration: registration, servers: servers)
        let server = ServiceChoice(name, options: options, settings: settings, previous: previous?.service)
        if choice.isMeant(by: ServiceChoice(name, options: options, settings: settings)),
            var client = try await choice.client()
        {
            client.certificate = certificate
            client.signsInOnDevice = options.device
            let isBound = client.options.dpop == .always
            client.options = try await Self.clientOptions(
                options, settings, of: name, previous: Self.options(previous?.options, for: client.options))
            guard client.options.dpop != .never || !isBound else {
                throw CommandError.usage(
                    "The API takes only tokens that are bound to a key (DPoP). Leave out --no-dpop, or the setting dpop."
                )
            }
            self.client = client
            return
        }
        if let last, previous == nil, stated != nil, last.service.name == name, !server.isKnown {
            try Self.refuseOtherClient(after: last, of: account, repeated.repeatingDevice(last.signsInOnDevice))
        }
        let service = try server.service()
        // What one server gave at registration goes to no other, whichever endpoints are stated (`any-server.md` 9).
        if let previous, previous.registration != nil,
            !previous.service.authorizationServer.isSame(as: service.authorizationServer)
        {
            throw CommandError.usage(
                "“\(quoted(account, limit: 200))” is an account at \(previous.service.authorizationServer.issuer), where the app "
                    + "registered itself. Sign it out with: handshake logout \(KnownAccount.shellWord(account)), or give the "
                    + "new account another name with --account NAME")
        }
        // So is a secret or a key: another server could use it at the first one.
        if let previous, previous.credential != nil, credential != nil, !credentials.isStated,
            !service.authorizationServer.takesTokens(of: previous.service.authorizationServer)
        {
            throw CommandError(
                status: .refused, code: "foreign_credential",
                message: "The secret or key that is stored for “\(quoted(account, limit: 200))” belongs to "
                    + "\(previous.service.authorizationServer.issuer), and goes to no other server. Nothing was sent. State the "
                    + "client and its secret or key: \(options.command(name)) --client-id ID --client-secret-file FILE")
        }
        let scopes =
            options.scope.isEmpty
            ? table.scope ?? previous?.scopes : options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        // An empty list is a choice, and an account keeps what it was made with.
        let isOpen =
            scopes == nil && service.defaultScopes.isEmpty && server.isOwnIssuer && options.tokenFile == nil
            && options.grant == .authorizationCode
        var registered: Client?
        if stated == nil,
            server.mayRegister(previous, authenticatedBy: credential, statesSecret: credentials.statesSecret)
        {
            registered = try await IssuerChoice(
                service: service, scopes: isOpen ? nil : scopes ?? service.defaultScopes, name: name,
                key: credential?.key, registration: registration
            ).client()
        }
        guard registered != nil || options.registrationTokenFile == nil else {
            throw CommandError.usage(
                "The app is not registered with this command: leave out --registration-token-file.")
        }
        let redirect = registered?.redirect ?? registration.redirect ?? previous?.redirect ?? .loopback
        let known = stated ?? registered?.id ?? previous?.id
        let demanded = credential == nil ? server.demandedCredential : nil
        try Self.checkRedirect(
            redirect, at: service, server.facts, options, knowsClient: known != nil, demanding: demanded)
        guard let clientID = options.tokenFile == nil ? known : options.clientID ?? PersonalToken.clientID else {
            // A name of the user's own says nothing of where.
            let place =
                service.displayName == name
                ? "at \(service.authorizationServer.issuer)" : "with “\(service.displayName)”"
            throw CommandError.usage(
                Self.missingClient(
                    place,
                    options.grant == .authorizationCode ? Self.registered(redirect, onDevices: options.device) : "",
                    of: name, options, demanding: demanded))
        }
        guard credential != nil || options.grant == .authorizationCode else {
            let isRepeated = statedOptions.statedGrant == nil
            throw CommandError.usage(
                (isRepeated ? "The account's " : "")
                    + "--grant client-credentials needs --client-secret-file FILE, --key FILE or --certificate FILE"
                    + (isRepeated ? ", or add --grant authorization-code." : "."))
        }
        let resources =
            try Self.resources(options.resource, settings, of: name, table.resource) ?? previous?.resources ?? []
        let ownParameters: [String: String]? =
            options.param.isEmpty ? nil : try Self.pairs(options.param, option: "--param")
        // What went to the token endpoint is not for a page, whose address the browser keeps, and the other way round.
        let isSameKind = wasWithoutUser == (options.grant == .clientCredentials)
        let parameters =
            IdentityScopes.parameters(
                ownParameters, after: isSameKind ? previous : nil, askingFor: scopes ?? service.defaultScopes) ?? [:]
        var client = Client(
            service: service, id: clientID, redirect: redirect, scopes: scopes, resources: resources,
            parameters: parameters, credential: registered.map(\.credential) ?? credential)
        client.options = try await Self.clientOptions(options, settings, of: name, previous: previous?.options)
        client.confinement = previous?.confinement
        client.registration = registered.map(\.registration) ?? previous?.registration
        client.hasStatedCredential = registered == nil && credentials.isStated
        client.hasChosenScopes = previous?.hasChosenScopes ?? false
        client.signsInOnDevice = options.device
        client.certificate = certificate
        leavesScopesOpen = isOpen && registered == nil
        choosesScopes = isOpen
        if isOpen, let registered {
            client = Self.client(client, askingFor: registered.scopes, isOnAnotherDevice: options.device)
        }
        self.client = client
    }

    private static func browser(_ stated: StatedValue?) throws -> LoginOptions.BrowserChoice {
        guard let stated else { return .system }
        guard let browser = LoginOptions.BrowserChoice(rawValue: stated.value) else {
            throw stated.wrong("system or print")
        }
        return browser
    }

    /// The APIs that the token is for: those of the options, or of the settings.
    private static func resources(
        _ options: [String], _ settings: Settings, of service: String, _ table: [String]?
    ) throws -> [ResourceIndicator]? {
        guard options.isEmpty else {
            return try options.map { try StatedValue(value: $0, name: "--resource").resource() }
        }
        return try table?.map { try settings.stated($0, "resource", of: service).resource() }
    }

    /// The client of the last sign-in, unless this one is for another service or client, or by a personal token.
    ///
    /// - Parameter issuer: the server that the user names. A client of an API that has moved there says nothing at it, and its
    ///   secret, key and certificate stay with the server before (`any-server.md` 5).
    private static func applicable(
        _ previous: Client?, to name: String, clientID: String?, at issuer: Issuer?, _ options: LoginOptions
    ) -> Client? {
        guard let previous, previous.service.name == name, options.tokenFile == nil,
            previous.id != PersonalToken.clientID,
            clientID == nil || clientID == previous.id
        else { return nil }
        // Where the settings name another server, the sign-in is refused (``IssuerChoice``).
        if previous.confinement != nil || previous.registration != nil, let issuer {
            let known = previous.service.authorizationServer.issuer
            guard issuer == known || issuer.withOtherSlash == known else { return nil }
        }
        return previous
    }

    /// Whether the client takes the place of an earlier one.
    ///
    /// That is, for the same API: at the same server, or at the one that the user has named. Without an API: one that the same
    /// server has registered before.
    func replaces(_ other: Client) -> Bool {
        let isSameServer = client.service.authorizationServer.issuer == other.service.authorizationServer.issuer
        guard client.confinement != nil else {
            return client.registration != nil && other.registration != nil && other.confinement == nil && isSameServer
        }
        return client.confinement == other.confinement && (namesServer || isSameServer)
    }

    private static func redirect(_ stated: StatedValue) throws -> Client.Redirect {
        let text = stated.value
        guard text != "loopback" else { return .loopback }
        guard text.hasPrefix("loopback:") else {
            do {
                return .uri(try RedirectURI(text))
            } catch .configuration(_, let problem) {
                throw stated.wrong(
                    "loopback, loopback:PORT or a redirect URI, such as com.example.app:/callback",
                    because: problem.hasPrefix("expected ") ? nil : problem)
            }
        }
        guard let port = UInt16(text.dropFirst("loopback:".count)), port > 0 else {
            throw stated.wrong("loopback:PORT with a port from 1 to 65535")
        }
        return .loopback(port: port)
    }

    /// The values that an option gives by name.
    static func pairs(_ pairs: [String], option: String) throws -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                // Not quoted: a service may want a secret as a parameter.
                throw CommandError.usage("\(option) takes NAME=VALUE, and one of them has no name or no equals sign.")
            }
            guard parameters.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw CommandError.usage("\(option) “\(quoted(parts[0], limit: 80))” is given twice.")
            }
        }
        return parameters
    }
}
#endif
