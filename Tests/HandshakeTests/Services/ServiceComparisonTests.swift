import HTTPTypes
import OAuth
import Testing

@testable import Handshake

@Suite("What a service publishes beside what is known of it")
struct ServiceComparisonTests {
    private typealias Members = [String: any Sendable]
    private static let issuer = "https://op.example"

    /// A service that states all that can be compared.
    private static let facts: JSONObject = [
        "issuer": .string(issuer), "discovers": .bool(true), "authorize_url": .string(issuer + "/authorize"),
        "token_url": .string(issuer + "/token"), "revocation_url": .string(issuer + "/revoke"),
        "userinfo_url": .string(issuer + "/me"), "device_authorization_url": .string(issuer + "/device"),
        "pushed_authorization_url": .string(issuer + "/par"), "registration_url": .string(issuer + "/register"),
        "introspection_url": .string(issuer + "/introspect"), "end_session_url": .string(issuer + "/logout"),
        "jwks_url": .string(issuer + "/keys"), "backchannel_authentication_url": .string(issuer + "/ciba"),
        "default_scopes": .array([.string("openid")]),
        "offline": .object(["scopes": .array([.string("offline_access")])]), "pkce": .string("supported"),
        "client_authentication": .string("basic"), "public_clients": .bool(true),
        "requires_pushed_authorization": .bool(true),
    ]

    /// A server that publishes the same.
    private static let published: Members = [
        "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
        "revocation_endpoint": issuer + "/revoke", "userinfo_endpoint": issuer + "/me",
        "device_authorization_endpoint": issuer + "/device", "pushed_authorization_request_endpoint": issuer + "/par",
        "registration_endpoint": issuer + "/register", "introspection_endpoint": issuer + "/introspect",
        "end_session_endpoint": issuer + "/logout", "jwks_uri": issuer + "/keys",
        "backchannel_authentication_endpoint": issuer + "/ciba", "code_challenge_methods_supported": ["S256", "plain"],
        "response_types_supported": ["code"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
        ],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "scopes_supported": ["openid", "offline_access", "email"], "require_pushed_authorization_requests": true,
    ]

