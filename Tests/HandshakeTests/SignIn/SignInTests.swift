import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("Sign-in", .heavy, .ownThreads)
struct SignInTests {
    @Test(
        "A1, A3: a user signs in at every service with PKCE by S256 and a state of 256 bits",
        arguments: SandboxService.Name.withSignIn)
    func everyService(_ name: SandboxService.Name) async throws {
        let world = try await World(name)
        let shown = Mutex<SignInPage?>(nil)
        var client = try world.client()
        client.options.pushedRequests = .never
        let account = try await world.app(client).signIn(
            through: ScriptedBrowser { page in
                shown.withLock { $0 = page }
                return try await world.sandbox.approve(page.url)
            })
        let url = try #require(shown.withLock { $0?.url })
        let query = URLComponents(string: url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["code_challenge"]?.count == 43)
        #expect(query["state"]?.count == 43)
        #expect(account.status.state == .signedIn)
        #expect(try await !account.identity().subject.isEmpty)
        let exchange = try #require(world.sandbox.requests(name).first { $0.grantType == "authorization_code" })
        #expect(exchange.queryParameterNames.isEmpty)
        #expect(exchange.formParameterNames.contains("code_verifier"))
        await world.sandbox.stop()
    }

    @Test("a verified ID token says who signed in, and user-info agrees")
    func identity() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        let claims = try #require(account.status.identity)
        #expect(claims.issuer == world.sandbox.standard.origin)
        #expect(try await account.identity().subject == claims.subject)
        await world.sandbox.stop()
    }

    @Test("a confidential client authenticates in the way that the server takes")
    func confidential() async throws {
        let world = try await World(.standard)
        for client in world.sandbox.standard.clients
        where client.secret != nil && client.id != "sandbox-hmac" && client.grantTypes.contains("authorization_code") {
            let (_, account) = try await world.signedIn(try world.confidentialClient(client.id))
            try await account.refresh()
            #expect(world.sandbox.requests(.standard).last { $0.path == "/token" }?.authorizationScheme == "Basic")
        }
        await world.sandbox.stop()
    }

    @Test("refusal at the service is the user's no, and nothing is stored")
    func refusal() async throws {
        let world = try await World()
        let handshake = try world.app()
        let error = await handshakeError {
            try await handshake.signIn(through: ScriptedBrowser { try await world.sandbox.refuse($0.url) })
        }
        #expect(error == .signInAbandoned(.denied))
        #expect(try await handshake.account() == nil)
        #expect(try await world.vault.keys(of: .signIn).keys.isEmpty)
        await world.sandbox.stop()
    }

    @Test("without a user at the browser the sign-in times out and leaves nothing behind")
    func timeout() async throws {
        let world = try await World()
        let clock = ManualClock()
        let handshake = try world.app(clock: clock)
        async let error = handshakeError {
            try await handshake.signIn(through: ScriptedBrowser { _ in nil }, timeout: .seconds(60))
        }
        await clock.sleeper(of: .seconds(60))
        clock.advance(by: .seconds(60))
        #expect(await error == .signInAbandoned(.timedOut))
        #expect(try await world.vault.keys(of: .signIn).keys.isEmpty)
        await world.sandbox.stop()
    }

    @Test("cancelling the task ends the sign-in and closes its listener")
    func cancellation() async throws {
        let world = try await World()
        let shown = Gate()
        let address = Mutex<String>("")
        let task = Task {
            try await world.app().signIn(
                through: ScriptedBrowser { page in
                    address.withLock { $0 = page.redirectURI.string }
                    shown.open()
                    return nil
                })
        }
        await shown.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let (_, refused) = await LoopbackCaller.get(address.withLock { $0 } + "?code=x&state=y")
        #expect(refused, "the listener is closed")
        await world.sandbox.stop()
    }

    /// What an attacker or an accident makes of the redirect, and what has to come of it.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (String) -> String
        let code: String
        var testDescription: String { name }
    }

    @Test(
        "B2, B5, B7: a redirect that is not as it should be stops, before any code is sent",
        arguments: [
            Tampering(
                name: "another state", change: { $0.replacing(/state=[^&]+/, with: "state=other") },
                code: "state_mismatch"),
            Tampering(name: "no state", change: { $0.replacing(/&?state=[^&]+/, with: "") }, code: "state_mismatch"),
            Tampering(
                name: "another issuer", change: { $0.replacing(/iss=[^&]+/, with: "iss=https%3A%2F%2Fevil.example") },
                code: "issuer_mismatch"),
            Tampering(
                name: "no issuer, though announced", change: { $0.replacing(/&iss=[^&]+/, with: "") },
                code: "issuer_missing"),
            Tampering(name: "two codes", change: { $0 + "&code=again" }, code: "parameter_repeated"),
            Tampering(
                name: "another path", change: { $0.replacing("/callback", with: "/Callback") }, code: "state_mismatch"),
            Tampering(
                name: "no code", change: { $0.replacing(/code=[^&]+/, with: "nothing=1") }, code: "malformed_response"),
            Tampering(
                name: "a broken escape", change: { $0.replacing(/code=[^&]+/, with: "code=%zz") },
                code: "malformed_response"),
            Tampering(
                name: "a server error", change: { $0.replacing(/code=[^&]+/, with: "error=temporarily_unavailable") },
                code: "temporarily_unavailable"),
        ])
    func tampering(_ row: Tampering) async throws {
        let world = try await World(.standard)
        let client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let handshake = try world.app(client)
        let error = await handshakeError {
            try await handshake.signIn(
                through: ScriptedBrowser { row.change(try await world.sandbox.approve($0.url)) })
        }
        #expect(error?.code == row.code)
        #expect(world.tokenRequests("authorization_code") == 0)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("B6: a redirect counts once")
    func replay() async throws {
        let world = try await World()
        let handshake = try world.app(try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))))
        let attempt = try await handshake.beginSignIn()
        let redirect = try await world.sandbox.approve(attempt.page.url)
        _ = try await handshake.finishSignIn(redirectURL: redirect)
        #expect(
            await handshakeError { try await handshake.finishSignIn(redirectURL: redirect) }?.code == "state_mismatch")
        #expect(world.tokenRequests("authorization_code") == 1)
        await world.sandbox.stop()
    }

    @Test("L1: printing a sign-in attempt or its page shows neither state nor nonce")
    func printing() async throws {
        let provider = ScriptedProvider()
        let attempt = try await provider.app().beginSignIn()
        let query = URLComponents(string: attempt.page.url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value }
        let secrets = try [#require(query?["state"] ?? nil), #require(query?["nonce"] ?? nil)]
        var dumped = ""
        dump(attempt, to: &dumped)
        dump(attempt.page, to: &dumped)
        let texts = [
            dumped, "\(attempt)", "\(attempt.page)", String(reflecting: attempt), String(reflecting: attempt.page),
        ]
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        #expect("\(attempt)".contains("op.example"))
    }

    @Test("what was begun and never finished can be cleared away, and what still counts stays")
    func abandoned() async throws {
        let world = try await World()
        let handshake = try world.app(try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))))
        for _ in 0..<3 { _ = try await handshake.beginSignIn(timeout: .seconds(60)) }
        world.time.advance(by: 61)
        let attempt = try await handshake.beginSignIn(timeout: .seconds(60))
        #expect(try await handshake.removeExpiredSignIns() == 3)
        let redirect = try await world.sandbox.approve(attempt.page.url)
        _ = try await handshake.finishSignIn(redirectURL: redirect)
        #expect(try await world.vault.keys(of: .signIn).keys.isEmpty)
        await world.sandbox.stop()
    }

    @Test(
        "an attempt that is damaged, locked or held by another process keeps no other expired record from being removed",
        arguments: [.damaged(what: "a record", reason: "it was changed"), .locked("no key"), .busy("a record")]
            as [VaultError])
    func abandonedBesideUnreadable(_ error: VaultError) async throws {
        let vault = UnreadableVault()
        let world = try await World(vault: vault)
        let handshake = try world.app(try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))))
        for _ in 0..<3 { _ = try await handshake.beginSignIn(timeout: .seconds(60)) }
        try await vault.update(VaultKey(.logoutToken, ["used"])) { record in
            try await record.replace(with: Array(#"{"expiresAt":1}"#.utf8))
        }
        world.time.advance(by: 61)
        let unreadable = try #require(try await vault.keys(of: .signIn).keys.first)
        vault.fail(unreadable, with: error)
        #expect(try await handshake.removeExpiredSignIns() == 3)
        #expect(try await vault.keys(of: .signIn).keys == [unreadable])
        #expect(try await vault.keys(of: .logoutToken).keys.isEmpty)
        vault.fail(unreadable, with: .unavailable("the disk failed"))
        #expect(await handshakeError { try await handshake.removeExpiredSignIns() }?.code == "vault_unavailable")
        await world.sandbox.stop()
    }

    @Test("I9: a pending sign-in expires")
    func expiry() async throws {
        let world = try await World()
        let handshake = try world.app(try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))))
        let attempt = try await handshake.beginSignIn(timeout: .seconds(60))
        let redirect = try await world.sandbox.approve(attempt.page.url)
        world.time.advance(by: 61)
        #expect(
            await handshakeError { try await handshake.finishSignIn(redirectURL: redirect) }?.code == "request_expired")
        await world.sandbox.stop()
    }

    #if os(Linux) || os(macOS)
    @Test(
        "I9: a sign-in that one process began is finished by another after it was killed; the record is sealed and used once"
    )
    func resume() async throws {
        let folder = try VaultFolder()
        let world = try await World(vault: try folder.open())
        let place = folder.place
        let (origin, id) = (world.sandbox.recurseCenter.origin, try world.client().id)
        let note = folder.parent + "/url"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as VaultPlace, origin = origin as String, id = id as String, note = note as String] in
            let service = Service.recurseCenter.at(try EndpointURL(origin, security: .allowingInsecureLoopback))
            let client = Client(
                service: service, id: id, redirect: .uri(try RedirectURI("com.example.app:/callback")))
            let attempt = try await Handshake(client, vault: try place.open(), limits: World.limits).beginSignIn()
            try Files.make(Array(attempt.page.url.utf8), at: note)
            kill(getpid(), SIGKILL)
        }
        let url = String(decoding: try Files.read(note), as: UTF8.self)
        let state = try #require(url.firstMatch(of: /state=([^&]+)/)?.1)
        for file in folder.files() where file != note {
            #expect(!String(decoding: try Files.read(file), as: UTF8.self).contains(state))
        }
        let handshake = try world.app(
            try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))))
        let redirect = try await world.sandbox.approve(url)
        let account = try await handshake.finishSignIn(redirectURL: redirect)
        #expect(try await account.identity().subject == "759")
        #expect(
            await handshakeError { try await handshake.finishSignIn(redirectURL: redirect) }?.code
                == "state_mismatch")
        await world.sandbox.stop()
    }
    #endif

    @Test("B4: an app whose servers share a redirect URI, and cannot be told apart by iss, refuses to start")
    func sharedRedirect() async throws {
        let uri = try RedirectURI("https://app.example/callback")
        let one = Client(service: .sequencing, id: "a", redirect: .uri(uri))
        let two = Client(service: .recurseCenter, id: "b", redirect: .uri(uri))
        #expect(await handshakeError { try Handshake(one, two, vault: MemoryVault()) }?.code == "redirect_shared")
        for other in [
            "https://app.example/callback/", "https://app.example/Callback", "https://app.example:444/callback",
        ] {
            let apart = Client(service: .recurseCenter, id: "b", redirect: .uri(try RedirectURI(other)))
            #expect(await handshakeError { try Handshake(one, apart, vault: MemoryVault()) } == nil, "\(other)")
        }
    }

    @Test("I7: an app's client has no secret to give away", arguments: SandboxService.Name.withSignIn)
    func publicClient(_ name: SandboxService.Name) async throws {
        let world = try await World(name)
        let client = try world.client()
        #expect(!client.isConfidential)
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        try await account.refresh()
        let exchanges = world.sandbox.requests(name).filter { $0.grantType != nil }
        #expect(exchanges.count == 2)
        for exchange in exchanges {
            #expect(exchange.authorizationScheme == nil)
            #expect(!exchange.formParameterNames.contains("client_secret"))
        }
        await world.sandbox.stop()
    }

    @Test(
        "I8: the prompt names the service and the host of its page, in the user's language",
        arguments: [
            ("en", "before you sign in to"), ("de", "Vor dem Anmelden"), ("ja", "サインイン"),
            ("pt_BR.UTF-8", "antes de entrar em"), ("xx", "before you sign in to"),
        ])
    func prompt(_ language: String, _ words: String) async throws {
        let handshake = try Handshake(
            Client(service: .recurseCenter, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback"))),
            vault: MemoryVault())
        let prompt = try await handshake.beginSignIn().page.prompt(in: Language(preferred: [language]))
        #expect(prompt.contains(words))
        #expect(prompt.contains("Recurse Center"))
        #expect(prompt.contains("www.recurse.com"))
    }

    @Test("H1: metadata of another issuer stops before any authorization request")
    func foreignMetadata() async throws {
        let world = try await World(.standard)
        try world.inject(
            "GET /.well-known/* => body {\"issuer\":\"https://evil.example\",\"token_endpoint\":\"https://evil.example/t\"}"
        )
        let error = await handshakeError {
            try await world.app().signIn(
                through: ScriptedBrowser { _ in
                    Issue.record("a page was shown")
                    return nil
                })
        }
        #expect(error?.code == "issuer_mismatch")
        await world.sandbox.stop()
    }

    @Test("A2: a server without S256 is refused, not asked in another way")
    func noS256() async throws {
        let world = try await World(.standard)
        let origin = world.sandbox.standard.origin
        try world.inject(
            "GET /.well-known/* => body {\"issuer\":\"\(origin)\",\"authorization_endpoint\":\"\(origin)/authorize\",\"token_endpoint\":\"\(origin)/token\",\"code_challenge_methods_supported\":[\"plain\"]}"
        )
        #expect(
            await handshakeError { try await world.app().signIn(through: ApprovingBrowser(sandbox: world.sandbox)) }?
                .code == "pkce_unsupported")
        await world.sandbox.stop()
    }

    @Test("C7: plain http is refused for every address that is not on this machine")
    func plainHTTP() {
        for address in [
            "http://example.com", "http://192.168.1.1", "http://127.0.0.1.example.com", "http://localhost.example.com",
        ] {
            #expect(throws: OAuthError.self) { try Issuer(address, security: .allowingInsecureLoopback) }
        }
        #expect(throws: OAuthError.self) { try Issuer("http://127.0.0.1:1") }
    }
}
