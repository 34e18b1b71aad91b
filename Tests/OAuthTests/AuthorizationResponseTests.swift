import HTTPTypes
import TestFixtures
import Testing

@testable import OAuth

@Suite("Receiving the authorization response")
struct AuthorizationResponseTests {
    private func outcome(_ request: AuthorizationRequest, _ url: String, now: Double = Example.now) -> String {
        failure { _ = try request.code(from: url, now: now) } ?? "code"
    }

    @Test(
        "B2: iss is compared character for character",
        arguments: [
            ("https%3A%2F%2Fserver.example.com", "code"), ("https://server.example.com", "code"),
            ("https%3A%2F%2Fserver.example.com%2F", "issuer_mismatch"),
            ("https%3A%2F%2FServer.example.com", "issuer_mismatch"),
            ("https%3A%2F%2Fserver.example.com%3A443", "issuer_mismatch"),
            ("http%3A%2F%2Fserver.example.com", "issuer_mismatch"),
            ("https%3A%2F%2Fserver.example.org", "issuer_mismatch"),
            ("https%3A%2F%2Fserver.example.co", "issuer_mismatch"),
            ("x", "issuer_mismatch"),
        ])
    func issuer(value: String, expected: String) throws {
        for announces in [true, false] {
            let request = try Example.request(to: try Example.server(announcesIssuer: announces))
            #expect(outcome(request, request.redirect("code=c&iss=" + value)) == expected)
        }
    }

