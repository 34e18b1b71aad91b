#if CommandLine
import ArgumentParser

/// The options of `login`.
struct LoginOptions: ParsableArguments {
    enum Grant: String, ExpressibleByArgument, CaseIterable {
        case authorizationCode = "authorization-code"
        case clientCredentials = "client-credentials"
        case jwtBearer = "jwt-bearer"
    }

    enum BrowserChoice: String, ExpressibleByArgument, CaseIterable {
        case system, print
    }

    enum AuthenticationChoice: String, ExpressibleByArgument, CaseIterable {
        case none, basic, post
        case privateKeyJWT = "private-key-jwt"
        case clientSecretJWT = "client-secret-jwt"
        case tls
        case selfSignedTLS = "self-signed-tls"
    }

    @Option(help: ArgumentHelp("The name of the account; SERVICE unless given.", valueName: "name"))
    var account: String?

    @Option(help: ArgumentHelp("The issuer of the server, whose endpoints are discovered.", valueName: "url"))
    var issuer: String?

    @Option(
        name: .customLong("client-id"), help: ArgumentHelp("The client's identifier at the service.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("A file with the client's secret, or - for a line of standard input.", valueName: "file"))
    var clientSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the client's private key, PEM or JWK, which signs in place of a secret; with --grant jwt-bearer also the "
                + "key file (JSON) of a Google service account.", valueName: "file"))
    var key: String?

    @Option(
        name: .customLong("key-id"),
        help: ArgumentHelp("The name by which the service knows the key.", valueName: "id"))
    var keyID: String?

    @Option(
        help: ArgumentHelp(
            "A PEM file with the client's certificate and its key, for connections to the service (RFC 8705).",
            valueName: "file"))
    var certificate: String?

    @Option(
        help: ArgumentHelp(
            "A file with a personal token from the service, or - for a line of standard input; replaces the sign-in.",
            valueName: "file"))
    var tokenFile: String?

