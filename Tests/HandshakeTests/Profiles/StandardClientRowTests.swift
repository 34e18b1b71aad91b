import CryptoExtras
import Foundation
import HTTPTypes
import Handshake
import Logging
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// Rows of `any-server.md` 10 about clients, their keys and their metadata, at the sandbox's standard server.
@Suite("Rows about clients at the sandbox's standard server", .heavy)
struct StandardClientRowTests {
    private static let security = TransportSecurity.allowingInsecureLoopback

    private static func signIn(_ app: Handshake, _ world: World) async throws -> Account {
        try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
    }

    private static func key(_ id: String, _ world: World) throws -> SigningKey {
        let client = try #require(world.sandbox.standard.clients.first { $0.id == id })
        return try SigningKey(parsing: Array(try #require(client.privateKey).utf8))
    }

    /// Whether the sandbox was asked for metadata alone.
    private static func wasAskedNothing(_ world: World) -> Bool {
        world.sandbox.requests(.standard).allSatisfy { $0.path.hasPrefix("/.well-known/") }
    }

    @Test("M303: an assertion is made for the sandbox's token endpoint, and for one on another origin none")
    func audience() async throws {
        let world = try await World(.standard)
        var deviations = try world.service().deviations
        deviations.assertionAudience = .tokenEndpoint
        let service = try Service(
            name: "standard", authorizationServer: world.service().authorizationServer, defaultScopes: ["openid"],
            deviations: deviations)
        let id = "sandbox-key-token-endpoint"
        let client = Client.confidential(service: service, id: id, key: try Self.key(id, world))
        #expect(try await Self.signIn(try world.app(client), world).status.state == .signedIn)
        world.sandbox.clearRequests()
        try world.inject("standard /.well-known/* => member token_endpoint \(world.sandbox.resources.origin)/token")
        let app = try world.app(client)
        #expect(await handshakeError { try await Self.signIn(app, world) }?.configurationMember == "assertion-audience")
        #expect(Self.wasAskedNothing(world) && world.sandbox.requests(.resources).isEmpty)
        await world.sandbox.stop()
    }

    @Test("M306, M307: a secret of 31 bytes and an RSA key are configuration errors before the sandbox is asked")
    func unusable() async throws {
        let world = try await World(.standard)
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
        let short = Client.confidential(
            service: try world.service(), id: "sandbox-hmac", secret: Secret(String(repeating: "s", count: 31)),
            method: .clientSecretJWT)
        let keyed = Client.confidential(
            service: try world.service(), id: "sandbox-key", key: try SigningKey(parsing: Array(rsa.utf8)))
        for (client, member) in [(short, "client_secret"), (keyed, "key")] {
            let app = try world.app(client)
            #expect(await handshakeError { try await Self.signIn(app, world) }?.configurationMember == member)
        }
        #expect(Self.wasAskedNothing(world))
        await world.sandbox.stop()
    }

    @Test("M409, G6: the sandbox's nonce challenge behind another one is answered once")
    func challenge() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(try world.boundClient(), transport: transport)
        for rule in [
            #"header WWW-Authenticate Bearer, dpop error="use_dpop_nonce" x1"#, "header DPoP-Nonce n-1 x1",
            "status 401 x1",
        ] { try world.inject("standard /api/whoami => \(rule)") }
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        let proofs = try SentProof.all(transport.requests, to: "/api/whoami")
        #expect(proofs.map { $0["nonce"] } == [nil, "n-1"])
        #expect(Set(proofs.compactMap { $0["jti"] }).count == 2)
        #expect(world.statuses("/api/whoami") == [401, 200] && world.tokenRequests() == 0)
        await world.sandbox.stop()
    }

    @Test("M412: the sandbox's token_type is compared without case")
    func tokenType() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        try world.inject("standard POST /token => member token_type dPoP")
        let (_, account) = try await world.signedIn(try world.boundClient())
        #expect(account.status.isBound)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("M415, F2: at the sandbox's redirect a new proof goes to its own origin, and none to another")
    func redirects() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(try world.boundClient(), transport: transport)
        let (own, other) = (world.sandbox.standard.origin, world.sandbox.resources.origin)
        try world.inject("standard /api/echo => redirect \(world.whoAmI)?c=d 307")
        try world.inject("standard /api/admin => redirect \(other)/elsewhere 307")
        #expect(try await account.send(.get, own + "/api/echo?a=b").head.status == .ok)
        let first = try #require(try SentProof.all(transport.requests, to: "/api/echo?a=b").first)
        let second = try #require(try SentProof.all(transport.requests, to: "/api/whoami?c=d").first)
        #expect(first["htu"] == own + "/api/echo" && second["htu"] == world.whoAmI)
        #expect(first["jti"] != second["jti"])
        #expect(try await account.send(.get, own + "/api/admin").head.status == .notFound)
        let last = try #require(transport.requests.last)
        #expect(last.head.path == "/elsewhere" && other.hasSuffix(last.head.authority ?? "none"))
        #expect(last.head.headerFields[.authorization] == nil && last.head.headerFields[.dpop] == nil)
        await world.sandbox.stop()
    }

