#if CommandLine
import Handshake
import OAuth

/// Which service `login` means: a built-in one, one of the settings, or one that the options describe.
struct ServiceChoice {
    let name: String
    let options: LoginOptions
    let settings: Settings
    /// The service of the account's last sign-in.
    let previous: Service?
    private let table: Settings.ServiceSettings

    init(_ name: String, options: LoginOptions, settings: Settings, previous: Service? = nil) {
        self.name = name
        self.previous = previous
        self.options = options
        self.settings = settings
        table = settings.service(name)
    }

    /// Plain `http:` is allowed on loopback only, and only when the user wrote it: the metadata or redirect of an `https:` server
    /// cannot lead to it.
    static func security(for address: String?) -> TransportSecurity {
        address?.lowercased().hasPrefix("http:") == true ? .allowingInsecureLoopback : .httpsOnly
    }

    /// Where an app is registered, as a line to append.
    static func registrationAdvice(_ name: String) -> String {
        if name == Service.recurseCenter.name {
            return
                "\nApps are registered at https://www.recurse.com/settings/apps. To try it without one, run: handshake sandbox"
        }
        guard let known = BuiltInService.named(name) else { return "" }
        let page = known.facts["documentation"]?.string.map { "\nThe service's documentation: \($0)" } ?? ""
        // A sandbox does not imitate clients that sign their secret.
        guard known.unsupportedReason == nil, known.facts["signed_client_secret"] == nil else { return page }
        return page + "\nTo try it without an app, run: handshake sandbox --service \(name)"
    }

    func service() throws -> Service {
        if name == "ifttt" {
            throw CommandError.usage(
                "IFTTT has no sign-in of its own. A connection provides the user token: handshake ifttt connect CONNECTION"
            )
        }
        let baseURL = settings.stated(options.baseURL, "base-url", "BASE_URL", table.baseURL, of: name)
        if let previous, !isStated {
            if let known = builtInServer, known.isSame(as: previous.authorizationServer) { try checkTable() }
            return try adding(previous)
        }
        if let service = Service.builtIn.first(where: { $0.name == name }) {
            guard [options.issuer, options.authorizeURL, options.tokenURL].allSatisfy({ $0 == nil })
            else {
                throw CommandError.usage(
                    "“\(name)” is built in, with its endpoints. Use --base-url for a sandbox, or another name for your server."
                )
            }
            try checkTable()
            return try adding(try preset(at: baseURL) ?? Self.at(baseURL, service))
        }
        _ = try preset(at: baseURL)
        let addresses = (
            issuer: settings.stated(options.issuer, "issuer", "ISSUER", table.issuer, of: name),
            authorize: settings.stated(
                options.authorizeURL, "authorize-url", "AUTHORIZE_URL", table.authorizeURL, of: name),
            token: settings.stated(options.tokenURL, "token-url", "TOKEN_URL", table.tokenURL, of: name)
        )
        if addresses.issuer == nil, addresses.token == nil, let known = BuiltInService.named(name) {
            try checkTable()
            return try adding(try described(known, at: baseURL))
        }
        if baseURL != nil, options.baseURL != nil {
            throw CommandError.usage(
                "--base-url is for built-in services, and “\(quoted(name, limit: 80))” is not one. Use --issuer URL instead."
            )
        }
        return try own(addresses.issuer, authorize: addresses.authorize, token: addresses.token)
    }

    /// The server of the built-in service of this name, as far as no placeholder is needed for it.
    private var builtInServer: Service.AuthorizationServer? {
        let library = Service.builtIn.first { $0.name == name }
        return library?.authorizationServer ?? (try? BuiltInService.named(name)?.service([:]))?.authorizationServer
    }

