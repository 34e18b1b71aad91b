import Foundation
import HTTPTypes
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Servers that register apps, found from their issuer", .heavy)
struct DiscoveredServerTests {
    private static func service(_ issuer: String = "https://as.example") throws -> Service {
        try Service(
            name: "mine", authorizationServer: .discovered(try Issuer(issuer), security: .httpsOnly),
            defaultScopes: ["a"])
    }

    private static func client(
        _ network: RegistrationNetwork, _ issuer: String = "https://as.example", scopes: [String]? = nil,
        in vault: any Vault, at now: Double = 1_750_000_000
    ) async throws -> Client {
        try await DiscoveredServer.discover(try service(issuer), scopes: scopes, transport: network)
            .client(registeredAs: "App", in: vault, time: TimeSource(now: { now }, clock: ContinuousClock()))
    }

    @Test("5.1: an issuer alone leads to a registered client and a sign-in, and the next call finds the same client")
    func chain() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        let client = try await Self.client(network, in: vault)
        #expect(client.id == "client-1" && client.scopes == ["a"] && client.confinement == nil)
        let sent = try #require(network.sent(.post, "/register").first)
        #expect(sent["token_endpoint_auth_method"]?.string == "none" && sent["application_type"]?.string == "native")
        #expect(sent["scope"]?.string == "a" && sent["client_name"]?.string == "App")
        guard case .loopback(let port?, _) = client.redirect else {
            Issue.record("no port was registered")
            return
        }
        #expect(sent["redirect_uris"]?.array?.first?.string == "http://127.0.0.1:\(port)/callback")
        let app = try Handshake(client, vault: vault, transport: network, limits: World.limits)
        let account = try await app.signIn(through: network.browser())
        #expect(account.status.state == .signedIn)
        #expect(try await Self.client(network, in: vault).id == "client-1")
        #expect(network.sent(.post, "/register").count == 1)
    }

    @Test("5.1: a registration is made again for more scopes, for a secret that has expired, and when it is forgotten")
    func again() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.secretEnds = 1_750_001_000 }
        #expect(try await Self.client(network, in: vault).credential?.secret?.reveal() == "secret-1")
        #expect(try await Self.client(network, scopes: ["a", "b"], in: vault).id == "client-2")
        #expect(try await Self.client(network, in: vault).scopes == ["a"])
        #expect(try await Self.client(network, in: vault, at: 1_750_001_000).id == "client-3")
        try await DiscoveredServer.discover(try Self.service(), transport: network).forgetClient(in: vault)
        #expect(try await Self.client(network, in: vault).id == "client-4")
    }

    @Test("9: what one server has registered is told to no other, nor used for an API of the same server")
    func apart() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.secretEnds = 1_750_001_000 }
        let first = try await Self.client(network, in: vault)
        let other = try await Self.client(network, "https://other.example", in: vault)
        #expect(other.id == "client-2")
        #expect(!network.told("other.example").contains(first.id))
        #expect(!network.told("other.example").contains("secret-1"))
        #expect(try await network.client(in: vault).id == "client-3")
        #expect(try await Self.client(network, in: vault).id == "client-1")
    }

    @Test("5.1: a sign-in that was not done leaves its registration to the account's next one, and to it alone")
    func unfinished() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        let found = try await DiscoveredServer.discover(try Self.service(), transport: network)
        let kept = try await found.register(as: "App", redirect: .loopback, for: ["a"])
        try await UnfinishedRegistrations(of: "mine", in: vault).keep(kept)
        func id(_ account: String, at found: some RegisteringServer) async throws -> String? {
            try await UnfinishedRegistrations(of: account, in: vault)
                .client(at: found, redirect: .loopback, key: nil, onDevices: false)?.id
        }
        #expect(try await id("mine", at: found) == "client-1")
        #expect(try await id("yours", at: found) == nil)
        let api = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        #expect(try await id("mine", at: api) == nil, "tokens for the API go nowhere else")
        #expect(try await UnfinishedRegistrations(of: "mine", in: vault).forget().map(\.id) == ["client-1"])
        #expect(try await id("mine", at: found) == nil)
    }

    @Test("5.1: a server without a registration endpoint is named as the cause, and nothing is sent")
    func none() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.metadata = ["registration_endpoint": NSNull()] }
        let error = await handshakeError { try await Self.client(network, in: vault) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("registration_endpoint"))
        #expect(network.sent(.post, "/register").isEmpty)
    }

    @Test("M503: a client that the sandbox has purged is registered again, and signs in")
    func purged() async throws {
        let world = try await World(.standard)
        let vault = MemoryVault()
        let found = try await DiscoveredServer.discover(try world.service())
        let client = try await found.client(registeredAs: "App", in: vault)
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(account.status.scopes == client.scopes)
        world.sandbox.purgeClients()
        #expect(await handshakeError { try await account.refresh() }?.code == "client_forgotten")
        try await found.forgetClient(in: vault)
        let next = try await found.client(registeredAs: "App", in: vault)
        #expect(next.id != client.id)
        _ = try await world.app(next).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        await world.sandbox.stop()
    }
}
