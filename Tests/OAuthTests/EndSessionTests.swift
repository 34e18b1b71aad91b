import Testing

@testable import OAuth

@Suite("End-session requests")
struct EndSessionTests {
    private let returnURI = "https://client.example.com/signed-out"

    private func server(_ endpoint: String? = "https://server.example.com/end") throws -> AuthorizationServerMetadata {
        var server = try Example.server()
        server.endSessionEndpoint = try endpoint.map { try EndpointURL($0) }
        return server
    }

    private func request(
        idToken: String? = "a.b.c", returning uri: String? = "https://client.example.com/signed-out",
        endpoint: String? = "https://server.example.com/end", random: RandomSource = .system
    ) throws -> EndSessionRequest {
        try EndSessionRequest(
            at: try server(endpoint), clientID: Example.clientID, idToken: idToken.map(Secret.init),
            returnURI: try uri.map { try RedirectURI($0) }, random: random)
    }

    @Test("K1: the address has the hint, the client, the exact redirect URI and a new state")
    func address() throws {
        let request = try request()
        let state = try #require(request.state).reveal()
        #expect(
            request.url == "https://server.example.com/end?id_token_hint=a.b.c&client_id=s6BhdRkqt3"
                + "&post_logout_redirect_uri=https%3A%2F%2Fclient.example.com%2Fsigned-out&state=\(state)")
        #expect(state.utf8.count == 43)
        #expect(try self.request().state?.reveal() != state)
        let plain = try self.request(idToken: nil, returning: nil, endpoint: "https://server.example.com/end?a=b")
        #expect(plain.url == "https://server.example.com/end?a=b&client_id=s6BhdRkqt3")
        #expect(plain.state == nil)
    }

    @Test("M612, K1: an address over 8 KB becomes a form, and for a browser that opens addresses loses its hint")
    func long() throws {
        func length(_ hint: Int) throws -> Int {
            try request(idToken: String(repeating: "a", count: hint)).url.utf8.count
        }
        let rest = try length(1) - 1
        let fitting = try request(idToken: String(repeating: "a", count: 8192 - rest))
        guard case .address(let address) = fitting.page else {
            Issue.record("8192 bytes are an address")
            return
        }
        #expect(address.utf8.count == 8192)
        let long = try request(idToken: String(repeating: "a", count: 8193 - rest))
        guard case .form(let action, let fields) = long.page else {
            Issue.record("8193 bytes are a form")
            return
        }
        #expect(action.string == "https://server.example.com/end")
        #expect(fields.map(\.name) == ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"])
        #expect(fields.last?.value == long.state?.reveal())
        #expect(!long.url.contains("id_token_hint") && long.url.contains("client_id=s6BhdRkqt3"))
    }

    @Test("M612: a server without the page is named as the cause")
    func absent() {
        #expect(failure { _ = try request(endpoint: nil) } == "configuration end_session_endpoint")
    }

    @Test("M607, K1: only the request's own state, once, at the exact address, confirms the end at the server")
    func returns() throws {
        let request = try request()
        let state = try #require(request.state).reveal()
        #expect(request.isConfirmed(by: "\(returnURI)?state=\(state)"))
        #expect(request.isConfirmed(by: "\(returnURI)?x=1&state=\(state)#fragment"))
        let others = [
            returnURI, "\(returnURI)?", "\(returnURI)?state=", "\(returnURI)?state=\(state)x",
            "\(returnURI)?state=\(state.dropLast())", "\(returnURI)?state=\(state)&state=\(state)",
            "\(returnURI)?state=\(state)&st%61te=other", "\(returnURI)?State=\(state)",
            "\(returnURI)/?state=\(state)", "https://client.example.com/signed-ou?state=\(state)",
            "http://client.example.com/signed-out?state=\(state)", "\(returnURI)#state=\(state)",
            "\(returnURI)?state=\(state)&x=" + String(repeating: "a", count: 20_000), "",
        ]
        for address in others { #expect(!request.isConfirmed(by: address), "\(address.prefix(90))") }
        let without = try self.request(returning: nil)
        #expect(!without.isConfirmed(by: "\(returnURI)?state=\(state)"))
    }

    @Test("L1: printing a request shows neither hint nor state")
    func quiet() throws {
        let request = try request(idToken: "very.secret.hint")
        var text = "\(request)"
        dump(request, to: &text)
        let state = try #require(request.state).reveal()
        #expect(!text.contains("very.secret") && !text.contains(state))
    }
}