    /// Refuses members that describe a service in the table of a built-in one.
    ///
    /// They would be ignored. If they counted, one line of the settings could lead the tokens of a known service to another host.
    private func checkTable() throws {
        guard let member = table.facts.keys.sorted().first else { return }
        let isLibrary = Service.builtIn.contains { $0.name == name }
        throw CommandError.usage(
            "“\(member.replacing("_", with: "-"))” in [services.\(name)] describes a service, and “\(name)” is built in with its own "
                + "description. Remove it, or describe the service "
                + (isLibrary ? "" : "whole, with issuer or with authorize-url and token-url, or ")
                + "under another name. For scopes there is “scope”, which is the option --scope.")
    }

    /// The members of the service's description: of the settings, where they or the options say where it is.
    var facts: JSONObject {
        let isOwn =
            settings.choose(options.issuer, "ISSUER", table.issuer) != nil
            || settings.choose(options.tokenURL, "TOKEN_URL", table.tokenURL) != nil
        return (isOwn ? nil : BuiltInService.named(name)?.facts) ?? table.facts
    }

    /// Whether the name alone, or what is stated beside it, says where the service is.
    var isKnown: Bool {
        isStated || BuiltInService.named(name) != nil || Service.builtIn.contains { $0.name == name } || name == "ifttt"
    }

    /// Whether the server is given by `--issuer` and by nothing else.
    var isIssuerAlone: Bool {
        options.issuer != nil && BuiltInService.named(name) == nil && !Service.builtIn.contains { $0.name == name }
            && name != "ifttt" && options.set.isEmpty && options.tenant == nil && table.set == nil
            && settings.choose(options.baseURL, "BASE_URL", table.baseURL) == nil
            && settings.choose(options.authorizeURL, "AUTHORIZE_URL", table.authorizeURL) == nil
            && settings.choose(options.tokenURL, "TOKEN_URL", table.tokenURL) == nil
    }

    /// Whether the server may register the app, where it does that itself: the user has named it by its issuer, and no client.
    ///
    /// - Parameters:
    ///   - previous: the client of the account's last sign-in, which counts if it was registered in this way.
    ///   - credential: what the client authenticates with. A registration brings its own secret, and none has a certificate.
    ///   - statesSecret: whether the user has a secret, and so a client.
    func mayRegister(
        _ previous: Client?, authenticatedBy credential: Client.Credential?, statesSecret: Bool
    ) -> Bool {
        guard options.grant == .authorizationCode, options.tokenFile == nil, !statesSecret else { return false }
        if case .certificate? = credential { return false }
        guard let previous else { return credential?.secret == nil && isOwnIssuer }
        return previous.registration != nil && previous.confinement == nil
    }

    /// Whether options, variables or settings name a server of the user's own by its issuer, and by nothing else.
    var isOwnIssuer: Bool {
        settings.choose(options.issuer, "ISSUER", table.issuer) != nil && BuiltInService.named(name) == nil
            && !Service.builtIn.contains { $0.name == name }
            && settings.choose(options.authorizeURL, "AUTHORIZE_URL", table.authorizeURL) == nil
            && settings.choose(options.tokenURL, "TOKEN_URL", table.tokenURL) == nil
    }

    /// Whether options, variables or settings say where the service is.
    private var isStated: Bool {
        let addresses = [
            settings.choose(options.baseURL, "BASE_URL", table.baseURL), options.preset,
            settings.choose(options.issuer, "ISSUER", table.issuer),
            settings.choose(options.authorizeURL, "AUTHORIZE_URL", table.authorizeURL),
            settings.choose(options.tokenURL, "TOKEN_URL", table.tokenURL), options.tenant,
        ]
        return addresses.contains { $0 != nil } || !options.set.isEmpty || table.set != nil
    }

    /// A built-in service with its placeholders filled.
    private func described(_ known: BuiltInService, at baseURL: StatedValue?) throws -> Service {
        if let reason = known.unsupportedReason {
            throw CommandError.usage("“\(name)” is known but not supported: \(reason).")
        }
        let values = try Self.values(options.set, tenant: options.tenant, table: table)
        let missing = known.missing(in: values)
        guard missing.isEmpty else {
            let names = missing.map { "“\($0.name)”" + ($0.meaning.map { " (\($0))" } ?? "") }
            let command = options.command(name, setting: missing.map { "\($0.name)=\($0.example)" })
            throw CommandError.usage(
                "\(known.title) needs \(missing.count == 1 ? "a value" : "values") for "
                    + "\(names.joined(separator: ", ")): \(command)" + options.clientWords)
        }
        return try Self.at(baseURL, try known.service(values))
    }

