import HTTPTypes
public import OAuth

/// An app's registration with a service. It says what the app is called there, where its redirects go, and what it asks
/// for.
///
/// A client made by ``init(service:id:redirect:scopes:resources:parameters:)`` is public: it proves itself with PKCE
/// and holds no secret, because a secret that ships in an app is no authentication (RFC 8252, section 8.5).
public struct Client: Sendable {
    public let service: Service
    /// The identifier that the service gave to the app.
    public let id: String
    /// Where the browser brings the user back.
    public let redirect: Redirect
    /// The scopes to ask for, in order.
    public private(set) var scopes: [String]
    /// The APIs that tokens are for (RFC 8707). Each account's tokens are for these, and are kept apart from tokens for
    /// others.
    public let resources: [ResourceIndicator]
    /// Further parameters of the authorization request.
    public private(set) var parameters: [String: String]

    /// How sign-ins of this client differ from the usual ones.
    public var options = Options()

    /// The certificate of connections to the server and the APIs (RFC 8705). Nil for none.
    ///
    /// A server that can binds the tokens to it: they are of use on connections with it alone. A client that
    /// authenticates by its certificate has it from the beginning.
    public var certificate: ClientCertificate?

    package let credential: Credential?

    /// What the server has registered for this client; nil for a client that was registered by hand.
    package var registration: ClientRegistration?

    /// Whether the user has chosen ``scopes``. Otherwise a later sign-in asks for what the API then names.
    package var hasChosenScopes = false

    /// What a client without users exchanges for tokens (RFC 7523, section 2.1). Nil for client credentials.
    package var assertion: SignedAssertion?

    /// The claims of an assertion, and the key that signs them.
    package struct SignedAssertion: Sendable {
        let claims: JWTBearerAssertion.Claims
        let key: SigningKey
    }

    /// The address under which alone tokens go, of an API that named its server itself. Nil for any of the service's.
    package var confinement: EndpointURL?

    /// What proves to the token endpoint that a request is the client's.
    package enum Credential: Sendable {
        /// A secret and the way it is shown.
        case secret(Secret, AuthenticationMethod)
        /// A key that signs.
        case key(SigningKey)
        /// The certificate of the connection (RFC 8705, section 2).
        case certificate(isSelfSigned: Bool)

        package var secret: Secret? {
            if case .secret(let secret, _) = self { secret } else { nil }
        }

        package var method: AuthenticationMethod? {
            if case .secret(_, let method) = self { method } else { nil }
        }

        package var key: SigningKey? {
            if case .key(let key) = self { key } else { nil }
        }
    }

