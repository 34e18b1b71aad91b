import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

extension LoggedRequest {
    /// The pairs of the form, where the log has whole requests.
    var sentPairs: [URLQueryItem] {
        var components = URLComponents()
        components.percentEncodedQuery = String(decoding: whole?.body ?? [], as: UTF8.self)
        return components.queryItems ?? []
    }

    /// The same by name.
    var sentForm: [String: String] { sentPairs.reduce(into: [:]) { $0[$1.name] = $1.value } }
}

/// Rows of `any-server.md` 10 that are shown with scripted answers elsewhere. Here the sandbox's standard server gives them.
@Suite("Rows of the dossier at the sandbox's standard server", .heavy)
struct StandardRowTests {
    private static func signIn(_ app: Handshake, _ world: World) async throws -> Account {
        try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
    }

    @Test(
        "M202: a push that the sandbox refuses is a typed error, and no page and no unpushed request follow",
        arguments: [
            (#"status 400 {"error":"invalid_request"}"#, "invalid_request"),
            (#"status 401 {"error":"invalid_client"}"#, "invalid_client"), ("status 413", "http_413"),
            ("status 429", "http_429"), ("status 503", "http_503"),
            ("redirect http://127.0.0.1:9/", "unexpected_redirect"), ("body {}", "malformed_response"),
        ])
    func refusedPush(_ fault: String, _ code: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /par => \(fault)")
        let app = try world.app()
        let shown = Mutex(0)
        let error = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { _ in
                    shown.withLock { $0 += 1 }
                    throw HandshakeError.signInAbandoned(.closed)
                })
        }
        #expect(error?.code == code)
        #expect(shown.withLock { $0 } == 0)
        #expect(world.statuses("/par").count == 1)
        #expect(world.statuses("/authorize").isEmpty)
        #expect(try await world.vault.keys(of: .signIn).keys.isEmpty)
        await world.sandbox.stop()
    }

    @Test("M203: two sign-ins alike are pushed to the sandbox one by one, and share nothing")
    func pushedTwice() async throws {
        let world = try await World(.standard, configuration: Sandbox.Configuration(logsWholeRequests: true))
        let app = try world.app()
        for name in ["one", "two"] {
            _ = try await app.signIn(as: name, through: ApprovingBrowser(sandbox: world.sandbox))
        }
        let pushes = world.sandbox.requests(.standard).filter { $0.path == "/par" }.map(\.sentForm)
        #expect(pushes.count == 2)
        for name in ["state", "nonce", "code_challenge"] {
            #expect(Set(pushes.compactMap { $0[name] }).count == 2, "\(name)")
        }
        await world.sandbox.stop()
    }

    @Test("M412, G2: a bearer token of the sandbox where a bound one was asked for stops the sign-in")
    func bearerAnswer() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        try world.inject(
            #"standard POST /token => body {"access_token":"canary","token_type":"Bearer","expires_in":60}"#)
        let app = try world.app(try world.boundClient())
        let error = await handshakeError { try await Self.signIn(app, world) }
        guard case .exchange(.malformed(.token, "token_type", "DPoP", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await app.account() == nil)
        await world.sandbox.stop()
    }

    @Test(
        "M803: the iat of the sandbox's ID token may be 9 s ahead, and not 61",
        arguments: [(9, nil), (61, "id_token_time")] as [(Int, String?)])
    func clocks(_ seconds: Int, _ code: String?) async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let now = Int(world.time.source.now())
        try world.inject("standard POST /token => id_token claim iat \(now + seconds)")
        let app = try world.app()
        #expect(await handshakeError { try await Self.signIn(app, world) }?.code == code)
        await world.sandbox.stop()
    }

    @Test(
        "M509, H2: where the sandbox has no document at the first address, the next one is asked",
        arguments: ["status 401", "status 403", "status 404", "status 502", "garbage"])
    func skippedAddress(_ fault: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard /.well-known/oauth-authorization-server => \(fault)")
        let account = try await Self.signIn(try world.app(), world)
        #expect(account.status.state == .signedIn)
        #expect(!world.statuses("/.well-known/oauth-authorization-server").isEmpty)
        #expect(!world.statuses("/.well-known/openid-configuration").isEmpty)
        await world.sandbox.stop()
    }

