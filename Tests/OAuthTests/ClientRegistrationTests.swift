import Crypto
import HTTPTypes
import Testing

@testable import OAuth

@Suite("Client registration")
struct ClientRegistrationTests {
    private static func request(_ redirect: String, scopes: [String] = ["a", "offline_access"]) throws
        -> ClientRegistrationRequest
    {
        ClientRegistrationRequest(
            at: try EndpointURL("https://as.example/register"), name: "My “App”",
            redirectURI: try RedirectURI(redirect), scopes: scopes)
    }

    @Test(
        "M501: a registration leaves no member to the server's defaults",
        arguments: [
            ("http://127.0.0.1:49152/callback", "native"), ("com.example.app:/callback", "native"),
            ("https://app.example/callback", "web"),
        ])
    func members(_ redirect: String, type: String) throws {
        let message = try Self.request(redirect).message
        #expect(message.head.method == .post && message.head.authority == "as.example")
        #expect(message.head.headerFields[.contentType] == "application/json")
        #expect(message.head.headerFields[.authorization] == nil)
        guard case .bytes(let bytes) = message.content else {
            Issue.record("there is no content")
            return
        }
        let sent = try JSONValue(parsing: bytes)
        let expected = try JSONValue(
            parsing: Array(
                """
                {"application_type":"\(type)","client_name":"My “App”","grant_types":["authorization_code","refresh_token"],\
                "redirect_uris":["\(redirect)"],"response_types":["code"],"scope":"a offline_access",\
                "token_endpoint_auth_method":"none"}
                """.utf8))
        #expect(sent == expected)
    }

    @Test("M602: an algorithm by which no ID token is accepted is refused where one is asked for, and none stays open")
    func idTokenAlgorithm() throws {
        func answer(_ members: String, scopes: [String]) throws -> RegisteredClient {
            let content = Array("{\"client_id\":\"c\"\(members)}".utf8)
            return try Self.request("http://127.0.0.1:49152/callback", scopes: scopes).client(
                from: ResponseMessage(head: HTTPResponse(status: .init(code: 201)), content: content))
        }
        let named = try answer(
            #","id_token_signed_response_alg":"ES256","scope":"a openid""#, scopes: ["openid", "profile"])
        #expect(named.idTokenAlgorithm == .es256 && named.scopes == ["a", "openid"])
        let silent = try answer("", scopes: ["openid"])
        #expect(silent.idTokenAlgorithm == nil && silent.scopes == nil)
        for other in ["none", "HS256", "ES256K"] {
            let members = #","id_token_signed_response_alg":"\#(other)""#
            #expect(
                failure { _ = try answer(members, scopes: ["openid"]) } == "malformed id_token_signed_response_alg",
                "\(other)")
            #expect(try answer(members, scopes: ["a"]).idTokenAlgorithm == nil, "\(other)")
        }
    }

    @Test("6.2: the algorithm of ID tokens is asked for with openid, and RS256 counts also where the answer is silent")
    func wantedAlgorithm() throws {
        func registered(
            _ algorithm: SignatureAlgorithm, _ scopes: [String], _ answer: String = ""
        ) throws -> [String?] {
            var request = try Self.request("http://127.0.0.1:49152/callback", scopes: scopes)
            request.idTokenAlgorithm = algorithm
            let response = ResponseMessage(
                head: HTTPResponse(status: .created), content: Array("{\"client_id\":\"c\"\(answer)}".utf8))
            return [
                try request.members["id_token_signed_response_alg"]?.string,
                try request.client(from: response).idTokenAlgorithm?.rawValue,
            ]
        }
        #expect(try registered(.rs256, ["a", "openid"]) == ["RS256", "RS256"])
        #expect(try registered(.rs256, ["a"]) == [nil, nil], "there is no ID token")
        #expect(try registered(.es256, ["openid"]) == ["ES256", nil], "the server may not know the member")
        let other = #","id_token_signed_response_alg":"PS256""#
        #expect(try registered(.rs256, ["openid"], other) == ["RS256", "PS256"], "the server's word counts")
        #expect(try registered(.es256, ["openid"], other) == ["ES256", "PS256"])
        // What an update leaves out is removed (RFC 7592, section 2.2).
        var request = try Self.request("http://127.0.0.1:49152/callback", scopes: ["openid"])
        request.idTokenAlgorithm = .es256
        let update = ClientManagementRequest(
            .update, clientID: "c",
            by: ClientManagement(endpoint: try EndpointURL("https://as.example/c"), token: Secret("t")),
            registration: request)
        guard case .bytes(let bytes) = try update.message.content else {
            Issue.record("there is no content")
            return
        }
        #expect(try JSONValue(parsing: bytes).object?["id_token_signed_response_alg"]?.string == "ES256")
    }

