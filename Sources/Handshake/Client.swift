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
    ///
    /// A client that signs in as itself, by client credentials, has no such request: it sends them to the token endpoint, at the
    /// sign-in and with each new token. What the service itself demands there takes precedence.
    public private(set) var parameters: [String: String]

    /// How sign-ins of this client differ from the defaults.
    public var options = Options()

    /// The certificate of connections to the server and the APIs (RFC 8705). Nil for none.
    ///
    /// A server that can binds the tokens to it: they are of use on connections with it alone. A client that
    /// authenticates by its certificate has it from the beginning.
    public var certificate: ClientCertificate?

    package private(set) var credential: Credential?

    /// What the server has registered for this client; nil for a client that was registered by hand.
    package var registration: ClientRegistration?

    /// Whether the user has chosen ``scopes``. Otherwise a later sign-in asks for what the API then names.
    package var hasChosenScopes = false

    /// Whether the user approves sign-ins on another device (RFC 8628). A command remembers it for the next one.
    package var signsInOnDevice = false

    /// Whether the user states ``credential`` for one sign-in. The stored one then does not take its place. Not stored.
    package var hasStatedCredential = false

    /// What a client without users exchanges for tokens (RFC 7523, section 2.1). Nil for client credentials.
    package var assertion: SignedAssertion?

    /// The claims of an assertion, and the key that signs them.
    package struct SignedAssertion: Sendable {
        package let claims: JWTBearerAssertion.Claims
        package let key: SigningKey
    }

    /// The address under which alone tokens go, of an API that named its server itself. Nil for any of the service's.
    package var confinement: EndpointURL?

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
    @available(iOS, unavailable, message: "an app's users can read its secret; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its secret; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its secret; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its secret; keep it on a server")
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
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
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
    @available(iOS, unavailable, message: "an app's users can read its certificate; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its certificate; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its certificate; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its certificate; keep it on a server")
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

    /// The same client with what its server has registered for it now.
    func registered(_ registration: ClientRegistration, _ credential: Credential?) -> Client {
        var client = self
        client.registration = registration
        client.credential = credential
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
            extras: tokenParameters(of: grantType),
            scopeDelimiter: deviations.scopeDelimiter, repeatedScopes: deviations.repeatsScope ? scopes : [],
            headers: headers, deviations: deviations.token, accepting: accepting(key, keeping: binding))
    }

    /// What a token request says beyond the protocol. Without an authorization request, it says what that would have said.
    private func tokenParameters(of grantType: TokenRequest.GrantType) -> [String: String] {
        let demanded = service.deviations.tokenParameters
        guard case .clientCredentials = grantType else { return demanded }
        return parameters.merging(demanded) { $1 }
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
}
