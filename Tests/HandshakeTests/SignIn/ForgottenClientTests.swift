import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("Clients that a server has forgotten", .heavy)
struct ForgottenClientTests {
    private let network = RegistrationNetwork()
    private let vault = MemoryVault()
    private let now = Shared(1_750_000_000.0)

    private func signedIn(_ client: Client) async throws -> Account {
        let time = TimeSource(now: { [now] in now.value }, clock: ContinuousClock())
        return try await Handshake(client, vault: vault, transport: network, time: time)
            .signIn(through: network.browser())
    }

    @Test(
        "M503: a refresh says that the server has forgotten the client, ends nothing, and the app is registered again once",
        arguments: [200, 400, 401])
    func forgotten(_ status: Int) async throws {
        let client = try await network.client(in: vault)
        let account = try await signedIn(client)
        network.change { $0.token = .json(status, ["error": "invalid_client", "error_description": "unknown client"]) }
        now.change { $0 += 3_570 }
        #expect(try await account.accessToken().reveal() == "access", "the token that lives is used")
        now.change { $0 += 60 }
        let error = await handshakeError { try await account.accessToken() }
        #expect(error?.code == "client_forgotten")
        #expect(error.map { "\($0)" }?.contains("unknown client") == true)
        #expect(account.status.state == .signedIn)
        let stored = try #require(try await Handshake(client, vault: vault, transport: network).account())
        #expect(stored.status.state == .signedIn && stored.status.isRefreshable)
        for _ in 0..<2 { #expect(try await network.client(in: vault).id == "client-2", "registered again once") }
        _ = await handshakeError { try await account.accessToken() }
        #expect(try await network.client(in: vault).id == "client-2", "the new registration stays")
        network.change { $0.token = nil }
        #expect(try await account.accessToken().reveal() == "access", "the session goes on when the server does")
    }

    @Test("M503: a client that a command remembers is marked under its name, and its account is still found")
    func remembered() async throws {
        let registrations = Registrations(in: vault)
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        try await registrations.remember(try await found.register(as: "App"), as: "mine")
        let account = try await signedIn(try #require(try await registrations.client(named: "mine")))
        network.change { $0.token = .json(401, ["error": "invalid_client"]) }
        #expect(try await registrations.client(named: "mine")?.registration?.isForgotten == false)
        #expect(await handshakeError { try await account.refresh() }?.code == "client_forgotten")
        let known = try #require(try await registrations.client(named: "mine"))
        #expect(known.registration?.isForgotten == true && known.id == "client-1")
        #expect(try await Handshake(known, vault: vault, transport: network).account()?.status.state == .signedIn)
    }

    @Test(
        "M503: another error, and a server that failed, say nothing of the client",
        arguments: [
            (429, "invalid_client"), (500, "invalid_client"), (503, "invalid_client"), (400, "unauthorized_client"),
            (400, "invalid_request"),
        ])
    func another(_ status: Int, _ code: String) async throws {
        let account = try await signedIn(try await network.client(in: vault))
        network.change { $0.token = .json(status, ["error": code]) }
        #expect(await handshakeError { try await account.refresh() }?.code == code)
        #expect(try await network.client(in: vault).id == "client-1")
    }

    @Test("M503: a secret that has expired says nothing of the client, and one that was replaced marks no other")
    func otherSecret() async throws {
        network.change { $0.token = nil }
        var client = try await network.client(in: vault)
        client.registration?.expiresAt = now.value + 100
        let account = try await signedIn(client)
        network.change { $0.token = .json(401, ["error": "invalid_client"]) }
        #expect(await handshakeError { try await account.refresh() }?.code == "client_forgotten")
        #expect(try await network.client(in: vault).id == "client-1", "the vault has it with another secret")
        now.change { $0 += 101 }
        #expect(await handshakeError { try await account.refresh() }?.code == "invalid_client")
    }

    @Test("M503: a client that was registered by hand is not forgotten: its identifier or secret is wrong")
    func registeredByHand() async throws {
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        let account = try await signedIn(try found.client(id: "c", issuedBy: Issuer("https://as.example")))
        network.change { $0.token = .json(401, ["error": "invalid_client"]) }
        let error = await handshakeError { try await account.refresh() }
        #expect(error?.code == "invalid_client")
        #expect(error.map { "\($0)" }?.contains("Check the client ID") == true)
    }

    @Test("M503: a keeper pauses the accounts of a server that has forgotten their client, and ends none")
    func kept() async throws {
        let server = StrictAccounts()
        let passing = server.clock.pass(inStepsOf: .milliseconds(100), whileAsleep: 1)
        defer { passing.cancel() }
        var client = try server.client()
        client.registration = ClientRegistration(
            name: "App", endpoint: try EndpointURL("https://strict.example/register"), scopes: [],
            redirect: client.redirect, redirectURI: try RedirectURI("com.example.app:/callback"), isForDevices: false,
            expiresAt: nil, management: nil)
        try await server.store(["a", "b", "c"], in: vault, client: client, age: 3_500)
        server.answer { _, _ in .json(401, ["error": "invalid_client"]) }
        var options = Keeper.Options()
        options.limit = .init(concurrent: 1)
        let report = try await Keeper(try server.app(vault, client), options: options).runOnce()
        #expect(report.failed == 1 && report.postponed == 2 && report.ended == 0)
        for name in ["a", "b", "c"] {
            let account = try #require(try await server.app(vault, client).account(name))
            #expect(account.status.state == .signedIn && account.status.isRefreshable)
        }
    }
}
