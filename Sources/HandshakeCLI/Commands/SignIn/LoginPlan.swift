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
    ///   - store: stores a registration that was changed.
    ///   - servers: the issuers of the vault's accounts.
    init(
        service name: String, options: LoginOptions, settings: Settings, previous last: Client? = nil,
        wasWithoutUser: Bool = false, isPurged: Bool = false, unfinished: UnfinishedRegistrations? = nil,
        store: @escaping (Client) async throws -> Void = { _ in },
        servers: @escaping () async throws -> [Issuer] = { [] }
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
            previous: previous, isPurged: isPurged, unfinished: unfinished, store: store)
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
            try Self.checkClient(after: last, of: account, repeated.repeatingDevice(last.signsInOnDevice))
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

    /// Refuses another client for a server that only the account's last sign-in has named.
    private static func checkClient(after last: Client, of account: String, _ options: LoginOptions) throws {
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
    private static func missingClient(
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
    private static func registered(_ redirect: Client.Redirect, onDevices isForDevices: Bool) -> String {
        if isForDevices { return " for devices (RFC 8628)," }
        switch redirect {
        case .loopback(let port, let path):
            return ", with the redirect URI http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(path),"
        case .uri(let uri): return ", with the redirect URI \(uri),"
        }
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

    /// The options of the last sign-in with what the API says today of proofs.
    private static func options(_ previous: Client.Options?, for api: Client.Options) -> Client.Options {
        guard var options = previous else { return api }
        options.dpopSigningAlgorithms = api.dpopSigningAlgorithms
        if api.dpop == .always, options.dpop == .automatic { options.dpop = .always }
        return options
    }

    private static func clientOptions(
        _ options: LoginOptions, _ settings: Settings, of name: String, previous: Client.Options?
    ) async throws -> Client.Options {
        var client = previous ?? Client.Options()
        if let stated = settings.stated(options.par, "par", "PAR", settings.service(name).par, of: name) {
            guard let pushing = Client.Options.Pushing(rawValue: stated.value) else {
                throw stated.wrong("auto, always or never")
            }
            client.pushedRequests = pushing
        }
        let dpop = options.dpop.map { $0 ? Client.Options.Binding.always : .never }
        if let stated = settings.stated(dpop?.rawValue, "dpop", "DPOP", settings.service(name).dpop, of: name) {
            guard let binding = Client.Options.Binding(rawValue: stated.value) else {
                throw stated.wrong("auto, always, refresh-only or never")
            }
            client.dpop = binding
        }
        if let required = options.requireACR { client.requiresAuthenticationContext = required }
        try await apply(options, settings, of: name, to: &client)
        return client
    }

    /// How requests and responses are signed, and what is asked for in detail.
    private static func apply(
        _ options: LoginOptions, _ settings: Settings, of name: String, to client: inout Client.Options
    ) async throws {
        let table = settings.service(name)
        let signs = options.requestObject.map { $0 ? "true" : "false" }
        if let stated = settings.stated(
            signs, "request-object", "REQUEST_OBJECT", table.requestObject.map { "\($0)" }, of: name)
        {
            client.signedRequests = try stated.truth() ? .always : .never
        }
        if let stated = settings.stated(
            options.responseMode, "response-mode", "RESPONSE_MODE", table.responseMode, of: name)
        {
            guard let mode = AuthorizationRequest.ResponseMode(rawValue: stated.value), !mode.isPosted else {
                throw stated.wrong("query or jwt")
            }
            client.responseMode = mode
        }
        let profile = options.fapi2.map { $0 ? "true" : "false" }
        if let stated = settings.stated(profile, "fapi2", "FAPI2", table.fapi2.map { "\($0)" }, of: name) {
            client.fapi2 = try stated.truth()
        }
        if let stated = settings.stated(
            options.retryLostRefreshes.map { "\($0)" }, "retry-lost-refreshes", "RETRY_LOST_REFRESHES",
            table.retryLostRefreshes.map { "\($0)" }, of: name)
        {
            client.retriesLostRefreshes = try stated.truth()
        }
        if let stated = settings.stated(
            options.authorizationDetails, "authorization-details", "AUTHORIZATION_DETAILS", table.authorizationDetails,
            of: name)
        {
            guard options.opensPage else {
                throw CommandError.usage(
                    "\(stated.name) needs a sign-in in the browser: leave it out, or --device, --token-file and --grant."
                )
            }
            client.authorizationDetails = try await stated.authorizationDetails()
        } else if !options.opensPage {
            // Those of the last sign-in are asked for on a page alone.
            client.authorizationDetails = []
        }
        for (member, setting, place) in [
            ("id-token-algorithm", table.idTokenAlgorithm, \Client.Options.idTokenAlgorithm),
            ("userinfo-algorithm", table.userInfoAlgorithm, \.userInfoAlgorithm),
            ("response-algorithm", table.responseAlgorithm, \.responseAlgorithm),
        ] {
            guard let setting else { continue }
            guard let algorithm = SignatureAlgorithm(rawValue: setting) else {
                throw settings.stated(setting, member, of: name).wrong(
                    "an algorithm: " + SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))
            }
            client[keyPath: place] = algorithm
        }
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
