import Crypto
import Foundation
import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("Registrations of one program that are kept apart", .heavy)
struct KeptRegistrationTests {
    @Test("a client with a key and one without are kept beside each other, and forgotten apart")
    func methods() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.metadata = ["token_endpoint_auth_methods_supported": ["none", "private_key_jwt"]] }
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        let key = try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8))
        func ids() async throws -> [String] {
            let keyed = try await found.confidentialClient(registeredAs: "App", key: key, in: vault)
            let open = try await found.client(registeredAs: "App", in: vault)
            #expect(keyed.credential?.key?.thumbprint == key.thumbprint)
            #expect(open.credential == nil)
            return [keyed.id, open.id]
        }
        #expect(try await ids() == ["client-1", "client-2"])
        #expect(try await ids() == ["client-1", "client-2"], "neither has replaced the other")
        try await found.forgetClient(in: vault)
        #expect(try await ids() == ["client-1", "client-3"])
        try await found.forgetConfidentialClient(in: vault)
        #expect(try await ids() == ["client-4", "client-3"])
        // A registration with a key that lies where one without is looked for is not used.
        let keys = try await vault.keys(of: .appRegistration).keys
        let (long, short) = (
            try #require(keys.first { $0.components.count == 4 }), try #require(keys.first { $0.components.count == 3 })
        )
        let bytes = try #require(try await vault.record(long))
        try await vault.update(short) { try await $0.replace(with: bytes) }
        #expect(try await ids() == ["client-4", "client-5"])
    }

    @Test("the servers of a vault's accounts are known, also beside a record that is damaged")
    func issuers() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        let registrations = Registrations(in: vault)
        #expect(try await registrations.issuers().isEmpty)
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        try await registrations.remember(try await found.register(as: "App"), as: "mine")
        try await vault.update(VaultKey(.registration, ["broken"])) { try await $0.replace(with: Array("{".utf8)) }
        #expect(try await registrations.issuers().map(\.string) == ["https://as.example"])
    }

    @Test("a registration of a sign-in that was not finished serves its account's next one, and no other")
    func unfinished() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.secretEnds = 1_750_001_000 }
        func found() async throws -> DiscoveredResource {
            try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        }
        let unfinished = UnfinishedRegistrations(of: "mine", in: vault)
        func id(
            _ account: String = "mine", redirect: Client.Redirect = .loopback, key: SigningKey? = nil,
            onDevices: Bool = false, at now: Double = 1_750_000_000
        ) async throws -> String? {
            try await UnfinishedRegistrations(of: account, in: vault).client(
                at: found(), redirect: redirect, key: key, onDevices: onDevices,
                time: TimeSource(now: { now }, clock: ContinuousClock()))?.id
        }
        try await unfinished.keep(try await found().register(as: "App"))
        #expect(try await id() == "client-1")
        #expect(try await id("other") == nil, "it is removed at the server with its own account")
        #expect(try await id(onDevices: true) == nil)
        #expect(try await id(at: 1_750_001_000) == nil, "its secret has expired")
        #expect(try await id(redirect: .uri(try RedirectURI("com.example.app:/cb"))) == nil)
        let key = try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8))
        #expect(try await id(key: key) == nil, "it has no key")
        network.change { $0.scopes = ["a", "b"] }
        #expect(try await id() == nil)
        network.change { ($0.scopes, $0.issuer) = (["a"], "https://other.example") }
        #expect(try await id() == nil, "another server hears nothing of it")
        network.change { $0.issuer = "https://as.example" }
        try await unfinished.forget("client-7")
        #expect(try await unfinished.clients().map(\.id) == ["client-1"])
        #expect(try await unfinished.forget().map(\.id) == ["client-1"])
        #expect(try await id() == nil)
        #expect(try await vault.keys(of: .appRegistration).keys.isEmpty)
    }
}