    @Test(
        "M510: an error of the sandbox or a redirect at the first address stops, and the next one stays untouched",
        arguments: [("status 500", "http_500"), ("redirect http://127.0.0.1:9/", "unexpected_redirect")])
    func stoppedAtAddress(_ fault: String, _ code: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard /.well-known/* => \(fault)")
        let app = try world.app()
        #expect(await handshakeError { try await Self.signIn(app, world) }?.code == code)
        #expect(world.sandbox.requests(.standard).count == 1)
        await world.sandbox.stop()
    }

    @Test("M407, M411: the sandbox's nonces are in the next proof, and one that is none is ignored")
    func nonces() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(try world.boundClient(), transport: transport)
        for rules in [
            ["header DPoP-Nonce success"], ["header DPoP-Nonce failure", "status 500"], ["header DPoP-Nonce n 1"], [],
        ] {
            world.sandbox.clearFaults()
            for rule in rules { try world.inject("standard /api/whoami => \(rule)") }
            _ = try await account.send(.get, world.whoAmI)
        }
        #expect(world.statuses("/api/whoami") == [200, 500, 200, 200])
        let proofs = try SentProof.all(transport.requests, to: "/api/whoami")
        #expect(proofs.map { $0["nonce"] } == [nil, "success", "failure", "failure"])
        await world.sandbox.stop()
    }

    @Test("M611, D12: each kind of signed text of the sandbox's is refused by the client's readers of all others")
    func crossFeeding() async throws {
        let world = try await World(.standard, configuration: Sandbox.Configuration(logsWholeRequests: true))
        var client = try world.keyedClient("sandbox-signing")
        client.options.signedRequests = .always
        client.options.userInfoAlgorithm = .es256
        let app = try world.app(client)
        client.options.responseMode = .jwt
        let texts = SignedTexts(
            world: world, app: app, listening: try world.app(client), account: try await Self.signIn(app, world))
        let codes = [
            ("id_token", "id_token_malformed"), ("response", "authorization_response_malformed"),
            ("userinfo", "userinfo_response_malformed"), ("logout_token", "logout_token_malformed"),
        ]
        for (kind, _) in codes {
            for (reader, code) in codes where reader != kind {
                // What tells an ID token from a response is that there is no code in it.
                let expected = (kind, reader) == ("id_token", "response") ? "malformed_response" : code
                let found = try await texts.refusal(of: kind, readAs: reader)
                #expect(found == expected, "\(kind) read as \(reader)")
            }
        }
        #expect(try await app.account("other") == nil)
        #expect(try await app.account()?.status.state == .signedIn)
        // Each reader takes its own kind.
        for (kind, _) in codes.dropLast() {
            let found = try await texts.refusal(of: kind, readAs: kind)
            #expect(found == nil, "\(kind)")
        }
        for name in ["id_token", "response"] {
            #expect(try await app.account(name)?.status.state == .signedIn, "\(name)")
        }
        #expect(try await texts.refusal(of: "logout_token", readAs: "logout_token") == nil)
        await world.sandbox.stop()
    }

    @Test("M402, M404: the sandbox, which compares htu and refuses used proofs, takes those of requests with a query")
    func proofs() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(
            try world.boundClient("sandbox-dpop-changing"), transport: transport)
        for number in 0..<20 {
            #expect(try await account.send(.get, world.whoAmI + "?n=\(number)").head.status == .ok)
        }
        #expect(world.statuses("/api/whoami") == [401] + Array(repeating: 200, count: 20))
        let requests = transport.requests.filter { $0.head.path?.hasPrefix("/api/whoami") == true }
        // It is verified that each has one field.
        let proofs = try requests.compactMap { try SentProof($0) }
        #expect(proofs.count == 21 && proofs.allSatisfy { $0["htu"] == world.whoAmI })
        #expect(Set(proofs.compactMap { $0["jti"] }).count == 21)
        for request in requests {
            let field = try #require(request.head.headerFields[.dpop])
            let key = try #require(try SentProof.object(field.prefix { $0 != "." })["jwk"]?.object)
            #expect(key["x"] != nil && key["d"] == nil)
        }
        await world.sandbox.stop()
    }

    /// A world at a loopback address; nil where the machine has no IPv6, as many containers.
    private static func world(at host: String) async throws -> World? {
        do {
            return try await World(.standard, configuration: Sandbox.Configuration(host: host))
        } catch let error as SandboxError {
            guard host == "::1", case .cannotListen = error else { throw error }
            return nil
        }
    }

    @Test("M403: the sandbox takes proofs whose htu has its port or IPv6 brackets, and an origin alone is its root")
    func targets() async throws {
        for host in ["127.0.0.1", "::1"] {
            // Without IPv6 the brackets are shown by values alone: a name for that address would show none.
            guard let world = try await Self.world(at: host) else { continue }
            world.holdClocks()
            let transport = TappedTransport()
            let (_, account) = try await world.signedIn(try world.boundClient(), transport: transport)
            let root = world.sandbox.standard.origin
            let port = try #require(URLComponents(string: root)?.port)
            #expect(root == (host == "::1" ? "http://[::1]:\(port)" : "http://127.0.0.1:\(port)"))
            for address in [world.whoAmI, root] {
                #expect(try await account.send(.get, address).head.status == .ok)
            }
            let targets = try transport.requests.suffix(2).map { try SentProof($0)?["htu"] }
            #expect(targets == [root + "/api/whoami", root + "/"])
            await world.sandbox.stop()
        }
    }

    @Test("M405: the challenge of the sandbox's token endpoint is answered once, with new jti, nonce and assertion")
    func tokenChallenge() async throws {
        let world = try await World(.standard, configuration: Sandbox.Configuration(logsWholeRequests: true))
        world.holdClocks()
        var client = try world.keyedClient("sandbox-fapi")
        client.options.fapi2 = true
        let transport = TappedTransport()
        let browser = ScriptedBrowser { page in
            let redirect = try await world.sandbox.approve(page.url)
            // From here on the nonce of the push counts no more.
            world.sandbox.rotateNonces()
            return redirect
        }
        let account = try await world.app(client, transport: transport).signIn(through: browser)
        #expect(account.status.isBound)
        #expect(world.statuses("/token") == [400, 200])
        let proofs = try SentProof.all(transport.requests, to: "/token")
        let nonces = proofs.compactMap { $0["nonce"] }
        #expect(nonces.count == 2 && Set(nonces).count == 2)
        #expect(Set(proofs.compactMap { $0["jti"] }).count == 2)
        let sent = world.sandbox.requests(.standard).filter { $0.path == "/token" }
        let assertions = try sent.compactMap { try claims(of: $0.sentForm["client_assertion"] ?? "")["jti"] as? String }
        #expect(Set(assertions).count == 2)
        await world.sandbox.stop()
    }

    @Test("M802: by the profile a secret and endpoints written by hand for the sandbox are refused before it is asked")
    func profile() async throws {
        let world = try await World(.standard)
        var secret = try world.confidentialClient()
        let (origin, security) = (world.sandbox.standard.origin, TransportSecurity.allowingInsecureLoopback)
        let server = AuthorizationServerMetadata(
            issuer: try Issuer(origin, security: security),
            authorizationEndpoint: try EndpointURL(origin + "/authorize", security: security),
            tokenEndpoint: try EndpointURL(origin + "/token", security: security), security: security)
        var handMade = Client.confidential(
            service: try Service(name: "standard", authorizationServer: .described(server), defaultScopes: ["openid"]),
            id: "sandbox-fapi", key: try #require(try world.keyedClient("sandbox-fapi").credential?.key))
        secret.options.fapi2 = true
        handMade.options.fapi2 = true
        for (client, member) in [(secret, "key"), (handMade, "issuer")] {
            let app = try world.app(client)
            #expect(await handshakeError { try await Self.signIn(app, world) }?.configurationMember == member)
        }
        #expect(world.sandbox.requests(.standard).allSatisfy { $0.path.hasPrefix("/.well-known/") })
        await world.sandbox.stop()
    }

    @Test("M802: by the profile RS256, a bearer token and a response without iss of the sandbox's stop")
    func profiledAnswers() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        var client = try world.keyedClient("sandbox-fapi")
        client.options.fapi2 = true
        try world.inject(
            #"standard /.well-known/* => member id_token_signing_alg_values_supported ["ES256","RS256"]"#)
        let app = try world.app(client)
        let silent = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { page in
                    var redirect = URLComponents(string: try await world.sandbox.approve(page.url))
                    redirect?.queryItems?.removeAll { $0.name == "iss" }
                    return redirect?.string
                })
        }
        #expect(silent?.code == "issuer_missing" && world.tokenRequests("authorization_code") == 0)
        try world.inject("standard POST /token => id_token sign RS256 x1")
        #expect(await handshakeError { try await Self.signIn(app, world) }?.code == "algorithm_refused")
        try world.inject("standard POST /token => member token_type Bearer x1")
        let bearer = await handshakeError { try await Self.signIn(app, world) }
        guard case .exchange(.malformed(.token, "token_type", "DPoP", _))? = bearer else {
            Issue.record("\(String(describing: bearer))")
            return
        }
        #expect(try await app.account() == nil)
        #expect(try await Self.signIn(app, world).status.isBound, "it was nothing else")
        await world.sandbox.stop()
    }
}
