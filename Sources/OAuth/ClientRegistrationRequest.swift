import HTTPTypes

/// Registers an app at an authorization server (RFC 7591, section 3.1).
///
/// The client is public: it proves itself with PKCE, as every app on a user's machine does (RFC 8252, section 8.4).
public struct ClientRegistrationRequest: Sendable {
    /// `registration_endpoint`.
    public let endpoint: EndpointURL
    /// The app's name, which the server shows to its users.
    public let name: String
    /// Where the browser brings the user back; exactly this address is registered.
    public let redirectURI: RedirectURI
    /// All scopes that will be asked for.
    public let scopes: [String]
    /// Whether users may approve on another device too (RFC 8628).
    public var isForDevices = false

    /// Prepares a registration.
    public init(at endpoint: EndpointURL, name: String, redirectURI: RedirectURI, scopes: [String] = []) {
        self.endpoint = endpoint
        self.name = name
        self.redirectURI = redirectURI
        self.scopes = scopes
    }

    /// The request to send. No member is left to the server's defaults, which give no refresh token and demand a secret.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a scope that is none (RFC 6749, section 3.3).
    public var message: RequestMessage {
        get throws(OAuthError) {
            RequestMessage(
                .post, endpoint, headers: [.accept: "application/json", .contentType: "application/json"],
                content: .bytes(Array(JSONValue.object(try members).json.utf8)))
        }
    }

    /// What is registered.
    var members: JSONObject {
        get throws(OAuthError) {
            try Scope.check(scopes)
            let isNative = redirectURI.kind != .claimed
            var members: JSONObject = [
                "client_name": .string(name), "redirect_uris": .array([.string(redirectURI.string)]),
                "response_types": .array([.string("code")]),
                "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
                "token_endpoint_auth_method": .string("none"),
                "application_type": .string(isNative ? "native" : "web"),
            ]
            if isForDevices {
                members["grant_types"] = .array([
                    .string("authorization_code"), .string("refresh_token"),
                    .string("urn:ietf:params:oauth:grant-type:device_code"),
                ])
            }
            if !scopes.isEmpty { members["scope"] = .string(scopes.joined(separator: " ")) }
            return members
        }
    }

    /// Reads the response (RFC 7591, section 3.2.1). What the server answers takes the place of what was asked.
    ///
    /// - Throws: ``OAuthError/server(_:)``, ``OAuthError/redirected(step:status:target:)``, or
    ///   ``OAuthError/malformed(step:member:expected:found:)`` when the server registered another redirect, or wants a secret
    ///   and gives none.
    public func client(from response: ResponseMessage) throws(OAuthError) -> RegisteredClient {
        try client(from: response, hiding: [])
    }

    /// Reads the response to a registration, or to a request about one.
    func client(from response: ResponseMessage, hiding secrets: [Secret]) throws(OAuthError) -> RegisteredClient {
        let members = try ResponseReader(successOf: .registration, in: response, hiding: secrets)
        let id = try members.requiredString("client_id")
        guard id.utf8.count <= 2048, id.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .malformed(
                step: .registration, member: "client_id", expected: "printable ASCII of at most 2048 bytes",
                found: "other characters or more")
        }
        if let registered = try members.strings("redirect_uris"),
            !registered.contains(where: { $0.isIdentical(to: redirectURI.string) })
        {
            throw members.malformed("redirect_uris", expected: redirectURI.string, found: registered.first)
        }
        let method = try members.string("token_endpoint_auth_method") ?? "none"
        guard ["none", "client_secret_basic", "client_secret_post"].contains(method) else {
            throw members.malformed(
                "token_endpoint_auth_method", expected: "none, client_secret_basic or client_secret_post",
                found: method)
        }
        let management = try ClientManagement(in: members, of: endpoint)
        guard method != "none" else {
            return RegisteredClient(id: id, secret: nil, usesBasic: false, expiresAt: nil, management: management)
        }
        guard let secret = try members.string("client_secret"), !secret.isEmpty else {
            throw .malformed(
                step: .registration, member: "client_secret", expected: "the secret of \(method)", found: "nothing")
        }
        let expiry = try members.integer("client_secret_expires_at").flatMap { $0 > 0 ? Double($0) : nil }
        return RegisteredClient(
            id: id, secret: Secret(secret), usesBasic: method == "client_secret_basic", expiresAt: expiry,
            management: management)
    }
}

/// What a server has registered (RFC 7591, section 3.2.1).
public struct RegisteredClient: Sendable {
    /// The identifier that the server chose.
    public let id: String
    /// The secret; nil for a public client.
    public let secret: Secret?
    /// Whether the secret goes into the `Authorization` field, not into the form.
    public let usesBasic: Bool
    /// When the secret ends, in seconds since 1970. Nil when it does not.
    public let expiresAt: Double?
    /// Where the registration is managed (RFC 7592). Nil when the server does not offer it.
    public let management: ClientManagement?
}
