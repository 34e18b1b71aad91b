public import HTTPTypes

/// A request to the token endpoint (RFC 6749, section 3.2). It is a posted form with one method of client
/// authentication.
public struct TokenRequest: Sendable {
    /// What is exchanged for tokens. There is no password grant (RFC 9700, section 2.4).
    public enum GrantType: Sendable {
        /// RFC 6749, section 4.1.3 with the verifier of RFC 7636, section 4.5.
        case authorizationCode(AuthorizationCode)
        /// RFC 6749, section 6.
        case refreshToken(Secret)
        /// RFC 6749, section 4.4.
        case clientCredentials(scopes: [String])
        /// A ``DeviceAuthorization/deviceCode`` (RFC 8628, section 3.4). The user approves it on another device.
        case deviceCode(Secret)
        /// A token that stands for a user, for another one. Source: RFC 8693, section 2.1.
        case tokenExchange(TokenExchange)
        /// A signed assertion about a user, or about the client itself. Source: RFC 7523, section 2.1.
        case jwtBearer(JWTBearerAssertion)
        /// A ``BackchannelAuthentication/requestID`` (CIBA Core, section 10.1). The user approves it on a device of their
        /// own.
        case backchannelAuthentication(Secret)
    }

    /// The server that is asked, at its token endpoint.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// How the client authenticates.
    public let authentication: ClientAuthentication
    /// What is exchanged for tokens.
    public let grantType: GrantType
    /// The APIs that the token is for (RFC 8707, section 2).
    public let resources: [String]
    /// Parameters that the service wants beyond the standard.
    public let extras: [String: String]
    /// The separator of two scopes.
    public let scopeDelimiter: String
    /// Scopes that are stated with a code or a refresh token too. Some services demand it.
    public let repeatedScopes: [String]
    /// Header fields that the service wants beyond the standard.
    public let headers: HTTPFields
    /// How the service's token endpoint departs from the standard.
    public let deviations: TokenDeviations
    /// Which access tokens the client can use.
    public let accepting: AccessTokenKinds
    /// What no error may show beside what is sent: other tokens of the session, which a server may quote.
    package var hidden: [Secret] = []

    /// Which access tokens a client can use, by `token_type` (RFC 6749, section 7.1).
    public enum AccessTokenKinds: String, Sendable, Hashable {
        /// Tokens that count for everyone who has them (RFC 6750).
        case bearer
        /// Tokens that are bound to the key of the proof (RFC 9449, section 5). A bearer token is an error.
        case bound
        /// Either. A server may bind the refresh token alone (RFC 9449, section 5).
        case either
    }

