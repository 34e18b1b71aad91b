public import HTTPTypes

/// Asks a server to reach a user on a device of their own. Source: OpenID Connect Client-Initiated Backchannel
/// Authentication (CIBA) Core, section 7.1.
///
/// No browser is opened here: the server asks the user, for example by a message to their phone. The client polls, or is
/// notified when the user has decided.
public struct BackchannelAuthenticationRequest: Sendable {
    /// Who is to be asked. Exactly one of the three.
    public enum Hint: Sendable {
        /// A name that the server knows, such as an e-mail address or a telephone number.
        case login(String)
        /// An ID token of the user. The new one has to be about the same user.
        case idToken(Secret)
        /// A token that names the user in a form that was agreed with the server.
        case token(Secret)

        var secrets: [Secret] {
            switch self {
            case .login: []
            case .idToken(let token), .token(let token): [token]
            }
        }

        /// The user of an ID token, as it says, unchecked: the new one has to be about the same. Nil for other hints.
        package var subject: String? {
            guard case .idToken(let token) = self else { return nil }
            let parts = token.reveal().split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
            return (try? JSONValue(parsing: payload))?.object?["sub"]?.string
        }
    }

    /// The server that is asked.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// How the client authenticates, which is required (CIBA Core, section 7.1).
    public let authentication: ClientAuthentication
    /// The user.
    public let hint: Hint
    /// The scopes to ask for; `openid` is among them.
    public let scopes: [String]
    /// The APIs that tokens are for (RFC 8707, section 2).
    public let resources: [String]
    /// What the server shows to the user, and the client shows here. The user compares them; keep it short.
    public var bindingMessage: String?
    /// A secret of the user's own that lets this client ask. Nil where the server wants none.
    public var userCode: Secret?
    /// How long the request is to count, in seconds.
    public var requestedLifetime: Int?
    /// The authentication context classes to ask for, the best first.
    public var contextClasses: [String] = []
    /// What the server's notification will bring (CIBA Core, section 10.2). Nil when the client polls alone.
    public var notificationToken: Secret?
    /// Parameters that the service wants beyond the standard.
    public var extras: [String: String] = [:]
    /// Header fields that the service wants beyond the standard.
    public var headers = HTTPFields()
    /// The signed text that holds all parameters; nil for a plain request.
    private var object: Secret?

    /// Prepares a request to `server`.
    public init(
        to server: AuthorizationServerMetadata, clientID: String, authentication: ClientAuthentication,
        about hint: Hint,
        scopes: [String], resources: [String] = []
    ) {
        self.server = server
        self.clientID = clientID
        self.authentication = authentication
        self.hint = hint
        self.scopes = scopes
        self.resources = resources
    }