    /// The Recurse Center of 2014 at the origin of `--base-url`; nil without `--preset`.
    private func preset(at baseURL: StatedValue?) throws -> Service? {
        let option = options.preset.map { StatedValue(value: $0, name: "--preset") }
        guard let preset = option ?? table.preset.map({ settings.stated($0, "preset", of: name) }) else { return nil }
        guard name == Service.recurseCenter.name else {
            throw CommandError.usage("\(preset.name) is for the Recurse Center: handshake login recurse-center")
        }
        guard preset.value == "hackerschool" else { throw preset.wrong("hackerschool") }
        guard let baseURL else {
            throw CommandError.usage(
                "\(preset.name) is for a server of your own or a sandbox: add --base-url URL. What www.recurse.com answers needs no preset."
            )
        }
        return .hackerSchool(at: try baseURL.base())
    }

    /// The service at the origin of `--base-url`; at its own where there is none.
    private static func at(_ baseURL: StatedValue?, _ service: Service) throws -> Service {
        try baseURL.map { service.at(try $0.base()) } ?? service
    }

    /// The values of placeholders: options before settings.
    static func values(
        _ pairs: [String], tenant: String?, table: Settings.ServiceSettings
    ) throws -> [String: String] {
        var values = (table.set ?? [:]).merging(try LoginPlan.pairs(pairs, option: "--set")) { $1 }
        if let tenant { values["tenant"] = tenant }
        return values
    }

    private func own(
        _ issuer: StatedValue?, authorize: StatedValue?, token: StatedValue?
    ) throws -> Service {
        guard token != nil || (issuer != nil && authorize == nil) else {
            if let authorize {
                throw CommandError.usage(
                    "\(authorize.name) alone names no server: add --token-url URL, or give --issuer URL in its place."
                )
            }
            guard !name.contains("://") else { throw Self.address(name) }
            throw CommandError.usage(
                "“\(quoted(name, limit: 80))” is not a built-in service. "
                    + NearestName.question(name, among: Services.names(settings))
                    + "For a server of your own, use --issuer URL, or --authorize-url URL and --token-url URL; for an API that "
                    + "names its server, such as an MCP server, --resource URL."
            )
        }
        _ = try issuer?.issuer()
        _ = try authorize?.endpoint()
        let tokenOrigin = try token?.endpoint().origin
        let facts = table.description(issuer: issuer?.value, authorize: authorize?.value, token: token?.value)
        let security = Self.security(for: (token ?? issuer)?.value)
        let service = try BuiltInService(name: name, facts: facts).service(security: security)
        return try adding(service, tokenOrigin)
    }

    /// An address in place of a name.
    private static func address(_ text: String) -> CommandError {
        let word = KnownAccount.shellWord(text)
        return .usage(
            "“\(quoted(text, limit: 80))” is an address, not a name. For a server of your own, with a name of your choice: "
                + "handshake login NAME --issuer \(word); for an API that names its server, such as an MCP server: "
                + "handshake login --resource \(word)")
    }

    /// The service with the origins of `--api-origin` too.
    private func adding(_ service: Service, _ origin: Origin? = nil) throws -> Service {
        let addresses = try options.apiOrigin.map { try StatedValue(value: $0, name: "--api-origin").endpoint() }
        let origins = addresses.map(\.origin)
        return try Service(
            name: service.name, displayName: service.displayName,
            authorizationServer: service.authorizationServer,
            // What is relative is meant for the first one.
            apiRoot: service.apiRoot ?? addresses.first,
            apiOrigins: service.apiOrigins + origins + [origin].compactMap(\.self),
            defaultScopes: service.defaultScopes, identityEndpoint: service.identityEndpoint,
            deviations: service.deviations)
    }
}
#endif
