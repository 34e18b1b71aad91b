import Crypto
import Testing

@testable import OAuth

@Suite("Signed requests")
struct RequestObjectTests {
    private static func server(_ change: (inout AuthorizationServerMetadata) throws -> Void = { _ in }) throws
        -> AuthorizationServerMetadata
    {
        var server = try Example.server("https://server.example.com/tenant")
        server.pushedAuthorizationRequestEndpoint = try EndpointURL("https://server.example.com/par")
        try change(&server)
        return server
    }

    private static func key(_ name: String? = "k-1") throws -> SigningKey {
        let keys = try SigningKeys.shared.get()
        return try SigningKey(parsing: Array(keys.p256.pemRepresentation.utf8), keyID: name)
    }

    /// Header and claims of the request object in an address or a form.
    private static func decoded(_ pairs: [String]) throws -> (header: JSONObject, claims: JSONObject) {
        let text = try #require(pairs.first { $0.hasPrefix("request=") }?.dropFirst("request=".count))
        let parts = text.split(separator: ".")
        func object(_ part: Substring) throws -> JSONObject {
            let bytes = try #require(Base64URL.decode(part))
            return try #require(JSONValue(parsing: bytes).object)
        }
        return (try object(parts[0]), try object(parts[1]))
    }

    @Test("M204, A15: everything asked for is inside one signed text, for this server alone, for five minutes")
    func whole() throws {
        var options = AuthorizationRequest.Options()
        options.extras = ["prompt": "login", "login_hint": "ada"]
        options.keyThumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        let request = try Example.request(to: try Self.server(), options: options)
        let signed = try request.signed(by: try Self.key(), now: Example.now + 0.7)
        let (header, claims) = try Self.decoded(signed.queryPairs)
        #expect(
            header == ["alg": .string("ES256"), "typ": .string("oauth-authz-req+jwt"), "kid": .string("k-1")])
        let issuedAt = Int(Example.now)
        let expected: JSONObject = [
            "iss": .string(Example.clientID), "aud": .string("https://server.example.com/tenant"),
            "client_id": .string(Example.clientID), "iat": .number("\(issuedAt)"), "nbf": .number("\(issuedAt)"),
            "exp": .number("\(issuedAt + 300)"), "jti": try #require(claims["jti"]), "response_type": .string("code"),
            "redirect_uri": .string("https://client.example.com/cb"), "scope": .string("openid profile"),
            "state": .string(request.state.reveal()), "nonce": .string(try #require(request.nonce).reveal()),
            "code_challenge": .string(request.verifier.challenge), "code_challenge_method": .string("S256"),
            "dpop_jkt": .string("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"), "prompt": .string("login"),
            "login_hint": .string("ada"),
        ]
        #expect(claims == expected)
        for name in ["sub", "request", "request_uri", "client_secret", "client_assertion"] {
            #expect(claims[name] == nil, "\(name)")
        }
        let again = try Self.decoded(request.signed(by: try Self.key(), now: Example.now).queryPairs)
        #expect(again.claims["jti"] != claims["jti"])
    }

    @Test("A15: the text is signed by the key, with an algorithm that the server takes, and never with none")
    func signature() throws {
        let keys = try SigningKeys.shared.get()
        let request = try Example.request(
            to: try Self.server { $0.requestObjectSigningAlgorithms = ["none", "ES256"] })
        let signed = try request.signed(by: try Self.key(), now: Example.now)
        let text = try #require(signed.queryPairs.first { $0.hasPrefix("request=") }?.dropFirst("request=".count))
        let bytes = text.split(separator: ".")
        let set = try keys.keySet(.es256)
        let candidate = try #require(set.candidates(keyID: nil, algorithm: .es256).first)
        #expect(
            candidate.verifies(
                try #require(Base64URL.decode(bytes[2])), of: Array("\(bytes[0]).\(bytes[1])".utf8)[...], by: .es256))
        for listed in [["none"], ["RS256", "HS256"], []] {
            let other = try Example.request(to: try Self.server { $0.requestObjectSigningAlgorithms = listed })
            #expect(failure { _ = try other.signed(by: try Self.key(), now: Example.now) } == "configuration key")
        }
    }

    @Test("M205: numbers, objects and lists are what they are inside the text")
    func types() throws {
        var options = AuthorizationRequest.Options()
        options.extras = ["max_age": "0", "claims": #"{"userinfo":{"email":null}}"#]
        options.resources = ["https://a.example/", "urn:example:b"]
        options.authorizationDetails = [AuthorizationDetail(type: "payment", ["amount": .number("12.50")])]
        let request = try Example.request(to: try Self.server(), options: options)
        let (_, claims) = try Self.decoded(request.signed(by: try Self.key(), now: Example.now).queryPairs)
        #expect(claims["max_age"] == .number("0"))
        #expect(claims["claims"] == .object(["userinfo": .object(["email": .null])]))
        #expect(claims["resource"] == .array([.string("https://a.example/"), .string("urn:example:b")]))
        #expect(
            claims["authorization_details"]
                == .array([.object(["type": .string("payment"), "amount": .number("12.50")])]))
        options.extras = ["claims": "{"]
        let broken = try Example.request(to: try Self.server(), options: options)
        #expect(failure { _ = try broken.signed(by: try Self.key(), now: Example.now) } == "configuration claims")
    }

    @Test("A15: beside the text stands what OpenID asks for, and otherwise the client alone")
    func address() throws {
        let openID = try Example.request(to: try Self.server()).signed(by: try Self.key(), now: Example.now)
        #expect(
            Set(openID.queryPairs.map { String($0.prefix { $0 != "=" }) })
                == ["client_id", "response_type", "scope", "request"])
        let plain = try Example.request(to: try Self.server(), scopes: ["api"])
            .signed(by: try Self.key(), now: Example.now)
        #expect(Set(plain.queryPairs.map { String($0.prefix { $0 != "=" }) }) == ["client_id", "request"])
        #expect(!plain.url.contains(plain.state.reveal()))
    }