    @Test(
        "M603: Ed25519 has two names at the sandbox, and at_hash is by SHA-512 there",
        arguments: [
            (["sign EdDSA", "claim at_hash -"], nil),
            (["sign EdDSA", "header alg Ed25519", "claim at_hash -"], nil), (["sign EdDSA"], "at_hash_mismatch"),
        ] as [([String], String?)])
    func edwards(_ changes: [String], _ code: String?) async throws {
        let world = try await World(.standard)
        try world.inject(#"standard /.well-known/* => member id_token_signing_alg_values_supported ["EdDSA"]"#)
        for change in changes { try world.inject("standard POST /token => id_token \(change)") }
        let app = try world.app()
        #expect(await handshakeError { try await Self.signIn(app, world) }?.code == code)
        await world.sandbox.stop()
    }

    @Test("M612: where the sandbox has no page for it the session ends here, and an address over 8 KB becomes a form")
    func endOfSession() async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /token => id_token claim padding \(String(repeating: "a", count: 7_000))")
        let account = try await Self.signIn(try world.app(), world)
        let report = try await account.signOut { page in
            guard case .form(let action, let fields) = page.request.page else {
                Issue.record("the page is an address")
                return nil
            }
            #expect(!page.url.contains("id_token_hint") && fields.map(\.name) == ["id_token_hint", "client_id"])
            var form = URLComponents()
            form.queryItems = fields.map { URLQueryItem(name: $0.name, value: $0.value) }
            let answer = try await PlatformTransport().send(
                RequestMessage(
                    .post, action, headers: [.contentType: "application/x-www-form-urlencoded"],
                    content: .bytes(Array((form.percentEncodedQuery ?? "").utf8))), limits: World.limits)
            #expect(answer.head.status == .ok)
            #expect(String(decoding: answer.content, as: UTF8.self).contains("You are signed out"))
            return nil
        }
        #expect(report.serverSession == .shown && report.isForgotten)
        try world.inject("standard /.well-known/* => without end_session_endpoint")
        let app = try world.app()
        let other = try await Self.signIn(app, world)
        let without = try await other.signOut { _ in
            Issue.record("there is no page")
            return nil
        }
        #expect(without.serverSession == .unsupported && without.isForgotten)
        #expect(try await app.account() == nil)
        #expect(world.statuses("/end_session") == [200])
        await world.sandbox.stop()
    }

