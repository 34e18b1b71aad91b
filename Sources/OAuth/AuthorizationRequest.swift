/// One attempt to get a user's authorization: everything that its answer will be checked against (RFC 6749, section
/// 4.1.1).
///
/// State, verifier and nonce are new in every request and belong to this one alone. PKCE by S256 and state are always
/// there; neither can be turned off. The value survives the process when it is sealed into a vault.
public struct AuthorizationRequest: Sendable {
    /// The server that is asked, whose issuer the code is bound to.
    public var server: AuthorizationServerMetadata { content.server }
    /// The client that asks.
    public var clientID: String { content.clientID }
    /// Where the answer has to arrive.
    public var redirectURI: RedirectURI { content.redirectURI }
    /// The scopes asked for, in order.
    public var scopes: [String] { content.scopes }
    /// The APIs that the token is for (RFC 8707).
    public var resources: [String] { content.resources }
    /// What the server has to bring back, with 256 random bits. It is a handle and holds no data (`oauth-security.md`
    /// A7).
    public var state: Secret { content.state }
    /// What the ID token has to bring back; there whenever `openid` is asked for (OpenID Connect Core, 3.1.2.1).
    public var nonce: Secret? { content.nonce }
    /// What proves at the token endpoint that the exchange comes from who began this.
    public var verifier: CodeVerifier { content.verifier }
    /// Seconds since 1970 after which a redirect no longer counts.
    public var expiresAt: Double { content.expiresAt }
    /// The address to open in the user's browser. It is the one address with secrets in it that may be shown.
    public var url: String { content.url }

    private let content: Content

    /// What goes into the request beyond the protocol's own parameters.
    public struct Options: Sendable {
        /// What stands between two scopes. A space by RFC 6749, section 3.3; some services want a comma.
        public var scopeDelimiter = " "
        /// The APIs that the token is for (RFC 8707, section 2).
        public var resources: [String] = []
        /// Parameters that the service or the caller adds. None may have a name of the protocol's own.
        public var extras: [String: String] = [:]
        /// How long a redirect is waited for, in seconds.
        public var lifetime: Double = 600

        /// The standard's own behaviour and ten minutes to answer.
        public init() {}
    }

    /// Begins an attempt.
    ///
    /// - Parameters:
    ///   - server: who is asked.
    ///   - clientID: the client's identifier at this server.
    ///   - redirectURI: where the answer has to arrive.
    ///   - scopes: what is asked for, in order.
    ///   - options: what goes into the request beyond that.
    ///   - now: seconds since 1970.
    ///   - random: where state, nonce and verifier come from.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/challengeMethod`` when the server's metadata lists
    ///   challenge methods without `S256`; ``OAuthError/configuration(member:problem:)`` for a doubled or colliding
    ///   parameter.
    public init(
        to server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String] = [],
        options: Options = Options(), now: Double, random: RandomSource = .system
    ) throws(OAuthError) {
        guard let endpoint = server.authorizationEndpoint else {
            throw .configuration(member: "authorization_endpoint", problem: "this server has none")
        }
        try ClientAuthentication.check(clientID: clientID)
        try Scope.check(scopes)
        if let methods = server.codeChallengeMethods, !methods.contains("S256") {
            let listed = methods.isEmpty ? "an empty list" : quoted(methods.joined(separator: ", "), limit: 100)
            throw .refused(
                Refusal(.challengeMethod, expected: "S256 among the server's challenge methods", found: listed))
        }
        let state = random.unguessable()
        let nonce = scopes.contains("openid") ? random.unguessable() : nil
        let verifier = CodeVerifier(from: random)

        var parameters = Parameters()
        try parameters.add("response_type", "code")
        try parameters.add("client_id", clientID)
        try parameters.add("redirect_uri", redirectURI.string)
        try parameters.add("scope", scopes.joined(separator: options.scopeDelimiter))
        try parameters.add("state", state.reveal())
        try parameters.add("nonce", nonce?.reveal())
        try parameters.add("code_challenge", verifier.challenge)
        try parameters.add("code_challenge_method", "S256")
        try parameters.addEach("resource", options.resources)
        try parameters.add(extras: options.extras, reserved: Self.reservedNames)
        self.init(
            restoring: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes,
            resources: options.resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: now + options.lifetime,
            url: try Self.url(of: endpoint, with: parameters))
    }

    /// Restores a request that was sealed away while the browser was open.
    package init(
        restoring server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String],
        resources: [String], state: Secret, nonce: Secret?, verifier: CodeVerifier, expiresAt: Double, url: String
    ) {
        content = Content(
            server: server, clientID: clientID, redirectURI: redirectURI, scopes: scopes, resources: resources,
            state: state, nonce: nonce, verifier: verifier, expiresAt: expiresAt, url: url)
    }

    /// Joins the parameters to the endpoint's own query, which is kept (RFC 6749, section 3.1).
    private static func url(of endpoint: EndpointURL, with parameters: Parameters) throws(OAuthError) -> String {
        guard let query = endpoint.query else { return endpoint.string + "?" + parameters.query }
        for pair in query.split(separator: "&") {
            let name = PercentEncoding.decodeForm(pair.prefix { $0 != "=" }.utf8)
            guard let name, !parameters.pairs.contains(where: { $0.name == name }) else {
                throw .configuration(
                    member: name ?? "authorization_endpoint",
                    problem: "the authorization endpoint's own query has this parameter already, or cannot be read")
            }
        }
        return endpoint.string + (query.isEmpty ? "" : "&") + parameters.query
    }

    /// The names that an extra parameter must not take.
    static let reservedNames: Set<String> = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
        "resource", "response_mode", "request", "request_uri", "client_secret", "code", "code_verifier", "grant_type",
        "dpop_jkt",
    ]
}

/// What a request consists of, never changed and shared by all of its copies.
///
/// A class for speed alone: it is some fifty strings, and a redirect is checked in less time than it takes to copy
/// them.
private final class Content: Sendable {
    let server: AuthorizationServerMetadata
    let clientID: String
    let redirectURI: RedirectURI
    let scopes: [String]
    let resources: [String]
    let state: Secret
    let nonce: Secret?
    let verifier: CodeVerifier
    let expiresAt: Double
    let url: String

    init(
        server: AuthorizationServerMetadata, clientID: String, redirectURI: RedirectURI, scopes: [String],
        resources: [String], state: Secret, nonce: Secret?, verifier: CodeVerifier, expiresAt: Double, url: String
    ) {
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
}

extension AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// Who asks whom: the address is left out, because state and nonce stand in it.
    public var description: String {
        "authorization request of \(clientID) to \(server.issuer)"
    }

    /// What may be seen of the request.
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
