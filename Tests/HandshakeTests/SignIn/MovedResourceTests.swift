import Foundation
import HTTPTypes
import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("APIs that have moved to another server")
struct MovedResourceTests {
    private static let api = "https://api.example/mcp"
    private static let metadata = "https://api.example/.well-known/oauth-protected-resource/mcp"

    private static func refusal(
        _ status: Int = 401, _ parameters: String = "", announcing location: String = metadata
    ) -> ResponseMessage {
        .json(
            status, [:],
            [
                .wwwAuthenticate: "Bearer resource_metadata=\"\(location)\""
                    + (parameters.isEmpty ? "" : ", \(parameters)")
            ])
    }

    private static func document(_ servers: String..., resource: String = api) -> ResponseMessage {
        .json(200, ["resource": resource, "authorization_servers": servers])
    }

    private static func issuers(_ error: HandshakeError?) -> [String]? {
        guard case .resourceMoved(_, let resource, let issuers)? = error, resource.string == api else { return nil }
        return issuers.map(\.string)
    }

    /// An account of the API, whose network is then changed.
    private static func scene(
        _ vault: any Vault = MemoryVault(), _ change: (inout sending RegistrationNetwork.State) -> Void
    ) async throws -> (RegistrationNetwork, Handshake, Account) {
        let network = RegistrationNetwork()
        let client = try await network.client(in: vault)
        let app = try Handshake(client, vault: vault, transport: network)
        let account = try await app.signIn(through: network.browser())
        network.change(change)
        return (network, app, account)
    }

    @Test(
        "M519: a refusal that announces another server is typed, and that server hears nothing",
        arguments: [
            (401, ""), (401, #"error="invalid_token""#), (401, #"error="invalid_request""#), (403, ""),
            (403, #"error="insufficient_scope", scope="b""#),
            (401, #"error="insufficient_user_authentication", max_age=0"#),
        ])
    func moved(_ status: Int, _ parameters: String) async throws {
        let (network, _, account) = try await Self.scene {
            $0.issuer = "https://other.example"
            $0.api = Self.refusal(status, parameters)
        }
        let error = await handshakeError { try await account.send(.get, Self.api) }
        #expect(Self.issuers(error) == ["https://other.example"])
        #expect(error?.code == "resource_moved")
        #expect(network.told("other.example").isEmpty)
        let asked = try #require(network.requests.last { $0.head.path?.contains("protected-resource") == true })
        #expect(asked.head.headerFields[.authorization] == nil && asked.head.headerFields[.cookie] == nil)
        #expect(account.status.state == .signedIn, "the grant stays")
        #expect(try await account.accessToken().reveal() == "access")
    }

    @Test("M519: at an API that has moved, no further scopes are asked of the server before")
    func stepUp() async throws {
        let (_, app, account) = try await Self.scene {
            $0.issuer = "https://other.example"
            $0.api = Self.refusal(403, #"error="insufficient_scope", scope="b""#)
        }
        let request = RequestMessage(.get, try EndpointURL(Self.api))
        let shown = Shared(0)
        let browser = ScriptedBrowser { _ in
            shown.change { $0 += 1 }
            return nil
        }
        let error = await handshakeError {
            try await app.send(request, as: account, steppingUpThrough: browser)
        }
        #expect(Self.issuers(error) == ["https://other.example"])
        #expect(shown.value == 0)
    }

    @Test("M519: an API is also known to have moved when the server before no longer answers")
    func gone() async throws {
        let (network, _, account) = try await Self.scene {
            $0.issuer = "https://other.example"
            $0.api = Self.refusal()
            $0.unreachable = "as.example"
        }
        let error = await handshakeError { try await account.send(.get, Self.api) }
        #expect(Self.issuers(error) == ["https://other.example"])
        #expect(network.told("other.example").isEmpty)
    }

    @Test("M519: the next discovery leads to the new server, with a client of its own, and the account before stays")
    func next() async throws {
        let vault = MemoryVault()
        let (network, _, account) = try await Self.scene(vault) {
            $0.issuer = "https://other.example"
            $0.api = Self.refusal()
        }
        #expect(Self.issuers(await handshakeError { try await account.send(.get, Self.api) }) != nil)
        network.change { $0.api = .json(200, [:]) }
        let client = try await network.client(in: vault)
        let again = try await Handshake(client, vault: vault, transport: network).signIn(through: network.browser())
        #expect(again.id != account.id && again.id.issuer == "https://other.example")
        #expect(try await again.send(.get, Self.api).head.status == .ok)
        #expect(!network.told("other.example").contains("client-1"))
        #expect(try await account.accessToken().reveal() == "access")
    }

    @Test(
        "M519: a refusal stays what it is when the API names the same server, in either spelling, or nothing that counts",
        arguments: [
            document("https://as.example"), document("https://as.example/"),
            document("https://other.example", "https://as.example"), document(),
            document("https://other.example", resource: "https://api.example/other"),
            document("http://127.0.0.1:8080"), document("https://other.example/access-token-1"),
            .json(404, [:]), .json(500, [:]), .json(302, [:], [.location: "https://other.example/"]),
        ])
    func stays(_ document: ResponseMessage) async throws {
        let (network, _, account) = try await Self.scene {
            $0.document = document
            $0.api = Self.refusal()
            $0.token = .json(200, ["access_token": "access-token-1", "token_type": "Bearer", "refresh_token": "r"])
        }
        let error = await handshakeError { try await account.send(.get, Self.api) }
        guard case .signInRequired(_, .stillUnauthorized)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        network.change { $0.api = Self.refusal(403, #"error="insufficient_scope", scope="b""#) }
        let demand = await handshakeError { try await account.send(.get, Self.api) }
        #expect(demand == .demanded(.scopes(["b"]), status: 403))
        network.change { $0.api = Self.refusal(403) }
        #expect(try await account.send(.get, Self.api).head.status == .forbidden)
        #expect(network.told("other.example").isEmpty)
    }

    @Test("M519: a document that an API announces further inward is not asked for")
    func inward() async throws {
        let (network, _, account) = try await Self.scene {
            $0.issuer = "https://other.example"
            $0.api = Self.refusal(announcing: "http://127.0.0.1:8080/metadata")
        }
        let count = network.requests.count
        let error = await handshakeError { try await account.send(.get, Self.api) }
        #expect(error?.code == "sign_in_required")
        #expect(network.requests.dropFirst(count).allSatisfy { $0.head.authority?.hasSuffix(".example") == true })
    }

    @Test(
        "M519: an issuer that is pinned behind the address that the API lists is the account's own, also after a restart"
    )
    func pinned() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.issuer = "https://listed.example/v1" }
        var deviations = DiscoveredResource.Deviations()
        deviations.pinnedIssuers = ["https://listed.example/v1": "https://as.example"]
        let found = try await DiscoveredResource.discover(Self.api, deviating: deviations, transport: network)
        let made = try await found.client(registeredAs: "App", in: vault)
        let client = try Registrations.client(stored: try Registrations.stored(made), as: "App")
        #expect(client.service.deviations.names == ["pinned_issuers"])
        let account = try await Handshake(client, vault: vault, transport: network).signIn(through: network.browser())
        network.change { $0.api = Self.refusal(403) }
        #expect(try await account.send(.get, Self.api).head.status == .forbidden)
        network.change { $0.issuer = "https://listed.example/v2" }
        let error = await handshakeError { try await account.send(.get, Self.api) }
        #expect(Self.issuers(error) == ["https://listed.example/v2"])
    }
}
