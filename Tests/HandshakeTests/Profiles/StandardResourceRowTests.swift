import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// Rows of `any-server.md` 10 about APIs and registration, at the sandbox's APIs and its standard server.
@Suite("Rows about APIs at the sandbox", .heavy)
struct StandardResourceRowTests {
    private static let wellKnown = "/.well-known/oauth-protected-resource"

    private static func code(_ address: String) async -> String? {
        await handshakeError { try await DiscoveredResource.discover(address) }?.code
    }

    /// Issuers of the sandbox are without TLS.
    private static func issuer(_ address: String) throws -> Issuer {
        try Issuer(address, security: .allowingInsecureLoopback)
    }

    private static func paths(_ world: World) -> [String] {
        world.sandbox.requests(.resources).map(\.path)
    }

    @Test(
        "M502, C16: a registration at the sandbox that cannot be used stops, and names the member",
        arguments: [
            ("member token_endpoint_auth_method client_secret_basic", "client_secret"),
            (#"member redirect_uris ["https://evil.example/callback"]"#, "redirect_uris"),
        ])
    func unusableRegistration(_ fault: String, _ member: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /register => \(fault)")
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/mcp")
        let error = await handshakeError { try await found.register(as: "App") }
        guard case .exchange(.malformed(.registration, member, _, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await world.sandbox.stop()
    }

    @Test("M502, C16: a secret of the sandbox's beside the method none is no secret", arguments: ["\"\"", "canary"])
    func publicClient(_ secret: String) async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /register => member client_secret \(secret)")
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/mcp")
        let client = try await found.register(as: "App")
        #expect(client.credential == nil)
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(account.status.state == .signedIn)
        await world.sandbox.stop()
    }

    @Test(
        "M508: where the sandbox's APIs have no documents, exactly the well-known addresses are asked, in order",
        arguments: [("/mcp", ["/mcp", ""]), ("/mcp/", ["/mcp/", ""]), ("/a?b=c", ["/a?b=c", ""]), ("/", [""])])
    func addresses(_ path: String, _ asked: [String]) async throws {
        let world = try await World(.standard)
        try world.inject("resources * => status 404")
        let transport = TappedTransport()
        let error = await handshakeError {
            try await DiscoveredResource.discover(world.sandbox.resources.origin + path, transport: transport)
        }
        guard case .undiscovered? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let found = transport.requests.compactMap(\.head.path).filter { $0.hasPrefix(Self.wellKnown) }
        #expect(found == asked.map { Self.wellKnown + $0 })
        await world.sandbox.stop()
    }

    @Test(
        "M509: where the sandbox's API has no document at the first address, the next one is asked",
        arguments: ["status 401", "status 403", "status 404", "status 502", "garbage"])
    func skipped(_ fault: String) async throws {
        let world = try await World(.standard)
        try world.inject("resources \(Self.wellKnown)/quiet/mcp => \(fault)")
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/quiet/mcp")
        #expect(found.resource.identifier.string == world.sandbox.resources.origin)
        #expect(Self.paths(world) == ["/quiet/mcp", Self.wellKnown + "/quiet/mcp", Self.wellKnown])
        await world.sandbox.stop()
    }

    @Test("M509, H1: where all documents of the sandbox's server are another issuer's, the error names that issuer")
    func foreignIssuer() async throws {
        let world = try await World(.standard)
        try world.inject("standard /.well-known/* => member issuer https://evil.example")
        let app = try world.app()
        let error = await handshakeError { try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox)) }
        #expect(error?.code == "issuer_mismatch")
        #expect(error?.description.contains("https://evil.example") == true)
        #expect(world.sandbox.requests(.standard).count == 2, "both addresses were asked")
        await world.sandbox.stop()
    }

    @Test(
        "M510: an error of the sandbox's API or a redirect at the first address stops, and the next one stays untouched",
        arguments: [("status 500", "http_500"), ("redirect http://127.0.0.1:9/", "unexpected_redirect")])
    func stopped(_ fault: String, _ code: String) async throws {
        let world = try await World(.standard)
        try world.inject("resources \(Self.wellKnown)/quiet/mcp => \(fault)")
        #expect(await Self.code(world.sandbox.resources.origin + "/quiet/mcp") == code)
        #expect(Self.paths(world) == ["/quiet/mcp", Self.wellKnown + "/quiet/mcp"])
        #expect(world.sandbox.requests(.standard).isEmpty)
        await world.sandbox.stop()
    }

