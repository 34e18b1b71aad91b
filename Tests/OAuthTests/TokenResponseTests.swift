import HTTPTypes
import Testing

@testable import OAuth

@Suite("Token answers")
struct TokenResponseTests {
    private func read(_ response: ResponseMessage) throws -> TokenResponse {
        try TokenRequest(
            .refreshToken(Secret("r")), at: try Example.server(), clientID: Example.clientID, authentication: .none
        ).response(from: response, now: Example.now)
    }

    private func outcome(_ content: String, status: Int = 200) -> String {
        failure { _ = try read(Example.response(status, content)) } ?? "tokens"
    }

    /// A valid answer with one member replaced.
    private func answer(_ name: String, _ json: String) -> String {
        var members = ["access_token": #""a""#, "token_type": #""Bearer""#]
        members[name] = json
        return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test("the answer of RFC 6749, section 5.1 is read")
    func rfc6749() throws {
        let answer = try read(
            Example.response(
                200,
                #"""
                {"access_token":"2YotnFZFEjr1zCsicMWpAA", "token_type":"Bearer", "expires_in":3600,
                 "refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA", "example_parameter":"example_value"}
                """#))
        #expect(answer.accessToken.reveal() == "2YotnFZFEjr1zCsicMWpAA")
        #expect(answer.refreshToken?.reveal() == "tGzv3JOkF0XG5Qx2TlKWIA")
        #expect(answer.expiresAt == Example.now + 3600)
        #expect(answer.scopes == nil)
        #expect(answer.idToken == nil)
    }

    @Test("C8: a redirect is never followed", arguments: 300...308)
    func redirect(status: Int) throws {
        let fields: HTTPFields = [.location: "https://evil.example/token"]
        let response = Example.response(status, #"{"access_token":"a","token_type":"Bearer"}"#, fields: fields)
        #expect(failure { _ = try read(response) } == "redirected token \(status)")
        let server = try Example.server()
        let introspection = IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none)
        #expect(failure { _ = try introspection.introspection(from: response) } == "redirected introspection \(status)")
        let metadata = MetadataRequest(issuer: server.issuer, location: try EndpointURL("https://server.example.com/x"))
        #expect(failure { _ = try metadata.metadata(from: response) } == "redirected metadata \(status)")
        let keys = KeySetRequest(at: try EndpointURL("https://server.example.com/keys"))
        #expect(failure { _ = try keys.keys(from: response) } == "redirected keys \(status)")
        let revocation = RevocationRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none)
        #expect(failure { try revocation.confirm(response) } == "redirected revocation \(status)")
    }

    @Test(
        "C8: a redirect is never followed where a request is pushed, a device asks for a code, or polls",
        arguments: 300...308)
    func redirectBeforeSignIn(status: Int) throws {
        // With all that a right answer would have.
        let response = Example.response(
            status,
            #"""
            {"request_uri":"urn:example:1","expires_in":60,"device_code":"d","user_code":"u",
            "verification_uri":"https://server.example.com/d","access_token":"a","token_type":"Bearer"}
            """#, fields: [.location: "https://evil.example/token", .contentType: "application/json"])
        var server = try Example.server()
        server.pushedAuthorizationRequestEndpoint = try EndpointURL("https://server.example.com/par")
        let push = PushedAuthorizationRequest(try Example.request(to: server), authentication: .none)
        #expect(failure { _ = try push.pushed(response) } == "redirected pushed_authorization \(status)")
        let device = try DeviceExample.request()
        #expect(failure { _ = try device.authorization(from: response) } == "redirected device_authorization \(status)")
        let poll = TokenRequest(
            .deviceCode(Secret("d")), at: try DeviceExample.server(), clientID: "c", authentication: .none)
        var polling = DevicePolling(interval: 5)
        #expect(
            failure { _ = try poll.tokens(fromPoll: response, polling: &polling, now: 0, retryAfter: nil) }
                == "redirected token \(status)")
    }

    @Test(
        "C8: a redirect is never followed where a client registers or manages its registration, nor in the background",
        arguments: 300...308)
    func redirectElsewhere(status: Int) throws {
        // With all that a right answer would have.
        let response = Example.response(
            status, #"{"client_id":"c","auth_req_id":"r-1","expires_in":60}"#,
            fields: [.location: "https://evil.example/x", .contentType: "application/json"])
        let registration = ClientRegistrationRequest(
            at: try EndpointURL("https://server.example.com/register"), name: "App",
            redirectURI: try RedirectURI("https://client.example.com/cb"), scopes: ["a"])
        let expected = "redirected registration \(status)"
        #expect(failure { _ = try registration.client(from: response) } == expected)
        func managed(_ operation: ClientManagementRequest.Operation) throws -> ClientManagementRequest {
            ClientManagementRequest(
                operation, clientID: "c",
                by: ClientManagement(
                    endpoint: try EndpointURL("https://server.example.com/register/c"), token: Secret("t")),
                registration: registration)
        }
        #expect(failure { _ = try managed(.read).client(from: response) } == expected)
        #expect(failure { _ = try managed(.update).client(from: response) } == expected)
        #expect(failure { try managed(.delete).confirmDeletion(response) } == expected)
        var server = try Example.server()
        server.backchannelAuthenticationEndpoint = try EndpointURL("https://server.example.com/bc")
        let background = BackchannelAuthenticationRequest(
            to: server, clientID: "c", authentication: .none, about: .login("ada"), scopes: ["openid"])
        #expect(
            failure { _ = try background.authentication(from: response) }
                == "redirected backchannel_authentication \(status)")
    }

    @Test(
        "C10: token_type is compared without case, and another type stops",
        arguments: [
            (#""Bearer""#, "tokens"), (#""bearer""#, "tokens"), (#""BEARER""#, "tokens"),
            (#""DPoP""#, "malformed token_type"),
            (#""mac""#, "malformed token_type"), (#""Bearer ""#, "malformed token_type"),
            (#""""#, "malformed token_type"),
            ("null", "malformed token_type"), ("1", "malformed token_type"),
        ])
    func tokenType(json: String, expected: String) {
        #expect(outcome(answer("token_type", json)) == expected)
    }

    @Test(
        "C10: expires_in is read as a number or as digits, and a missing one means unknown",
        arguments: [
            ("3600", 3600), (#""3600""#, 3600), ("3600.0", 3600), ("36e2", 3600), ("0", 0), ("null", nil),
        ] as [(String, Double?)])
    func expiresIn(json: String, lifetime: Double?) throws {
        let answer = try read(Example.response(200, answer("expires_in", json)))
        #expect(answer.expiresAt == lifetime.map { Example.now + $0 })
    }

    @Test(
        "C10: a lifetime that cannot be one is malformed",
        arguments: [
            "-1", #""-1""#, #""""#, #"" 3600""#, #""3600s""#, #""1e3""#, "0.5", "1e300", "99999999999999999999", "true",
            "[3600]", "{}",
            "3155760001", #""+3600""#,
        ])
    func wrongLifetime(json: String) {
        #expect(outcome(answer("expires_in", json)) == "malformed expires_in")
    }

    @Test("C10: unknown members are skipped")
    func unknownMembers() {
        #expect(outcome(answer("x", #"{"deep":[1,2,{"er":null}]}"#)) == "tokens")
    }

    @Test(
        "C11: a missing scope means as asked, another one is reported",
        arguments: [
            ("null", ["a", "b"]), (#""a""#, ["a"]), (#""c d""#, ["c", "d"]), (#""a,b""#, ["a", "b"]),
            (#""""#, ["a", "b"]),
            (#""a|b""#, ["a", "b"]),
        ])
    func scope(json: String, expected: [String]) throws {
        let answer = try read(Example.response(200, answer("scope", json)))
        #expect(Grant(answer, requested: ["a", "b"], now: Example.now).scopes == expected)
    }

    @Test("C11: a comma or a bar in a requested scope is part of it, also after a refresh")
    func punctuatedScope() throws {
        let answer = try read(Example.response(200, answer("scope", #""x|y a,b c,d""#)))
        let grant = Grant(answer, requested: ["x|y", "a,b"], now: Example.now)
        #expect(grant.scopes == ["x|y", "a,b", "c", "d"])
        #expect(grant.refreshed(by: answer, now: Example.now).scopes == ["x|y", "a,b", "c", "d"])
    }

    @Test(
        "C11: a scope of another type or with control characters is malformed",
        arguments: ["1", "[\"a\"]", #""a\u0000""#, #""é""#])
    func wrongScope(json: String) {
        #expect(outcome(answer("scope", json)) == "malformed scope")
    }

    @Test(
        "bad answers end in a typed error that names the member",
        arguments: [
            ("", "malformed content"), ("{", "malformed content"), ("[]", "malformed content"),
            ("\"a\"", "malformed content"),
            ("null", "malformed content"), ("<html></html>", "malformed content"),
            ("access_token=a&token_type=bearer", "malformed content"),
            ("\u{FEFF}{}", "malformed content"), ("{}", "malformed access_token"),
            (#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#, "malformed content"),
            (#"{"access_token":"a","token_type":"Bearer""#, "malformed content"),
            (#"{"access_token":null,"token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"","token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":1,"token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":["a"],"token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"a b","token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"a\u0000","token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"é","token_type":"Bearer"}"#, "malformed access_token"),
            (#"{"access_token":"a"}"#, "malformed token_type"),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":1}"#, "malformed refresh_token"),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"a\n"}"#, "malformed refresh_token"),
            (#"{"access_token":"a","token_type":"Bearer","id_token":{}}"#, "malformed id_token"),
            (#"{"error":"invalid_grant"}"#, "invalid_grant"),
            (#"{"error":"","access_token":"a","token_type":"Bearer"}"#, "tokens"),
        ])
    func badAnswers(content: String, expected: String) {
        #expect(outcome(content) == expected)
    }

    @Test("a huge token and bytes that are not UTF-8 are malformed")
    func huge() {
        let huge = String(repeating: "a", count: 65_537)
        #expect(outcome(answer("access_token", "\"\(huge)\"")) == "malformed access_token")
        #expect(outcome(String(repeating: "[", count: 1_000_000)) == "malformed content")
        var response = Example.response(200)
        response.content = [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]
        #expect(failure { _ = try read(response) } == "malformed content")
    }

    @Test("C12: a server's error is a value with code, text, address, status and wait, as in RFC 6749, section 5.2")
    func statedError() throws {
        let content =
            #"{"error":"invalid_request","error_description":"Nope","error_uri":"https://server.example.com/e"}"#
        let error = serverError { _ = try read(Example.response(400, content, fields: [.retryAfter: "30"])) }
        #expect(error?.step == .token)
        #expect(error?.code == "invalid_request")
        #expect(error?.text == "Nope")
        #expect(error?.uri == "https://server.example.com/e")
        #expect(error?.status == 400)
        #expect(error?.retryAfter == 30)
        #expect(error?.isInvalidGrant == false)
    }

    @Test(
        "C12: any content is a valid error answer, and a foreign one leaves the status",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, "invalid_grant"),
            (401, #"{"error":"invalid_client"}"#, "invalid_client"),
            (400, "", "http_400"), (500, "<html>", "http_500"), (503, "{", "http_503"),
            (400, #"{"error":1}"#, "http_400"),
            (401, #"{"message":"unauthorized"}"#, "http_401"), (400, #"{"error":"a","error":"b"}"#, "http_400"),
            (400, "[]", "http_400"),
            (418, "null", "http_418"),
        ])
    func errorContent(status: Int, content: String, expected: String) {
        #expect(outcome(content, status: status) == expected)
    }

    @Test("C12: an error's text is bounded and clean, whatever the server sends")
    func errorText() throws {
        let content =
            #"{"error":"\#(String(repeating: "e", count: 5000))","error_description":"a\u001b[2J\u202e\n\#(String(repeating: "x", count: 100_000))"}"#
        let error = ServerError(step: .token, Example.response(400, content))
        #expect(error.code?.count == 101)
        #expect(error.text?.count == 501)
        #expect(
            error.description.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
            })
    }

    @Test(
        "C12: Retry-After is read in its seconds form alone",
        arguments: [
            ("120", 120), ("0", 0), ("-1", nil), ("+1", nil), ("1.5", nil), ("", nil),
            ("Fri, 31 Dec 1999 23:59:59 GMT", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func retryAfter(value: String, seconds: Int?) {
        #expect(ServerError(step: .token, Example.response(429, fields: [.retryAfter: value])).retryAfter == seconds)
    }

    @Test(
        "E4: only invalid_grant ends a session, and not from a server that failed",
        arguments: [
            (400, "invalid_grant", true), (401, "invalid_grant", true), (500, "invalid_grant", false),
            (400, "invalid_client", false),
            (400, "INVALID_GRANT", false), (503, "temporarily_unavailable", false), (200, "invalid_grant", true),
            (503, "invalid_grant", false),
        ])
    func invalidGrant(status: Int, code: String, endsSession: Bool) {
        #expect(ServerError(step: .token, code: code, status: status).isInvalidGrant == endsSession)
    }

    @Test(
        "the end of a refresh token is read where a service says it, and a senseless value is none",
        arguments: [
            ("refresh_token_expires_in", "3600", 3_600), ("refresh_expires_in", "1800", 1_800),
            ("x_refresh_token_expires_in", "8726400", 8_726_400), ("refresh_token_expires_in", #""60""#, 60),
            ("refresh_expires_in", "0", nil), ("refresh_expires_in", "-1", nil),
            ("refresh_token_expires_in", "1e300", nil), ("refresh_token_expires_in", "9223372036854775807", nil),
            ("refresh_token_expires_in", #""never""#, nil), ("refresh_token_expires_in", "[1]", nil),
            ("refresh_token_expires_in", "null", nil),
        ] as [(String, String, Double?)])
    func refreshTokenExpiry(member: String, json: String, life: Double?) throws {
        let response = try read(Example.response(200, answer(member, json)))
        let end = life.map { Example.now + $0 }
        #expect(response.refreshTokenExpiresAt == end)
        #expect(Grant(response, requested: [], now: Example.now).refreshTokenExpiresAt == end)
    }

    @Test("the end of a refresh token stays with this token alone")
    func rotatedEnd() throws {
        let first = Grant(
            accessToken: Secret("a"), expiresAt: 10, issuedAt: 0, refreshToken: Secret("r"), scopes: [],
            refreshTokenExpiresAt: 100)
        let same = try read(Example.response(200, #"{"access_token":"b","token_type":"bearer"}"#))
        #expect(first.refreshed(by: same, now: 5).refreshTokenExpiresAt == 100)
        let rotated = try read(
            Example.response(200, #"{"access_token":"b","token_type":"bearer","refresh_token":"s"}"#))
        #expect(first.refreshed(by: rotated, now: 5).refreshTokenExpiresAt == nil)
        let told = try read(
            Example.response(200, #"{"access_token":"b","token_type":"bearer","refresh_token_expires_in":50}"#))
        #expect(first.refreshed(by: told, now: 5).refreshTokenExpiresAt == Example.now + 50)
        #expect(first.with(nil, nil).refreshTokenExpiresAt == 100)
    }

    @Test("a refresh keeps what its answer leaves out")
    func refreshed() throws {
        let first = Grant(
            accessToken: Secret("a"), expiresAt: 10, issuedAt: 0, refreshToken: Secret("r"), scopes: ["s"])
        let answer = try read(Example.response(200, #"{"access_token":"b","token_type":"bearer"}"#))
        let second = first.refreshed(by: answer, now: 5)
        #expect(second.accessToken.reveal() == "b")
        #expect(second.refreshToken?.reveal() == "r")
        #expect(second.scopes == ["s"])
        #expect(second.expiresAt == nil)
        #expect(second.isFresh(at: .greatestFiniteMagnitude, margin: 60))
    }

    @Test(
        "a token is fresh until its margin, which is never more than half its life",
        arguments: [
            (0, true), (539, true), (540, false), (600, false), (.infinity, false),
        ] as [(Double, Bool)])
    func fresh(now: Double, isFresh: Bool) {
        let grant = Grant(accessToken: Secret("a"), expiresAt: 600, issuedAt: 0, refreshToken: nil, scopes: [])
        #expect(grant.isFresh(at: now, margin: 60) == isFresh)
        let short = Grant(accessToken: Secret("a"), expiresAt: 10, issuedAt: 0, refreshToken: nil, scopes: [])
        #expect(short.isFresh(at: 4, margin: 60))
        #expect(!short.isFresh(at: 5, margin: 60))
    }
}
