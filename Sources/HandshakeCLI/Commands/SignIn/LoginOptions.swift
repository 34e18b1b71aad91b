#if CommandLine
import ArgumentParser

/// The options of `login`.
struct LoginOptions: ParsableArguments {
    enum Grant: String, ExpressibleByArgument, CaseIterable {
        case authorizationCode = "authorization-code"
        case clientCredentials = "client-credentials"
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
            "A file with the client's private key, PEM or JWK, which signs in place of a secret.", valueName: "file"))
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

    @Option(help: "How the client authenticates; the safest method that the server allows unless given.")
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

    @Option(help: ArgumentHelp("A scope to request; repeatable.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        name: [.customLong("resource"), .customLong("audience")],
        help: ArgumentHelp("An API that the token is for (RFC 8707); repeatable.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: ArgumentHelp("Another origin that may receive the token; repeatable.", valueName: "url"))
    var apiOrigin: [String] = []

    @Option(help: ArgumentHelp("An additional authorization parameter; repeatable.", valueName: "name=value"))
    var param: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where the browser comes back: loopback (http://127.0.0.1 with a free port), loopback:PORT or a redirect URI.",
            valueName: "redirect"))
    var redirect: String?

    @Option(help: "Open the system's browser, or print the URL.")
    var browser: BrowserChoice?

    @Flag(help: "Show a code that you approve on any device, instead of opening a browser here (RFC 8628).")
    var device = false

    @Option(help: "The grant type.")
    var grant: Grant = .authorizationCode

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

    /// The command of this sign-in for the user to complete: all that says which service and account are meant, and no client.
    func command(_ name: String) -> String {
        let stated = [
            ("--account", account), ("--issuer", issuer), ("--authorize-url", authorizeURL), ("--token-url", tokenURL),
            ("--base-url", baseURL), ("--tenant", tenant), ("--redirect", redirect),
        ].compactMap { option, value in value.map { (option, $0) } }
        let repeated =
            set.map { ("--set", $0) } + scope.map { ("--scope", $0) } + resource.map { ("--resource", $0) }
            + param.map { ("--param", $0) }
        return "handshake login \(KnownAccount.shellWord(name))"
            + (stated + repeated).map { " \($0.0) \(KnownAccount.shellWord($0.1))" }.joined()
            + (device ? " --device" : "") + (grant == .clientCredentials ? " --grant client-credentials" : "")
    }

    /// Refuses options that contradict each other. Not `validate()`, whose errors lose their status.
    func check() throws {
        if device, tokenFile != nil || redirect != nil || browser != nil || grant == .clientCredentials {
            throw CommandError.usage(
                "--device opens no browser here: leave out --token-file, --redirect, --browser and --grant.")
        }
        if tokenFile != nil,
            clientSecretFile != nil || key != nil || redirect != nil || browser != nil || grant == .clientCredentials
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
        if registrationTokenFile != nil, clientID != nil {
            throw CommandError.usage("--registration-token-file registers an app: leave out it or --client-id.")
        }
        if key != nil, clientSecretFile != nil {
            throw CommandError.usage(
                "A client authenticates with a key or with a secret: leave out --key or --client-secret-file.")
        }
    }
}
#endif