    @Test("5.1: a client with a key registers its public half, and nothing of the private one")
    func key() throws {
        var request = try Self.request("https://app.example/callback")
        request.key = try SigningKey(
            parsing: Array(SigningKeys.shared.get().p256.pemRepresentation.utf8), keyID: "k-1")
        request.initialAccessToken = Secret("initial-canary")
        let message = try request.message
        #expect(message.head.headerFields[.authorization] == "Bearer initial-canary")
        guard case .bytes(let bytes) = message.content else {
            Issue.record("there is no content")
            return
        }
        let sent = try #require(JSONValue(parsing: bytes).object)
        #expect(sent["token_endpoint_auth_method"]?.string == "private_key_jwt")
        let key = try #require(sent["jwks"]?.object?["keys"]?.array?.first?.object)
        #expect(key["kid"]?.string == "k-1" && key["kty"]?.string == "EC" && key["d"] == nil)
        func answer(_ json: String, _ status: Int = 201) throws -> RegisteredClient {
            try request.client(
                from: ResponseMessage(head: HTTPResponse(status: .init(code: status)), content: Array(json.utf8)))
        }
        for json in [#"{"client_id":"c"}"#, #"{"client_id":"c","token_endpoint_auth_method":"private_key_jwt"}"#] {
            let client = try answer(json)
            #expect(client.id == "c" && client.secret == nil)
        }
        for method in ["none", "client_secret_basic"] {
            let json = #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"\#(method)"}"#
            #expect(failure { _ = try answer(json) } == "malformed token_endpoint_auth_method", "\(method)")
        }
        let error = serverError {
            _ = try answer(#"{"error":"invalid_token","error_description":"not initial-canary"}"#, 401)
        }
        #expect(error?.text == "not (secret)")
        let words = error.map { "\($0)" } ?? ""
        #expect(words.contains("ask its administrator"))
        // As servers built on Authlib answer.
        let denied = serverError { _ = try answer(#"{"error":"access_denied"}"#, 400) }
        #expect(denied.map { "\($0)".contains("ask its administrator") } == true)
        let other = serverError { _ = try answer(#"{"error":"invalid_redirect_uri"}"#, 400) }
        #expect(other.map { "\($0)".contains("ask its administrator") } == false)
        // RFC 7591, section 3.2.2: the user compares what was sent with what the server says of it.
        #expect(words.contains(#""redirect_uris":["https://app.example/callback"]"#) && !words.contains("k-1"))
        for token in ["", "a b", "a\nb"] {
            request.initialAccessToken = Secret(token)
            #expect(failure { _ = try request.message } == "configuration initial_access_token")
        }
    }

    @Test("a scope that is none is not sent, and no scope leaves the member out")
    func scopes() throws {
        #expect(throws: OAuthError.self) { try Self.request("com.example.app:/cb", scopes: ["a b"]).message }
        guard case .bytes(let bytes) = try Self.request("com.example.app:/cb", scopes: []).message.content else {
            Issue.record("there is no content")
            return
        }
        #expect(try JSONValue(parsing: bytes).object?["scope"] == nil)
    }

    @Test("C16: what the server answers takes the place of what was asked")
    func answers() throws {
        let basic = try client(
            #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_basic","client_secret_expires_at":1700000000}"#
        )
        #expect(basic.id == "c" && basic.secret?.reveal() == "s" && basic.usesBasic)
        #expect(basic.expiresAt == 1_700_000_000)
        let post = try client(
            #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post","client_secret_expires_at":0}"#,
            status: 200)
        #expect(!post.usesBasic && post.expiresAt == nil && post.secret != nil)
        let same = try client(#"{"client_id":"c","redirect_uris":["https://other/","com.example.app:/cb"]}"#)
        #expect(same.secret == nil)
    }

    @Test(
        "M502, C16: a public client has no secret, whatever the server sends beside it",
        arguments: [
            #"{"client_id":"c","client_secret":"","token_endpoint_auth_method":"none"}"#,
            #"{"client_id":"c","client_secret":"canary","token_endpoint_auth_method":"none"}"#,
            #"{"client_id":"c","client_secret":null}"#, #"{"client_id":"c"}"#,
        ])
    func publicClient(_ content: String) throws {
        #expect(try client(content).secret == nil)
    }

    @Test(
        "M502, C16: a registration that cannot be used stops, and names the member",
        arguments: [
            (#"{"client_id":"c","token_endpoint_auth_method":"client_secret_basic"}"#, "client_secret"),
            (
                #"{"client_id":"c","token_endpoint_auth_method":"client_secret_post","client_secret":""}"#,
                "client_secret"
            ),
            (#"{"client_id":"c","token_endpoint_auth_method":"private_key_jwt"}"#, "token_endpoint_auth_method"),
            (#"{"client_id":"c","redirect_uris":["https://evil.example/"]}"#, "redirect_uris"),
            (#"{"client_id":"c","redirect_uris":[]}"#, "redirect_uris"),
            (#"{"client_id":""}"#, "client_id"), (#"{"client_id":1}"#, "client_id"),
            (#"{"client_id":"a\nb"}"#, "client_id"), ("{}", "client_id"), ("<html>", "content"), ("[]", "content"),
        ])
    func unusable(_ content: String, member: String) throws {
        let error = #expect(throws: OAuthError.self) { try client(content) }
        guard case .malformed(.registration, let found, _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == member)
    }

    @Test("an error of the server is typed, with its code, and a redirect is not followed")
    func errors() throws {
        let error = #expect(throws: OAuthError.self) {
            try client(#"{"error":"invalid_redirect_uri","error_description":"no loopback"}"#, status: 400)
        }
        guard case .server(let server)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.code == "invalid_redirect_uri" && server.text == "no loopback")
        #expect(throws: OAuthError.redirected(step: .registration, status: 307)) { try client("{}", status: 307) }
    }

    @Test("a registered client does not show its secret")
    func hidden() throws {
        let client = try client(
            #"{"client_id":"c","client_secret":"canary-secret","token_endpoint_auth_method":"client_secret_post"}"#)
        var dumped = ""
        dump(client, to: &dumped)
        #expect(!"\(client) \(String(reflecting: client)) \(dumped)".contains("canary"))
    }

    private func client(_ content: String, status: Int = 201) throws -> RegisteredClient {
        try Self.request("com.example.app:/cb").client(
            from: ResponseMessage(head: HTTPResponse(status: .init(code: status)), content: Array(content.utf8)))
    }
}
