import HTTPTypes
import Testing

@testable import OAuth

@Suite("Authorization codes")
struct AuthorizationCodeTests {
    @Test("B1: a code goes only to the server that was asked for it")
    func crossDelivery() throws {
        let honest = try Example.server("https://honest.as.example")
        let attacker = try Example.server("https://attacker.example")
        let request = try Example.request(to: honest)
        let code = try request.code(from: request.redirect("code=c"), now: Example.now)
        let crossed = TokenRequest(
            .authorizationCode(code), at: attacker, clientID: Example.clientID, authentication: .none)
        #expect(failure { _ = try crossed.message } == "issuer_mismatch")
        let straight = TokenRequest(
            .authorizationCode(code), at: honest, clientID: Example.clientID, authentication: .none)
        #expect(try straight.message.head.authority == "honest.as.example")
    }

    @Test("B1: a code asked for by one client cannot be exchanged by another")
    func otherClient() throws {
        let request = try Example.request()
        let code = try request.code(from: request.redirect("code=c"), now: Example.now)
        let other = TokenRequest(.authorizationCode(code), at: request.server, clientID: "other", authentication: .none)
        #expect(failure { _ = try other.message } == "configuration client_id")
    }

    @Test(
        "B4: two servers share a redirect URI only when both announce iss",
        arguments: [
            (true, true, nil), (true, false, "redirect_shared"), (false, true, "redirect_shared"),
            (false, false, "redirect_shared"),
        ] as [(Bool, Bool, String?)])
    func sharedRedirect(first: Bool, second: Bool, expected: String?) throws {
        let one = try Example.server("https://one.example", announcesIssuer: first)
        let two = try Example.server("https://two.example", announcesIssuer: second)
        let uri = try RedirectURI("https://client.example.com/cb")
        let other = try RedirectURI("https://client.example.com/two")
        #expect(failure { try RedirectURI.checkDistinct((uri, one), (uri, two)) } == expected)
        #expect(failure { try RedirectURI.checkDistinct((uri, one), (uri, one)) } == nil)
        #expect(failure { try RedirectURI.checkDistinct((uri, one), (other, two)) } == nil)
    }

    @Test("B5: one request's response is no other's")
    func ownState() throws {
        let requests = try (0..<100).map { _ in try Example.request() }
        for (request, other) in zip(requests, requests.dropFirst()) {
            let response = try AuthorizationResponse(redirectURL: request.redirect("code=c"))
            #expect(try request.code(from: response, now: Example.now).request.state.matches(request.state))
            #expect(failure { _ = try other.code(from: response, now: Example.now) } == "unmatched")
        }
    }
}
