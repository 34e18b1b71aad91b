import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import Testing

@testable import Handshake

@Suite("Resources that name their server")
struct DiscoveredResourceTests {
    /// A web in memory: what each address answers.
    private final class Web: Transport {
        private let pages: Mutex<[String: ResponseMessage]>
        private let asked = Mutex<[String]>([])
        private let sent = Mutex<[RequestMessage]>([])
        private let times = Mutex<[Duration]>([])
        private let failures: [String: TransportError]

        init(_ pages: [String: ResponseMessage], failing failures: [String: TransportError] = [:]) {
            self.pages = Mutex(pages)
            self.failures = failures
        }

        var timeouts: [Duration] { times.withLock { $0 } }

        var requests: [String] { asked.withLock { $0 } }
        var messages: [RequestMessage] { sent.withLock { $0 } }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            let address = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")"
            asked.withLock { $0.append(address) }
            sent.withLock { $0.append(request) }
            times.withLock { $0.append(limits.timeout) }
            if let failure = failures[address] { throw failure }
            return pages.withLock { $0[address] } ?? ResponseMessage(head: HTTPResponse(status: .notFound))
        }
    }

    private static let mcp = "https://api.example/mcp"
    private static let own = "https://api.example/.well-known/oauth-protected-resource/mcp"
    private static let root = "https://api.example/.well-known/oauth-protected-resource"
    private static let server = "https://as.example/.well-known/oauth-authorization-server"

    private static func metadata(
        _ issuer: String = "https://as.example", methods: [String]? = ["S256"], scopes: [String]? = nil
    ) -> ResponseMessage {
        var members: [String: Any] = [
            "issuer": issuer, "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token", "registration_endpoint": "https://as.example/register",
        ]
        members["code_challenge_methods_supported"] = methods
        members["scopes_supported"] = scopes
        return .json(200, members)
    }

    private static func document(
        _ resource: String = mcp, servers: [String] = ["https://as.example"], scopes: [String]? = nil
    ) -> ResponseMessage {
        var members: [String: Any] = ["resource": resource, "authorization_servers": servers]
        members["scopes_supported"] = scopes
        return .json(200, members)
    }

    private static func challenge(_ text: String, _ status: Int = 401) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.wwwAuthenticate: text]))
    }

    private func code(_ web: Web, _ address: String = mcp) async -> String? {
        await handshakeError { try await DiscoveredResource.discover(address, transport: web) }?.code
    }

    @Test(
        "M511: the first answer, whatever it is, leads to the same server",
        arguments: [
            challenge("Bearer resource_metadata=\"https://api.example/announced\""), challenge("Bearer"),
            challenge("Bearer resource_metadata=\"https://api.example/announced\"", 403),
            ResponseMessage(head: HTTPResponse(status: .ok)),
            ResponseMessage(head: HTTPResponse(status: .methodNotAllowed)),
            ResponseMessage(head: HTTPResponse(status: .init(code: 500))),
        ])
    func firstAnswer(_ answer: ResponseMessage) async throws {
        let web = Web([
            Self.mcp: answer, "https://api.example/announced": Self.document(), Self.own: Self.document(),
            Self.server: Self.metadata(),
        ])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        #expect(found.server.issuer.string == "https://as.example")
        #expect(found.resource.identifier.string == Self.mcp)
        #expect(web.messages.allSatisfy { $0.head.headerFields[.authorization] == nil })
    }

    @Test(
        "C9: of a first answer that does not end a bounded part is read, and nothing is learned from it",
        arguments: [
            TransportError.timedOut(host: "api.example"), .tooLarge(host: "api.example", limit: 1 << 20),
        ])
    func endless(_ failure: TransportError) async throws {
        let web = Web([Self.own: Self.document(), Self.server: Self.metadata()], failing: [Self.mcp: failure])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        #expect(found.server.issuer.string == "https://as.example")
        #expect(web.timeouts.first == .seconds(5))
        let gone = Web(
            [Self.own: Self.document(), Self.server: Self.metadata()],
            failing: [Self.mcp: .unreachable(host: "api.example", reason: "offline")])
        #expect(await code(gone) == "unreachable")
    }

    @Test("C8: a resource that redirects is not followed")
    func redirect() async {
        let web = Web([Self.mcp: .json(302, [:], [.location: "https://evil.example/"])])
        #expect(await code(web) == "unexpected_redirect")
        #expect(web.requests == [Self.mcp])
        let moved = Web([Self.mcp: .json(308, [:], [.location: "https://new.example/mcp?token=canary"])])
        let error = await handshakeError { try await DiscoveredResource.discover(Self.mcp, transport: moved) }
        #expect(error?.description.contains("https://new.example/mcp") == true, "the user learns where it moved to")
        #expect(error?.description.contains("canary") == false)
    }

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

    @Test("M509: the next address is asked after one without a document; a mismatch at the announced one stops")
    func candidates() async throws {
        let web = Web([Self.root: Self.document("https://api.example"), Self.server: Self.metadata()])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        #expect(Array(web.requests.prefix(3)) == [Self.mcp, Self.own, Self.root])
        #expect(found.resource.identifier.string == "https://api.example")
        let wrong = Web([
            Self.mcp: Self.challenge("Bearer resource_metadata=\"https://api.example/announced\""),
            "https://api.example/announced": Self.document("https://evil.example"), Self.own: Self.document(),
        ])
        #expect(await code(wrong) == "resource_mismatch")
        #expect(wrong.requests.count == 2)
    }

    @Test("M510: an error of the server stops, and later addresses stay untouched")
    func stops() async {
        let web = Web([Self.own: .json(500, [:]), Self.root: Self.document()])
        #expect(await code(web) == "http_500")
        #expect(web.requests == [Self.mcp, Self.own])
    }

    @Test("M513, H1: a bare origin may be listed with or without a slash; an issuer with a path may not")
    func slash() async throws {
        let web = Web([Self.own: Self.document(servers: ["https://as.example/"]), Self.server: Self.metadata()])
        let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
        #expect(found.server.issuer.string == "https://as.example")
        let path = Web([
            Self.own: Self.document(servers: ["https://as.example/tenant/"]),
            Self.server + "/tenant": Self.metadata("https://as.example/tenant"),
        ])
        #expect(await code(path) == "issuer_mismatch")
    }

    @Test("M514, A2: a server that does not announce S256 is refused", arguments: [nil, [], ["plain"]])
    func challengeMethods(_ methods: [String]?) async {
        let web = Web([Self.own: Self.document(), Self.server: Self.metadata(methods: methods)])
        #expect(await code(web) == "pkce_unsupported")
    }

    @Test(
        "M515: scopes come from the challenge, else from the document, else there are none; offline_access from the server"
    )
    func scopes() async throws {
        func found(_ challenge: String?, _ document: [String]?, _ server: [String]?) async throws -> [String] {
            var pages = [
                Self.own: Self.document(scopes: document), Self.server: Self.metadata(scopes: server),
            ]
            pages[Self.mcp] = challenge.map { Self.challenge($0) }
            return try await DiscoveredResource.discover(Self.mcp, transport: Web(pages)).scopes
        }
        #expect(try await found("Bearer scope=\"a b\"", ["c"], nil) == ["a", "b"])
        #expect(try await found("Bearer", ["c"], ["x", "y"]) == ["c"])
        #expect(try await found(nil, nil, ["x"]) == [])
        #expect(try await found(nil, ["c"], ["x", "offline_access"]) == ["c", "offline_access"])
        #expect(try await found(nil, ["offline_access"], ["offline_access"]) == ["offline_access"])
    }

    @Test("M516: a resource is sent as its document spells it, and without one without a bare slash")
    func spelling() async throws {
        let web = Web([Self.root: Self.document("https://api.example/"), Self.server: Self.metadata()])
        let found = try await DiscoveredResource.discover("https://API.example:443/", transport: web)
        let client = try found.client(id: "c", issuedBy: Issuer("https://as.example"))
        #expect(client.resources.map(\.string) == ["https://api.example/"])
        let alone = Web([
            "https://api.example/.well-known/oauth-authorization-server": Self.metadata("https://api.example")
        ])
        let bare = try await DiscoveredResource.discover("https://API.example:443/", transport: alone)
        let own = try bare.client(id: "c", issuedBy: Issuer("https://api.example"))
        #expect(own.resources.map(\.string) == ["https://api.example"])
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

    @Test("M520: without a document the resource is its own server, if it publishes that; no address is guessed")
    func withoutDocument() async throws {
        let root = "https://api.example/.well-known/oauth-authorization-server"
        let web = Web([root: Self.metadata("https://api.example")])
        #expect(
            try await DiscoveredResource.discover(Self.mcp, transport: web).server.issuer.string
                == "https://api.example")
        let nothing = Web([:])
        let error = await handshakeError { try await DiscoveredResource.discover(Self.mcp, transport: nothing) }
        guard case .undiscovered? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(nothing.requests.allSatisfy { $0 == Self.mcp || $0.contains("/.well-known/") })
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
            client.service.name == "api-example"
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

    @Test("M521: exchange and refresh ask for tokens for the resource")
    func resourceParameter() async throws {
        let web = Web([
            Self.own: Self.document(), Self.server: Self.metadata(),
            "https://as.example/token": .json(
                200,
                ["access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"]),
        ])
        let account = try await Self.signedIn(to: web)
        try await account.refresh()
        let forms = web.messages.compactMap { message -> String? in
            guard message.head.path == "/token", case .bytes(let bytes) = message.content else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(forms.count == 2)
        for form in forms { #expect(form.split(separator: "&").contains("resource=https%3A%2F%2Fapi.example%2Fmcp")) }
    }

    /// An account of a client that the server knows.
    private static func signedIn(to web: Web) async throws -> Account {
        let client = try await DiscoveredResource.discover(mcp, transport: web).client(
            id: "c", issuedBy: Issuer("https://as.example"), redirect: .uri(try RedirectURI("com.example.app:/cb")))
        return try await Handshake(client, vault: MemoryVault(), transport: web).signIn(
            through: ScriptedBrowser { page in
                let items = URLComponents(string: page.url)?.queryItems ?? []
                #expect(items.contains { $0.name == "resource" })
                let state = try #require(items.first { $0.name == "state" }?.value)
                return "com.example.app:/cb?code=c&state=\(state)"
            })
    }

    @Test(
        "M517, F2: the token goes to addresses under the resource, and to no other of its origin",
        .timeLimit(.minutes(5)))
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