    /// Prepares an exchange with `server`.
    public init(
        _ grantType: GrantType, at server: AuthorizationServerMetadata, clientID: String,
        authentication: ClientAuthentication, resources: [String] = [], extras: [String: String] = [:],
        scopeDelimiter: String = " ", repeatedScopes: [String] = [], headers: HTTPFields = HTTPFields(),
        deviations: TokenDeviations = TokenDeviations(), accepting: AccessTokenKinds = .bearer
    ) {
        self.accepting = accepting
        self.repeatedScopes = repeatedScopes
        self.headers = headers
        self.deviations = deviations
        self.grantType = grantType
        self.server = server
        self.clientID = clientID
        self.authentication = authentication
        self.resources = resources
        self.extras = extras
        self.scopeDelimiter = scopeDelimiter
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/issuer`` when a code was issued by another server than
    ///   the one it would be sent to (`oauth-security.md` B1); ``OAuthError/configuration(member:problem:)`` for a
    ///   colliding parameter.
    public var message: RequestMessage {
        get throws(OAuthError) {
            var parameters = Parameters()
            switch grantType {
            case .authorizationCode(let code):
                guard code.request.server.issuer == server.issuer else {
                    throw .refused(
                        Refusal(.issuer, expected: code.request.server.issuer.string, found: server.issuer.string))
                }
                guard code.request.clientID == clientID else {
                    throw .configuration(member: "client_id", problem: "the code was issued to another client")
                }
                try parameters.add("grant_type", "authorization_code")
                try parameters.add("code", code.secret.reveal())
                try parameters.add("redirect_uri", code.request.redirectURI.string)
                try parameters.add("code_verifier", code.request.verifier.secret.reveal())
            case .refreshToken(let token):
                try parameters.add("grant_type", "refresh_token")
                try parameters.add("refresh_token", token.reveal())
            case .clientCredentials(let scopes):
                try Scope.check(scopes)
                try parameters.add("grant_type", "client_credentials")
                try parameters.add("scope", scopes.joined(separator: scopeDelimiter))
            case .deviceCode(let code):
                try parameters.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
                try parameters.add("device_code", code.reveal())
            case .tokenExchange(let exchange):
                try exchange.add(to: &parameters, scopeDelimiter: scopeDelimiter)
            case .jwtBearer(let assertion):
                try assertion.add(to: &parameters, at: server, scopeDelimiter: scopeDelimiter)
            case .backchannelAuthentication(let requestID):
                try parameters.add("grant_type", "urn:openid:params:grant-type:ciba")
                try parameters.add("auth_req_id", requestID.reveal())
            }
            if !grantType.statesScopes {
                try Scope.check(repeatedScopes)
                try parameters.add("scope", repeatedScopes.joined(separator: scopeDelimiter))
            }
            try parameters.addEach("resource", resources)
            try parameters.add(extras: extras, reserved: Self.reservedNames)
            var headers = headers
            let call = AuthenticatedCall(
                server: server, endpoint: endpoint, algorithms: server.tokenEndpointAuthSigningAlgorithms)
            // The assertion says who asks (RFC 7521, section 4.1).
            if case .jwtBearer(let assertion) = grantType, case .none = authentication, assertion.names(clientID) {
            } else {
                try authentication.apply(clientID: clientID, for: call, to: &parameters, &headers)
            }
            return deviations.sendsJSON
                ? RequestMessage(json: parameters, to: endpoint, headers: headers)
                : RequestMessage(form: parameters, to: endpoint, headers: headers)
        }
    }

    /// Where the request goes: some services refresh at an endpoint of its own.
    private var endpoint: EndpointURL {
        if case .refreshToken = grantType {
            server.refreshEndpoint ?? server.tokenEndpoint
        } else {
            server.tokenEndpoint
        }
    }

    /// Reads the response (RFC 6749, sections 5.1 and 5.2).
    ///
    /// - Parameters:
    ///   - response: the token endpoint's response.
    ///   - now: seconds since 1970 when the request was sent, so that the computed expiry is never later than the real one.
    /// - Throws: ``OAuthError/server(_:)`` for the server's own errors;
    ///   ``OAuthError/malformed(step:member:expected:found:)`` naming the member that is missing, of the wrong type or
    ///   repeated; ``OAuthError/redirected(step:status:target:)``.
    public func response(from response: ResponseMessage, now: Double) throws(OAuthError) -> TokenResponse {
        do throws(OAuthError) {
            return try tokens(in: response, now: now)
        } catch {
            guard case .server(var stated) = error, case .jwtBearer(let assertion) = grantType,
                assertion.isMadeForEachRequest
            else { throw error }
            stated.isOfOwnAssertion = true
            throw .server(stated)
        }
    }

    private func tokens(in response: ResponseMessage, now: Double) throws(OAuthError) -> TokenResponse {
        if response.head.status.kind != .redirection,
            let error = deviations.serverError(in: response, hiding: secrets)
        {
            throw error
        }
        try response.requireSuccess(.token, hiding: secrets)
        var tokens = try TokenResponse(
            parsing: response.content, now: now, hiding: secrets, deviations: deviations, accepting: accepting)
        if case .tokenExchange(let exchange) = grantType { try exchange.check(tokens) }
        // The client can ask again at any time, so that a refresh token would only be one more secret (RFC 6749, section
        // 4.4.3).
        if grantType.isRepeatable { tokens.refreshToken = nil }
        return tokens
    }

    /// What no error may show: what this exchange sends, and ``hidden``. A service may want a secret as an extra parameter; short ones are
    /// ordinary words.
    var secrets: [Secret] {
        let granted: [Secret] =
            switch grantType {
            case .authorizationCode(let code): [code.secret] + code.request.secrets
            case .refreshToken(let token): [token]
            case .deviceCode(let code), .backchannelAuthentication(let code): [code]
            case .tokenExchange(let exchange): exchange.secrets
            case .jwtBearer(let assertion): assertion.secrets
            case .clientCredentials: []
            }
        return granted + authentication.secrets(clientID: clientID)
            + extras.values.filter { $0.utf8.count >= 8 }.map(Secret.init) + hidden
    }

    static let reservedNames: Set<String> = [
        "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "device_code", "client_id",
        "client_secret",
        "scope", "resource",
        "client_assertion", "client_assertion_type", "username", "password", "assertion", "auth_req_id",
        "subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
    ]
}

extension TokenRequest.GrantType {
    /// Whether the grant states its scopes itself.
    fileprivate var statesScopes: Bool {
        switch self {
        case .clientCredentials, .tokenExchange, .jwtBearer: true
        case .authorizationCode, .refreshToken, .deviceCode, .backchannelAuthentication: false
        }
    }

    /// Whether the client can make the same request again, without a user.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .clientCredentials: true
        case .jwtBearer(let assertion): assertion.isMadeForEachRequest
        case .authorizationCode, .refreshToken, .deviceCode, .tokenExchange, .backchannelAuthentication: false
        }
    }
}

extension TokenRequest: CustomReflectable {
    /// The request without the values of the extra parameters. A service may want secrets among them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "issuer": server.issuer.string, "clientID": clientID, "authentication": authentication,
                "grantType": grantType, "resources": resources, "extras": extras.keys.sorted(),
            ], displayStyle: .struct)
    }
}
