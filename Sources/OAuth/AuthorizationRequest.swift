/// One attempt to get a user's authorization (RFC 6749, section 4.1.1). It has everything that its response is checked
/// against.
///
/// State, verifier and nonce are new in every request. PKCE by S256 and state are always present; neither can be turned
/// off. The value survives the process when it is sealed into a vault.
public struct AuthorizationRequest: Sendable {
    /// The server that is asked. The code is bound to its issuer.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// Where the response has to arrive.
    public let redirectURI: RedirectURI
    /// The scopes asked for, in order.
    public let scopes: [String]
    /// The APIs that the token is for (RFC 8707).
    public let resources: [String]
    /// What the response has to repeat: 256 random bits (`oauth-security.md` A7). There is no data in them.
    public let state: Secret
    /// What the ID token has to repeat (OpenID Connect Core, section 3.1.2.1). Present whenever `openid` is asked for.
    public let nonce: Secret?
    /// The proof that the exchange and this request come from the same client. It is shown at the token endpoint.
    public let verifier: CodeVerifier
    /// Seconds since 1970 after which a redirect is rejected.
    public let expiresAt: Double
    /// The address to open in the user's browser. State and nonce stand in it: show it to the user alone.
    public let url: String
    /// How the server has to send the response.
    public let responseMode: ResponseMode
    /// Whether a response without `iss` is refused although the server does not announce it.
    package let requiresIssuer: Bool
    /// What the address was made of; empty for a restored request and one that was handed over.
    let parameters: Parameters
    /// The signed text that holds all parameters (RFC 9101); nil for a plain request.
    let object: Secret?
    /// How and how recently the user has to have authenticated.
    package let authentication: RequestedAuthentication

    /// How the response comes back.
    public enum ResponseMode: String, Sendable, Hashable, Codable, CaseIterable {
        /// As parameters of the redirect (RFC 6749, section 4.1.2).
        case query
        /// As one signed text in the redirect (JARM, section 2.3.4). A plain response is refused.
        case jwt
        /// As a form that the server's page posts to the redirect URI. For apps on a web server. Source: OAuth 2.0 Form Post
        /// Response Mode.
        case formPost = "form_post"
        /// As one signed text in such a form (JARM, section 2.3.3). A plain response is refused.
        case formPostJWT = "form_post.jwt"

        /// Whether the response is one signed text, and a plain one is refused.
        public var isSigned: Bool { self == .jwt || self == .formPostJWT }

        /// Whether the response is posted to the redirect URI. It has to be a web server's.
        public var isPosted: Bool { self == .formPost || self == .formPostJWT }

        /// The names under which a server may list the mode.
        fileprivate var names: [String] { self == .jwt ? ["jwt", "query.jwt"] : [rawValue] }
    }

    /// What goes into the request beyond the protocol's own parameters.
    public struct Options: Sendable {
        /// The separator of two scopes. It is a space by RFC 6749, section 3.3, and a comma at some services.
        public var scopeDelimiter = " "
        /// The name of the parameter with the scopes.
        public var scopeParameter = "scope"
        /// Whether an ID token is wanted when `openid` is among the scopes. A nonce is then sent too.
        public var expectsIDToken = true
        /// The APIs that the token is for (RFC 8707, section 2).
        public var resources: [String] = []
        /// How the server has to send the response.
        public var responseMode = ResponseMode.query
        /// What the token shall authorize in detail (RFC 9396, section 2).
        public var authorizationDetails: [AuthorizationDetail] = []
        /// Whether a response without `iss` is refused, announced or not. Source: FAPI 2.0 Security Profile, section
        /// 5.3.3.2.
        public var requiresIssuer = false
        /// The thumbprint of the key that the code is bound to (RFC 9449, section 10). Nil for none, and for a request that is
        /// pushed with a proof, which binds the code as well (section 10.1).
        public var keyThumbprint: String?
        /// Parameters that the service or the caller adds. None may have a name that the protocol uses. The ID token has to
        /// satisfy a `max_age` among them, and `acr_values` where ``demandsContext`` says so.
        public var extras: [String: String] = [:]
        /// Whether an ID token in none of the contexts asked for (`acr_values`) is refused.
        ///
        /// Otherwise they are voluntary (OpenID Connect Core, section 3.1.2.1), and the claim `acr` says which one was used.
        public var demandsContext = false
        /// The time within which the redirect has to arrive, in seconds.
        public var lifetime: Double = 600