    /// A notification token: 256 bits, as CIBA Core, section 7.1 asks for at least 128.
    public static func newNotificationToken(random: RandomSource = .system) -> Secret {
        random.unguessable()
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` without a hint, for a second one among ``extras``, without
    ///   `openid`, for a public client, or for a server described by hand without this endpoint;
    ///   ``OAuthError/malformed(step:member:expected:found:)`` when a discovered server has none.
    public var message: RequestMessage {
        get throws(OAuthError) {
            guard let endpoint = server.backchannelAuthenticationEndpoint else {
                throw server.lacks("backchannel_authentication_endpoint")
            }
            var sent = Parameters()
            if let object { try sent.add("request", object.reveal()) } else { sent = try parameters }
            return try authentication.message(
                sent, headers: headers, clientID: clientID,
                for: AuthenticatedCall(
                    server: server, endpoint: endpoint, algorithms: server.tokenEndpointAuthSigningAlgorithms))
        }
    }

    /// The same request as one signed text (CIBA Core, section 7.1.1).
    ///
    /// It counts for five minutes. Signs the request as it is now: change nothing afterwards. Beside the text stands the client's authentication alone.
    ///
    /// - Parameters:
    ///   - key: the client's key, whose public half the server knows.
    ///   - now: seconds since 1970, as the server counts them.
    ///   - random: the source of `jti`.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the server takes no signed requests, or none by this key,
    ///   and what ``message`` throws.
    public func signed(
        by key: SigningKey, now: Double, random: RandomSource = .system
    ) throws(OAuthError) -> BackchannelAuthenticationRequest {
        guard let algorithms = server.backchannelRequestSigningAlgorithms else {
            throw .configuration(
                member: "request-object", problem: "the server takes no signed requests of this kind; use auto")
        }
        try OAuthError.checkClock(now)
        var claims = AuthorizationRequest.objectClaims(
            clientID: clientID, issuer: server.issuer, now: now, random: random)
        for (name, values) in try parameters.grouped {
            guard claims[name] == nil, name != "sub" else {
                throw .configuration(
                    member: name, problem: "a signed request cannot have a parameter of this name; remove it")
            }
            let value = try AuthorizationRequest.claim(name, values)
            claims[name] = name == "requested_expiry" ? .number(value.string ?? "0") : value
        }
        var header: JSONObject = ["typ": .string("oauth-authz-req+jwt")]
        header["kid"] = key.keyID.map { .string($0) }
        var request = self
        request.object = try key.sign(claims, header: header, by: try key.algorithm(among: algorithms))
        return request
    }

    private var parameters: Parameters {
        get throws(OAuthError) {
            try check()
            var parameters = Parameters()
            try parameters.add("scope", scopes.joined(separator: " "))
            switch hint {
            case .login(let name): try parameters.add("login_hint", name)
            case .idToken(let token): try parameters.add("id_token_hint", token.reveal())
            case .token(let token): try parameters.add("login_hint_token", token.reveal())
            }
            try parameters.add("binding_message", bindingMessage)
            try parameters.add("user_code", userCode?.reveal())
            try parameters.add("requested_expiry", requestedLifetime.map { "\($0)" })
            try parameters.add("acr_values", contextClasses.joined(separator: " "))
            try parameters.add("client_notification_token", notificationToken?.reveal())
            try parameters.addEach("resource", resources)
            try parameters.add(extras: extras, reserved: Self.reservedNames)
            return parameters
        }
    }

    private func check() throws(OAuthError) {
        func wrong(_ member: String, _ problem: String) -> OAuthError {
            .configuration(member: member, problem: problem)
        }
        try Scope.check(scopes)
        guard scopes.contains("openid") else { throw wrong("scope", "openid has to be among the scopes") }
        if case .none = authentication {
            throw wrong("client", "only a confidential client can ask for this (CIBA Core, section 7.1)")
        }
        let isEmpty =
            switch hint {
            case .login(let name): name.isEmpty
            case .idToken(let token), .token(let token): token.isEmpty
            }
        guard !isEmpty else { throw wrong("login_hint", "name the user who is to be asked") }
        if case .idToken = hint, hint.subject == nil {
            throw wrong("id_token_hint", "it is not an ID token; take that of an account")
        }
        if let lifetime = requestedLifetime, lifetime <= 0 {
            throw wrong("requested_expiry", "it has to be a positive number of seconds")
        }
        if let token = notificationToken?.reveal() {
            guard (22...1024).contains(token.utf8.count), token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw wrong("client_notification_token", "it must have 22 to 1024 characters of printable ASCII")
            }
        }
    }

    /// Reads the response (CIBA Core, section 7.3).
    ///
    /// - Throws: ``OAuthError/server(_:)``, such as `unknown_user_id`;
    ///   ``OAuthError/malformed(step:member:expected:found:)``; ``OAuthError/redirected(step:status:target:)``.
    public func authentication(from response: ResponseMessage) throws(OAuthError) -> BackchannelAuthentication {
        let hidden = secrets + (Self.requestID(in: response).map { [$0] } ?? [])
        return try BackchannelAuthentication(
            ResponseReader(successOf: .backchannelAuthentication, in: response, hiding: hidden))
    }

    private static func requestID(in response: ResponseMessage) -> Secret? {
        (try? JSONValue(parsing: response.content))?.object?["auth_req_id"]?.string.map(Secret.init)
    }

    private var secrets: [Secret] {
        authentication.secrets(clientID: clientID) + hint.secrets
            + [userCode, notificationToken, object].compactMap(\.self)
            + extras.values.filter { $0.utf8.count >= 8 }.map(Secret.init)
    }

    private static let reservedNames = TokenRequest.reservedNames.union([
        "login_hint", "id_token_hint", "login_hint_token", "binding_message", "user_code", "requested_expiry",
        "acr_values", "client_notification_token", "request",
    ])
}

extension BackchannelAuthenticationRequest: CustomReflectable {
    /// The request without the user, the extra parameters and the secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "issuer": server.issuer.string, "clientID": clientID, "scopes": scopes, "extras": extras.keys.sorted(),
            ], displayStyle: .struct)
    }
}
