import Crypto
import Foundation
import HTTPTypes
import Handshake
import Logging
import OAuth
import Testing

@testable import Handshake

@Suite("Discovery")
struct DiscoveryTests {
    private static let first = "/.well-known/oauth-authorization-server"
    private static let second = "/.well-known/openid-configuration"

    /// An answer of the first well-known address that is no metadata.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: @Sendable () throws -> ResponseMessage
        var testDescription: String { name }
    }

    private static func answer(_ status: Int, _ type: String, _ content: String) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]),
            content: Array(content.utf8))
    }

    static let rows = [
        Row(name: "HTML with 200") { answer(200, "text/html", "<html></html>") },
        Row(name: "an empty object") { .json(200, [:]) },
        Row(name: "a login page") { .json(401, ["error": "login"]) },
        Row(name: "forbidden") { answer(403, "text/html", "") },
        Row(name: "nothing") { answer(404, "text/html", "") },
        Row(name: "a gateway before nothing") { answer(502, "text/html", "") },
        Row(name: "an answer that is too long") { throw TransportError.tooLarge(host: "op.example", limit: 1) },
        Row(name: "a document that is too long") {
            .json(
                200,
                [
                    "issuer": "https://op.example", "token_endpoint": "https://op.example/other",
                    "padding": String(repeating: "a", count: AuthorizationServerMetadata.maximumLength),
                ])
        },
        Row(name: "a document of another issuer") {
            .json(200, ["issuer": "https://evil.example", "token_endpoint": "https://evil.example/t"])
        },
    ]

    /// An answer of the first well-known address after which no other one is asked, and the error's code.
    struct Stop: Sendable, CustomTestStringConvertible {
        let code: String
        let answer: @Sendable () throws -> ResponseMessage
        var testDescription: String { code }
    }

    static let stops = [
        Stop(code: "http_500") { answer(500, "text/html", "") },
        Stop(code: "http_503") { answer(503, "text/html", "") },
        Stop(code: "unexpected_redirect") { .json(302, [:], [.location: "https://op.example/login"]) },
        Stop(code: "timed_out") { throw TransportError.timedOut(host: "op.example") },
        Stop(code: "connection_cut") { throw TransportError.cut(host: "op.example", reason: "reset") },
    ]

    @Test("a server without keys is refused before the user is asked, because openid was asked for")
    func withoutKeys() async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides[Self.second] = { request in
                let answer = try provider.answer(Self.second, request)
                var members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
                members["jwks_uri"] = nil
                return .json(200, members)
            }
        }
        let browser = ScriptedBrowser { _ in
            Issue.record("the user was asked")
            return nil
        }
        let error = await handshakeError { try await provider.app().signIn(through: browser) }
        guard case .exchange(.malformed(.metadata, "jwks_uri", _, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("M509, H2: an address without usable metadata is skipped, and the next one is asked", arguments: rows)
    func skipped(_ row: Row) async throws {
        let provider = ScriptedProvider()
        provider.change { $0.overrides[Self.first] = { _ in try row.answer() } }
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(account.status.server?.tokenEndpoint.string == "https://op.example/token")
        #expect(provider.count("/login") == 0)
    }

    @Test(
        "M510: an error of the server, a redirect and a failure of the network stop, and later addresses stay untouched",
        arguments: stops)
    func stopped(_ stop: Stop) async throws {
        let provider = ScriptedProvider()
        provider.change { $0.overrides[Self.first] = { _ in try stop.answer() } }
        let app = try provider.app()
        #expect(await handshakeError { try await app.beginSignIn() }?.code == stop.code)
        #expect(provider.paths == [Self.first])
    }

    @Test("M510: the issuer's own document with an endpoint without TLS stops, and names it")
    func insecureEndpoint() async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides[Self.first] = { request in
                let answer = try provider.answer(Self.second, request)
                var members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
                members["token_endpoint"] = "http://op.example/token"
                return .json(200, members)
            }
        }
        let app = try provider.app()
        #expect(await handshakeError { try await app.beginSignIn() }?.code == "insecure_transport")
        #expect(provider.paths == [Self.first])
    }

    @Test("M510: a document that was found counts, whatever the other address answers", arguments: stops)
    func completed(_ stop: Stop) async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides[Self.first] = { try provider.answer(Self.second, $0) }
            state.overrides[Self.second] = { _ in try stop.answer() }
        }
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(account.status.server?.tokenEndpoint.string == "https://op.example/token")
    }

    @Test(
        "M509, H1: where no address has the issuer's own document, the error names the foreign issuer",
        arguments: [0, 1])
    func wrongDocument(_ place: Int) async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            for path in [Self.first, Self.second] { state.overrides[path] = { _ in .json(404, [:]) } }
            state.overrides[[Self.first, Self.second][place]] = { _ in
                .json(200, ["issuer": "https://evil.example", "token_endpoint": "https://evil.example/t"])
            }
        }
        let app = try provider.app()
        let error = await handshakeError { try await app.signIn(through: provider.browser) }
        #expect(error?.code == "issuer_mismatch")
        #expect(error.map { "\($0)" }?.contains("https://evil.example") == true)
        #expect(provider.paths == [Self.first, Self.second])
    }

    @Test("H2: when no address has metadata, the error tells what each one answered")
    func allAnswers() async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides[Self.first] = { _ in .json(404, [:]) }
            state.overrides[Self.second] = { _ in .json(500, [:]) }
        }
        let app = try provider.app()
        let error = try #require(await handshakeError { try await app.signIn(through: provider.browser) })
        #expect(error.code == "metadata_not_found")
        for word in ["https://op.example" + Self.first, "404", "https://op.example" + Self.second, "500"] {
            #expect("\(error)".contains(word))
        }
    }

    @Test("M507, H2: an issuer with a path is asked at three addresses, in order, and never at the root of its host")
    func path() async throws {
        let issuer = "https://op.example/tenant"
        let candidates = [Self.first + "/tenant", Self.second + "/tenant", "/tenant" + Self.second]
        // At the second address, an OpenID document is not looked for at the third.
        let all = [0, 1, 2]
        for (place, asked, isRoot) in [(0, all, false), (1, [0, 1], false), (2, all, false), (2, all, true)] {
            let provider = ScriptedProvider()
            provider.change { state in
                for path in candidates { state.overrides[path] = { _ in .json(404, [:]) } }
                // A host that has its root document at every path behind the well-known name.
                if isRoot { state.overrides[candidates[1]] = { try provider.answer(Self.second, $0) } }
                state.overrides[candidates[place]] = { _ in
                    .json(
                        200,
                        [
                            "issuer": issuer, "authorization_endpoint": issuer + "/authorize",
                            "token_endpoint": issuer + "/token", "response_types_supported": ["code"],
                        ])
                }
            }
            let service = try Service(
                name: "op", authorizationServer: .discovered(try Issuer(issuer), security: .httpsOnly),
                apiRoot: try EndpointURL(issuer + "/"), defaultScopes: ["read"])
            let redirect = Client.Redirect.uri(try RedirectURI(ScriptedProvider.redirect))
            let app = try provider.app(Client(service: service, id: "app", redirect: redirect))
            #expect(try await app.beginSignIn().page.url.hasPrefix(issuer + "/authorize?"))
            let paths = provider.paths.filter(candidates.contains)
            #expect(paths == asked.map { candidates[$0] })
            #expect(provider.count(Self.first) + provider.count(Self.second) == 0)
        }
    }

    @Test("H6: metadata is cached with an age, and a failed re-fetch breaks no running session")
    func age() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        let account = try await app.signIn(through: provider.browser)
        _ = try await app.signIn(as: "bob", through: provider.browser)
        #expect(provider.count(Self.second) == 1)
        provider.time.advance(by: 86_401)
        provider.change { state in
            for path in [Self.first, Self.second] { state.overrides[path] = { _ in .json(503, [:]) } }
        }
        try await account.refresh()
        #expect(provider.count(Self.second) == 1, "a session goes on with the metadata of its sign-in")
        _ = try await app.signIn(as: "carol", through: provider.browser)
        #expect(provider.count(Self.first) == 2, "it was asked for newer ones")
    }

    /// What a client authenticates with.
    enum Authentication: CaseIterable { case none, secret, key }

    @Test(
        "M907, H6: metadata beside a grant are renewed after a week; a moved token endpoint stops clients with a secret or a key",
        arguments: Authentication.allCases)
    func moved(_ authentication: Authentication) async throws {
        let provider = ScriptedProvider()
        let lines = LogLines(.notice)
        let service = try provider.client().service
        let redirect = Client.Redirect.uri(try RedirectURI(ScriptedProvider.redirect))
        let client =
            switch authentication {
            case .none: Client(service: service, id: "app", redirect: redirect)
            case .secret: Client.confidential(service: service, id: "app", secret: Secret("canary"), redirect: redirect)
            case .key:
                Client.confidential(
                    service: service, id: "app",
                    key: try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "k1"),
                    redirect: redirect)
            }
        let vault = MemoryVault()
        provider.announce(["dpop_signing_alg_values_supported": ["ES256"]])
        let account = try await Handshake(
            client, vault: vault, transport: provider, time: provider.time.source, log: lines.logger
        )
        .signIn(through: provider.browser)
        provider.announce([
            "token_endpoint": "https://new.example/token", "authorization_response_iss_parameter_supported": false,
            "code_challenge_methods_supported": ["plain"],
        ])
        let hosts = { provider.requests.filter { $0.head.path == "/token" }.map { $0.head.authority } }
        provider.time.advance(by: 604_000)
        try await account.refresh()
        #expect(hosts() == ["op.example", "op.example"], "within a week the stored metadata are used")
        provider.time.advance(by: 1_000)
        let error = await handshakeError { try await account.refresh() }
        #expect(lines.all.contains { $0.contains("moved its token endpoint") && $0.contains("https://new.example") })
        if authentication != .none {
            #expect(error?.code == "endpoint_moved")
            #expect(hosts() == ["op.example", "op.example"], "nothing was sent to the new host")
            #expect(account.status.state == .signedIn)
            // The user's own sign-in takes the new address.
            provider.change { $0.overrides["/token"] = { try provider.answer("/token", $0) } }
        } else {
            #expect(error == nil)
            #expect(hosts().last == "new.example")
            #expect(lines.all.contains { $0.contains("no longer announces") && $0.contains("iss, DPoP, S256") })
            let count = provider.count(Self.second)
            try await account.refresh()
            #expect(provider.count(Self.second) == count)
            #expect(hosts().last == "new.example")
        }
    }

    @Test("M907: a moved or new endpoint beside the token endpoint stops no refresh, and gets no secret")
    func movedRevocation() async throws {
        let provider = ScriptedProvider()
        let lines = LogLines(.notice)
        let client = Client.confidential(
            service: try provider.client().service, id: "app", secret: Secret("canary"),
            redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        let account = try await Handshake(
            client, vault: MemoryVault(), transport: provider, time: provider.time.source, log: lines.logger
        )
        .signIn(through: provider.browser)
        provider.announce([
            "revocation_endpoint": "https://new.example/revoke",
            "introspection_endpoint": "https://new.example/introspect",
        ])
        provider.time.advance(by: 604_801)
        try await account.refresh()
        #expect(provider.count("/token") == 2)
        #expect(
            lines.all.contains {
                $0.contains("moved its revocation endpoint; the session uses the earlier one")
                    && $0.contains("https://new.example")
            })
        #expect(
            lines.all.contains {
                $0.contains("a new introspection endpoint at another origin; the session does not use it")
            })
        let server = try #require(account.status.server)
        #expect(server.revocationEndpoint?.string == "https://op.example/revoke" && server.introspectionEndpoint == nil)
        // A week later it is the same.
        provider.time.advance(by: 604_801)
        try await account.refresh()
        #expect(provider.count("/token") == 3)
        _ = try await account.signOut()
        let hosts = provider.requests.filter { $0.head.path == "/revoke" }.map(\.head.authority)
        #expect(!hosts.isEmpty && hosts.allSatisfy { $0 == "op.example" })
    }

    @Test("M907: each endpoint at which clients authenticate is named when it has another origin, or is new at one")
    func changedEndpoints() throws {
        let bare = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"), tokenEndpoint: try EndpointURL("https://token.example/token"))
        let endpoints: [(AuthenticatingEndpoint, WritableKeyPath<AuthorizationServerMetadata, EndpointURL?>)] = [
            (.revocation, \.revocationEndpoint), (.introspection, \.introspectionEndpoint),
            (.pushedAuthorization, \.pushedAuthorizationRequestEndpoint),
            (.deviceAuthorization, \.deviceAuthorizationEndpoint),
            (.backchannelAuthentication, \.backchannelAuthenticationEndpoint),
        ]
        let (old, new) = (try EndpointURL("https://as.example").origin, try EndpointURL("https://new.example").origin)
        for (name, endpoint) in endpoints {
            var (before, after) = (bare, bare)
            before[keyPath: endpoint] = try EndpointURL("https://as.example/a")
            after[keyPath: endpoint] = try EndpointURL("https://new.example/a")
            #expect(
                after.endpointsChanged(since: before) == [ChangedEndpoint(endpoint: name, before: old, after: new)])
            #expect(
                after.endpointsChanged(since: bare) == [ChangedEndpoint(endpoint: name, before: nil, after: new)])
            #expect(before.endpointsChanged(since: bare).isEmpty, "new at the issuer's own origin")
            #expect(bare.endpointsChanged(since: before).isEmpty)
            after[keyPath: endpoint] = try EndpointURL("https://as.example/elsewhere")
            #expect(after.endpointsChanged(since: before).isEmpty, "another path of the same origin")
            after[keyPath: endpoint] = try EndpointURL("https://token.example/a")
            #expect(after.endpointsChanged(since: before).count == 1, "another endpoint's origin is not its own")
        }
        var moved = bare
        moved.tokenEndpoint = try EndpointURL("https://as.example/token")
        #expect(moved.endpointsChanged(since: bare).map(\.endpoint) == [.token])
    }

    @Test("M907: an endpoint that stays where it was is replaced by no alias either, for clients with a certificate")
    func keptAliases() throws {
        var before = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"), tokenEndpoint: try EndpointURL("https://as.example/token"))
        before.revocationEndpoint = try EndpointURL("https://as.example/revoke")
        var after = before
        let (revocation, introspection) = (
            try EndpointURL("https://new.example/revoke"), try EndpointURL("https://new.example/introspect")
        )
        after.mutualTLSAliases = ["revocation_endpoint": revocation, "introspection_endpoint": introspection]
        after = after.withMutualTLSAliases
        let changed = after.endpointsChanged(since: before)
        #expect(changed.map(\.endpoint) == [.revocation, .introspection])
        let kept = after.keeping(changed, of: before).withMutualTLSAliases
        #expect(kept.revocationEndpoint == before.revocationEndpoint && kept.introspectionEndpoint == nil)
    }

    @Test("M907: what protects a sign-in and is announced no longer is named, and what is new is not")
    func lost() throws {
        var before = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"), tokenEndpoint: try EndpointURL("https://as.example/token"))
        let bare = before
        before.announcesIssuerInResponse = true
        before.pushedAuthorizationRequestEndpoint = try EndpointURL("https://as.example/par")
        before.dpopSigningAlgorithms = ["ES256"]
        before.codeChallengeMethods = ["S256"]
        before.requestObjectSigningAlgorithms = ["ES256"]
        before.authorizationSigningAlgorithms = ["ES256"]
        before.bindsTokensToCertificates = true
        #expect(
            bare.announcementsLost(since: before) == [
                "iss", "PAR", "DPoP", "S256", "signed requests", "signed responses", "tokens bound to a certificate",
            ])
        #expect(before.announcementsLost(since: bare).isEmpty)
        #expect(before.announcementsLost(since: before).isEmpty)
    }

    @Test(
        "H6: metadata that cannot be renewed, or are another issuer's, break no running session", arguments: [503, 200])
    func notRenewed(_ status: Int) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        _ = try await provider.app(vault: vault).signIn(through: provider.browser)
        provider.time.advance(by: 700_000)
        provider.change { state in
            for path in [Self.first, Self.second] {
                state.overrides[path] = { _ in
                    .json(status, ["issuer": "https://evil.example", "token_endpoint": "https://evil.example/token"])
                }
            }
        }
        let account = try #require(try await provider.app(vault: vault).account())
        try await account.refresh()
        #expect(try await account.accessToken().reveal() == "access-2")
        #expect(provider.requests.last { $0.head.path == "/token" }?.head.authority == "op.example")
    }
}
