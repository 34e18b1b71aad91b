import Testing

@testable import OAuth

@Suite("Starting an authorization")
struct AuthorizationRequestTests {
    @Test(
        "A1: every request has a PKCE challenge, whatever the server's metadata says or leaves out",
        arguments: [nil, ["S256"], ["plain", "S256"]])
    func challengeAlways(methods: [String]?) throws {
        var server = try Example.server()
        server.codeChallengeMethods = methods
        let request = try Example.request(to: server)
        #expect(request.queryPairs.contains("code_challenge=\(request.verifier.challenge)"))
        #expect(request.queryPairs.contains("code_challenge_method=S256"))
    }

    @Test(
        "A2: a server that lists challenge methods without S256 is refused",
        arguments: [[], ["plain"], ["s256"], ["plain", "S512"]])
    func onlyS256(methods: [String]) throws {
        var server = try Example.server()
        server.codeChallengeMethods = methods
        #expect(failure { _ = try Example.request(to: server) } == "pkce_unsupported")
    }

    @Test("A2: the challenge of RFC 7636, appendix B is the S256 of its verifier")
    func challengeVector() throws {
        let verifier = try #require(CodeVerifier(Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")))
        #expect(verifier.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("A3: the bytes of RFC 7636, appendix B give its verifier")
    func verifierVector() {
        let bytes: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240, 91, 88,
            5, 88, 83, 132, 141, 121,
        ]
        let verifier = CodeVerifier(from: RandomSource { _ in bytes })
        #expect(verifier.secret.reveal() == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test(
        "A3: a verifier has 43 to 128 unreserved characters from 256 random bits", arguments: 0..<200 as Range<UInt64>)
    func verifierForm(seed: UInt64) {
        let verifier = CodeVerifier(from: Example.seeded(seed)).secret.reveal()
        #expect((43...128).contains(verifier.utf8.count))
        #expect(verifier.utf8.allSatisfy(PercentEncoding.isUnreserved))
        #expect(Base64URL.decode(verifier)?.count == 32)
    }

    @Test(
        "A3: a verifier from elsewhere is taken only in the form of RFC 7636, section 4.1",
        arguments: [
            (String(repeating: "a", count: 42), false), (String(repeating: "a", count: 43), true),
            (String(repeating: "~", count: 128), true),
            (String(repeating: "a", count: 129), false), (String(repeating: "a", count: 42) + "+", false),
            (String(repeating: "a", count: 42) + "é", false), (String(repeating: "a", count: 42) + "\n", false),
            ("", false),
        ])
    func foreignVerifier(text: String, isTaken: Bool) {
        #expect((CodeVerifier(Secret(text)) != nil) == isTaken)
    }

    @Test("A4: 10,000 attempts give 10,000 distinct states, nonces and verifiers")
    func distinct() throws {
        let server = try Example.server()
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            let request = try Example.request(to: server)
            seen.insert(request.state.reveal())
            seen.insert(request.verifier.secret.reveal())
            seen.insert(try #require(request.nonce).reveal())
        }
        #expect(seen.count == 30_000)
    }

    @Test("A5: the state has 256 bits of the generator's, and the system's generator repeats none of them")
    func stateEntropy() throws {
        #expect(try Example.request().state.reveal().utf8.count == 43)
        let first = RandomSource.system.bytes(4096)
        #expect(first.count == 4096)
        #expect(Set(first).count > 200)
        #expect(first != RandomSource.system.bytes(4096))
        #expect((0...9).map { RandomSource.system.bytes($0).count } == Array(0...9))
    }

    @Test("A6: no path leaves the state out", arguments: [[], ["openid"], ["a", "b"]])
    func stateAlways(scopes: [String]) throws {
        let request = try Example.request(scopes: scopes)
        #expect(request.queryPairs.contains("state=\(request.state.reveal())"))
    }

    @Test("A7: the state is a handle: the same inputs give another one, and none of them is inside")
    func opaqueState() throws {
        let one = try Example.request()
        let two = try Example.request()
        #expect(!one.state.matches(two.state))
        let bytes = try #require(Base64URL.decode(one.state.reveal()))
        #expect(bytes.count == 32)
    }

