#if CommandLine
import Handshake
import OAuth

/// The client of a sign-in by assertions that its key signs (RFC 7523, section 2.1): `login NAME --grant jwt-bearer`.
struct AssertionChoice {
    let name: String
    let options: LoginOptions
    let settings: Settings
    /// The client of the account's last sign-in, if it made assertions.
    let previous: Client?
    private let table: Settings.ServiceSettings

    init(name: String, options: LoginOptions, settings: Settings, previous: Client?) {
        self.name = name
        self.options = options
        self.settings = settings
        self.previous = previous?.assertion == nil ? nil : previous
        table = settings.service(name)
    }

    /// Whether the sign-in is one of these: the options say so, or say nothing and the last one was.
    var isMeant: Bool {
        options.grant == .jwtBearer
            || (previous != nil && options.leavesGrantOpen)
    }

    /// Whether a service is the one of the account's last sign-in, or there was none.
    ///
    /// What is stored for one server goes to no other: an assertion that it receives would count at the first one.
    private func staysHere(_ service: Service) -> Bool {
        guard let previous else { return true }
        return service.authorizationServer.takesTokens(of: previous.service.authorizationServer)
    }

    /// What signs, and what the key's file says besides.
    private enum Source {
        case key(SigningKey)
        case serviceAccount(ServiceAccountKey)
        case previous(Client.SignedAssertion)

        var key: SigningKey {
            switch self {
            case .key(let key): key
            case .serviceAccount(let file): file.key
            case .previous(let assertion): assertion.key
            }
        }

        /// The account that a key file names.
        var account: String? {
            if case .serviceAccount(let file) = self { file.email } else { nil }
        }
    }

    /// The client.
    ///
    /// - Throws: ``CommandError`` for a file that is refused, or options that are missing.
    func client() async throws -> Client {
        let source = try source()
        let clientID = settings.choose(options.clientID, "CLIENT_ID", table.clientID)
        guard let id = clientID ?? source.account ?? options.assertionIssuer ?? previous?.id else {
            throw CommandError.usage(
                "--grant jwt-bearer needs the identifier that the service gave to the client: "
                    + "\(options.command(name)) --key FILE --client-id ID")
        }
        let service = try service(of: source)
        let scopes = options.scope.flatMap { $0.split(separator: " ").map(String.init) }
        let asked = scopes.isEmpty ? table.scope ?? previous?.scopes : scopes
        if case .serviceAccount = source, asked?.isEmpty ?? true {
            throw CommandError.usage(
                "A service account asks for scopes of the API that it uses: \(options.command(name)) --key FILE --scope SCOPE"
            )
        }
        let credentials = ClientCredential(options: options, settings: settings, service: name)
        let resources = options.resource.isEmpty ? table.resource ?? [] : options.resource
        let stated = try resources.map { try StatedValue(value: $0, name: "--resource").resource() }
        let known = staysHere(service) ? previous?.credential : nil
        let credential = try await credentials.credential(besides: source.key, previous: known)
        var client = Client.asserting(
            try claims(of: source, client: id, at: service), signedBy: source.key, service: service, id: id,
            scopes: asked, resources: stated.isEmpty ? previous?.resources ?? [] : stated,
            authenticatedBy: credential)
        client.certificate = try credentials.certificate(previous: previous?.certificate)
        return client
    }

    private func source() throws -> Source {
        guard let path = settings.choose(options.key, "KEY", table.key) else {
            guard let known = previous?.assertion else {
                throw CommandError.usage(
                    "--grant jwt-bearer needs the key that signs, or the key file of a service account: "
                        + "\(options.command(name)) --key FILE")
            }
            return .previous(known)
        }
        let bytes = try KeyFile.contents(of: path)
        guard ServiceAccountKey.isMeant(by: bytes) else {
            return .key(
                try KeyFile.key(
                    in: bytes, path: path, keyID: settings.choose(options.keyID, "KEY_ID", table.keyID)))
        }
        return .serviceAccount(try serviceAccount(in: bytes, path: path))
    }

    private func serviceAccount(in bytes: [UInt8], path: String) throws -> ServiceAccountKey {
        let endpoint = try tokenURL?.endpoint() ?? knownTokenEndpoint
        do throws(OAuthError) {
            return try ServiceAccountKey(parsing: bytes, tokenEndpoint: endpoint)
        } catch {
            throw refusal(error, of: quoted(path, limit: 200))
        }
    }