    @Test("B2: a spelling that Unicode calls equivalent is another issuer")
    func equivalentIssuer() throws {
        let request = try Example.request(to: try Example.server("https://server.example.com/K"))
        #expect(outcome(request, request.redirect("code=c&iss=https://server.example.com/K")) == "code")
        #expect(
            outcome(request, request.redirect("code=c&iss=https://server.example.com/%E2%84%AA")) == "issuer_mismatch")
    }

    @Test(
        "B2: a server that announces iss and does not send it is stopped, for codes and for errors",
        arguments: ["code=c", "error=access_denied", "code=c&iss="])
    func missingIssuer(parameters: String) throws {
        let request = try Example.request(to: try Example.server(announcesIssuer: true))
        #expect(outcome(request, request.redirect(parameters)) == "issuer_missing")
    }

    @Test("M215: of an error whose iss is another server's nothing is shown")
    func foreignError() throws {
        for announces in [true, false] {
            let request = try Example.request(to: try Example.server(announcesIssuer: announces))
            let url = request.redirect(
                "error=access_denied_by_mallory&error_description=call%20mallory&error_uri=https://mallory.example/"
                    + "&iss=https://honest.example")
            let refusal = try #require(refusal { _ = try request.code(from: url, now: Example.now) })
            #expect(refusal.check == .issuer)
            #expect(!"\(refusal) \(String(reflecting: refusal))".contains("mallory"))
        }
    }

    @Test("B3: a server that never announced iss may leave it out, but not send another one")
    func unannouncedIssuer() throws {
        let request = try Example.request()
        #expect(outcome(request, request.redirect("code=c")) == "code")
        #expect(outcome(request, request.redirect("code=c&iss=https://honest.example")) == "issuer_mismatch")
    }

    @Test("B2: the response of RFC 9207, section 2.1 is read")
    func rfc9207() throws {
        let request = try Example.request(to: try Example.server("https://honest.as.example", announcesIssuer: true))
        let url = request.redirect(
            "code=x1848ZT64p4IirMPT0R-X3141MFPTuBX-VFL_cvaplMH58&iss=https%3A%2F%2Fhonest.as.example")
        let code = try request.code(from: url, now: Example.now)
        #expect(code.secret.reveal() == "x1848ZT64p4IirMPT0R-X3141MFPTuBX-VFL_cvaplMH58")
    }

    @Test(
        "B4: the redirect must have come to exactly the address that was asked for",
        arguments: [
            ("https://client.example.com/cb?", "code"), ("https://client.example.com/cb/?", "unmatched"),
            ("https://client.example.com/CB?", "unmatched"), ("https://client.example.com:443/cb?", "unmatched"),
            ("https://client.example.com:8443/cb?", "unmatched"), ("http://client.example.com/cb?", "unmatched"),
            ("https://Client.example.com/cb?", "unmatched"), ("https://client.example.com/cbx?", "unmatched"),
            ("https://client.example.com/c%62?", "unmatched"), ("https://client.example.com/cb;x?", "unmatched"),
            ("https://client.example.com/cb?x=1&", "code"), ("https://evil.example/cb?", "unmatched"),
            ("?", "unmatched"),
        ])
    func address(beginning: String, expected: String) throws {
        let request = try Example.request()
        #expect(outcome(request, beginning + "code=c&state=" + request.state.reveal()) == expected)
    }

    @Test(
        "B4: a redirect URI with a query of its own is compared whole",
        arguments: [
            ("https://client.example.com/cb?app=1&", "code"), ("https://client.example.com/cb?app=2&", "unmatched"),
            ("https://client.example.com/cb?", "unmatched"), ("https://client.example.com/cb?app=11&", "unmatched"),
        ])
    func addressWithQuery(beginning: String, expected: String) throws {
        let request = try Example.request(redirectURI: "https://client.example.com/cb?app=1")
        #expect(outcome(request, beginning + "code=c&state=" + request.state.reveal()) == expected)
    }

    @Test(
        "B5: the state is judged before anything else is believed, in answers and in errors",
        arguments: [
            "code=c", "code=c&state=", "code=c&state=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "error=access_denied&state=x",
            "code=c&code=d&state=x", "code=c&iss=https://evil.example&state=x", "code=%zz&state=x", "code=c&state=%zz",
            "code=c&state=%00", "", "state", "=", "&&&",
        ])
    func stateFirst(parameters: String) throws {
        let request = try Example.request()
        #expect(outcome(request, "https://client.example.com/cb?" + parameters) == "unmatched")
        #expect(outcome(request, "https://client.example.com/cb?" + parameters, now: .infinity) == "unmatched")
    }

    @Test("B5: a state matches whole or not at all")
    func wholeState() throws {
        let request = try Example.request()
        let state = request.state.reveal()
        for other in [
            String(state.dropLast()), state + "A", String(state.reversed()), state.lowercased() + "_", state + "%20",
        ] {
            #expect(outcome(request, "https://client.example.com/cb?code=c&state=" + other) == "unmatched")
        }
    }

    @Test(
        "B7: a known parameter that comes twice stops the flow, also empty, bare or escaped",
        arguments: [
            "code=c&code=c", "code=c&code=d", "iss=https://server.example.com&iss=https://server.example.com&code=c",
            "code=c&error=x&error=x", "code=c&code=", "code=&code=c", "code&code=c", "code=c&c%6Fde=d",
            "code=c&state=x",
            "error=a&error_description=a&error_description=b", "error=a&error_uri=a&error_uri=b",
        ])
    func doubled(parameters: String) throws {
        let request = try Example.request()
        let state = "state=" + request.state.reveal()
        #expect(outcome(request, "https://client.example.com/cb?\(state)&\(parameters)") == "parameter_repeated")
    }

    @Test(
        "B7: unknown parameters are skipped, also doubled and broken ones",
        arguments: ["session_state=1&session_state=2&", "%zz=1&", "scope=%zz&", "x&", "=&", "&&"])
    func unknown(parameters: String) throws {
        let request = try Example.request()
        #expect(outcome(request, request.redirect(parameters + "code=c")) == "code")
    }

    @Test(
        "B7: any list of known and unknown names ends in a code or a typed error, and doubled names never in a code",
        arguments: 0..<500 as Range<UInt64>)
    func lists(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let request = try Example.request()
        let names = (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ in
            ["code", "iss", "error", "error_description", "x", "state"].randomElement(using: &generator)
        }
        let values = ["c", "", "%41", "https://server.example.com"]
        let pairs = names.map { $0 + "=" + (values.randomElement(using: &generator) ?? "") }
        let result = outcome(request, request.redirect(pairs.joined(separator: "&")))
        let known = (names + ["state"]).filter { $0 != "x" }
        if known.count != Set(known).count { #expect(result != "code") }
    }

    @Test(
        "B8: hostile values end in a typed error that names the member",
        arguments: [
            ("code=%zz", "malformed code"), ("code=a%0Ab", "malformed code"), ("code=a%00b", "malformed code"),
            ("code=%FF", "malformed code"), ("code=%C0%80", "malformed code"), ("iss=%FF&code=c", "malformed iss"),
            ("error=%1B%5B2J", "malformed error"), ("error=a&error_description=%E2%80", "malformed error_description"),
            ("foo=bar", "malformed code"), ("code=", "malformed code"), ("error=access_denied", "access_denied"),
            ("error=access_denied&code=c", "access_denied"),
        ])
    func hostile(parameters: String, expected: String) throws {
        let request = try Example.request()
        #expect(outcome(request, request.redirect(parameters)) == expected)
    }

    @Test(
        "B8: a redirect without query or beyond 16 KiB belongs to no attempt",
        arguments: ["", "https://client.example.com/cb", "https://client.example.com/cb#code=c", "#?"])
    func noQuery(url: String) throws {
        let request = try Example.request()
        #expect(outcome(request, url) == "unmatched")
        #expect(outcome(request, request.redirect("code=" + String(repeating: "a", count: 17_000))) == "unmatched")
    }

    @Test("B8: an error's text is shortened, stripped of control and direction characters, and never interpreted")
    func errorText() throws {
        let request = try Example.request()
        let long = String(repeating: "%3Cscript%3E", count: 400)
        let url = request.redirect("error=access_denied&error_description=%E2%80%AEok%EF%BB%BF" + long)
        let error = try #require(serverError { _ = try request.code(from: url, now: Example.now) })
        let text = try #require(error.text)
        #expect(error.code == "access_denied")
        #expect(text.unicodeScalars.count == 501)
        #expect(text.hasPrefix("\u{FFFD}ok\u{FFFD}<script>"))
    }

    @Test("B8: a fragment is left aside")
    func fragment() throws {
        let request = try Example.request()
        #expect(outcome(request, request.redirect("code=c") + "#_=_") == "code")
        #expect(outcome(request, request.redirect("x=1") + "#code=c") == "malformed code")
    }

    @Test("a redirect after the request's lifetime is refused")
    func expired() throws {
        let request = try Example.request()
        #expect(outcome(request, request.redirect("code=c"), now: Example.now + 599) == "code")
        #expect(outcome(request, request.redirect("code=c"), now: Example.now + 600) == "request_expired")
    }

    @Test(
        "B9: the only address that a response is compared with is our own, and no parameter of it is an address to go to"
    )
    func noForwarding() throws {
        let request = try Example.request()
        let url = request.redirect(
            "code=c&redirect_uri=https://evil.example&next=https://evil.example&error_uri=https://evil.example")
        let code = try request.code(from: url, now: Example.now)
        let message = try TokenRequest(
            .authorizationCode(code), at: request.server, clientID: Example.clientID, authentication: .none
        ).message
        #expect(message.head.authority == "server.example.com")
        #expect(message.form.contains("redirect_uri=https%3A%2F%2Fclient.example.com%2Fcb"))
    }
}
