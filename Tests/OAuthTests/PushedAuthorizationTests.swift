import HTTPTypes
import Testing

@testable import OAuth

@Suite("Pushed authorization requests")
struct PushedAuthorizationTests {
    private func server(authorize: String = "https://server.example.com/authorize?tenant=a") throws
        -> AuthorizationServerMetadata
    {
        var server = try Example.server()
        server.authorizationEndpoint = try EndpointURL(authorize)
        server.pushedAuthorizationRequestEndpoint = try EndpointURL("https://server.example.com/par")
        return server
    }

    private func push(_ options: AuthorizationRequest.Options = .init()) throws -> PushedAuthorizationRequest {
        PushedAuthorizationRequest(
            try Example.request(to: try server(), options: options),
            authentication: .post(secret: Secret("s3cret-s3cret")))
    }

    @Test("A14, M201: the whole request is posted with the client's authentication, and the address has two parameters")
    func whole() throws {
        var options = AuthorizationRequest.Options()
        options.resources = ["https://a.example", "https://b.example"]
        options.extras = ["prompt": "login"]
        let push = try push(options)
        let message = try push.message
        #expect(message.head.path == "/par")
        #expect(message.head.method == .post)
        let request = push.request
        #expect(
            Set(message.form) == [
                "response_type=code", "client_id=\(Example.clientID)",
                "redirect_uri=https%3A%2F%2Fclient.example.com%2Fcb",
                "scope=openid+profile", "state=\(request.state.reveal())", "nonce=\(request.nonce?.reveal() ?? "")",
                "code_challenge=\(request.verifier.challenge)", "code_challenge_method=S256",
                "resource=https%3A%2F%2Fa.example", "resource=https%3A%2F%2Fb.example", "prompt=login",
                "client_secret=s3cret-s3cret",
            ])
        let answer = Example.response(
            201, #"{"request_uri":"urn:example:bwc4JK-ESC0w8acc191e-Y1LTC2","expires_in":60}"#)
        let pushed = try push.pushed(answer)
        #expect(
            pushed.url == "https://server.example.com/authorize?tenant=a&client_id=\(Example.clientID)"
                + "&request_uri=urn%3Aexample%3Abwc4JK-ESC0w8acc191e-Y1LTC2")
        #expect(pushed.state.matches(request.state))
        #expect(pushed.verifier.secret.matches(request.verifier.secret))
        #expect(pushed.expiresAt == request.expiresAt)
    }

    @Test("A14: a request that was pushed cannot be pushed again")
    func once() throws {
        let push = try push()
        let pushed = try push.pushed(Example.response(201, #"{"request_uri":"urn:x","expires_in":1}"#))
        let again = PushedAuthorizationRequest(pushed, authentication: .none)
        #expect(failure { _ = try again.message } == "configuration request")
    }

    @Test(
        "M216: a reference is used as it came",
        arguments: [
            (
                "urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c",
                "urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3A6esc_11ACC5bwc014ltc14eY22c"
            ),
            ("https://server.example.com/r?a=b&c#d", "https%3A%2F%2Fserver.example.com%2Fr%3Fa%3Db%26c%23d"),
        ])
    func reference(_ reference: String, _ encoded: String) throws {
        let pushed = try push().pushed(Example.response(200, #"{"request_uri":"\#(reference)","expires_in":5}"#))
        #expect(pushed.url.hasSuffix("&request_uri=" + encoded))
    }

    @Test("what a server wants beside the reference is a deviation by name")
    func repeated() throws {
        let answer = Example.response(201, #"{"request_uri":"urn:x","expires_in":60}"#)
        let pushed = try push().pushed(answer, repeating: ["response_type", "scope"])
        #expect(
            pushed.queryPairs == [
                "tenant=a", "client_id=\(Example.clientID)", "request_uri=urn%3Ax", "response_type=code",
                "scope=openid%20profile",
            ])
    }

    @Test(
        "M202: every answer that is no reference is a typed error",
        arguments: [
            (400, #"{"error":"invalid_request"}"#, "invalid_request"),
            (401, #"{"error":"invalid_client"}"#, "invalid_client"),
            (405, "", "http_405"), (413, "", "http_413"), (429, "", "http_429"), (500, "", "http_500"),
            (503, "<html>", "http_503"), (302, "", "redirected pushed_authorization 302"),
            (308, "", "redirected pushed_authorization 308"), (201, "{}", "malformed request_uri"),
            (201, #"{"request_uri":"urn:x"}"#, "malformed expires_in"),
            (201, #"{"request_uri":"urn:x","expires_in":0}"#, "malformed expires_in"),
            (201, #"{"request_uri":"urn:x","expires_in":-5}"#, "malformed expires_in"),
            (201, #"{"request_uri":"","expires_in":5}"#, "malformed request_uri"),
            (201, #"{"request_uri":"a b","expires_in":5}"#, "malformed request_uri"),
            (201, #"{"request_uri":7,"expires_in":5}"#, "malformed request_uri"),
            (201, "<html>", "malformed content"), (200, #"{"error":"invalid_request"}"#, "invalid_request"),
        ])
    func refused(_ status: Int, _ content: String, _ expected: String) throws {
        let push = try push()
        #expect(failure { _ = try push.pushed(Example.response(status, content)) } == expected)
    }

    @Test("L1: a server that echoes the state of a push is not quoted with it")
    func echo() throws {
        let push = try push()
        let state = push.request.state.reveal()
        let answer = Example.response(
            400, #"{"error":"invalid_request","error_description":"bad \#(state) s3cret-s3cret"}"#)
        let error = try #require(serverError { _ = try push.pushed(answer) })
        #expect(!"\(error)".contains(state))
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test("metadata says where requests are pushed, whether they have to be, and how assertions are signed")
    func metadata() throws {
        let text = #"""
            {"issuer":"https://server.example.com","token_endpoint":"https://server.example.com/token",
            "pushed_authorization_request_endpoint":"https://server.example.com/par",
            "require_pushed_authorization_requests":true,
            "token_endpoint_auth_signing_alg_values_supported":["ES256"],
            "revocation_endpoint_auth_signing_alg_values_supported":["PS256"]}
            """#
        let server = try AuthorizationServerMetadata(parsing: Array(text.utf8), expected: Example.issuer())
        #expect(server.pushedAuthorizationRequestEndpoint?.string == "https://server.example.com/par")
        #expect(server.requiresPushedAuthorizationRequests)
        #expect(server.tokenEndpointAuthSigningAlgorithms == ["ES256"])
        #expect(server.revocationEndpointAuthSigningAlgorithms == ["PS256"])
        #expect(server.introspectionEndpointAuthSigningAlgorithms == nil)
    }
}
