import HTTPTypes
import Testing

@testable import OAuth

@Suite("Secrets")
struct SecretTests {
    private static let canary = "canary-0123456789abcdef0123456789abcdef"

    /// Everything that a value shows of itself without being asked for its secrets.
    private func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        let mirrored = Mirror(reflecting: value).children.map { "\($0.label ?? ""): \($0.value)" }.joined(
            separator: "\n")
        return ["\(value)", String(describing: value), String(reflecting: value), dumped, mirrored].joined(
            separator: "\n")
    }

    /// Every type of this module that holds a secret, with canaries in all the places where one can be.
    private static func holders() throws -> [(name: String, value: any Sendable)] {
        let secret = Secret(canary)
        var server = try Example.server()
        server.keysEndpoint = try EndpointURL("https://server.example.com/keys")
        let request = AuthorizationRequest(
            restoring: server, clientID: Example.clientID,
            redirectURI: try RedirectURI("https://client.example.com/cb"), scopes: ["a"],
            resources: [], state: secret, nonce: secret, verifier: try #require(CodeVerifier(Secret(canary + canary))),
            expiresAt: Example.now + 600, url: "https://server.example.com/authorize?state=" + canary)
        let redirect = "https://client.example.com/cb?code=\(canary)&state=\(canary)"
        let response = try AuthorizationResponse(redirectURL: redirect + "&error_description=\(canary)")
        let code = try request.code(from: redirect, now: Example.now)
        let basic = ClientAuthentication.basic(secret: secret)
        let post = ClientAuthentication.post(secret: secret)
        let exchange = TokenRequest(
            .authorizationCode(code), at: server, clientID: Example.clientID, authentication: post)
        let refresh = TokenRequest(
            .refreshToken(secret), at: server, clientID: Example.clientID, authentication: basic,
            extras: ["extra": canary])
        let content =
            #"{"access_token":"\#(canary)","token_type":"Bearer","refresh_token":"\#(canary)","id_token":"\#(canary)"}"#
        let answer = Example.response(200, content, fields: [.location: canary])
        let tokens = try refresh.response(from: answer, now: 0)
        var authorized = try refresh.message
        authorized.head.headerFields[.authorization] = "Bearer " + secret.reveal()
        let validator = IDTokenValidator(
            issuer: server.issuer, clientID: Example.clientID, nonce: secret, accessToken: secret)
        let idToken = try SigningKeys.shared.get().token(
            .es256,
            payload: IDTokenTests.payload([
                "nonce": "\"\(canary)\"", "at_hash": "\"\(canary)\"", "c_hash": "\"\(canary)\"",
            ]))
        let claims = try IDTokenClaims(
            claims: try #require(
                try JSONValue(parsing: Array(IDTokenTests.payload(["nonce": "\"\(canary)\""]).utf8)).object))
        var parameters = Parameters()
        try parameters.add("token", canary)
        return [
            ("Secret", secret), ("[Secret]", [secret]), ("Secret?", Optional(secret)),
            ("CodeVerifier", request.verifier),
            ("AuthorizationRequest", request), ("AuthorizationResponse", response),
            ("AuthorizationCode", code), ("basic", basic), ("post", post), ("code exchange", exchange),
            ("refresh", refresh),
            ("exchange message", try exchange.message), ("refresh message", authorized), ("answer", answer),
            ("TokenResponse", tokens),
            ("Grant", Grant(tokens, requested: [], identity: claims, now: 0)), ("GrantType", refresh.grantType),
            (
                "RevocationRequest",
                RevocationRequest(secret, kind: .accessToken, at: server, clientID: "c", authentication: post)
            ),
            (
                "IntrospectionRequest",
                IntrospectionRequest(secret, kind: .accessToken, at: server, clientID: "c", authentication: post)
            ),
            ("IDTokenValidator", validator), ("JSONWebSignature", try JSONWebSignature(compact: idToken)),
            ("IDTokenClaims", claims),
            ("Parameters", parameters),
            ("ResponseReader", try ResponseReader(step: .token, content: Array(content.utf8))),
        ]
    }

    @Test("E9: no type that holds a secret shows it, however it is printed, dumped or reflected")
    func hidden() throws {
        for (name, value) in try Self.holders() {
            #expect(!shown(value).contains(Self.canary), "\(name) shows its secret")
            let bytes = Array(Self.canary.utf8).map(String.init).joined(separator: ", ")
            #expect(!shown(value).contains(bytes), "\(name) shows its secret's bytes")
        }
    }

    @Test("E9: a secret cannot be compared, hashed or encoded by accident")
    func notEquatable() {
        let secret: any Sendable = Secret(Self.canary)
        #expect(!(secret is any Equatable))
        #expect(!(secret is any Hashable))
        #expect(!(secret is any Encodable))
        #expect(!(secret is any Comparable))
        #expect(!(secret is any LosslessStringConvertible))
        #expect(Mirror(reflecting: Secret(Self.canary)).children.isEmpty)
    }

    @Test("E9: reveal is the one way to read a secret")
    func reveal() {
        #expect(Secret(Self.canary).reveal() == Self.canary)
        #expect("\(Secret(Self.canary))" == "(secret)")
        #expect(Secret("").isEmpty)
    }

    @Test(
        "B5: secrets match byte for byte",
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "aa", false), ("aa", "a", false),
            ("", "a", false), ("K", "\u{212A}", false),
            ("é", "e\u{301}", false), ("é", "é", true),
        ])
    func matches(left: String, right: String, isEqual: Bool) {
        #expect(Secret(left).matches(Secret(right)) == isEqual)
        #expect(constantTimeEqual(Array(left.utf8), Array(right.utf8)) == isEqual)
        #expect(constantTimeEqual(left.utf8.lazy.map { $0 }, right.utf8.lazy.map { $0 }) == isEqual)
    }

    @Test("L1: no error carries a secret, whichever check stops the exchange")
    func errors() throws {
        let canary = Self.canary
        let request = try Example.request(random: RandomSource { count in Array(repeating: 7, count: count) })
        let state = request.state.reveal()
        let keys = try SigningKeys.shared.get()
        let set = try keys.keySet(.es256)
        let server = try Example.server("https://other.example")
        var errors: [String] = []
        func note(_ body: () throws -> Void) {
            do { try body() } catch { errors.append(shown(error)) }
        }
        for parameters in [
            "code=\(canary)&state=\(canary)", "code=\(canary)&code=\(canary)&state=\(state)",
            "code=\(canary)%00&state=\(state)",
            "code=\(canary)&iss=x&state=\(state)", "code=\(canary)",
        ] {
            note { _ = try request.code(from: "https://client.example.com/cb?" + parameters, now: Example.now) }
        }
        note { _ = try request.code(from: "https://evil.example/?code=\(canary)&state=\(state)", now: Example.now) }
        note {
            let code = try request.code(from: request.redirect("code=\(canary)"), now: Example.now)
            _ = try TokenRequest(
                .authorizationCode(code), at: server, clientID: "c", authentication: .post(secret: Secret(canary))
            ).message
        }
        for content in [
            #"{"access_token":"\#(canary) "}"#, #"{"access_token":"\#(canary)"}"#,
            #"{"access_token":"\#(canary)","access_token":"\#(canary)"}"#,
            #"{"access_token":["\#(canary)"]}"#, canary,
        ] {
            note { _ = try TokenResponse(parsing: Array(content.utf8), now: 0, hiding: []) }
        }
        let validator = IDTokenValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, nonce: Secret(canary), accessToken: Secret(canary)
        )
        for changes in [[:], ["nonce": "\"\(canary)x\""], ["nonce": "\"\(canary)\"", "at_hash": "\"\(canary)\""]]
            as [[String: String]]
        {
            let token = try keys.token(.es256, payload: IDTokenTests.payload(changes))
            note { _ = try validator.claims(of: token, keys: set, now: Example.now) }
        }
        note { _ = try validator.claims(of: Secret(canary), keys: set, now: Example.now) }
        #expect(errors.count == 16)
        for error in errors {
            #expect(!error.contains(canary))
            #expect(!error.contains(state))
        }
    }

    @Test("L2: a message is described by method and address, without query, fields and content")
    func description() throws {
        let endpoint = try EndpointURL("https://server.example.com/a/b?c=d")
        #expect(RequestMessage(.get, endpoint).description == "GET https://server.example.com/a/b")
        #expect(endpoint.description == "https://server.example.com/a/b")
        #expect(Example.response(200, "abc").description == "status 200, 3 bytes")
    }
}