    @Test("A8: nothing of the caller's stands in the address but what the request is made of")
    func address() throws {
        let request = try Example.request()
        let names = request.queryPairs.compactMap { $0.split(separator: "=").first.map(String.init) }
        #expect(
            names == [
                "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
                "code_challenge_method",
            ])
        #expect(!request.url.contains(request.verifier.secret.reveal()))
    }

    @Test(
        "A9: a nonce goes along whenever openid is asked for, and only then",
        arguments: [
            ([], false), (["profile"], false), (["openid"], true), (["profile", "openid"], true), (["openid2"], false),
        ] as [([String], Bool)])
    func nonce(scopes: [String], isSent: Bool) throws {
        let request = try Example.request(scopes: scopes)
        #expect((request.nonce != nil) == isSent)
        #expect(request.queryPairs.contains { $0.hasPrefix("nonce=") } == isSent)
        if let nonce = request.nonce { #expect(!nonce.matches(request.state)) }
    }

    @Test(
        "A10: the response type is code, and no parameter can make it another",
        arguments: ["response_type", "response_mode", "request", "request_uri"])
    func onlyCode(name: String) throws {
        #expect(try Example.request().queryPairs.contains("response_type=code"))
        var options = AuthorizationRequest.Options()
        options.extras = [name: "token"]
        #expect(failure { _ = try Example.request(options: options) } == "configuration \(name)")
    }

    @Test(
        "A13: a caller's extra cannot take a name of the protocol's own",
        arguments: [
            "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier",
            "dpop_jkt", "grant_type", "nonce", "redirect_uri", "request", "request_uri", "resource", "response_mode",
            "response_type", "scope", "state",
        ])
    func reserved(name: String) {
        var options = AuthorizationRequest.Options()
        options.extras = [name: "mine"]
        #expect(failure { _ = try Example.request(options: options) } == "configuration \(name)")
    }

    @Test(
        "A13: a name that the endpoint's own query has already is refused, however it is spelled",
        arguments: ["state=1", "a=b&client_id=2", "st%61te=1", "%zz=1"])
    func endpointQuery(query: String) throws {
        var server = try Example.server()
        server.authorizationEndpoint = try EndpointURL("https://server.example.com/authorize?" + query)
        #expect(failure { _ = try Example.request(to: server) } == "malformed authorization_endpoint")
    }

    @Test(
        "A13: the endpoint's own query is kept",
        arguments: [
            ("", "?response_type=code&"), ("?tenant=1", "?tenant=1&response_type=code&"), ("?", "?response_type=code&"),
        ])
    func keptQuery(query: String, beginning: String) throws {
        var server = try Example.server()
        server.authorizationEndpoint = try EndpointURL("https://server.example.com/authorize" + query)
        #expect(try Example.request(to: server).url.hasPrefix("https://server.example.com/authorize" + beginning))
    }

    @Test("A13: an empty value is left out, and an empty client id is refused")
    func empty() throws {
        var options = AuthorizationRequest.Options()
        options.extras = ["prompt": ""]
        options.resources = ["", "https://api.example.com/"]
        let request = try Example.request(scopes: [], options: options)
        #expect(!request.url.contains("prompt="))
        #expect(!request.url.contains("scope="))
        #expect(
            request.queryPairs.filter { $0.hasPrefix("resource=") } == ["resource=https%3A%2F%2Fapi.example.com%2F"])
        #expect(
            failure {
                _ = try AuthorizationRequest(
                    to: try Example.server(), clientID: "", redirectURI: try RedirectURI("https://a.example/cb"), now: 0
                )
            } == "configuration client_id")
    }

    @Test("A13: what a caller adds is encoded and cannot add a parameter of its own")
    func injection() throws {
        var options = AuthorizationRequest.Options()
        options.extras = ["login_hint": "a&state=evil#x=1"]
        let request = try Example.request(options: options)
        #expect(request.queryPairs.filter { $0.hasPrefix("state=") }.count == 1)
        #expect(request.queryPairs.contains("login_hint=a%26state%3Devil%23x%3D1"))
    }

    @Test("A12: a request asks for the scopes and resources that it names, each once, and for no others")
    func smallest() throws {
        #expect(!(try Example.request(scopes: []).queryPairs.contains { $0.hasPrefix("scope=") }))
        var options = AuthorizationRequest.Options()
        options.resources = ["https://a.example/", "https://b.example/"]
        let pairs = try Example.request(scopes: ["read"], options: options).queryPairs
        #expect(
            pairs.filter { $0.hasPrefix("scope=") || $0.hasPrefix("resource=") } == [
                "scope=read", "resource=https%3A%2F%2Fa.example%2F", "resource=https%3A%2F%2Fb.example%2F",
            ])
    }

    @Test("I4: a claimed https address gets the same request as any other redirect URI")
    func claimed() throws {
        func pairs(_ uri: String) throws -> [String] {
            try Example.request(redirectURI: uri, random: Example.seeded(1)).queryPairs.filter {
                !$0.hasPrefix("redirect_uri=")
            }
        }
        let claimed = try Example.request(redirectURI: "https://app.example.com/callback")
        #expect(claimed.redirectURI.kind == .claimed)
        #expect(claimed.queryPairs.contains("redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback"))
        #expect(try pairs("https://app.example.com/callback") == pairs("com.example.app:/callback"))
        #expect(try pairs("https://app.example.com/callback") == pairs("http://127.0.0.1:51004/callback"))
        #expect(failure { _ = try claimed.code(from: claimed.redirect("code=c"), now: Example.now) } == nil)
    }
}
