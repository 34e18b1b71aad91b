import Foundation
import HTTPTypes
import Handshake
import OAuth
import Testing

@testable import Handshake

/// Clients for APIs that name their server, and what their tokens are sent with.
extension DiscoveredResourceTests {
    @Test("an API that takes only tokens that are bound to a key gets such ones", arguments: [true, false])
    func bound(_ isRequired: Bool) async throws {
        let document: [String: Any] = [
            "resource": Self.mcp, "authorization_servers": ["https://as.example"],
            "dpop_bound_access_tokens_required": isRequired,
        ]
        let web = Web([Self.own: .json(200, document), Self.server: Self.metadata()])
        let client = try await DiscoveredResource.discover(Self.mcp, transport: web)
            .client(id: "c", issuedBy: Issuer("https://as.example"))
        #expect(client.options.dpop == (isRequired ? .always : .automatic))
    }

    @Test(
        "M401: proofs are signed by what server and API both take; where nothing serves both, nothing is asked",
        arguments: [
            (nil, nil, "ES256"), (nil, ["ES384"], "ES384"), (["ES256", "EdDSA"], ["EdDSA", "PS256"], "EdDSA"),
            (["ES256"], nil, "ES256"), (["ES256"], ["ES384"], nil), (nil, ["ES256K"], nil),
        ] as [([String]?, [String]?, String?)])
    func proofAlgorithms(_ own: [String]?, _ api: [String]?, _ chosen: String?) async throws {
        let name = "dpop_signing_alg_values_supported"
        let metadata = Self.metadata()
        var members = try #require(try JSONSerialization.jsonObject(with: Data(metadata.content)) as? [String: Any])
        members[name] = own
        var document: [String: Any] = [
            "resource": Self.mcp, "authorization_servers": ["https://as.example"],
            "dpop_bound_access_tokens_required": true,
        ]
        document[name] = api
        let web = Web([Self.own: .json(200, document), Self.server: .json(200, members)])
        let client = try await DiscoveredResource.discover(Self.mcp, transport: web)
            .client(
                id: "c", issuedBy: Issuer("https://as.example"),
                redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let app = try Handshake(client, vault: MemoryVault(), transport: web)
        let asked = web.requests.count
        guard let chosen else {
            let error = await handshakeError { try await app.beginSignIn() }
            #expect(error?.code == "invalid_configuration")
            #expect(web.requests[asked...].allSatisfy { $0.contains("/.well-known/") })
            return
        }
        #expect(try await app.beginSignIn().key?.algorithm.rawValue == chosen)
        let stored = try JSONDecoder().decode(Client.Options.self, from: JSONEncoder().encode(client.options))
        #expect(stored == client.options)
    }

    @Test(
        "B1: where a page is not at its server's host, and the server does not name itself, the user is told both",
        arguments: [
            ("https://as.example", false, nil), ("https://login.honest.example", false, "as.example"),
            ("https://login.honest.example", true, nil),
        ] as [(String, Bool, String?)])
    func mixUp(_ page: String, _ isAnnounced: Bool, _ server: String?) async throws {
        let members: [String: Any] = [
            "issuer": "https://as.example", "authorization_endpoint": page + "/authorize",
            "token_endpoint": "https://as.example/token", "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": isAnnounced,
        ]
        let web = Web([Self.own: Self.document(), Self.server: .json(200, members)])
        let client = try await DiscoveredResource.discover(Self.mcp, transport: web).client(
            id: "c", issuedBy: Issuer("https://as.example"), redirect: .uri(try RedirectURI("com.example.app:/cb")))
        let shown = try await Handshake(client, vault: MemoryVault(), transport: web).beginSignIn().page
        #expect(shown.serverHost == server)
        for language in ["en", "de", "es", "fr", "ja", "pt-BR"] {
            let prompt = shown.prompt(in: Language(preferred: [language]))
            #expect(prompt.contains(shown.host))
            #expect(prompt.contains("as.example") == (server != nil || page == "https://as.example"))
        }
    }

    @Test("5.4: a refusal's algorithms for proofs count where the API's document names none", arguments: [true, false])
    func announcedAlgorithms(_ isDocumented: Bool) async throws {
        var document: [String: Any] = [
            "resource": Self.mcp, "authorization_servers": ["https://as.example"],
            "dpop_bound_access_tokens_required": true,
        ]
        if isDocumented { document["dpop_signing_alg_values_supported"] = ["ES512"] }
        let web = Web([
            Self.mcp: Self.challenge("DPoP algs=\"ES384 PS256\""), Self.own: .json(200, document),
            Self.server: Self.metadata(),
        ])
        let client = try await DiscoveredResource.discover(Self.mcp, transport: web).client(
            id: "c", issuedBy: Issuer("https://as.example"), redirect: .uri(try RedirectURI("com.example.app:/cb")))
        let app = try Handshake(client, vault: MemoryVault(), transport: web)
        #expect(try await app.beginSignIn().key?.algorithm.rawValue == (isDocumented ? "ES512" : "ES384"))
    }

    @Test("M906: a client serves an API only at the server that issued it")
    func pairing() async throws {
        let web = Web([Self.own: Self.document(Self.mcp), Self.server: Self.metadata()])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        #expect(try found.client(id: "c", issuedBy: Issuer("https://as.example")).id == "c")
        #expect(try found.client(id: "c", issuedBy: Issuer("https://as.example/")).id == "c", "a bare origin's slash")
        let asked = web.requests.count
        for other in ["https://other.example", "https://as.example/tenant", "https://as.example:8443"] {
            let error = await handshakeError { try found.client(id: "c", issuedBy: Issuer(other)) }
            #expect(error?.code == "issuer_mismatch")
            let text = error?.description ?? ""
            #expect(text.contains(other) && text.contains("https://as.example"))
        }
        #expect(web.requests.count == asked)
    }

    @Test("an issuer that the app knows is taken before those named first")
    func preferred() async throws {
        let web = Web([
            Self.own: Self.document(servers: ["https://first.example", "https://as.example"]),
            Self.server: Self.metadata(),
        ])
        let known = try Issuer("https://as.example")
        let found = try await DiscoveredResource.discover(Self.mcp, preferring: [known], transport: web)
        #expect(found.server.issuer == known)
        #expect(!web.requests.contains { $0.contains("first.example") })
    }

    @Test(
        "an issuer that the app knows is also found behind its other spelling, and where it is pinned",
        arguments: [
            ("https://as.example/", [:]),
            ("https://listed.example/v1", ["https://listed.example/v1": "https://as.example"]),
        ]
            as [(String, [String: String])])
    func preferredBehind(_ listed: String, _ pins: [String: String]) async throws {
        let web = Web([
            Self.own: Self.document(servers: ["https://first.example", listed]), Self.server: Self.metadata(),
        ])
        var deviations = DiscoveredResource.Deviations()
        deviations.pinnedIssuers = pins
        let known = try Issuer("https://as.example")
        let found = try await DiscoveredResource.discover(
            Self.mcp, preferring: [known], deviating: deviations, transport: web)
        #expect(found.server.issuer == known)
        #expect(!web.requests.contains { $0.contains("first.example") })
    }

    @Test("a registration keeps its loopback port, and what is registered is what is used")
    func registration() async throws {
        let redirect = try RedirectURI("com.example.app:/cb")
        let web = Web([
            Self.own: Self.document(scopes: ["a"]), Self.server: Self.metadata(),
            "https://as.example/register": .json(
                201,
                ["client_id": "dynamic", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"]),
        ])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        let client = try await found.register(as: "App", redirect: .uri(redirect))
        #expect(client.id == "dynamic" && client.isConfidential)
        #expect(client.redirect == .uri(redirect))
        #expect(client.scopes == ["a"])
        #expect(
            client.service.name == "api-example-mcp"
                && client.service.authorizationServer.issuer.string == "https://as.example")
        let closed = Web([Self.own: Self.document(), Self.server: Self.metadata()])
        let error = await handshakeError {
            try await DiscoveredResource.discover(Self.mcp, transport: closed).register(as: "App")
        }
        #expect(error?.code == "http_404")
        // A loopback redirect gets a port of its own.
        #expect(
            closed.messages.last.flatMap { message -> String? in
                guard case .bytes(let bytes) = message.content else { return nil }
                return try? JSONValue(parsing: bytes).object?["redirect_uris"]?.array?.first?.string
            }?.range(of: #"^http://127\.0\.0\.1:[1-9][0-9]*/callback$"#, options: .regularExpression) != nil)
    }

    @Test(
        "M521: exchange and refresh ask for tokens for the resource, and by its deviation alone for scopes",
        arguments: [false, true])
    func resourceParameter(_ repeatsScope: Bool) async throws {
        var deviations = DiscoveredResource.Deviations()
        deviations.repeatsScope = repeatsScope
        let web = Web([
            Self.own: Self.document(scopes: ["tools"]), Self.server: Self.metadata(),
            "https://as.example/token": .json(
                200,
                ["access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"]),
        ])
        let account = try await Self.signedIn(to: web, deviating: deviations)
        try await account.refresh()
        let forms = web.messages.compactMap { message -> String? in
            guard message.head.path == "/token", case .bytes(let bytes) = message.content else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(forms.count == 2)
        for form in forms { #expect(form.split(separator: "&").contains("resource=https%3A%2F%2Fapi.example%2Fmcp")) }
        #expect(forms.last?.contains("grant_type=refresh_token") == true)
        #expect(forms.map { $0.split(separator: "&").contains("scope=tools") } == [repeatsScope, repeatsScope])
        #expect(forms.allSatisfy { $0.contains("scope=") == repeatsScope })
    }

    @Test(
        "M515: offline access is asked for with the user's consent at servers for sign-ins alone",
        arguments: [("openid", ["prompt": "consent"]), ("tools", [:])])
    func consent(_ scope: String, _ parameters: [String: String]) async throws {
        let web = Web([
            Self.own: Self.document(scopes: [scope]), Self.server: Self.metadata(scopes: [scope, "offline_access"]),
        ])
        let client = try await DiscoveredResource.discover(Self.mcp, transport: web)
            .client(id: "c", issuedBy: Issuer("https://as.example"))
        #expect(client.scopes == [scope, "offline_access"])
        #expect(client.parameters == parameters)
    }

    /// An account of a client that the server knows.
    private static func signedIn(
        to web: Web, deviating deviations: DiscoveredResource.Deviations = .init()
    ) async throws -> Account {
        let client = try await DiscoveredResource.discover(mcp, deviating: deviations, transport: web).client(
            id: "c", issuedBy: Issuer("https://as.example"), redirect: .uri(try RedirectURI("com.example.app:/cb")))
        return try await Handshake(client, vault: MemoryVault(), transport: web).signIn(
            through: ScriptedBrowser { page in
                let items = URLComponents(string: page.url)?.queryItems ?? []
                #expect(items.contains { $0.name == "resource" })
                let state = try #require(items.first { $0.name == "state" }?.value)
                return "com.example.app:/cb?code=c&state=\(state)"
            })
    }

    @Test("M517, F2: the token goes to addresses under the resource, and to no other of its origin")
    func confined() async throws {
        let web = Web([
            Self.own: Self.document("https://api.example"), Self.server: Self.metadata(), Self.mcp: .json(200, [:]),
            "https://api.example/mcp/tools?x=1": .json(200, [:]),
            "https://api.example/mcp/away": .json(302, [:], [.location: "https://api.example/other"]),
            "https://api.example/other": .json(200, [:]),
            "https://as.example/token": .json(
                200, ["access_token": "canary-token", "token_type": "Bearer", "expires_in": 3600]),
        ])
        let account = try await Self.signedIn(to: web)
        #expect(try await account.send(.get, Self.mcp).head.status == .ok)
        #expect(try await account.send(.get, "https://api.example/mcp/tools?x=1").head.status == .ok)
        let before = web.requests.count
        for address in [
            "https://api.example/", "https://api.example/mcp2", "https://api.example/mcp/../x",
            "https://api.example/mcp/..%2fx", "https://api.example/mcp/..;/x", "https://api.example/mcp/%252e%252e/x",
            "https://as.example/userinfo",
            "https://as.example/token", "https://api.example/other",
        ] {
            #expect(await handshakeError { try await account.send(.get, address) }?.code == "foreign_origin")
        }
        #expect(web.requests.count == before)
        #expect(try await account.send(.get, "https://api.example/mcp/away").head.status == .ok)
        #expect(web.messages.last?.head.path == "/other")
        #expect(web.messages.last?.head.headerFields[.authorization] == nil)
    }
}