    /// What is wrong with the key file of a service account.
    private func refusal(_ error: OAuthError, of shown: String) -> any Error {
        switch error {
        case .configuration(_, let problem):
            return CommandError.usage("The key file “\(shown)” cannot be used: \(problem).")
        case .refused(let refusal) where refusal.check == .foreignTokenEndpoint:
            // A file from elsewhere could collect assertions that count at the right server (`any-server.md` 7.3). So no
            // command is printed that would send them there.
            return CommandError(
                status: .refused, code: "foreign_token_endpoint",
                message: "The key file “\(shown)” sends its assertions to \(refusal.found), and not to "
                    + "\(refusal.expected). Nothing was signed. If that is your service's token endpoint, state it: "
                    + "--token-url URL")
        case .refused(let refusal) where refusal.check == .insecureTransport:
            return CommandError(
                status: .refused, code: error.code,
                message: "The key file “\(shown)” sends its assertions to \(refusal.found), which is not encrypted. "
                    + "Nothing was signed. For a server on this machine, add: --token-url URL")
        default: return error
        }
    }

    private var tokenURL: StatedValue? {
        settings.stated(options.tokenURL, "token-url", "TOKEN_URL", table.tokenURL, of: name)
    }

    /// The token endpoint of the account's last sign-in, where a key file or the user has named it.
    private var knownTokenEndpoint: EndpointURL? {
        guard case .described(let server)? = previous?.service.authorizationServer else { return nil }
        return server.tokenEndpoint
    }

    /// What is known of the service where a key file's assertions go: as in the last sign-in, or built in.
    private func described(at endpoint: EndpointURL) throws -> Service? {
        let values = try ServiceChoice.values(options.set, tenant: options.tenant, table: table)
        guard tokenURL == nil else { return nil }
        if let previous, knownTokenEndpoint == endpoint { return previous.service }
        return try BuiltInService.named(name)?.service(values)
    }

    /// Where the assertions go: what the key file says, or the service that is stated.
    private func service(of source: Source) throws -> Service {
        guard case .serviceAccount(let file) = source else {
            return try ServiceChoice(name, options: options, settings: settings, previous: previous?.service).service()
        }
        guard options.issuer == nil else {
            throw CommandError.usage(
                "The key file of a service account says where its assertions go: leave out --issuer.")
        }
        let server = AuthorizationServerMetadata(
            issuer: Issuer(originOf: file.tokenEndpoint), tokenEndpoint: file.tokenEndpoint,
            security: file.tokenEndpoint.security)
        let described = try described(at: file.tokenEndpoint)
        let origins = try options.apiOrigin.map { try StatedValue(value: $0, name: "--api-origin").endpoint() }
        return try Service(
            name: name, displayName: described?.displayName ?? name, authorizationServer: .described(server),
            apiRoot: described?.apiRoot ?? origins.first,
            apiOrigins: (described?.apiOrigins ?? []) + origins.map(\.origin),
            defaultScopes: [])
    }

    /// Whom assertions are for where nothing is stated: the issuer that was discovered, and otherwise the token endpoint.
    private static func audience(at service: Service) -> JWTBearerAssertion.Audience {
        if case .discovered = service.authorizationServer, service.deviations.assertionAudience == .issuer {
            .issuer
        } else {
            .tokenEndpoint
        }
    }

    /// What the assertions say (RFC 7523, section 3).
    private func claims(
        of source: Source, client id: String, at service: Service
    ) throws -> JWTBearerAssertion.Claims {
        var claims: JWTBearerAssertion.Claims
        switch source {
        case .serviceAccount(let file):
            claims = file.claims(actingFor: options.subject ?? previous?.assertion?.claims.subject)
        case .previous(let assertion):
            guard staysHere(service) || options.assertionAudience != nil else {
                throw CommandError(
                    status: .refused, code: "foreign_token_endpoint",
                    message: "The stored key of “\(quoted(options.account ?? name, limit: 200))” makes assertions for "
                        + "another server. Nothing was signed. State the key and whom its assertions are for: "
                        + "\(options.command(name)) --key FILE --assertion-audience ID")
            }
            claims = assertion.claims
            if let subject = options.subject { claims.subject = subject }
        case .key:
            let issuer = options.assertionIssuer ?? previous?.assertion?.claims.issuer ?? id
            claims = JWTBearerAssertion.Claims(
                issuer: issuer, subject: options.subject ?? previous?.assertion?.claims.subject ?? issuer)
            claims.audience =
                (staysHere(service) ? previous?.assertion?.claims.audience : nil) ?? Self.audience(at: service)
        }
        if let issuer = options.assertionIssuer, !issuer.isIdentical(to: claims.issuer) {
            claims.issuer = issuer
        }
        switch options.assertionAudience {
        case nil: break
        case "issuer": claims.audience = .issuer
        case "token_endpoint": claims.audience = .tokenEndpoint
        case let name?:
            guard !name.isEmpty else { throw CommandError.usage("--assertion-audience is empty.") }
            claims.audience = .named(name)
        }
        return claims
    }
}
#endif