        /// The standard's behaviour and a lifetime of ten minutes.
        public init() {}
    }

    /// Makes a new request.
    ///
    /// - Parameters:
    ///   - server: the server that is asked.
    ///   - clientID: the client's identifier at this server.
    ///   - redirectURI: where the response has to arrive.
    ///   - scopes: the scopes asked for, in order.
    ///   - options: what goes into the request beyond that.
    ///   - now: seconds since 1970.
    ///   - random: the source of state, nonce and verifier.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/challengeMethod`` when the server's metadata lists
    ///   challenge methods without `S256`; ``OAuthError/malformed(step:member:expected:found:)`` when its metadata has no
    ///   authorization endpoint; ``OAuthError/configuration(member:problem:)`` for a repeated or colliding parameter.
    public init(
        to server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String] = [],
        options: Options = Options(), now: Double, random: RandomSource = .system
    ) throws(OAuthError) {
        guard let endpoint = server.authorizationEndpoint else {
            throw server.lacks("authorization_endpoint")
        }
        try ClientAuthentication.check(clientID: clientID)
        try Scope.check(scopes)
        try Prompt.check(options.extras["prompt"])
        for resource in options.resources where !resource.isEmpty { try ResourceIndicator.check(resource) }
        try AuthorizationDetail.check(options.authorizationDetails, at: server)
        try Self.check(options.responseMode, at: server)
        if let methods = server.codeChallengeMethods, !methods.contains("S256") {
            let listed = methods.isEmpty ? "an empty list" : quoted(methods.joined(separator: ", "), limit: 100)
            throw .refused(
                Refusal(.challengeMethod, expected: "S256 among the server's challenge methods", found: listed))
        }
        let state = random.unguessable()
        let nonce = options.expectsIDToken && scopes.contains("openid") ? random.unguessable() : nil
        let verifier = CodeVerifier(from: random)

        var parameters = Parameters()
        try parameters.add("response_type", "code")
        try parameters.add("client_id", clientID)
        try parameters.add("redirect_uri", redirectURI.string)
        try parameters.add(options.scopeParameter, scopes.joined(separator: options.scopeDelimiter))
        try parameters.add("state", state.reveal())
        try parameters.add("nonce", nonce?.reveal())
        try parameters.add("code_challenge", verifier.challenge)
        try parameters.add("code_challenge_method", "S256")
        try parameters.addEach("resource", options.resources)
        if !options.authorizationDetails.isEmpty {
            try parameters.add("authorization_details", AuthorizationDetail.json(options.authorizationDetails))
        }
        if options.responseMode != .query { try parameters.add("response_mode", options.responseMode.rawValue) }
        try parameters.add("dpop_jkt", options.keyThumbprint)
        try parameters.add(extras: options.extras, reserved: Self.reservedNames)
        self.init(
            restoring: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes,
            resources: options.resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: now + options.lifetime,
            url: try Self.url(of: endpoint, with: parameters),
            authentication: try RequestedAuthentication(
                parameters: options.extras, demandingContext: options.demandsContext),
            responseMode: options.responseMode, requiresIssuer: options.requiresIssuer, parameters: parameters)
    }

    /// Restores a request that was stored while the browser was open.
    package init(
        restoring server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String],
        resources: [String], state: Secret, nonce: Secret?, verifier: CodeVerifier, expiresAt: Double, url: String,
        authentication: RequestedAuthentication = .any, responseMode: ResponseMode = .query,
        requiresIssuer: Bool = false
    ) {
        self.init(
            restoring: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes, resources: resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: expiresAt, url: url,
            authentication: authentication, responseMode: responseMode, requiresIssuer: requiresIssuer,
            parameters: Parameters())
    }

    private init(
        restoring server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String],
        resources: [String], state: Secret, nonce: Secret?, verifier: CodeVerifier, expiresAt: Double, url: String,
        authentication: RequestedAuthentication, responseMode: ResponseMode, requiresIssuer: Bool,
        parameters: Parameters, object: Secret? = nil
    ) {
        self.responseMode = responseMode
        self.requiresIssuer = requiresIssuer
        self.object = object
        self.authentication = authentication
        self.parameters = parameters
        self.server = server
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.resources = resources
        self.state = state
        self.nonce = nonce
        self.verifier = verifier
        self.expiresAt = expiresAt
        self.url = url
    }

    /// Joins the parameters to the endpoint's own query, which is kept (RFC 6749, section 3.1).
    private static func url(of endpoint: EndpointURL, with parameters: Parameters) throws(OAuthError) -> String {
        guard let query = endpoint.query else { return endpoint.string + "?" + parameters.query }
        for pair in query.split(separator: "&") {
            let name = PercentEncoding.decodeForm(pair.prefix { $0 != "=" }.utf8)
            guard let name, !parameters.pairs.contains(where: { $0.name == name }) else {
                throw .malformed(
                    step: .metadata, member: "authorization_endpoint",
                    expected: "a query without this request's own parameters",
                    found: name.map { "the parameter “\(quoted($0, limit: 80))”" } ?? "a name that cannot be decoded")
            }
        }
        return endpoint.string + (query.isEmpty ? "" : "&") + parameters.query
    }

    /// The same request, whose address holds the client and a reference to what was handed over (RFC 9126, section 4).
    ///
    /// - Parameter repeated: the names of parameters that stand in the address too.
    func referring(to reference: String, repeating repeated: Set<String>) throws(OAuthError) -> AuthorizationRequest {
        guard let endpoint = server.authorizationEndpoint else { throw server.lacks("authorization_endpoint") }
        var short = Parameters()
        try short.add("client_id", clientID)
        try short.add("request_uri", reference)
        for (name, values) in parameters.grouped where repeated.contains(name) && name != "client_id" {
            try short.addEach(name, values)
        }
        return AuthorizationRequest(
            restoring: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes, resources: resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: expiresAt,
            url: try Self.url(of: endpoint, with: short), authentication: authentication,
            responseMode: responseMode, requiresIssuer: requiresIssuer)
    }

    /// The same request, with a signed text in place of its parameters (RFC 9101, section 5).
    ///
    /// - Parameter repeated: the names of parameters that stand beside the text too.
    func carrying(_ object: Secret, repeating repeated: Set<String>) throws(OAuthError) -> AuthorizationRequest {
        guard let endpoint = server.authorizationEndpoint else { throw server.lacks("authorization_endpoint") }
        var short = Parameters()
        try short.add("client_id", clientID)
        for (name, values) in parameters.grouped where repeated.contains(name) && name != "client_id" {
            try short.addEach(name, values)
        }
        try short.add("request", object.reveal())
        return AuthorizationRequest(
            restoring: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes, resources: resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: expiresAt,
            url: try Self.url(of: endpoint, with: short), authentication: authentication, responseMode: responseMode,
            requiresIssuer: requiresIssuer, parameters: short, object: object)
    }

    /// A server that lists its modes and not this one would send a response of another kind.
    private static func check(
        _ mode: ResponseMode, at server: AuthorizationServerMetadata
    ) throws(OAuthError) {
        guard mode != .query, let modes = server.responseModes, !mode.names.contains(where: modes.contains) else {
            return
        }
        throw .configuration(
            member: "response_mode",
            problem: "the server has no response mode \(mode.rawValue): it lists only "
                + "\(quoted(modes.joined(separator: ", "), limit: 200)); choose one of these, or leave the option out")
    }

    /// The secrets of the request, which no error may show.
    var secrets: [Secret] {
        [state, verifier.secret] + [nonce, object].compactMap(\.self)
    }

    /// The names that an extra parameter must not have.
    static let reservedNames: Set<String> = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
        "resource", "response_mode", "request", "request_uri", "client_secret", "code", "code_verifier", "grant_type",
        "dpop_jkt", "authorization_details",
    ]
}

extension AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// Client and server, without the address, which contains state and nonce.
    public var description: String {
        "authorization request of \(clientID) to \(server.issuer)"
    }

    /// The members that are no secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "issuer": server.issuer.string, "clientID": clientID, "redirectURI": redirectURI.string,
                "scopes": scopes,
                "resources": resources, "expiresAt": expiresAt,
            ], displayStyle: .struct)
    }
}