    @Test("M703: without a hint for the sandbox, or with two, nothing is sent")
    func hints() async throws {
        let world = try await World(.standard)
        let known = try #require(world.sandbox.standard.clients.first { $0.id == "sandbox-confidential" })
        for (hint, parameters, member) in [
            ("", [:], "login_hint"), ("ada@example.test", ["id_token_hint": "x"], "id_token_hint"),
        ] as [(String, [String: String], String)] {
            let app = try world.app(
                Client.confidential(
                    service: world.service(), id: known.id, secret: Secret(known.secret ?? ""), scopes: ["openid"],
                    parameters: parameters))
            let error = await handshakeError { try await app.signInOnOwnDevice(of: .login(hint)) }
            #expect(error?.configurationMember == member)
        }
        #expect(Self.wasAskedNothing(world))
        await world.sandbox.stop()
    }

    @Test("M706: a refresh token that the sandbox gives with client credentials is dropped")
    func clientCredentials() async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /token => member refresh_token canary-refresh-token")
        let app = try world.app(try world.confidentialClient("sandbox-service", scopes: ["api"]))
        let account = try await app.signInAsClient()
        let record = try #require(try await world.vault.record(account.id.vaultKey))
        #expect(!String(decoding: record, as: UTF8.self).contains("canary"))
        try await account.refresh()
        #expect(world.tokenRequests("client_credentials") == 2 && world.tokenRequests("refresh_token") == 0)
        await world.sandbox.stop()
    }

    @Test(
        "M904: where the sandbox's metadata name a hostile page, nothing is shown",
        arguments: [
            ("https://op.example/`id`", "malformed_response"), (#"https://op.example/a"b"#, "malformed_response"),
            ("https://op.example/$(touch${IFS}x)'", "malformed_response"),
            ("javascript:alert(1)", "malformed_response"), ("http://op.example/authorize", "insecure_transport"),
        ])
    func hostilePage(_ address: String, _ code: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard /.well-known/* => member authorization_endpoint \(address)")
        let app = try world.app()
        let pages = Shared(0)
        let error = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { _ in
                    pages.change { $0 += 1 }
                    throw HandshakeError.signInAbandoned(.closed)
                })
        }
        #expect(error?.code == code)
        #expect(pages.value == 0 && Self.wasAskedNothing(world))
        await world.sandbox.stop()
    }

    @Test("M907: where the sandbox's token endpoint has moved, secrets and assertions stay, and it is reported")
    func moved() async throws {
        for isKeyed in [false, true] {
            let world = try await World(.standard)
            let lines = LogLines(.notice)
            let client = try isKeyed ? world.keyedClient("sandbox-key") : world.confidentialClient()
            let app = try Handshake(
                client, vault: world.vault, time: world.time.source, limits: World.limits, log: lines.logger)
            let account = try await Self.signIn(app, world)
            let address = world.sandbox.resources.origin
            try world.inject("standard /.well-known/* => member token_endpoint \(address)/token")
            world.time.advance(by: 604_801)
            #expect(await handshakeError { try await account.refresh() }?.code == "endpoint_moved")
            #expect(lines.all.contains { $0.contains("moved its token endpoint") && $0.contains(address) })
            #expect(world.sandbox.requests(.resources).isEmpty && world.tokenRequests() == 0)
            #expect(account.status.state == .signedIn)
            await world.sandbox.stop()
        }
    }

    @Test("M907: what the sandbox announces no longer is reported, and breaks no session")
    func lost() async throws {
        let world = try await World(.standard)
        let lines = LogLines(.notice)
        let app = try Handshake(
            try world.client(), vault: world.vault, time: world.time.source, limits: World.limits, log: lines.logger)
        let account = try await Self.signIn(app, world)
        for change in [
            "member authorization_response_iss_parameter_supported false",
            "without pushed_authorization_request_endpoint", "without dpop_signing_alg_values_supported",
        ] { try world.inject("standard /.well-known/* => \(change)") }
        world.time.advance(by: 604_801)
        world.sandbox.advanceClock(by: 604_801)
        try await account.refresh()
        #expect(lines.all.contains { $0.contains("no longer announces") && $0.contains("iss, PAR, DPoP") })
        await world.sandbox.stop()
    }
}
