import Crypto
import HTTPTypes
import Testing

@testable import OAuth

@Suite("Backchannel authentication requests")
struct BackchannelAuthenticationTests {
    private func request(
        _ hint: BackchannelAuthenticationRequest.Hint = .login("ada@example.com"), scopes: [String] = ["openid"],
        authentication: ClientAuthentication = .post(secret: Secret("client-secret"))
    ) throws -> BackchannelAuthenticationRequest {
        var server = try Example.server()
        server.backchannelAuthenticationEndpoint = try EndpointURL("https://server.example.com/bc")
        return BackchannelAuthenticationRequest(
            to: server, clientID: "c", authentication: authentication, about: hint, scopes: scopes)
    }

    @Test("J5: the request is that of CIBA Core, section 7.1")
    func message() throws {
        var request = try request(scopes: ["openid", "profile"])
        request.bindingMessage = "W4SCT"
        request.userCode = Secret("1234")
        request.requestedLifetime = 120
        request.contextClasses = ["urn:a", "urn:b"]
        request.notificationToken = Secret(String(repeating: "n", count: 43))
        let message = try request.message
        #expect(message.head.path == "/bc" && message.head.method == .post)
        #expect(
            message.form == [
                "scope=openid+profile", "login_hint=ada%40example.com", "binding_message=W4SCT", "user_code=1234",
                "requested_expiry=120", "acr_values=urn%3Aa+urn%3Ab",
                "client_notification_token=" + String(repeating: "n", count: 43), "client_id=c",
                "client_secret=client-secret",
            ])
    }

    @Test("J5: a signed request has every parameter inside, and the client's authentication alone beside it (7.1.1)")
    func signed() throws {
        let key = try SigningKey(
            parsing: Array(SigningKeys.shared.get().p256.pemRepresentation.utf8), keyID: "k-1")
        let extras = ["max_age": "60", "claims": #"{"userinfo":{"email":null}}"#]
        let signed = try Self.request(["ES256"], extras).signed(by: key, now: Example.now + 0.5)
        let form = try signed.message.form
        #expect(form.map { String($0.prefix { $0 != "=" }) } == ["request", "client_id", "client_secret"])
        let parts = try #require(form.first).dropFirst("request=".count).split(separator: ".")
        let header = try JSONValue(parsing: try #require(Base64URL.decode(parts[0]))).object
        #expect(header == ["alg": .string("ES256"), "typ": .string("oauth-authz-req+jwt"), "kid": .string("k-1")])
        let payload = try #require(Base64URL.decode(parts[1]))
        var claims = try #require(JSONValue(parsing: payload).object)
        #expect(claims["jti"]?.string?.utf8.count == 22)
        claims["jti"] = nil
        let issuedAt = Int(Example.now)
        #expect(
            claims == [
                "iss": .string("c"), "aud": .string("https://server.example.com"), "iat": .number("\(issuedAt)"),
                "nbf": .number("\(issuedAt)"), "exp": .number("\(issuedAt + 300)"), "scope": .string("openid"),
                "login_hint": .string("ada@example.com"), "requested_expiry": .number("120"),
                "resource": .array([.string("urn:a"), .string("urn:b")]), "max_age": .number("60"),
                "claims": .object(["userinfo": .object(["email": .null])]),
            ])
        let set = try SigningKeys.shared.get().keySet(.es256)
        let candidate = try #require(set.candidates(keyID: nil, algorithm: .es256).first)
        let signature = try #require(Base64URL.decode(parts[2]))
        let isVerified = candidate.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)[...], by: .es256)
        #expect(isVerified)
        #expect(!"\(signed)".contains(String(parts[2])))
    }

    @Test(
        "J5: a request is signed by what the server takes alone, and no parameter takes the place of a claim",
        arguments: [
            (nil, nil, "request-object"), (["RS256", "none"], nil, "key"), (["ES256"], "sub", "sub"),
            (["ES256"], "iss", "iss"), (["ES256"], "aud", "aud"), (["ES256"], "jti", "jti"),
        ] as [([String]?, String?, String)])
    func unsigned(_ algorithms: [String]?, _ extra: String?, _ member: String) throws {
        let key = try SigningKey(
            parsing: Array(SigningKeys.shared.get().p256.pemRepresentation.utf8), keyID: "k-1")
        let request = try Self.request(algorithms, extra.map { [$0: "x"] } ?? [:])
        #expect(failure { _ = try request.signed(by: key, now: 1) } == "configuration \(member)")
    }

    private static func request(
        _ algorithms: [String]?, _ extras: [String: String] = [:]
    ) throws -> BackchannelAuthenticationRequest {
        var server = try Example.server()
        server.backchannelAuthenticationEndpoint = try EndpointURL("https://server.example.com/bc")
        server.backchannelRequestSigningAlgorithms = algorithms
        var request = BackchannelAuthenticationRequest(
            to: server, clientID: "c", authentication: .post(secret: Secret("client-secret")),
            about: .login("ada@example.com"), scopes: ["openid"], resources: ["urn:a", "urn:b"])
        request.requestedLifetime = 120
        request.extras = extras
        return request
    }

    @Test("M703: no hint, or two, is refused before sending")
    func hints() throws {
        #expect(failure { _ = try request(.login("")).message } == "configuration login_hint")
        #expect(failure { _ = try request(.token(Secret(""))).message } == "configuration login_hint")
        #expect(failure { _ = try request(.idToken(Secret("no token"))).message } == "configuration id_token_hint")
        for name in ["login_hint", "id_token_hint", "login_hint_token"] {
            var two = try request()
            two.extras = [name: "x"]
            #expect(failure { _ = try two.message } == "configuration \(name)")
        }
    }

    @Test("J5: without openid, authentication or a usable notification token nothing is sent")
    func refused() throws {
        #expect(failure { _ = try request(scopes: ["profile"]).message } == "configuration scope")
        #expect(failure { _ = try request(authentication: .none).message } == "configuration client")
        for token in ["", "short", String(repeating: "a", count: 1025), String(repeating: "ä", count: 20)] {
            var request = try request()
            request.notificationToken = Secret(token)
            #expect(failure { _ = try request.message } == "configuration client_notification_token")
        }
        #expect(BackchannelAuthenticationRequest.newNotificationToken().reveal().utf8.count == 43)
    }

    @Test(
        "J5: the answer is read, and its identifier has the characters of CIBA Core, section 7.3",
        arguments: [
            (#"{"auth_req_id":"1c26-a.B_9","expires_in":120}"#, nil),
            (#"{"auth_req_id":"a b","expires_in":120}"#, "malformed auth_req_id"),
            (#"{"auth_req_id":"a~b","expires_in":120}"#, "malformed auth_req_id"),
            (#"{"auth_req_id":"","expires_in":120}"#, "malformed auth_req_id"),
            (#"{"expires_in":120}"#, "malformed auth_req_id"), (#"{"auth_req_id":"a"}"#, "malformed expires_in"),
            (#"{"auth_req_id":"a","expires_in":0}"#, "malformed expires_in"), ("[]", "malformed content"),
            (#"{"error":"unknown_user_id"}"#, "unknown_user_id"),
        ])
    func answer(content: String, expected: String?) throws {
        let request = try request()
        #expect(failure { _ = try request.authentication(from: Example.response(200, content)) } == expected)
    }

    @Test("J5: the interval is 5 s when there is none, and the lifetime at most an hour")
    func defaults() throws {
        func read(_ more: String) throws -> BackchannelAuthentication {
            try request().authentication(from: Example.response(200, #"{"auth_req_id":"a",\#(more)}"#))
        }
        #expect(try read(#""expires_in":99999"#).lifetime == 3600)
        #expect(try read(#""expires_in":9"#).interval == 5)
        #expect(try read(#""expires_in":9,"interval":2"#).interval == 2)
        #expect(try read(#""expires_in":9,"interval":0"#).interval == 5)
    }

    @Test("J5: a poll is that of CIBA Core, section 10.1, and invalid_request ends it")
    func poll() throws {
        let request = TokenRequest(
            .backchannelAuthentication(Secret("id")), at: try Example.server(), clientID: "c",
            authentication: .post(secret: Secret("client-secret")))
        #expect(
            try request.message.form == [
                "grant_type=urn%3Aopenid%3Aparams%3Agrant-type%3Aciba", "auth_req_id=id", "client_id=c",
                "client_secret=client-secret",
            ])
        var polling = DevicePolling(interval: 5)
        let ends = Example.response(400, #"{"error":"invalid_request"}"#)
        #expect(failure { _ = try request.tokens(fromPoll: ends, polling: &polling, now: 0) } == "invalid_request")
        let pending = Example.response(400, #"{"error":"authorization_pending"}"#)
        #expect(try request.tokens(fromPoll: pending, polling: &polling, now: 0) == nil)
    }

    @Test(
        "M702, J5: a notification counts with the right token and the right request alone",
        arguments: [
            ("Bearer the-token", "the-id", true), ("bearer the-token", "the-id", true),
            ("Bearer the-tokem", "the-id", false), ("Bearer the-toke", "the-id", false), ("Bearer ", "the-id", false),
            ("Basic the-token", "the-id", false), ("Bearer the-token", "the-ie", false),
            ("Bearer the-token", "", false), (nil, "the-id", false), ("the-token", "the-id", false),
        ] as [(String?, String, Bool)])
    func notification(authorization: String?, id: String, isTaken: Bool) {
        let notification = BackchannelNotification(
            authorization: authorization, content: Array(#"{"auth_req_id":"\#(id)","x":1}"#.utf8))
        #expect(
            (notification?.answers(Secret("the-id"), token: Secret("the-token")) ?? false) == isTaken)
    }

    @Test(
        "J5: what is no notification is none",
        arguments: ["", "[]", "{}", #"{"auth_req_id":1}"#, #"{"auth_req_id":"a","auth_req_id":"a"}"#, "{"])
    func noNotification(content: String) {
        #expect(BackchannelNotification(authorization: "Bearer t", content: Array(content.utf8)) == nil)
    }
}