    private struct Server: Transport {
        let document: Members

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            request.head.path == "/.well-known/oauth-authorization-server" ? .json(200, document) : .json(404, [:])
        }
    }

    private static func comparison(
        _ facts: JSONObject = facts, _ document: Members = published
    ) async throws -> [ServiceComparison] {
        try #require(
            try await BuiltInService(name: "op", facts: facts).comparison(transport: Server(document: document)))
    }

    private static func members(_ all: [ServiceComparison], _ outcome: ServiceComparison.Outcome) -> [String] {
        all.filter { $0.outcome == outcome }.map(\.member)
    }

    @Test("a server that publishes what is known of it has not drifted, in anything that either can state")
    func same() async throws {
        let all = try await Self.comparison()
        #expect(all.allSatisfy { $0.outcome == .same }, "\(all.filter { $0.outcome != .same })")
        #expect(
            Set(all.map(\.member))
                == Set(Self.facts.map(\.key)).subtracting(["discovers", "offline", "default_scopes"])
                .union(["response_types", "grant_types", "scopes"]))
    }

    @Test(
        "each thing that is published otherwise than it is known is named, with both values",
        arguments: [
            ("authorization_endpoint", issuer + "/new", "authorize_url"),
            ("token_endpoint", issuer + "/new", "token_url"),
            ("revocation_endpoint", issuer + "/new", "revocation_url"),
            ("userinfo_endpoint", issuer + "/new", "userinfo_url"),
            ("device_authorization_endpoint", issuer + "/new", "device_authorization_url"),
            ("pushed_authorization_request_endpoint", issuer + "/new", "pushed_authorization_url"),
            ("registration_endpoint", issuer + "/new", "registration_url"),
            ("introspection_endpoint", issuer + "/new", "introspection_url"),
            ("end_session_endpoint", issuer + "/new", "end_session_url"), ("jwks_uri", issuer + "/new", "jwks_url"),
            ("backchannel_authentication_endpoint", issuer + "/new", "backchannel_authentication_url"),
            ("code_challenge_methods_supported", ["plain"], "pkce"),
            ("response_types_supported", ["id_token"], "response_types"),
            ("grant_types_supported", ["authorization_code"], "grant_types"),
            ("token_endpoint_auth_methods_supported", ["private_key_jwt", "none"], "client_authentication"),
            ("require_pushed_authorization_requests", false, "requires_pushed_authorization"),
        ] as [(String, any Sendable, String)])
    func drifted(_ member: String, _ value: any Sendable, _ fact: String) async throws {
        var document = Self.published
        document[member] = value
        let all = try await Self.comparison(Self.facts, document)
        #expect(Self.members(all, .drifted) == [fact])
        let found = try #require(all.first { $0.outcome == .drifted })
        #expect(found.described != nil && found.published != nil && found.described != found.published)
    }

    @Test("metadata of another issuer are refused, and both are named")
    func otherIssuer() async throws {
        var document = Self.published
        document["issuer"] = "https://other.example"
        let error = await handshakeError { try await Self.comparison(Self.facts, document) }
        guard case .exchange(.refused(let refusal))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.check == .issuer && refusal.found == "https://other.example")
    }

    @Test("what is no longer published has drifted where it was discovered, and is unpublished where it is described")
    func unpublished() async throws {
        let kept = ["issuer", "authorization_endpoint", "token_endpoint"]
        let document = Self.published.filter { kept.contains($0.key) }
        let addresses = Self.facts.map(\.key).filter {
            $0.hasSuffix("_url") && $0 != "authorize_url" && $0 != "token_url"
        }
        let lists = [
            "pkce", "response_types", "grant_types", "client_authentication", "public_clients", "scopes",
        ]
        let discovered = try await Self.comparison(Self.facts, document)
        #expect(Set(Self.members(discovered, .drifted)) == Set(addresses + ["requires_pushed_authorization"]))
        #expect(Set(Self.members(discovered, .unpublished)) == Set(lists))
        var facts = Self.facts
        facts["discovers"] = .bool(false)
        facts["requires_pushed_authorization"] = nil
        let described = try await Self.comparison(facts, document)
        #expect(Self.members(described, .drifted).isEmpty)
        #expect(Set(Self.members(described, .unpublished)) == Set(addresses + lists))
    }

    @Test("a scope that a server leaves out of its list is unpublished, and no drift")
    func scopes() async throws {
        var document = Self.published
        document["scopes_supported"] = ["openid"]
        let all = try await Self.comparison(Self.facts, document)
        #expect(Self.members(all, .drifted).isEmpty && Self.members(all, .unpublished) == ["scopes"])
    }

    @Test("a server that does not list clients without a secret may take them all the same")
    func publicClients() async throws {
        var document = Self.published
        document["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
        let all = try await Self.comparison(Self.facts, document)
        #expect(Self.members(all, .drifted).isEmpty && Self.members(all, .unpublished) == ["public_clients"])
    }

    @Test("a server that lists algorithms for DPoP proofs takes proofs, and demands none", arguments: [true, false])
    func proofs(isDemanded: Bool) async throws {
        var (facts, document) = (Self.facts, Self.published)
        facts["requires_dpop"] = isDemanded ? .bool(true) : nil
        document["dpop_signing_alg_values_supported"] = ["ES256", "EdDSA"]
        let all = try await Self.comparison(facts, document)
        #expect(Self.members(all, .drifted).isEmpty)
        #expect(Self.members(all, .unpublished) == (isDemanded ? ["requires_dpop"] : []))
        #expect(Self.members(all, .undescribed) == ["dpop_signing_algorithms"])
        #expect(all.first { $0.outcome == .undescribed }?.published == "ES256 EdDSA")
    }

    @Test("what only the server states is undescribed, and no drift")
    func undescribed() async throws {
        let all = try await Self.comparison(
            ["issuer": .string(Self.issuer), "discovers": .bool(true)], Self.published)
        #expect(Set(Self.members(all, .same)) == ["issuer", "response_types", "grant_types"])
        #expect(Self.members(all, .drifted).isEmpty)
        #expect(Self.members(all, .undescribed).count == all.count - 3 && all.count > 15)
    }

    @Test("either way to show a secret is enough where both are known, and PKCE that is known to fail may be published")
    func alternatives() async throws {
        var facts = Self.facts
        facts["client_authentication"] = .string("either")
        #expect(Self.members(try await Self.comparison(facts), .drifted).isEmpty)
        facts["pkce"] = .string("unsupported")
        #expect(Self.members(try await Self.comparison(facts), .drifted) == ["pkce"])
        var document = Self.published
        document["code_challenge_methods_supported"] = nil
        #expect(Self.members(try await Self.comparison(facts, document), .drifted).isEmpty)
    }

    @Test("plain http on loopback is compared where the caller names the exception, as for a sign-in")
    func loopback() async throws {
        let own = "http://127.0.0.1:8080"
        let facts: JSONObject = ["issuer": .string(own), "discovers": .bool(true)]
        let document: Members = [
            "issuer": own, "authorization_endpoint": own + "/authorize", "token_endpoint": own + "/token",
        ]
        let service = BuiltInService(name: "mine", facts: facts)
        let compared = try await service.comparison(
            security: .allowingInsecureLoopback, transport: Server(document: document))
        #expect(Self.members(try #require(compared), .same) == ["issuer"])
        let refused = await handshakeError { try await service.comparison(transport: Server(document: document)) }
        #expect(refused?.code == "insecure_transport", "\(String(describing: refused))")
    }

    @Test("M907: what protected an account's sign-in and is published no longer has drifted, as a moved endpoint has")
    func signIns() async throws {
        var server = AuthorizationServerMetadata(
            issuer: try Issuer(Self.issuer), tokenEndpoint: try EndpointURL("https://token.example/token"))
        server.announcesIssuerInResponse = true
        server.pushedAuthorizationRequestEndpoint = try EndpointURL(Self.issuer + "/par")
        server.bindsTokensToCertificates = true
        var other = server
        other.issuer = try Issuer("https://other.example")
        let all = try #require(
            try await BuiltInService(name: "op", facts: Self.facts).comparison(
                since: [
                    SignedInServer(account: "ada", server: server), SignedInServer(account: "alan", server: other),
                ], transport: Server(document: Self.published)))
        let lost = all.filter { $0.account != nil }
        #expect(lost.map(\.account) == ["ada", "ada", "ada"])
        #expect(lost.map(\.member) == ["iss", "tokens bound to a certificate", "token endpoint"])
        #expect(lost.allSatisfy { $0.outcome == .drifted })
        #expect(lost.last?.described == "https://token.example" && lost.last?.published == Self.issuer)
        #expect(Self.members(all.filter { $0.account == nil }, .drifted).isEmpty)
    }

    @Test("M907: a client with a certificate knows the aliases, which are compared in the place of what they name")
    func aliases() async throws {
        var document = Self.published
        document["mtls_endpoint_aliases"] = ["token_endpoint": "https://mtls.example/token"]
        let server = AuthorizationServerMetadata(
            issuer: try Issuer(Self.issuer), tokenEndpoint: try EndpointURL("https://mtls.example/token"))
        for (presentsCertificate, lost) in [(true, []), (false, ["token endpoint"])] as [(Bool, [String])] {
            let known = SignedInServer(account: "ada", server: server, presentsCertificate: presentsCertificate)
            let all = try #require(
                try await BuiltInService(name: "op", facts: Self.facts).comparison(
                    since: [known], transport: Server(document: document)))
            #expect(all.filter { $0.account != nil }.map(\.member) == lost)
        }
    }
}