    @Test("A15: a pushed text travels with the client's authentication and nothing else")
    func pushed() throws {
        let signed = try Example.request(to: try Self.server()).signed(by: try Self.key(), now: Example.now)
        let push = PushedAuthorizationRequest(signed, authentication: .post(secret: Secret("s3cret-s3cret")))
        let form = try push.message.form
        #expect(
            Set(form.map { String($0.prefix { $0 != "=" }) }) == ["request", "client_id", "client_secret"])
        let pushed = try push.pushed(Example.response(201, #"{"request_uri":"urn:x","expires_in":60}"#))
        #expect(pushed.queryPairs == ["client_id=\(Example.clientID)", "request_uri=urn%3Ax"])
        #expect(pushed.state.matches(signed.state))
    }

    @Test("A15: a name that the text itself uses is refused, so that it can serve as no authentication")
    func reserved() throws {
        for name in ["sub", "iss", "aud", "exp", "nbf", "iat", "jti"] {
            var options = AuthorizationRequest.Options()
            options.extras = [name: "x"]
            let request = try Example.request(to: try Self.server(), options: options)
            #expect(failure { _ = try request.signed(by: try Self.key(), now: 1) } == "configuration \(name)")
        }
    }

    @Test("a request is signed once, and before it is handed over")
    func once() throws {
        let signed = try Example.request(to: try Self.server()).signed(by: try Self.key(), now: Example.now)
        #expect(failure { _ = try signed.signed(by: try Self.key(), now: 1) } == "configuration request")
        #expect(
            failure { _ = try Example.request(to: try Self.server()).signed(by: try Self.key(), now: .infinity) }
                == "configuration clock")
    }

    @Test("a server's words about requests, responses and certificates are read")
    func metadata() throws {
        let document = #"""
            {"issuer":"https://server.example.com","token_endpoint":"https://server.example.com/token",
            "request_object_signing_alg_values_supported":["PS256"],"require_signed_request_object":true,
            "response_modes_supported":["query","jwt"],"authorization_signing_alg_values_supported":["ES256"],
            "userinfo_signing_alg_values_supported":["ES384"],"authorization_details_types_supported":["payment"],
            "tls_client_certificate_bound_access_tokens":true,
            "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example.com/token","authorization_endpoint":"https://no.example"}}
            """#
        let server = try AuthorizationServerMetadata(parsing: Array(document.utf8), expected: try Example.issuer())
        #expect(server.requestObjectSigningAlgorithms == ["PS256"])
        #expect(server.requiresSignedRequestObject)
        #expect(server.responseModes == ["query", "jwt"])
        #expect(server.authorizationSigningAlgorithms == ["ES256"])
        #expect(server.userInfoSigningAlgorithms == ["ES384"])
        #expect(server.authorizationDetailsTypes == ["payment"])
        #expect(server.bindsTokensToCertificates)
        #expect(server.mutualTLSAliases.mapValues(\.string) == ["token_endpoint": "https://mtls.example.com/token"])
        #expect(server.withMutualTLSAliases.tokenEndpoint.string == "https://mtls.example.com/token")
        for alias in ["http://mtls.example.com/token", "https://10.0.0.1/token", "https://127.0.0.1/token"] {
            let inward = document.replacing("https://mtls.example.com/token", with: alias)
            #expect(
                failure {
                    _ = try AuthorizationServerMetadata(parsing: Array(inward.utf8), expected: try Example.issuer())
                } != nil, "\(alias)")
        }
    }
}
