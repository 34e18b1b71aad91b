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
    final class Web: Transport {
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

    static let mcp = "https://api.example/mcp"
    static let own = "https://api.example/.well-known/oauth-protected-resource/mcp"
    static let root = "https://api.example/.well-known/oauth-protected-resource"
    static let server = "https://as.example/.well-known/oauth-authorization-server"

    static func metadata(
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

    static func document(
        _ resource: String = mcp, servers: [String] = ["https://as.example"], scopes: [String]? = nil
    ) -> ResponseMessage {
        var members: [String: Any] = ["resource": resource, "authorization_servers": servers]
        members["scopes_supported"] = scopes
        return .json(200, members)
    }

    static func challenge(_ text: String, _ status: Int = 401) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.wwwAuthenticate: text]))
    }

    func code(_ web: Web, _ address: String = mcp) async -> String? {
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
        "M511: where the app has been refused already, that response is read, and the API is not asked",
        arguments: [(401, true), (403, true), (200, false), (307, false)])
    func ownRefusal(_ status: Int, announces: Bool) async throws {
        let announced = "https://api.example/announced"
        let web = Web([
            Self.mcp: Self.challenge("Bearer"), announced: Self.document(), Self.own: Self.document(),
            Self.server: Self.metadata(),
        ])
        let refusal = Self.challenge("Bearer resource_metadata=\"\(announced)\", scope=\"tools\"", status)
        let found = try await DiscoveredResource.discover(Self.mcp, after: refusal, transport: web)
        // A response that refuses nothing is none.
        #expect(web.requests.first == (announces ? announced : Self.mcp))
        #expect(web.requests.contains(Self.mcp) != announces)
        #expect(found.scopes == (announces ? ["tools"] : []))
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

    @Test(
        "an API is named after its host and path, so that two at one host are two",
        arguments: [
            ("https://mcp.example.com", "mcp-example-com"),
            ("https://mcp.example.com/v1/Tools", "mcp-example-com-v1-tools"),
            ("http://127.0.0.1:8080/mcp/", "127-0-0-1-mcp"),
        ])
    func names(_ address: String, _ name: String) throws {
        let resource = try EndpointURL(address, security: .allowingInsecureLoopback)
        #expect(DiscoveredResource.name(for: resource) == name)
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

    @Test("M509: the next address is asked after one without a document; a mismatch at the announced one stops")
    func candidates() async throws {
        let page = ResponseMessage(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "text/html"]), content: Array("<html>".utf8))
        for answer in [401, 403, 404, 502].map({ ResponseMessage.json($0, [:]) }) + [page] {
            let web = Web([
                Self.own: answer, Self.root: Self.document("https://api.example"), Self.server: Self.metadata(),
            ])
            let found = try await DiscoveredResource.discover(Self.mcp, transport: web)
            #expect(Array(web.requests.prefix(3)) == [Self.mcp, Self.own, Self.root], "\(answer.head.status)")
            #expect(found.resource.identifier.string == "https://api.example")
        }
        let long = Web(
            [Self.root: Self.document("https://api.example"), Self.server: Self.metadata()],
            failing: [Self.own: .tooLarge(host: "api.example", limit: 1)])
        #expect(await code(long) == nil)
        let wrong = Web([
            Self.mcp: Self.challenge("Bearer resource_metadata=\"https://api.example/announced\""),
            "https://api.example/announced": Self.document("https://evil.example"), Self.own: Self.document(),
        ])
        #expect(await code(wrong) == "resource_mismatch")
        #expect(wrong.requests.count == 2)
    }

    @Test(
        "M510: an error of the server, a redirect and a failure stop, and later addresses stay untouched",
        arguments: [
            (.json(500, [:]), "http_500"), (.json(504, [:]), "http_504"),
            (.json(302, [:], [.location: "https://api.example/login"]), "unexpected_redirect"), (nil, "timed_out"),
        ] as [(ResponseMessage?, String)])
    func stops(_ answer: ResponseMessage?, _ expected: String) async {
        var pages = [Self.root: Self.document(), Self.server: Self.metadata()]
        pages[Self.own] = answer
        let web = Web(pages, failing: answer == nil ? [Self.own: .timedOut(host: "api.example")] : [:])
        #expect(await code(web) == expected)
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
        "5.4: a server whose response types do not include code is refused before a page opens",
        arguments: [([], false), (["token", "code id_token"], false), (["code"], true), (["id_token", "code"], true)])
    func responseTypes(_ types: [String], _ isTaken: Bool) async throws {
        let metadata = Self.metadata()
        var members = try #require(try JSONSerialization.jsonObject(with: Data(metadata.content)) as? [String: Any])
        members["response_types_supported"] = types
        let web = Web([Self.own: Self.document(), Self.server: .json(200, members)])
        #expect(await code(web) == (isTaken ? nil : "malformed_response"))
    }

    @Test(
        "M514: by its named deviation S256 is sent to a server that says nothing of it, and a list without it still stops"
    )
    func assumed() async throws {
        var deviations = DiscoveredResource.Deviations()
        deviations.assumesS256 = true
        let web = Web([Self.own: Self.document(), Self.server: Self.metadata(methods: nil)])
        let found = try await DiscoveredResource.discover(Self.mcp, deviating: deviations, transport: web)
        let client = try found.client(
            id: "c", issuedBy: Issuer("https://as.example"), redirect: .uri(try RedirectURI("com.example.app:/cb")))
        let page = try await Handshake(client, vault: MemoryVault(), transport: web).beginSignIn().page
        #expect(page.url.contains("code_challenge_method=S256"))
        #expect(client.service.deviations.names == ["assumes_s256"])
        for methods in [[], ["plain"]] {
            let listing = Web([Self.own: Self.document(), Self.server: Self.metadata(methods: methods)])
            let error = await handshakeError {
                try await DiscoveredResource.discover(Self.mcp, deviating: deviations, transport: listing)
            }
            #expect(error?.code == "pkce_unsupported")
        }
    }

    @Test("5.3: an issuer that is pinned stands behind the address that the API lists, and behind no other one")
    func pinned() async throws {
        var deviations = DiscoveredResource.Deviations()
        deviations.pinnedIssuers = ["https://listed.example/v1": "https://as.example"]
        let web = Web([
            Self.own: Self.document(servers: ["https://listed.example/v1"]), Self.server: Self.metadata(),
        ])
        let found = try await DiscoveredResource.discover(Self.mcp, deviating: deviations, transport: web)
        #expect(found.server.issuer.string == "https://as.example")
        #expect(web.requests.allSatisfy { !$0.contains("listed.example") })
        let other = Web([Self.own: Self.document(servers: ["https://listed.example"]), Self.server: Self.metadata()])
        let error = await handshakeError {
            try await DiscoveredResource.discover(Self.mcp, deviating: deviations, transport: other)
        }
        #expect(error != nil && other.requests.last?.contains("listed.example") == true)
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
}