    @Option(
        name: .customLong("registration-token-file"),
        help: ArgumentHelp(
            "A file with the token that a server demands of apps that register there, or - for a line of standard input; "
                + "with --issuer.", valueName: "file"))
    var registrationTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "How the client authenticates; the safest method that the server allows unless given.",
            discussion:
                "With --grant jwt-bearer the client does not authenticate unless this says how; to revoke its tokens the server may "
                + "demand private-key-jwt."))
    var auth: AuthenticationChoice?

    @Option(
        help: ArgumentHelp(
            "Whether the request is handed to the server before the browser opens (RFC 9126): auto, always or never.",
            valueName: "when"))
    var par: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Bind the tokens to a key that proves each request (DPoP, RFC 9449).",
            discussion: "Without the option they are bound where the service is known to demand it."))
    var dpop: Bool?

    @Flag(
        name: .customLong("request-object"), inversion: .prefixedNo,
        help: "Sign the authorization request with the key (RFC 9101).")
    var requestObject: Bool?

    @Option(
        name: .customLong("response-mode"),
        help: ArgumentHelp("How the service answers: query, or jwt for a signed response (JARM).", valueName: "mode"))
    var responseMode: String?

    @Option(
        name: .customLong("authorization-details"),
        help: ArgumentHelp("What to authorize in detail (RFC 9396): a JSON list, or @FILE.", valueName: "json"))
    var authorizationDetails: String?

    @Flag(
        name: .customLong("fapi2"), inversion: .prefixedNo,
        help: "Keep to the FAPI 2.0 Security Profile, and refuse what departs from it.")
    var fapi2: Bool?

    @Flag(
        name: .customLong("retry-lost-refreshes"), inversion: .prefixedNo,
        help: ArgumentHelp(
            "Repeat a refresh whose answer was lost (the default).",
            discussion:
                "Some services end the session when a refresh token is used twice: with --no-retry-lost-refreshes it is sent once, "
                + "and if its answer is lost, sign in again after ten minutes."))
    var retryLostRefreshes: Bool?

    @Option(
        help: ArgumentHelp(
            "A scope to request; repeatable.",
            discussion:
                "Without one, a server that --issuer names is asked who you are: for openid, profile and offline_access, as far as it "
                + "lists them. --scope '' asks for none. For offline_access the service then shows its consent page "
                + "(prompt=consent); --param prompt=select_account asks otherwise.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        name: [.customLong("resource"), .customLong("audience")],
        help: ArgumentHelp("An API that the token is for (RFC 8707); repeatable.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: ArgumentHelp("Another origin that may receive the token; repeatable.", valueName: "url"))
    var apiOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "An additional authorization parameter; with --grant client-credentials one of the token request; repeatable.",
            valueName: "name=value"))
    var param: [String] = []

    @Flag(
        name: .customLong("require-acr"), inversion: .prefixedNo,
        help: ArgumentHelp(
            "Refuse a sign-in that meets none of the acr_values asked for.",
            discussion: """
                Otherwise the command only says so. The ID token has to show it, so the scopes need openid. The account keeps \
                this choice; --no-require-acr ends it.
                """
        ))
    var requireACR: Bool?

    @Option(
        help: ArgumentHelp(
            "Where the browser comes back: loopback (http://127.0.0.1 with a free port), loopback:PORT or a redirect URI.",
            valueName: "redirect"))
    var redirect: String?

    @Option(help: "Open the system's browser, or print the URL.")
    var browser: BrowserChoice?

    @Flag(help: "Show a code that you approve on any device, instead of opening a browser here (RFC 8628).")
    var device = false

    @Option(
        name: .customLong("grant"),
        help: ArgumentHelp(
            "The grant type; authorization-code unless given. client-credentials and jwt-bearer (RFC 7523) sign in without a user.",
            valueName: "type"))
    var statedGrant: Grant?

    @Option(
        help: ArgumentHelp(
            "With --grant jwt-bearer, the user for whom the token acts (“sub”), where an administrator has delegated that.",
            valueName: "user"))
    var subject: String?

    @Option(
        name: .customLong("assertion-issuer"),
        help: ArgumentHelp(
            "With --grant jwt-bearer, who makes the assertions (“iss”); the client ID unless given.", valueName: "id"))
    var assertionIssuer: String?

    @Option(
        name: .customLong("assertion-audience"),
        help: ArgumentHelp(
            "With --grant jwt-bearer, whom the assertions are for (“aud”): issuer, token_endpoint, or what the service's manual says.",
            valueName: "id"))
    var assertionAudience: String?

    @Option(
        name: .customLong("authorize-url"),
        help: ArgumentHelp("The authorization endpoint, without discovery.", valueName: "url"))
    var authorizeURL: String?

    @Option(
        name: .customLong("token-url"), help: ArgumentHelp("The token endpoint, without discovery.", valueName: "url"))
    var tokenURL: String?

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("A built-in service at another origin, such as a sandbox.", valueName: "url"))
    var baseURL: String?

    @Option(
        help: ArgumentHelp(
            "With --base-url, a server that speaks as the Recurse Center did in 2014: hackerschool.", valueName: "name")
    )
    var preset: String?

    @Option(
        help: ArgumentHelp(
            "The value of a service's placeholder, as services show NAME lists it; repeatable.", valueName: "name=value"
        ))
    var set: [String] = []

    @Option(help: ArgumentHelp("The same as --set tenant=NAME.", valueName: "name"))
    var tenant: String?

    @Option(help: ArgumentHelp("The timeout of the whole sign-in.", valueName: "seconds"))
    var timeout: Int = 300

    /// Whether the user signs in on a page of the browser here.
    var opensPage: Bool { !device && tokenFile == nil && grant == .authorizationCode }

    /// The grant type.
    var grant: Grant { statedGrant ?? .authorizationCode }

    /// Whether the account's last sign-in decides how this one goes: no grant is stated, and no way to a page.
    var leavesGrantOpen: Bool { statedGrant == nil && opensPage && redirect == nil && browser == nil }

    /// The options with the grant of the account's last sign-in, which had no user. Options that only a page can use mean a page.
    func repeating(_ grant: Grant) -> LoginOptions {
        // An assertion has no parameters beside it.
        let isPage =
            grant == .jwtBearer && !param.isEmpty || requireACR == true || authorizeURL != nil
            || authorizationDetails != nil
        guard leavesGrantOpen, !isPage else { return self }
        var options = self
        options.statedGrant = grant
        return options
    }

    /// The options with the device of the account's last sign-in. Options that only a page can use mean a page.
    ///
    /// - Parameter wasOnDevice: whether the user approved that sign-in on another device.
    func repeatingDevice(_ wasOnDevice: Bool) -> LoginOptions {
        let isPage =
            authorizeURL != nil || authorizationDetails != nil || fapi2 == true || requestObject == true
            || responseMode != nil || par == "always"
        guard wasOnDevice, leavesGrantOpen, !isPage else { return self }
        var options = self
        options.device = true
        return options
    }

    /// The options of the same sign-in on a page here.
    ///
    /// - Parameter wasOnDevice: whether the user approved the account's last sign-in on another device. A command that says nothing
    ///   of it repeats that.
    func inBrowser(after wasOnDevice: Bool) -> LoginOptions {
        var options = self
        options.device = false
        if wasOnDevice, options.browser == nil { options.browser = .system }
        return options
    }

    /// The command of this sign-in for the user to complete: which service and account are meant, how to sign in, and
    /// no client.
    ///
    /// - Parameters:
    ///   - values: values of placeholders beside those of the options, each `NAME=VALUE`.
    ///   - onDevice: whether the user signs in on another device; nil as the options say.
    func command(_ name: String, setting values: [String] = [], onDevice: Bool? = nil) -> String {
        let options: [(String, String?)] = [
            ("--account", account), ("--issuer", issuer), ("--authorize-url", authorizeURL), ("--token-url", tokenURL),
            ("--base-url", baseURL), ("--tenant", tenant), ("--redirect", redirect), ("--browser", browser?.rawValue),
            ("--subject", subject), ("--assertion-issuer", assertionIssuer),
            ("--assertion-audience", assertionAudience), ("--preset", preset), ("--par", par),
            ("--response-mode", responseMode), ("--authorization-details", authorizationDetails),
        ]
        let stated = options.compactMap { option, value in value.map { (option, $0) } }
        let repeated =
            (set + values).map { ("--set", $0) } + scope.map { ("--scope", $0) } + resource.map { ("--resource", $0) }
            + apiOrigin.map { ("--api-origin", $0) } + param.map { ("--param", $0) }
        let choices: [(String, Bool?)] = [
            ("dpop", dpop), ("fapi2", fapi2), ("request-object", requestObject),
            ("retry-lost-refreshes", retryLostRefreshes), ("require-acr", requireACR),
        ]
        let flags = choices.compactMap { name, isOn in isOn.map { $0 ? " --\(name)" : " --no-\(name)" } }
        return "handshake login \(KnownAccount.shellWord(name))"
            + (stated + repeated).map { " \($0.0) \(KnownAccount.shellWord($0.1))" }.joined() + flags.joined()
            + (onDevice ?? device ? " --device" : "") + (statedGrant.map { " --grant \($0.rawValue)" } ?? "")
    }

    /// The options that state the client, as they were given.
    var clientWords: String {
        [
            ("--client-id", clientID), ("--client-secret-file", clientSecretFile), ("--key", key), ("--key-id", keyID),
            ("--certificate", certificate), ("--auth", auth?.rawValue),
        ].map { option, value in value.map { " \(option) \(KnownAccount.shellWord($0))" } ?? "" }.joined()
    }

    /// A server that has no sign-in on another device.
    ///
    /// - Parameters:
    ///   - reason: why not, as a sentence.
    ///   - command: the same sign-in with a browser.
    static func noDeviceGrant(_ reason: String, by command: String) -> CommandError {
        .usage("\(reason) Sign in with a browser: \(command)")
    }

    /// Refuses options that contradict each other. Not `validate()`, whose errors lose their status.
    func check() throws {
        if device, tokenFile != nil || redirect != nil || browser != nil || grant != .authorizationCode {
            throw CommandError.usage(
                "--device opens no browser on this machine: leave out --token-file, --redirect, --browser and --grant.")
        }
        if tokenFile != nil,
            clientSecretFile != nil || key != nil || redirect != nil || browser != nil || grant != .authorizationCode
        {
            throw CommandError.usage(
                "--token-file replaces the sign-in: leave out --client-secret-file, --key, --redirect, --browser and --grant."
            )
        }
        if certificate != nil, tokenFile != nil {
            throw CommandError.usage("--token-file replaces the sign-in: leave out --certificate.")
        }
        if registrationTokenFile != nil, resource.count != 1, issuer == nil {
            throw CommandError.usage("--registration-token-file is for one server: add --issuer URL.")
        }
        if grant == .jwtBearer { try checkAssertion() }
        if grant == .clientCredentials, redirect != nil || browser != nil || requireACR == true {
            throw CommandError.usage(
                "--grant client-credentials signs in without a user: leave out --redirect, --browser and --require-acr."
            )
        }
        if registrationTokenFile != nil, clientID != nil {
            throw CommandError.usage(
                "--registration-token-file registers an app, and --client-id names one. Leave one of them out.")
        }
        if key != nil, clientSecretFile != nil, grant != .jwtBearer {
            throw CommandError.usage(
                "A client authenticates with a key or with a secret: leave out --key or --client-secret-file.")
        }
    }

    /// Refuses what only assertions say, at a sign-in without any.
    func checkNoAssertion() throws {
        let claims = [
            ("--subject", subject), ("--assertion-issuer", assertionIssuer),
            ("--assertion-audience", assertionAudience),
        ]
        guard let stated = claims.first(where: { $0.1 != nil }) else { return }
        throw CommandError.usage("\(stated.0) is for --grant jwt-bearer: add it.")
    }

    /// Refuses what does not fit a sign-in by assertions, which an account may have from its last sign-in.
    func checkAssertion() throws {
        let (grant, other) =
            statedGrant == nil
            ? ("The account's --grant jwt-bearer", ", or add --grant authorization-code") : ("--grant jwt-bearer", "")
        if redirect != nil || browser != nil || !param.isEmpty || authorizeURL != nil {
            throw CommandError.usage(
                "\(grant) signs in without a user: leave out --redirect, --browser, --param and --authorize-url\(other)."
            )
        }
        if registrationTokenFile != nil {
            throw CommandError.usage(
                "\(grant) is for a client that the server knows: leave out --registration-token-file\(other).")
        }
    }
}
#endif
