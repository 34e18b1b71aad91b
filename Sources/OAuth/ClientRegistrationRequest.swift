import HTTPTypes

/// Registers an app at an authorization server (RFC 7591, section 3.1).
///
/// Without a ``key`` the client is public: it proves itself with PKCE, as every app on a user's machine does (RFC 8252,
/// section 8.4).
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
    /// The key that the client authenticates with (`private_key_jwt`). Its public half is registered. Nil for a public client.
    public var key: SigningKey?
    /// What is to sign the client's ID tokens (`id_token_signed_response_alg`). Nil leaves it to the server.
    ///
    /// It is sent where `openid` is among the ``scopes``. Source: OpenID Connect Dynamic Client Registration, section 2.
    public var idTokenAlgorithm: SignatureAlgorithm?
    /// What the server demands of those who register (RFC 7591, section 3). Nil for none.
    public var initialAccessToken: Secret?

    /// Prepares a registration.
    public init(at endpoint: EndpointURL, name: String, redirectURI: RedirectURI, scopes: [String] = []) {
        self.endpoint = endpoint
        self.name = name
        self.redirectURI = redirectURI
        self.scopes = scopes
    }

    /// The request to send. No member is left to the server's defaults, which give no refresh token and demand a secret.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a scope that is none (RFC 6749, section 3.3), or an initial
    ///   access token that cannot stand in a header.
    public var message: RequestMessage {
        get throws(OAuthError) {
            var headers: HTTPFields = [.accept: "application/json", .contentType: "application/json"]
            if let token = initialAccessToken?.reveal() {
                guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                    throw .configuration(
                        member: "initial_access_token", problem: "it has to be printable ASCII without spaces")
                }
                headers[.authorization] = "Bearer \(token)"
            }
            return RequestMessage(
                .post, endpoint, headers: headers, content: .bytes(Array(JSONValue.object(try members).json.utf8)))
        }
    }

    private var method: String { key == nil ? "none" : "private_key_jwt" }

    /// What is registered.
    var members: JSONObject {
        get throws(OAuthError) {
            try Scope.check(scopes)
            let isNative = redirectURI.kind != .claimed
            var members: JSONObject = [
                "client_name": .string(name), "redirect_uris": .array([.string(redirectURI.string)]),
                "response_types": .array([.string("code")]),
                "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
                "token_endpoint_auth_method": .string(method),
                "application_type": .string(isNative ? "native" : "web"),
            ]
            if isForDevices {
                members["grant_types"] = .array([
                    .string("authorization_code"), .string("refresh_token"),
                    .string("urn:ietf:params:oauth:grant-type:device_code"),
                ])
            }
            if let key { members["jwks"] = (try? JSONValue(parsing: Array(key.publicKeySet.utf8))) ?? .null }
            if !scopes.isEmpty { members["scope"] = .string(scopes.joined(separator: " ")) }
            if let idTokenAlgorithm, scopes.contains("openid") {
                members["id_token_signed_response_alg"] = .string(idTokenAlgorithm.rawValue)
            }
            return members
        }
    }

    /// Reads the response (RFC 7591, section 3.2.1). What the server answers takes the place of what was asked.
    ///
    /// - Throws: ``OAuthError/server(_:)``, ``OAuthError/redirected(step:status:target:)``, or
    ///   ``OAuthError/malformed(step:member:expected:found:)`` when the server registered another redirect, or wants a secret
    ///   and gives none.
    public func client(from response: ResponseMessage) throws(OAuthError) -> RegisteredClient {
        do {
            return try client(from: response, hiding: [initialAccessToken].compactMap(\.self))
        } catch .server(var error) {
            var members = try members
            members["jwks"] = nil
            error.sent = quoted(JSONValue.object(members).json)
            throw .server(error)
        }
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
        let registered = try members.string("token_endpoint_auth_method") ?? method
        let accepted = key == nil ? ["none", "client_secret_basic", "client_secret_post"] : [method]
        guard accepted.contains(registered) else {
            throw members.malformed(
                "token_endpoint_auth_method", expected: accepted.joined(separator: " or "), found: registered)
        }
        var client = RegisteredClient(
            id: id, secret: nil, usesBasic: false, expiresAt: nil,
            management: try ClientManagement(in: members, of: endpoint))
        client.scopes = members["scope"]?.string.map { $0.split(separator: " ").map(String.init) }
        if let name = members["id_token_signed_response_alg"]?.string {
            client.idTokenAlgorithm = SignatureAlgorithm(rawValue: name)
            // Better now than after the page. Without `openid` there is no ID token, whatever the server writes here.
            guard client.idTokenAlgorithm != nil || !scopes.contains("openid") else {
                throw members.malformed(
                    "id_token_signed_response_alg",
                    expected: SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: " or "), found: name)
            }
        } else if idTokenAlgorithm == .rs256, scopes.contains("openid") {
            // What was asked for, and the default of a server that does not know the member.
            client.idTokenAlgorithm = .rs256
        }
        guard registered.hasPrefix("client_secret") else { return client }
        guard let secret = try members.string("client_secret"), !secret.isEmpty else {
            throw .malformed(
                step: .registration, member: "client_secret", expected: "the secret of \(registered)", found: "nothing")
        }
        client.expiresAt = try members.integer("client_secret_expires_at").flatMap { $0 > 0 ? Double($0) : nil }
        client.secret = Secret(secret)
        client.usesBasic = registered == "client_secret_basic"
        return client
    }
}

/// What a server has registered (RFC 7591, section 3.2.1).
public struct RegisteredClient: Sendable {
    /// The identifier that the server chose.
    public let id: String
    /// The secret; nil for a public client, and for one with a key.
    public internal(set) var secret: Secret?
    /// Whether the secret goes into the `Authorization` field, not into the form.
    public internal(set) var usesBasic: Bool
    /// When the secret ends, in seconds since 1970. Nil when it does not.
    public internal(set) var expiresAt: Double?
    /// Where the registration is managed (RFC 7592). Nil when the server does not offer it.
    public internal(set) var management: ClientManagement?
    /// The scopes that the client may ask for (`scope`). Nil when the server does not say.
    public internal(set) var scopes: [String]?
    /// What signs the client's ID tokens (`id_token_signed_response_alg`). Nil when the server does not say.
    ///
    /// Where RS256 was asked for, which is also the default, a server that says nothing has registered it. One that was asked for
    /// another algorithm may not know the member, and sign as it likes.
    public internal(set) var idTokenAlgorithm: SignatureAlgorithm?
}
