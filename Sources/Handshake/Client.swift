import HTTPTypes
public import OAuth

/// An app's registration with a service: what it is called there, where its redirects go, and what it asks for.
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
    public let scopes: [String]
    /// The APIs that tokens are for (RFC 8707). Each account's tokens are for these, and are kept apart from tokens for
    /// others.
    public let resources: [EndpointURL]
    /// Further parameters of the authorization request.
    public let parameters: [String: String]

    package let credential: Credential?

    /// A secret and the way it is shown to the token endpoint.
    package struct Credential: Sendable {
        package let secret: Secret
        package let method: AuthenticationMethod

        package init(secret: Secret, method: AuthenticationMethod) {
            self.secret = secret
            self.method = method
        }
    }

    /// How a confidential client shows its secret (RFC 6749, section 2.3.1).
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// What the server's metadata allows, Basic before the form.
        case automatic
        case basic, post
    }

    /// Where the browser brings the user back.
    public enum Redirect: Sendable, Hashable {
        /// A listener on this machine, on the given port or on one that the kernel chooses (RFC 8252, section 7.3).
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
        resources: [EndpointURL] = [],
        parameters: [String: String] = [:]
    ) {
        self.init(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: nil)
    }

    /// Describes a confidential client: a server, or a person's own registration on their own machine.
    ///
    /// Not available in apps: a user who has the app has its secret (RFC 8252, section 8.5). Keep it on a server.
    @available(iOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(tvOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(watchOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    @available(visionOS, unavailable, message: "a secret in an app does not authenticate it; keep it on a server")
    public static func confidential(
        service: Service, id: String, secret: Secret, method: AuthenticationMethod = .automatic,
        redirect: Redirect = .loopback, scopes: [String]? = nil, resources: [EndpointURL] = [],
        parameters: [String: String] = [:]
    ) -> Client {
        Client(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: resources, parameters: parameters,
            credential: Credential(secret: secret, method: method))
    }

    package init(
        service: Service, id: String, redirect: Redirect, scopes: [String]?, resources: [EndpointURL],
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

    /// Whether the client holds a secret.
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

    /// A request to a server's token endpoint, as the service wants it.
    func tokenRequest(
        _ grantType: TokenRequest.GrantType, at server: AuthorizationServerMetadata
    ) throws(HandshakeError) -> TokenRequest {
        let deviations = service.deviations
        var headers = requiredHeaders
        headers[.accept] = nil
        headers[.contentType] = nil
        return TokenRequest(
            grantType, at: server, clientID: id, authentication: try authentication(at: server),
            resources: resources.map(\.string), extras: deviations.tokenParameters,
            scopeDelimiter: deviations.scopeDelimiter, repeatedScopes: deviations.repeatsScope ? scopes : [],
            headers: headers, deviations: deviations.token)
    }

    /// How this client authenticates at a server.
    func authentication(at server: AuthorizationServerMetadata) throws(HandshakeError) -> ClientAuthentication {
        guard let credential else { return .none }
        let basic = ClientAuthentication.basic(
            secret: credential.secret, encoding: service.deviations.credentialEncoding)
        switch credential.method {
        case .basic: return basic
        case .post: return .post(secret: credential.secret)
        case .automatic:
            let safest: ClientAuthentication
            do {
                safest = try .safest(secret: credential.secret, supported: server.tokenEndpointAuthMethods)
            } catch {
                throw .exchange(error)
            }
            if case .basic = safest { return basic }
            return safest
        }
    }
}
