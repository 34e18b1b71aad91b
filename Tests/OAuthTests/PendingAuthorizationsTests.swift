import HTTPTypes
import Testing

@testable import OAuth

@Suite("Pending authorizations")
struct PendingAuthorizationsTests {
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
        var pending = PendingAuthorizations()
        try pending.insert(try Example.request(to: one))
        #expect(failure { try pending.insert(try Example.request(to: two)) } == expected)
        #expect(
            failure { try pending.insert(try Example.request(to: two, redirectURI: "https://client.example.com/two")) }
                == nil)
        let uri = try RedirectURI("https://client.example.com/cb")
        #expect(failure { try RedirectURI.checkDistinct((uri, one), (uri, two)) } == expected)
        #expect(failure { try RedirectURI.checkDistinct((uri, one), (uri, one)) } == nil)
    }

    @Test("B4: a shared redirect URI is free again when its requests are gone")
    func freed() throws {
        let one = try Example.request(to: try Example.server("https://one.example"))
        let two = try Example.request(to: try Example.server("https://two.example"))
        var pending = PendingAuthorizations()
        try pending.insert(one)
        try pending.insert(one)
        #expect(pending.count == 1)
        _ = try pending.take(redirectURL: one.redirect("code=c"), now: Example.now)
        try pending.insert(two)
        #expect(failure { try pending.insert(one) } == "redirect_shared")
        pending.removeExpired(now: Example.now + 600)
        #expect(pending.count == 0)
        try pending.insert(one)
    }

    @Test(
        "B5: an unmatched response neither finishes nor cancels a pending flow",
        arguments: [
            "code=c&state=unknown", "error=access_denied&state=unknown", "code=c", "error=access_denied",
        ])
    func unmatched(parameters: String) throws {
        let request = try Example.request()
        var pending = PendingAuthorizations()
        try pending.insert(request)
        let url = "https://client.example.com/cb?" + parameters
        #expect(failure { _ = try pending.take(redirectURL: url, now: Example.now) } == "unmatched")
        let elsewhere = "https://client.example.com/other?code=c&state=" + request.state.reveal()
        #expect(failure { _ = try pending.take(redirectURL: elsewhere, now: Example.now) } == "unmatched")
        #expect(pending.count == 1)
        #expect(try pending.take(redirectURL: request.redirect("code=c"), now: Example.now).secret.reveal() == "c")
    }

    @Test("B5: one request's response does not finish another's")
    func ownState() throws {
        let requests = try (0..<100).map { _ in try Example.request() }
        var pending = PendingAuthorizations()
        for request in requests { try pending.insert(request) }
        for request in requests.reversed() {
            let code = try pending.take(redirectURL: request.redirect("code=c"), now: Example.now)
            #expect(code.request.state.matches(request.state))
        }
        #expect(pending.count == 0)
    }

    @Test(
        "B6: a state is void after its first use, whatever that use said",
        arguments: [
            "code=c", "error=access_denied", "code=c&code=d", "iss=https://evil.example&code=c", "x=1",
        ])
    func replay(parameters: String) throws {
        let request = try Example.request()
        var pending = PendingAuthorizations()
        try pending.insert(request)
        _ = failure { _ = try pending.take(redirectURL: request.redirect(parameters), now: Example.now) }
        #expect(pending.count == 0)
        #expect(
            failure { _ = try pending.take(redirectURL: request.redirect("code=c"), now: Example.now) } == "unmatched")
    }
}
