import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Clients with keys", .heavy)
struct ClientKeyTests {
    /// A client of the sandbox that signs with its key, and this one or another key for it.
    private static func keyed(_ world: World, key: SigningKey? = nil) throws -> Client {
        let known = try #require(world.sandbox.standard.clients.first { $0.privateKey != nil })
        let own = try SigningKey(parsing: Array((known.privateKey ?? "").utf8))
        return Client.confidential(service: try world.service(), id: known.id, key: key ?? own)
    }

    private static func other() throws -> SigningKey {
        try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "sandbox-client-1")
    }

    @Test("M301: a client with a key signs in, refreshes and revokes, and shows no secret")
    func life() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let (_, account) = try await world.signedIn(try Self.keyed(world))
        try await account.refresh()
        try await account.refresh()
        let report = try await account.signOut()
        #expect(report.revoked == [.refreshToken, .accessToken])
        let sent = world.sandbox.requests(.standard).filter { ["/token", "/revoke"].contains($0.path) }
        #expect(sent.count == 4)
        for request in sent {
            #expect(request.status == 200)
            #expect(request.authorizationScheme == nil)
            #expect(request.formParameterNames.contains("client_assertion"))
            #expect(!request.formParameterNames.contains("client_secret"))
        }
        await world.sandbox.stop()
    }

    @Test(
        "M301: an assertion is for whom the service's description says, at every endpoint, and for no other",
        arguments: [
            ("sandbox-key", "issuer"), ("sandbox-key-token-endpoint", "token_endpoint"),
            ("sandbox-key-endpoint", "endpoint"), ("sandbox-key-either", "either"),
        ])
    func audience(_ id: String, _ audience: String) async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let known = try #require(world.sandbox.standard.clients.first { $0.id == id })
        let key = try SigningKey(parsing: Array((known.privateKey ?? "").utf8))
        for stated in ["issuer", "token_endpoint", "endpoint", nil] {
            var facts: JSONObject = [
                "issuer": .string(world.sandbox.standard.origin), "discovers": .bool(true),
                "default_scopes": .array([.string("openid"), .string("offline_access")]),
            ]
            facts["assertion_audience"] = stated.map { .string($0) }
            let service = try BuiltInService(name: "standard", facts: facts)
                .service(security: .allowingInsecureLoopback)
            let app = try world.app(Client.confidential(service: service, id: id, key: key))
            let error = await handshakeError {
                let account = try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
                try await account.refresh()
                let report = try await account.signOut()
                #expect(report.remaining.isEmpty && report.failure == nil)
            }
            let isRight = audience == "either" || stated ?? "issuer" == audience
            #expect((error == nil) == isRight, "\(stated ?? "none"): \(String(describing: error))")
            if let error { #expect(error.code == "invalid_client", "\(stated ?? "none")") }
        }
        #expect(world.sandbox.requests(.standard).contains { $0.path == "/par" && $0.status == 201 })
        await world.sandbox.stop()
    }

    @Test("D11: an assertion has the time of the token endpoint's clock, also where the metadata come from the vault")
    func serverClock() async throws {
        let (provider, vault) = (ScriptedProvider(), MemoryVault())
        provider.publish(["token_endpoint": "https://token.example/token"])
        provider.change { state in
            state.overrides["/token"] = { request in
                var answer = try provider.answer("/token", request)
                // 1994-11-06 08:49:37, 784111777 s since 1970.
                answer.head.headerFields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT"
                return answer
            }
        }
        let known = try provider.client()
        let client = Client.confidential(
            service: known.service, id: "app", key: try Self.other(), redirect: known.redirect,
            scopes: ["offline_access"])
        let time = TimeSource(now: { 784_111_817.5 }, clock: ContinuousClock())
        func app() throws -> Handshake { try Handshake(client, vault: vault, transport: provider, time: time) }
        try await app().signIn(through: provider.browser).refresh()
        let restarted = try #require(try await app().account())
        for _ in 0..<2 { try await restarted.refresh() }
        let times = try provider.forms("/token").map { form in
            try claims(of: try #require(form["client_assertion"]))["iat"] as? Int
        }
        #expect(times == [784_111_817, 784_111_777, 784_111_817, 784_111_777])
    }

    @Test("M301: a client with a key signs in as itself, and its push is signed too")
    func clientCredentials() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let known = try Self.keyed(world)
        let key = try #require(known.credential?.key)
        let client = Client.confidential(service: known.service, id: known.id, key: key, scopes: ["api"])
        let account = try await world.app(client).signInAsClient()
        #expect(account.status.scopes == ["api"])
        _ = try await world.app(client).signIn(as: "second", through: ApprovingBrowser(sandbox: world.sandbox))
        let push = try #require(world.sandbox.requests(.standard).first { $0.path == "/par" })
        #expect(push.formParameterNames.contains("client_assertion"))
        await world.sandbox.stop()
    }

    @Test("a key that is not the client's is the service's refusal, before the user is asked")
    func wrongKey() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let app = try world.app(try Self.keyed(world, key: try Self.other()))
        let error = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { _ in
                    Issue.record("the page was shown")
                    return nil
                })
        }
        #expect(error?.code == "invalid_client")
        await world.sandbox.stop()
    }

    @Test("a client whose secret signs shows it nowhere")
    func secret() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let known = try #require(world.sandbox.standard.clients.first { $0.id == "sandbox-hmac" })
        let client = Client.confidential(
            service: try world.service(), id: known.id, secret: Secret(known.secret ?? ""), method: .clientSecretJWT)
        let (_, account) = try await world.signedIn(client)
        try await account.refresh()
        let request = try #require(world.sandbox.requests(.standard).last { $0.path == "/token" })
        #expect(request.status == 200)
        #expect(request.formParameterNames.contains("client_assertion"))
        #expect(!request.formParameterNames.contains("client_secret"))
        await world.sandbox.stop()
    }

    /// A provider whose metadata has further members.
    private static func provider(_ more: [String: any Sendable]) throws -> ScriptedProvider {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/.well-known/openid-configuration"] = { request in
                let answer = try provider.answer("/.well-known/openid-configuration", request)
                let members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
                return .json(200, members.merging(more) { $1 })
            }
        }
        return provider
    }

    private static func app(_ provider: ScriptedProvider, _ client: Client) throws -> Handshake {
        try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
    }

    @Test(
        "M307: a client whose key or secret the server cannot take is a configuration error before any request of it",
        arguments: [
            ["token_endpoint_auth_signing_alg_values_supported": ["RS256", "PS256"]],
            ["token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_jwt"]],
        ])
    func unusable(_ metadata: [String: [String]]) async throws {
        let provider = try Self.provider(metadata)
        let known = try provider.client()
        let app = try Self.app(
            provider,
            Client.confidential(service: known.service, id: "app", key: Self.other(), redirect: known.redirect))
        let error = await handshakeError { try await app.beginSignIn() }
        guard case .exchange(.configuration("key", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(provider.count("/token") == 0)
        #expect(provider.count("/par") == 0)
    }

    @Test("C4: a secret signs where the server takes it in no other way, and never where it does")
    func automatic() async throws {
        for (methods, isSigned) in [
            (["client_secret_jwt"], true), (["client_secret_jwt", "client_secret_post"], false),
            (["private_key_jwt", "client_secret_jwt"], true),
        ] {
            let provider = try Self.provider(["token_endpoint_auth_methods_supported": methods])
            let known = try provider.client()
            let client = Client.confidential(
                service: known.service, id: "app", secret: Secret(String(repeating: "s", count: 32)),
                redirect: known.redirect)
            _ = try await Self.app(provider, client).signIn(through: provider.browser)
            let form = try #require(provider.forms("/token").first)
            #expect((form["client_assertion"] != nil) == isSigned, "\(methods)")
            #expect((form["client_secret"] != nil) == !isSigned, "\(methods)")
        }
    }

    @Test("a client with a key and its options is remembered, and reads the same again")
    func remembered() async throws {
        let vault = MemoryVault()
        let provider = ScriptedProvider()
        let known = try provider.client()
        var client = Client.confidential(
            service: known.service, id: "app", key: try Self.other(), redirect: known.redirect)
        client.options.pushedRequests = .always
        try await Registrations(in: vault).remember(client, as: "mine")
        let again = try #require(try await Registrations(in: vault).client(named: "mine"))
        #expect(again.credential?.key?.thumbprint == client.credential?.key?.thumbprint)
        #expect(again.credential?.key?.keyID == "sandbox-client-1")
        #expect(again.options == client.options)
        #expect(again.isConfidential)
    }

    @Test("a sign-in that was demanded now is not remembered; a limit of the user's own is", arguments: ["0", "3600"])
    func lastingParameters(_ age: String) async throws {
        let vault = MemoryVault()
        let client = try ScriptedProvider().client().asking(for: ["openid"], ["max_age": age, "ui_locales": "de"])
        try await Registrations(in: vault).remember(client, as: "mine")
        let again = try #require(try await Registrations(in: vault).client(named: "mine"))
        #expect(again.parameters == (age == "0" ? ["ui_locales": "de"] : ["max_age": age, "ui_locales": "de"]))
    }

    @Test(
        "a new sign-in that was demanded once is not remembered; the other words of prompt are",
        arguments: [("login", nil), ("login consent", "consent"), ("select_account", "select_account"), ("", "")]
            as [(String, String?)])
    func lastingPrompt(_ stated: String, _ kept: String?) async throws {
        let vault = MemoryVault()
        let client = try ScriptedProvider().client().asking(for: ["openid"], ["prompt": stated, "ui_locales": "de"])
        try await Registrations(in: vault).remember(client, as: "mine")
        let again = try #require(try await Registrations(in: vault).client(named: "mine"))
        #expect(again.parameters["prompt"] == kept)
        #expect(again.parameters["ui_locales"] == "de")
    }

    @Test("M309: a service's description says that a key signs the client secret, and a fixed one is refused")
    func apple() async throws {
        let service = try Service.named("apple", ["team": "DEF123GHIJ"])
        #expect(
            service.deviations.signedSecret
                == ClientAssertion.SignedSecret(issuer: "DEF123GHIJ", audience: "https://appleid.apple.com"))
        let provider = ScriptedProvider()
        let described = try Service(
            name: "signed", authorizationServer: .discovered(try Issuer(ScriptedProvider.issuer), security: .httpsOnly),
            defaultScopes: ["openid"], deviations: service.deviations)
        let redirect = try provider.client().redirect
        for method in [Client.AuthenticationMethod.automatic, .basic, .clientSecretJWT] {
            let fixed = Client.confidential(
                service: described, id: "app", secret: Secret("fixed secret of 32 bytes or more"), method: method,
                redirect: redirect)
            let error = await handshakeError { try await Self.app(provider, fixed).beginSignIn() }
            guard case .exchange(.configuration("client_secret", _))? = error else {
                Issue.record("\(method): \(String(describing: error))")
                return
            }
        }
        let client = Client.confidential(service: described, id: "app", key: try Self.other(), redirect: redirect)
        let account = try await Self.app(provider, client).signIn(through: provider.browser)
        try await account.refresh()
        for form in provider.forms("/token") {
            let secret = try #require(form["client_secret"]).split(separator: ".")
            let claims = try JSONValue(parsing: try #require(Base64URL.decode(secret[1]))).object
            #expect(claims?["iss"]?.string == "DEF123GHIJ")
            #expect(form["client_assertion"] == nil)
        }
        #expect(Set(provider.forms("/token").compactMap { $0["client_secret"] }).count == 2)
    }
}
