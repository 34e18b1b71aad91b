#if CommandLine
import Foundation
import Handshake
import OAuth

/// What `login` does: options before variables before settings.
struct LoginPlan {
    let client: Client
    let account: String
    let grant: LoginOptions.Grant
    /// The file with the personal token that replaces the sign-in.
    let tokenFile: String?
    let browser: LoginOptions.BrowserChoice

    /// Plain `http:` is allowed on loopback only, and only when the user wrote it: the metadata or redirect of an `https:` server
    /// cannot lead to it.
    private static func security(for address: String?) -> TransportSecurity {
        address?.lowercased().hasPrefix("http:") == true ? .allowingInsecureLoopback : .httpsOnly
    }

    init(service name: String, options: LoginOptions, settings: Settings) async throws {
        let table = settings.service(name)
        let service = try Self.service(name, options: options, settings: settings, table: table)
        let known = settings.choose(options.clientID, "CLIENT_ID", table.clientID)
        guard let clientID = options.tokenFile == nil ? known : options.clientID ?? PersonalToken.clientID else {
            throw CommandError.usage(
                "--client-id is missing. Register an app at \(service.displayName) and give its identifier with --client-id ID"
                    + (name == "recurse-center" ? ". Apps are registered at https://www.recurse.com/settings/apps" : "")
            )
        }
        let secretFile = settings.choose(options.clientSecretFile, "CLIENT_SECRET_FILE", table.clientSecretFile)
        let secret: Secret? =
            if let secretFile { try await SecretLine.read(secretFile, what: "client secret") } else { nil }
        let method = try Self.authentication(
            settings.choose(options.auth?.rawValue, "AUTH", table.auth), hasSecret: secret != nil)
        let redirect = try Self.redirect(settings.choose(options.redirect, "REDIRECT", table.redirect))
        let scopes =
            options.scope.isEmpty ? table.scope : options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        let resources = try (options.resource.isEmpty ? table.resource ?? [] : options.resource).map {
            try EndpointURL($0, security: Self.security(for: $0), member: "resource")
        }
        let parameters = try Self.parameters(options.param)
        client =
            if let secret, let method {
                Client.confidential(
                    service: service, id: clientID, secret: secret, method: method, redirect: redirect, scopes: scopes,
                    resources: resources, parameters: parameters)
            } else {
                Client(
                    service: service, id: clientID, redirect: redirect, scopes: scopes, resources: resources,
                    parameters: parameters)
            }
        account = options.account ?? name
        guard (1...200).contains(account.utf8.count), account.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw CommandError.usage("An account's name has 1 to 200 bytes and no spaces.")
        }
        grant = options.grant
        tokenFile = options.tokenFile
        let browserChoice = settings.choose(options.browser?.rawValue, "BROWSER_CHOICE", table.browser) ?? "system"
        guard let browser = LoginOptions.BrowserChoice(rawValue: browserChoice) else {
            throw CommandError.usage("--browser takes system or print, not “\(quoted(browserChoice, limit: 80))”.")
        }
        self.browser = browser
    }

    private static func service(
        _ name: String, options: LoginOptions, settings: Settings, table: Settings.ServiceSettings
    ) throws -> Service {
        if name == "ifttt" {
            throw CommandError.usage(
                "IFTTT has no sign-in of its own. A connection provides the user token: handshake ifttt connect CONNECTION"
            )
        }
        let baseURL = settings.choose(options.baseURL, "BASE_URL", table.baseURL)
        if let service = Service.builtIn.first(where: { $0.name == name }) {
            guard [options.issuer, options.authorizeURL, options.tokenURL].allSatisfy({ $0 == nil }) else {
                throw CommandError.usage(
                    "“\(name)” is built in, with its endpoints. Use --base-url for a sandbox, or another name for your server."
                )
            }
            guard let baseURL else { return service }
            return try Service.builtIn(name, at: baseURL, security: security(for: baseURL)) ?? service
        }
        if baseURL != nil, options.baseURL != nil {
            throw CommandError.usage(
                "--base-url is for built-in services, and “\(quoted(name, limit: 80))” is not one. Use --issuer URL instead."
            )
        }
        let origins = try options.apiOrigin.map {
            try EndpointURL($0, security: security(for: $0), member: "api-origin").origin
        }
        let authorize = settings.choose(options.authorizeURL, "AUTHORIZE_URL", table.authorizeURL)
        let token = settings.choose(options.tokenURL, "TOKEN_URL", table.tokenURL)
        switch (settings.choose(options.issuer, "ISSUER", table.issuer), authorize, token) {
        case (let issuer?, nil, nil):
            let security = security(for: issuer)
            return try Service(
                name: name,
                authorizationServer: .discovered(try Issuer(issuer, security: security), security: security),
                apiOrigins: origins)
        case (let issuer, let authorize, let token?):
            let security = security(for: token)
            let token = try EndpointURL(token, security: security, member: "token-url")
            let server = AuthorizationServerMetadata(
                issuer: try issuer.map { try Issuer($0, security: security) } ?? Issuer(originOf: token),
                authorizationEndpoint: try authorize.map {
                    try EndpointURL($0, security: security, member: "authorize-url")
                },
                tokenEndpoint: token, security: security)
            return try Service(
                name: name, authorizationServer: .described(server), apiOrigins: origins + [token.origin])
        default:
            throw CommandError.usage(
                "“\(quoted(name, limit: 80))” is not a built-in service. Give its server with --issuer URL, or with --authorize-url URL and --token-url URL."
            )
        }
    }

    private static func authentication(_ text: String?, hasSecret: Bool) throws -> Client.AuthenticationMethod? {
        guard let text else { return hasSecret ? .automatic : nil }
        switch LoginOptions.AuthenticationChoice(rawValue: text) {
        case .some(.none): return nil
        case .basic where hasSecret: return .basic
        case .post where hasSecret: return .post
        case .basic, .post: throw CommandError.usage("--auth \(text) needs the secret: --client-secret-file FILE")
        case .privateKeyJWT: throw CommandError.notBuilt("--auth private-key-jwt")
        case nil: throw CommandError.usage("--auth takes none, basic or post, not “\(quoted(text, limit: 80))”.")
        }
    }

    private static func redirect(_ text: String?) throws -> Client.Redirect {
        guard let text, text != "loopback" else { return .loopback }
        guard text.hasPrefix("loopback:") else { return .uri(try RedirectURI(text)) }
        guard let port = UInt16(text.dropFirst("loopback:".count)), port > 0 else {
            throw CommandError.usage("--redirect loopback:PORT takes a port from 1 to 65535.")
        }
        return .loopback(port: port)
    }

    private static func parameters(_ pairs: [String]) throws -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandError.usage("--param takes NAME=VALUE, not “\(quoted(pair, limit: 80))”.")
            }
            guard parameters.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw CommandError.usage("--param “\(quoted(parts[0], limit: 80))” is given twice.")
            }
        }
        return parameters
    }
}
#endif
