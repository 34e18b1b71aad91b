import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// From an API's address to a call of its tool, at the sandbox's own APIs and servers.
@Suite("The sandbox's MCP servers", .heavy)
struct SandboxResourceTests {
    private static func call(
        _ account: Account, _ address: String, tool: String = "whoami"
    ) async throws -> ResponseMessage {
        let body = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)"}}"#
        let url = try EndpointURL(address, security: .allowingInsecureLoopback)
        return try await account.send(
            RequestMessage(
                .post, url, headers: [.contentType: "application/json"], content: .bytes(Array(body.utf8))))
    }

    private static func signIn(
        _ world: World, _ client: Client
    ) async throws -> (Handshake, Account) {
        let app = try world.app(client)
        return (app, try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox)))
    }

    @Test(
        "the address of an API alone leads to a registered client, a sign-in, a call and a refresh",
        arguments: ["/mcp", "/quiet/mcp", "/above/mcp", "/root/mcp", "/bound/mcp", "/tenant/mcp"])
    func chain(_ path: String) async throws {
        let world = try await World(.standard)
        let address = world.sandbox.resources.origin + path
        let found = try await DiscoveredResource.discover(address)
        #expect(found.scopes == ["api", "offline_access"])
        #expect(
            found.server.issuer.string == world.sandbox.standard.origin + (path.hasPrefix("/tenant") ? "/tenant1" : ""))
        let (_, account) = try await Self.signIn(world, try await found.register(as: "App"))
        #expect(account.status.isBound == path.hasPrefix("/bound"))
        // An error of the tool is JSON-RPC with status 200, too.
        #expect(String(decoding: try await Self.call(account, address).content, as: UTF8.self).contains(#""result""#))
        try await account.refresh()
        #expect(try await Self.call(account, address).head.status == .ok)
        let sent = world.sandbox.requests(.standard).filter { $0.path.hasSuffix("/token") }
        #expect(sent.count == 2)
        #expect(sent.allSatisfy { $0.formParameterNames.contains("resource") })
        let neighbour = await handshakeError { try await Self.call(account, world.sandbox.resources.origin + "/other") }
        #expect(neighbour?.code == "foreign_origin")
        await world.sandbox.stop()
    }

    @Test("M520: an MCP server without a document is its own authorization server")
    func legacy() async throws {
        let world = try await World(.standard)
        let address = world.sandbox.standard.origin + "/mcp"
        let found = try await DiscoveredResource.discover(address)
        #expect(
            found.resource.authorizationServers.isEmpty && found.server.issuer.string == world.sandbox.standard.origin)
        var scoped = found
        scoped.scopes = ["api"]
        let (_, account) = try await Self.signIn(world, try await scoped.register(as: "App"))
        #expect(try await Self.call(account, address).head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("M514: a server whose metadata lack the challenge methods is refused, and its deviation sends S256 to it")
    func challengeMethods() async throws {
        let world = try await World(.standard)
        try world.inject("standard /.well-known/* => without code_challenge_methods_supported")
        let address = world.sandbox.resources.origin + "/mcp"
        #expect(await handshakeError { try await DiscoveredResource.discover(address) }?.code == "pkce_unsupported")
        #expect(world.sandbox.requests(.standard).allSatisfy { $0.path.hasPrefix("/.well-known/") })
        var deviations = DiscoveredResource.Deviations()
        deviations.assumesS256 = true
        let found = try await DiscoveredResource.discover(address, deviating: deviations)
        let (_, account) = try await Self.signIn(world, try await found.register(as: "App"))
        #expect(try await Self.call(account, address).head.status == .ok)
        let pushes = world.sandbox.requests(.standard).filter { $0.path == "/par" }
        #expect(pushes.count == 1)
        #expect(pushes.allSatisfy { $0.formParameterNames.contains("code_challenge_method") })
        await world.sandbox.stop()
    }

    @Test("M505: where the registered port is taken, another one serves at a server that has registered no port")
    func takenPort() async throws {
        let world = try await World(.standard)
        let portless = TappedTransport { request, base, limits in
            var request = request
            if request.head.path == "/register", case .bytes(let bytes) = request.content {
                let text = String(decoding: bytes, as: UTF8.self)
                    .replacing(try Regex(#"127\.0\.0\.1:[0-9]+"#), with: "127.0.0.1")
                request.content = .bytes(Array(text.utf8))
            }
            return try await base.send(request, limits: limits)
        }
        let servers: [(TappedTransport, String?)] = [(TappedTransport(), "invalid_request"), (portless, nil)]
        for (transport, code) in servers {
            // The answer would name another redirect URI than was asked for.
            if code == nil { try world.inject("standard POST /register => without redirect_uris") }
            let found = try await DiscoveredResource.discover(
                world.sandbox.resources.origin + "/mcp", transport: transport)
            let client = try await found.register(as: "App")
            guard case .loopback(let port?, _) = client.redirect else {
                Issue.record("no port was registered: \(client.redirect)")
                return
            }
            let taken = try LoopbackListener(port: port)
            #expect(await handshakeError { try await Self.signIn(world, client) }?.code == code)
            withExtendedLifetime(taken) {}
        }
        await world.sandbox.stop()
    }

    @Test("M512, M905: a document about another API, and a server that names another issuer in its responses, stop")
    func hostile() async throws {
        let world = try await World(.standard)
        let origin = world.sandbox.resources.origin
        let foreign = await handshakeError { try await DiscoveredResource.discover(origin + "/foreign/mcp") }
        #expect(foreign?.code == "resource_mismatch")
        let found = try await DiscoveredResource.discover(origin + "/neighbour/mcp")
        let client = try await found.register(as: "App")
        let error = await handshakeError { try await Self.signIn(world, client) }
        #expect(error?.code == "issuer_mismatch")
        #expect(world.sandbox.requests(.standard).allSatisfy { !$0.path.hasSuffix("/token") })
        await world.sandbox.stop()
    }

    @Test("M518: a tool that needs more is called after one sign-in for all scopes, which the app is registered for")
    func stepUp() async throws {
        let world = try await World(.standard)
        let address = world.sandbox.resources.origin + "/mcp"
        let found = try await DiscoveredResource.discover(address)
        let (app, account) = try await Self.signIn(world, try await found.register(as: "App"))
        let refused = await handshakeError { try await Self.call(account, address, tool: "email") }
        guard case .demanded(.scopes(["email"]), 403)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let again = try await app.signIn(
            again: account, for: .scopes(["email"]), through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(again.status.scopes == ["api", "offline_access", "email"])
        #expect(
            String(decoding: try await Self.call(again, address, tool: "email").content, as: UTF8.self).contains("ada@")
        )
        // The sandbox gives the management a new token with each change.
        _ = try await app.signIn(
            again: again, for: .scopes(["profile"]), through: ApprovingBrowser(sandbox: world.sandbox))
        let sent = world.sandbox.requests(.standard).filter { $0.path.hasPrefix("/register") }
        #expect(sent.map(\.method) == ["POST", "PUT", "PUT"])
        await world.sandbox.stop()
    }

    @Test(
        "5.1: a server's client registers its key, authenticates by it after a restart, and is not taken for one without"
    )
    func keyed() async throws {
        let world = try await World(.standard)
        let vault = MemoryVault()
        let key = try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "mine")
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/mcp")
        let client = try await found.confidentialClient(registeredAs: "Server", key: key, in: vault)
        #expect(client.isConfidential && client.credential?.key?.thumbprint == key.thumbprint)
        let (_, account) = try await Self.signIn(world, client)
        try await account.refresh()
        let sent = world.sandbox.requests(.standard).filter { ["/token", "/par"].contains($0.path) }
        #expect(sent.count == 3)
        for request in sent {
            #expect(request.status.map { $0 < 300 } == true)
            #expect(request.formParameterNames.contains("client_assertion"))
        }
        let again = try await found.confidentialClient(registeredAs: "Server", key: key, in: vault)
        #expect(again.id == client.id)
        let other = try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8))
        #expect(try await found.confidentialClient(registeredAs: "Server", key: other, in: vault).id != client.id)
        #expect(try await found.client(registeredAs: "Server", in: vault).credential == nil)
        await world.sandbox.stop()
    }

    @Test(
        "M503: a client that the server has purged is registered again, and the account that it had demands a sign-in")
    func purged() async throws {
        let world = try await World(.standard)
        let vault = MemoryVault()
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/mcp")
        let client = try await found.client(registeredAs: "App", in: vault)
        let (_, account) = try await Self.signIn(world, client)
        world.sandbox.purgeClients()
        // A refresh that is refused with invalid_client ends nothing by itself (E4).
        #expect(await handshakeError { try await account.refresh() }?.code == "client_forgotten")
        #expect(account.status.state == .signedIn)
        #expect(try await !account.accessToken().isEmpty)
        try await found.forgetClient(in: vault)
        let next = try await found.client(registeredAs: "App", in: vault)
        #expect(next.id != client.id)
        _ = try await Self.signIn(world, next)
        await world.sandbox.stop()
    }

    @Test("M504: a secret that has ended is renewed by the management, with its new token")
    func secretRenewed() async throws {
        let world = try await World(.standard)
        _ = try await WireClient(origin: world.sandbox.standard.origin)
            .send("POST", "/_sandbox/secret-lifetime", body: "600")
        let request = ClientRegistrationRequest(
            at: try EndpointURL(world.sandbox.standard.origin + "/register", security: .allowingInsecureLoopback),
            name: "Server", redirectURI: try RedirectURI("com.example.app:/cb"), scopes: ["api"])
        var message = try request.message
        guard case .bytes(let bytes) = message.content else {
            Issue.record("there is no content")
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(
                #""token_endpoint_auth_method":"none""#, with: #""token_endpoint_auth_method":"client_secret_post""#)
        message.content = .bytes(Array(text.utf8))
        let registered = try request.client(
            from: try await PlatformTransport().send(message, limits: World.limits))
        let management = try #require(registered.management)
        world.sandbox.advanceClock(by: 601)
        let read = ClientManagementRequest(
            .read, clientID: registered.id, by: management, registration: request)
        let renewed = try read.client(
            from: try await PlatformTransport().send(try read.message, limits: World.limits))
        #expect(renewed.secret?.reveal() != registered.secret?.reveal())
        #expect(renewed.management?.token.reveal() != management.token.reveal())
        await world.sandbox.stop()
    }

    @Test("M506: a client that is named by its document signs in at a server that takes such clients")
    func documented() async throws {
        let world = try await World(.standard)
        let found = try await DiscoveredResource.discover(world.sandbox.resources.origin + "/mcp")
        let client = try found.client(documentAt: "https://app.example.test/oauth/client.json")
        let (_, account) = try await Self.signIn(world, client)
        #expect(try await Self.call(account, world.sandbox.resources.origin + "/mcp").head.status == .ok)
        #expect(world.sandbox.requests(.standard).allSatisfy { $0.path != "/register" })
        await world.sandbox.stop()
    }

    @Test(
        "M507: issuers whose metadata stand at one of the three addresses alone are found, and their ID tokens are theirs",
        arguments: ["/tenant1", "/tenant2/", "/tenant3", "/tenant4"])
    func tenants(_ path: String) async throws {
        let world = try await World(.standard)
        let security = TransportSecurity.allowingInsecureLoopback
        let issuer = try Issuer(world.sandbox.standard.origin + path, security: security)
        let service = try Service(
            name: "tenant", authorizationServer: .discovered(issuer, security: security),
            defaultScopes: ["openid", "offline_access"])
        let (_, account) = try await Self.signIn(world, Client(service: service, id: "sandbox-public"))
        #expect(account.status.identity?.issuer == issuer.string)
        try await account.refresh()
        await world.sandbox.stop()
    }

    @Test("5.4: by its deviation resource is left out of every request, and accounts stay apart by API")
    func omitted() async throws {
        let world = try await World(.standard)
        var deviations = DiscoveredResource.Deviations()
        deviations.omitsResource = true
        let found = try await DiscoveredResource.discover(
            world.sandbox.resources.origin + "/mcp", deviating: deviations)
        let (_, account) = try await Self.signIn(world, try await found.register(as: "App"))
        try await account.refresh()
        let sent = world.sandbox.requests(.standard).filter { ["/par", "/token"].contains($0.path) }
        #expect(sent.count == 3)
        #expect(sent.allSatisfy { !$0.formParameterNames.contains("resource") })
        #expect(account.id.resources == [world.sandbox.resources.origin + "/mcp"])
        await world.sandbox.stop()
    }
}