    @Test("M511: whatever the sandbox's API answers first, the same account comes of it")
    func firstAnswer() async throws {
        let world = try await World(.standard)
        let address = world.sandbox.resources.origin + "/mcp"
        var accounts: Set<AccountID> = []
        // The first is the API's own refusal, which names its document.
        for fault in [nil, "status 401", "status 403", "status 200", "status 405"] {
            if let fault { try world.inject("resources GET /mcp => \(fault)") }
            let found = try await DiscoveredResource.discover(address)
            world.sandbox.clearFaults()
            #expect(found.resource.identifier.string == address, "\(fault ?? "")")
            let client = try found.client(
                id: "sandbox-public", issuedBy: try Self.issuer(world.sandbox.standard.origin))
            let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
            #expect(account.status.scopes == ["api", "offline_access"], "\(fault ?? "")")
            accounts.insert(account.id)
        }
        #expect(accounts.count == 1)
        await world.sandbox.stop()
    }

    @Test("M513, H1: the sandbox's API may list a bare origin with a slash, and an issuer with a path not")
    func slash() async throws {
        let world = try await World(.standard)
        let (address, server) = (world.sandbox.resources.origin + "/mcp", world.sandbox.standard.origin)
        try world.inject("resources /.well-known/* => member authorization_servers [\"\(server)/\"]")
        let found = try await DiscoveredResource.discover(address)
        #expect(found.server.issuer.string == server, "as the server's own document spells it")
        let client = try found.client(id: "sandbox-public", issuedBy: try Self.issuer(server))
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(account.status.state == .signedIn, "iss of the response was compared")
        world.sandbox.clearFaults()
        try world.inject("resources /.well-known/* => member authorization_servers [\"\(server)/tenant1/\"]")
        #expect(await Self.code(address) == "issuer_mismatch")
        await world.sandbox.stop()
    }

    @Test("M515: scopes come from the challenge of the sandbox's API, else from its document, else there are none")
    func scopes() async throws {
        let world = try await World(.standard)
        let origin = world.sandbox.resources.origin
        func found(_ path: String, _ faults: [String]) async throws -> [String] {
            world.sandbox.clearFaults()
            for fault in faults { try world.inject(fault) }
            return try await DiscoveredResource.discover(origin + path).scopes
        }
        let challenge =
            #"resources GET /mcp => header WWW-Authenticate Bearer scope="email profile", "#
            + "resource_metadata=\"\(origin)\(Self.wellKnown)/mcp\""
        let undocumented = "resources /.well-known/* => without scopes_supported"
        let unlisted = "standard /.well-known/* => without scopes_supported"
        #expect(try await found("/mcp", [challenge]) == ["email", "profile", "offline_access"])
        #expect(try await found("/quiet/mcp", []) == ["api", "offline_access"])
        #expect(try await found("/quiet/mcp", [unlisted]) == ["api"])
        #expect(try await found("/quiet/mcp", [undocumented]) == ["offline_access"])
        #expect(try await found("/quiet/mcp", [undocumented, unlisted]) == [])
        await world.sandbox.stop()
    }

    @Test("M516: the sandbox's API is named as its document spells it, and without a document without a bare slash")
    func spelling() async throws {
        let world = try await World(.standard)
        let (origin, server) = (world.sandbox.resources.origin, world.sandbox.standard.origin)
        func names(_ address: String) async throws -> [String] {
            try await DiscoveredResource.discover(address)
                .client(id: "sandbox-public", issuedBy: Self.issuer(server)).resources.map(\.string)
        }
        #expect(try await names(origin + "/") == [origin])
        try world.inject("resources /.well-known/* => member resource \(origin)/")
        #expect(try await names(origin + "/") == [origin + "/"])
        #expect(try await names(server + "/") == [server], "it has no document, and is its own server")
        await world.sandbox.stop()
    }
}