    /// How a confidential client shows its secret (RFC 6749, section 2.3.1).
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// What the server's metadata allows. Basic comes before the form, and the form before a signed assertion.
        case automatic
        case basic, post
        /// An assertion that is signed with the secret (OpenID Connect Core, section 9).
        case clientSecretJWT = "client_secret_jwt"
    }

    /// How sign-ins of a client differ from the usual ones. The value made by ``init()`` is the usual.
    public struct Options: Sendable, Hashable, Codable {
        /// Whether authorization requests are pushed to the server (RFC 9126). They are handed over before the browser
        /// opens.
        public var pushedRequests = Pushing.automatic

        /// Whether tokens are bound to a key (RFC 9449). An account keeps what it was signed in with.
        public var dpop = Binding.automatic

        /// What may sign the proofs, as the API lists it (RFC 9728, section 2).
        ///
        /// The server's own list counts too. Nil leaves it to the server.
        public var dpopSigningAlgorithms: [String]?

        /// Whether authorization requests are signed (RFC 9101). The client's key signs them.
        public var signedRequests = Signing.automatic

        /// How the server sends its answer to an authorization request. With `jwt` it has to be signed (JARM); with `form_post`
        /// and `form_post.jwt` it is posted, which only the routes of a web server take.
        public var responseMode = AuthorizationRequest.ResponseMode.query

        /// What the tokens shall authorize in detail (RFC 9396). ``Account/authorizationDetails`` says what was granted.
        ///
        /// Only sign-ins through a browser ask for it. Those on other devices, by an assertion and as the client itself do not.
        public var authorizationDetails: [AuthorizationDetail] = []

        /// `id_token_signed_response_alg`: the one that the client is registered with. Nil for any that the server publishes.
        public var idTokenAlgorithm: SignatureAlgorithm?

        /// `authorization_signed_response_alg` (JARM, section 3). Nil for any that the server publishes.
        public var responseAlgorithm: SignatureAlgorithm?

        /// `userinfo_signed_response_alg`: that UserInfo is signed, and how. A plain answer is then refused.
        ///
        /// Nil takes a plain answer, and a signed one by any algorithm that the server publishes.
        public var userInfoAlgorithm: SignatureAlgorithm?

        /// Whether the client keeps to the FAPI 2.0 Security Profile. What departs from it is refused before it is used.
        ///
        /// That is: discovered endpoints, a key or a certificate in place of a secret, pushed requests, tokens that are bound
        /// to a key (or to the certificate), `iss` in every response, and the algorithms of
        /// `SignatureAlgorithm/fapi2` (`any-server.md` 8).
        public var fapi2 = false

        /// Whether a refresh token is sent again whose answer was lost.
        ///
        /// A server that has processed the first request either forgives the second, or ends the session, and some revoke all tokens of the user
        /// then. With false a token is sent once: the session waits ten minutes for the process that sent it, and ends if no answer was
        /// stored. An outage during a refresh then ends a session that another attempt would have saved.
        public var retriesLostRefreshes = true

        /// When authorization requests are signed.
        public enum Signing: String, Sendable, Hashable, Codable, CaseIterable {
            /// Where the server takes signed requests alone.
            case automatic = "auto"
            /// Always; a client without a key is an error.
            case always
            /// Never; a server that takes nothing else is an error.
            case never
        }

        /// When an authorization request is handed to the server before the browser opens.
        public enum Pushing: String, Sendable, Hashable, Codable, CaseIterable {
            /// Whenever the server has an endpoint for it.
            case automatic = "auto"
            /// Always; a server without an endpoint for it is an error.
            case always
            /// Never; a server that demands it is an error.
            case never
        }

        /// When tokens are bound to a key, which proves each request (RFC 9449).
        public enum Binding: String, Sendable, Hashable, Codable, CaseIterable {
            /// Where the service is known to take no other tokens. That is, where its description says so, and where the server
            /// takes no pushed request without a proof.
            case automatic = "auto"
            /// Always; a server that answers with a bearer token is an error.
            case always
            /// Always, and a bearer token is accepted. For servers that bind the refresh token alone (RFC 9449, section 5).
            case refreshOnly = "refresh-only"
            /// Never; a service whose APIs take no other tokens is an error.
            case never
        }

        /// The usual.
        public init() {}
    }

    /// Where the browser brings the user back.
    public enum Redirect: Sendable, Hashable {
        /// A listener on this machine (RFC 8252, section 7.3). It is on the given port or on one that the kernel
        /// chooses.
        case loopback(port: UInt16? = nil, path: String = "/callback")
        /// A private scheme or a claimed `https:` address. Checked when the client is used.
        case uri(RedirectURI)

        /// A listener on this machine, on a port that the kernel chooses, at `/callback`.
        public static let loopback = Redirect.loopback(port: nil)
    }

    /// Describes a public client: an app on a phone, a desktop or in a terminal.
    ///
    /// - Parameters:
    ///   - service: what one connects to.
    ///   - id: the identifier that the service gave to the app.
    ///   - redirect: where the browser brings the user back.
    ///   - scopes: what to ask for; nil asks for the service's smallest useful scope.
    ///   - resources: the APIs that tokens are for (RFC 8707).
    ///   - parameters: further parameters of the authorization request.
    public init(
        service: Service, id: String, redirect: Redirect = .loopback, scopes: [String]? = nil,
        resources: [ResourceIndicator] = [],
        parameters: [String: String] = [:]
    ) {
        self.init(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: nil)
    }

    /// Describes a confidential client. It is a server, or a user's own registration on their own machine.
    ///
    /// Not available in apps: a user who has the app has its secret (RFC 8252, section 8.5). Keep it on a server.
    @available(iOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    public static func confidential(
        service: Service, id: String, secret: Secret, method: AuthenticationMethod = .automatic,
        redirect: Redirect = .loopback, scopes: [String]? = nil, resources: [ResourceIndicator] = [],
        parameters: [String: String] = [:]
    ) -> Client {
        Client(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: .secret(secret, method))
    }

    /// Describes a confidential client that signs with its own key. It shows no secret.
    ///
    /// By `private_key_jwt` (OpenID Connect Core, section 9), or where the service wants it by a signed client secret.
    /// Not available in apps, for the same reason.
    @available(iOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a key in an app does not authenticate it; keep it on a server")
    public static func confidential(
        service: Service, id: String, key: SigningKey, redirect: Redirect = .loopback, scopes: [String]? = nil,
        resources: [ResourceIndicator] = [], parameters: [String: String] = [:]
    ) -> Client {
        Client(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: .key(key))
    }

    /// Describes a confidential client that authenticates by its certificate.
    ///
    /// Source: RFC 8705, section 2. Not available in apps: a user who has the app has its certificate and key.
    ///
    /// With `isSelfSigned` the server knows the certificate itself (`self_signed_tls_client_auth`), otherwise the authority that
    /// issued it (`tls_client_auth`).
    @available(iOS, unavailable, message: "a certificate in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a certificate in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a certificate in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a certificate in an app does not authenticate it; keep it on a server")
    public static func confidential(
        service: Service, id: String, certificate: ClientCertificate, isSelfSigned: Bool = false,
        redirect: Redirect = .loopback, scopes: [String]? = nil, resources: [ResourceIndicator] = [],
        parameters: [String: String] = [:]
    ) -> Client {
        var client = Client(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: .certificate(isSelfSigned: isSelfSigned))
        client.certificate = certificate
        return client
    }

    package init(
        service: Service, id: String, redirect: Redirect, scopes: [String]?, resources: [ResourceIndicator],
        parameters: [String: String], credential: Credential?
    ) {
        self.service = service
        self.id = id
        self.redirect = redirect
        self.scopes = scopes ?? service.defaultScopes
        self.resources = resources
        self.parameters = parameters
        self.credential = credential
    }

    /// The same client, which asks for other scopes and with other parameters.
    package func asking(for scopes: [String], _ parameters: [String: String]) -> Client {
        var client = self
        client.scopes = scopes
        client.parameters = parameters
        return client
    }

    /// Whether the client holds a secret or a key.
    public var isConfidential: Bool {
        credential != nil
    }

    /// The fields that the service wants in token and API requests, with this client's values.
    var requiredHeaders: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in service.deviations.requiredHeaders.sorted(by: { $0.key < $1.key }) {
            guard let name = HTTPField.Name(name) else { continue }
            fields[name] = value.replacing("{client_id}", with: id)
        }
        return fields
    }

    /// The APIs that requests name (RFC 8707).
    var sentResources: [String] {
        service.deviations.omitsResource ? [] : resources.map(\.string)
    }

    /// A request to a server's token endpoint, as the service wants it.
    ///
    /// - Parameters:
    ///   - key: what the request's proof will be signed with; nil for a request without one.
    ///   - binding: how the account is bound, at a refresh.
    ///   - resources: the APIs that the token is for; the client's own unless stated.
    func tokenRequest(
        _ grantType: TokenRequest.GrantType, at server: AuthorizationServerMetadata, provingBy key: DPoPKey? = nil,
        keeping binding: TokenBinding? = nil, resources: [String]? = nil, in environment: Environment
    ) throws(HandshakeError) -> TokenRequest {
        let deviations = service.deviations
        var headers = requiredHeaders
        headers[.accept] = nil
        headers[.contentType] = nil
        return TokenRequest(
            grantType, at: server, clientID: id, authentication: try authentication(at: server, in: environment),
            resources: service.deviations.omitsResource ? [] : resources ?? sentResources,
            extras: deviations.tokenParameters,
            scopeDelimiter: deviations.scopeDelimiter, repeatedScopes: deviations.repeatsScope ? scopes : [],
            headers: headers, deviations: deviations.token, accepting: accepting(key, keeping: binding))
    }

    /// A request to a server's device authorization endpoint, as the service wants it.
    func deviceAuthorizationRequest(
        to server: AuthorizationServerMetadata, in environment: Environment
    ) throws(HandshakeError) -> DeviceAuthorizationRequest {
        let deviations = service.deviations
        var headers = requiredHeaders
        headers[.accept] = nil
        headers[.contentType] = nil
        return DeviceAuthorizationRequest(
            to: server, clientID: id, authentication: try authentication(at: server, in: environment), scopes: scopes,
            resources: sentResources, extras: parameters, scopeDelimiter: deviations.scopeDelimiter,
            headers: headers, deviations: deviations.token)
    }

    /// How this client authenticates at a server.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/configuration(member:problem:)` when the server takes no
    ///   method or algorithm that the client has. Nothing was sent.
    func authentication(
        at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(HandshakeError) -> ClientAuthentication {
        do {
            switch credential {
            case nil: return .none
            case .certificate(let isSelfSigned)?: return try authentication(isSelfSigned: isSelfSigned, at: server)
            case .key(let key)?: return try authentication(by: key, at: server, in: environment)
            case .secret(let secret, let method)?:
                return try authentication(by: secret, method, at: server, in: environment)
            }
        } catch {
            throw .exchange(error)
        }
    }

    private func authentication(
        by secret: Secret, _ method: AuthenticationMethod, at server: AuthorizationServerMetadata,
        in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let basic = ClientAuthentication.basic(secret: secret, encoding: service.deviations.credentialEncoding)
        let methods = server.tokenEndpointAuthMethods
        switch method {
        case .basic: return basic
        case .post: return .post(secret: secret)
        case .clientSecretJWT: return try assertion(by: .secret(secret), at: server, in: environment)
        case .automatic where service.deviations.signedSecret != nil:
            throw .configuration(
                member: "client_secret", problem: "\(service.displayName) wants a secret that a key signs; give the key"
            )
        case .automatic where methods?.contains("client_secret_jwt") == true && !Self.takesSecret(methods):
            return try assertion(by: .secret(secret), at: server, in: environment)
        case .automatic:
            let safest = try ClientAuthentication.safest(secret: secret, supported: methods)
            if case .basic = safest { return basic }
            return safest
        }
    }

    private static func takesSecret(_ methods: [String]?) -> Bool {
        methods.map { $0.contains("client_secret_basic") || $0.contains("client_secret_post") } ?? true
    }

    private func authentication(
        by key: SigningKey, at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let method = service.deviations.signedSecret == nil ? "private_key_jwt" : "client_secret_post"
        if let methods = server.tokenEndpointAuthMethods, !methods.contains(method) {
            throw .configuration(
                member: "key",
                problem: "the server accepts no key, only "
                    + "\(quoted(methods.joined(separator: ", "), limit: 200)) at its token endpoint")
        }
        return try assertion(
            by: .key(options.fapi2 ? key.limited(to: SignatureAlgorithm.fapi2) : key), at: server, in: environment)
    }

    private func authentication(
        isSelfSigned: Bool, at server: AuthorizationServerMetadata
    ) throws(OAuthError) -> ClientAuthentication {
        let authentication = ClientAuthentication.certificate(isSelfSigned: isSelfSigned)
        guard certificate != nil else {
            throw .configuration(member: "certificate", problem: "it is missing; give the certificate and its key")
        }
        if let methods = server.tokenEndpointAuthMethods, !methods.contains(authentication.method) {
            throw .configuration(
                member: "certificate",
                problem: "the server does not take \(authentication.method): it accepts only "
                    + "\(quoted(methods.joined(separator: ", "), limit: 200)) at its token endpoint")
        }
        return authentication
    }

    private func assertion(
        by signer: ClientAssertion.Signer, at server: AuthorizationServerMetadata, in environment: Environment
    ) throws(OAuthError) -> ClientAuthentication {
        let deviations = service.deviations
        let origin = server.issuer.url.origin
        let assertion = ClientAssertion(
            by: signer,
            form: deviations.signedSecret.map { .secret($0) }
                ?? .assertion(audience: deviations.assertionAudience, type: deviations.assertionType),
            // By the server's clock, as far as it is known (`oauth-security.md` D11).
            now: { environment.proofs.time(at: origin, now: environment.time.now()) }, random: environment.random)
        try assertion.check(at: server)
        return .assertion(assertion)
    }
}

extension Client.Options {
    /// Decodes the options. One that is absent, as in records from before it existed, is the usual.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        pushedRequests = try values.decodeIfPresent(Pushing.self, forKey: .pushedRequests) ?? pushedRequests
        dpop = try values.decodeIfPresent(Binding.self, forKey: .dpop) ?? dpop
        dpopSigningAlgorithms = try values.decodeIfPresent([String].self, forKey: .dpopSigningAlgorithms)
        signedRequests = try values.decodeIfPresent(Signing.self, forKey: .signedRequests) ?? signedRequests
        responseMode =
            try values.decodeIfPresent(AuthorizationRequest.ResponseMode.self, forKey: .responseMode) ?? responseMode
        authorizationDetails =
            try values.decodeIfPresent([AuthorizationDetail].self, forKey: .authorizationDetails)
            ?? authorizationDetails
        idTokenAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .idTokenAlgorithm)
        responseAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .responseAlgorithm)
        userInfoAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .userInfoAlgorithm)
        fapi2 = try values.decodeIfPresent(Bool.self, forKey: .fapi2) ?? fapi2
        retriesLostRefreshes =
            try values.decodeIfPresent(Bool.self, forKey: .retriesLostRefreshes) ?? retriesLostRefreshes
    }
}

extension Client {
    /// Whether an authorization request is handed to a server before the browser opens (RFC 9126, section 5).
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the client's option and the server's demand do not
    ///   fit.
    func pushes(to server: AuthorizationServerMetadata) throws(HandshakeError) -> Bool {
        let isPossible = server.pushedAuthorizationRequestEndpoint != nil
        if options.fapi2 { return true }
        switch options.pushedRequests {
        case .automatic: return isPossible || server.requiresPushedAuthorizationRequests
        case .always: return true
        case .never:
            guard !server.requiresPushedAuthorizationRequests else {
                throw .configuration(
                    member: "par",
                    problem: "the server accepts pushed authorization requests only; use auto instead of never")
            }
            return false
        }
    }
}
