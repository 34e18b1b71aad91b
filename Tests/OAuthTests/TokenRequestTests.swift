import HTTPTypes
import Testing

@testable import OAuth

@Suite("Token endpoint and other back-channel calls")
struct TokenRequestTests {
    private func message(
        _ grant: TokenRequest.GrantType, _ authentication: ClientAuthentication, clientID: String = Example.clientID,
        extras: [String: String] = [:]
    ) throws -> RequestMessage {
        try TokenRequest(
            grant, at: try Example.server(), clientID: clientID, authentication: authentication, extras: extras
        ).message
    }

    private func code() throws -> AuthorizationCode {
        let verifier = Array(repeating: UInt8(0), count: 32)
        let request = try Example.request(random: RandomSource { _ in verifier })
        return try request.code(from: request.redirect("code=SplxlOBeZQQYbYS6WxSbIA"), now: Example.now)
    }

    @Test("C1: a code is exchanged by POST with everything in the form, as in RFC 6749, section 4.1.3")
    func authorizationCode() throws {
        let message = try message(.authorizationCode(try code()), .basic(secret: Secret(Example.clientSecret)))
        #expect(message.head.method == .post)
        #expect(message.head.path == "/token")
        #expect(message.head.scheme == "https")
        #expect(message.head.authority == "server.example.com")
        #expect(message.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(message.head.headerFields[.authorization] == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        #expect(
            message.form == [
                "grant_type=authorization_code", "code=SplxlOBeZQQYbYS6WxSbIA",
                "redirect_uri=https%3A%2F%2Fclient.example.com%2Fcb",
                "code_verifier=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            ])
    }

    @Test("C1: a refresh is that of RFC 6749, section 6")
    func refresh() throws {
        let message = try message(
            .refreshToken(Secret("tGzv3JOkF0XG5Qx2TlKWIA")), .basic(secret: Secret(Example.clientSecret)))
        #expect(message.head.headerFields[.authorization] == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        #expect(message.form == ["grant_type=refresh_token", "refresh_token=tGzv3JOkF0XG5Qx2TlKWIA"])
    }

    @Test("C1: client credentials are those of RFC 6749, section 4.4.2")
    func clientCredentials() throws {
        let message = try message(.clientCredentials(scopes: ["a", "b"]), .basic(secret: Secret(Example.clientSecret)))
        #expect(message.form == ["grant_type=client_credentials", "scope=a+b"])
    }

    @Test("C1: revocation is that of RFC 7009, section 2.1 and introspection that of RFC 7662, section 2.1")
    func revocationAndIntrospection() throws {
        let server = try Example.server()
        let revocation = try RevocationRequest(
            Secret("45ghiukldjahdnhzdauz"), kind: .refreshToken, at: server, clientID: Example.clientID,
            authentication: .basic(secret: Secret(Example.clientSecret))
        ).message
        #expect(revocation.head.path == "/revoke")
        #expect(revocation.head.headerFields[.authorization] == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        #expect(revocation.form == ["token=45ghiukldjahdnhzdauz", "token_type_hint=refresh_token"])
        let introspection = try IntrospectionRequest(
            Secret("mF_9.B5f-4.1JqM"), kind: .accessToken, at: server, clientID: Example.clientID,
            authentication: .basic(secret: Secret(Example.clientSecret))
        ).message
        #expect(introspection.head.path == "/introspect")
        #expect(introspection.form == ["token=mF_9.B5f-4.1JqM", "token_type_hint=access_token"])
    }

    @Test("C1: an endpoint that the server does not have is the configuration's fault")
    func noEndpoint() throws {
        var server = try Example.server()
        server.revocationEndpoint = nil
        server.introspectionEndpoint = nil
        server.authorizationEndpoint = nil
        let revocation = RevocationRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none)
        let introspection = IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none)
        #expect(failure { _ = try revocation.message } == "configuration revocation_endpoint")
        #expect(failure { _ = try introspection.message } == "configuration introspection_endpoint")
        #expect(failure { _ = try Example.request(to: server) } == "configuration authorization_endpoint")
    }

    @Test(
        "C2: a request authenticates its client in exactly one way",
        arguments: ["none", "client_secret_basic", "client_secret_post"])
    func oneMethod(name: String) throws {
        let secret = Secret(Example.clientSecret)
        let methods: [ClientAuthentication] = [.none, .basic(secret: secret), .post(secret: secret)]
        let method = try #require(methods.first { $0.method == name })
        let message = try message(.refreshToken(Secret("r")), method)
        let ways = [
            message.head.headerFields[.authorization] != nil,
            message.form.contains { $0.hasPrefix("client_secret=") },
            message.form.contains { $0.hasPrefix("client_assertion=") },
        ]
        #expect(ways.filter { $0 }.count == (name == "none" ? 0 : 1))
        #expect(message.form.contains("client_id=" + Example.clientID) == (name != "client_secret_basic"))
    }

    @Test(
        "C2: a caller's extra cannot authenticate a second time, nor take another name of the protocol's",
        arguments: [
            "client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_verifier",
            "grant_type", "password", "redirect_uri", "refresh_token", "resource", "scope", "username",
        ])
    func reserved(name: String) {
        #expect(
            failure { _ = try message(.refreshToken(Secret("r")), .none, extras: [name: "x"]) }
                == "configuration \(name)")
    }

    @Test(
        "A11: there is no password grant, and an extra cannot make one",
        arguments: ["username", "password", "grant_type"])
    func noPassword(name: String) {
        #expect(
            failure { _ = try message(.refreshToken(Secret("r")), .none, extras: [name: "x"]) }
                == "configuration \(name)")
    }

    @Test(
        "C3: Basic form-encodes identifier and secret before Base64",
        arguments: [
            ("s6BhdRkqt3", "gX1fBat3bV", "s6BhdRkqt3:gX1fBat3bV"),
            ("s6BhdRkqt3", "7Fjfp0ZBr1KtDRbnfVdmIw", "s6BhdRkqt3:7Fjfp0ZBr1KtDRbnfVdmIw"),
            ("a:b", "c:d", "a%3Ab:c%3Ad"), ("My App", "p+q/r=", "My+App:p%2Bq%2Fr%3D"),
            (" %&+£€", "é", "+%25%26%2B%C2%A3%E2%82%AC:%C3%A9"),
        ])
    func basic(clientID: String, secret: String, credentials: String) throws {
        let message = try message(.refreshToken(Secret("r")), .basic(secret: Secret(secret)), clientID: clientID)
        let value = try #require(message.head.headerFields[.authorization])
        #expect(value == "Basic " + Base64.encode(Array(credentials.utf8)))
    }

    @Test("C3: raw Basic joins identifier and secret as they are, and refuses a colon that would move the border")
    func rawBasic() throws {
        let raw = ClientAuthentication.basic(secret: Secret("p+q"), encoding: .raw)
        let message = try message(.refreshToken(Secret("r")), raw, clientID: "My App")
        #expect(message.head.headerFields[.authorization] == "Basic " + Base64.encode(Array("My App:p+q".utf8)))
        #expect(
            failure { _ = try self.message(.refreshToken(Secret("r")), raw, clientID: "a:b") }
                == "configuration client_id")
    }

    @Test("C2: a client without name, or a secret without characters, sends nothing")
    func empty() {
        #expect(
            failure { _ = try message(.refreshToken(Secret("r")), .none, clientID: "") } == "configuration client_id")
        for method in [ClientAuthentication.basic(secret: Secret("")), .post(secret: Secret(""))] {
            #expect(failure { _ = try message(.refreshToken(Secret("r")), method) } == "configuration client_secret")
        }
    }

    @Test(
        "C4: the safest method that the server takes is chosen",
        arguments: [
            (nil, "client_secret_basic"), (["client_secret_post", "client_secret_basic"], "client_secret_basic"),
            (["client_secret_post"], "client_secret_post"),
        ] as [([String]?, String)])
    func safest(supported: [String]?, method: String) throws {
        #expect(try ClientAuthentication.safest(secret: Secret("s"), supported: supported).method == method)
        #expect(try ClientAuthentication.safest(secret: nil, supported: supported).method == "none")
        #expect(
            failure { _ = try ClientAuthentication.safest(secret: Secret("s"), supported: ["private_key_jwt"]) }
                == "configuration client_secret")
    }

    @Test("C15: an answer of 503 to a revocation is an error with the wait, never a success")
    func revocationUnavailable() throws {
        let request = RevocationRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: "c", authentication: .none)
        let error = serverError { try request.confirm(Example.response(503, fields: [.retryAfter: "120"])) }
        #expect(error?.status == 503)
        #expect(error?.retryAfter == 120)
    }

    @Test("C15: an error with status 200 does not confirm a revocation")
    func revocationError() throws {
        let request = RevocationRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: "c", authentication: .none)
        #expect(
            serverError { try request.confirm(Example.response(200, #"{"error":"invalid_client"}"#)) }?.code
                == "invalid_client")
        // Services that answer so state a number and a text in it, and no code of the standard.
        for error in [#"{"code":401,"message":"no"}"#, "true", "7", #"["no"]"#] {
            let json = #"{"error":\#(error)}"#
            #expect(serverError { try request.confirm(Example.response(200, json)) }?.status == 200, "\(json)")
        }
        for json in [#"{"error":null}"#, #"{"error":false}"#, "[]", "OK", ""] {
            try request.confirm(Example.response(200, json))
        }
        try request.confirm(Example.response(200, #"{"error":""}"#))
        try request.confirm(Example.response(200, #"{"revoked":true}"#))
    }

    @Test(
        "C15: only 2xx confirms a revocation, also of a token that the server does not know (RFC 7009, section 2.2)",
        arguments: [
            (200, nil), (204, nil), (301, "redirected revocation 301"), (302, "redirected revocation 302"),
            (307, "redirected revocation 307"),
            (308, "redirected revocation 308"), (400, "http_400"), (401, "http_401"), (404, "http_404"),
            (429, "http_429"), (500, "http_500"),
            (503, "http_503"),
        ] as [(Int, String?)])
    func revocation(status: Int, expected: String?) throws {
        let request = RevocationRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: "c", authentication: .none)
        #expect(failure { try request.confirm(Example.response(status)) } == expected)
    }
}
