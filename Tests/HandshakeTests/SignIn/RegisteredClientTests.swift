import Crypto
import Foundation
import HTTPTypes
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Clients that an app registers and keeps", .heavy)
struct RegisteredClientTests {
    @Test("M505: a second sign-in has the registered client and port, and another port where that one is taken")
    func port() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        let redirects = Shared<[String]>([])
        for _ in 0..<2 {
            let client = try await network.client(in: vault)
            _ = try await Handshake(client, vault: vault, transport: network).signIn(
                through: network.browser(opened: redirects))
        }
        let registered = network.sent(.post, "/register")
        #expect(registered.count == 1)
        let uri = try #require(registered.first?["redirect_uris"]?.array?.first?.string)
        #expect(redirects.value == [uri, uri])
        let taken = try LoopbackListener(
            port: UInt16(try EndpointURL(uri, security: .allowingInsecureLoopback).origin.port))
        let client = try await network.client(in: vault)
        _ = try await Handshake(client, vault: vault, transport: network).signIn(
            through: network.browser(opened: redirects))
        #expect(redirects.value.last != uri)
        #expect(network.sent(.post, "/register").count == 1)
        withExtendedLifetime(taken) {}
        // A port that the app has chosen itself is not given up.
        let own = try LoopbackListener()
        let ownPort = UInt16(try EndpointURL(own.redirectURI.string, security: .allowingInsecureLoopback).origin.port)
        let fixed = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
            .client(id: "c", issuedBy: Issuer("https://as.example"), redirect: .loopback(port: ownPort))
        #expect(
            await handshakeError {
                try await Handshake(fixed, vault: vault, transport: network).signIn(through: network.browser())
            }?.code == "invalid_configuration")
        withExtendedLifetime(own) {}
    }

    @Test("M602: the algorithm that a server registers for ID tokens counts alone, also when the client is read again")
    func algorithm() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change {
            $0.metadata["id_token_signing_alg_values_supported"] = ["RS256", "ES256"]
            $0.registered = ["id_token_signed_response_alg": "ES256"]
        }
        let server = try await DiscoveredResource.discover("https://api.example/mcp", transport: network).server
        var client = try await network.client(in: vault)
        #expect(client.idTokenAlgorithms(at: server) == [.es256])
        client = try await network.client(in: vault)
        #expect(client.idTokenAlgorithms(at: server) == [.es256])
        #expect(network.sent(.post, "/register").count == 1)
        client.options.idTokenAlgorithm = .rs256
        #expect(client.idTokenAlgorithms(at: server) == [.rs256], "what the app states comes first")
        network.change { $0.registered = [:] }
        let open = try await network.client(in: MemoryVault())
        #expect(open.idTokenAlgorithms(at: server) == [.rs256, .es256], "the server has said nothing of this client")
    }

    @Test(
        "6.2: of the algorithms that a server publishes one is registered for ID tokens, and RS256 counts alone",
        arguments: [
            (["ES256", "RS256"], "RS256", [.rs256], "ES256"), (["HS256", "ES512", "ES256"], "ES256", nil, "ES256"),
            (["HS256", "none"], nil, nil, nil), (["RS256", "EdDSA"], "RS256", [.rs256], "EdDSA"),
            (["RS256"], "RS256", [.rs256], "RS256"), (nil, nil, nil, nil),
        ] as [([String]?, String?, [SignatureAlgorithm]?, String?)])
    func wantedAlgorithm(
        _ published: [String]?, _ sent: String?, _ counting: [SignatureAlgorithm]?, _ sentWithKey: String?
    ) async throws {
        let network = RegistrationNetwork()
        network.change {
            $0.scopes = ["openid"]
            if let published { $0.metadata["id_token_signing_alg_values_supported"] = published }
        }
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        let client = try await network.client(in: MemoryVault())
        let registered = { network.sent(.post, "/register").last?["id_token_signed_response_alg"]?.string }
        #expect(registered() == sent)
        #expect(client.registration?.idTokenAlgorithm.map { [$0] } == counting)
        if let counting { #expect(client.idTokenAlgorithms(at: found.server) == counting) }
        // A client with a key may keep to the FAPI 2.0 profile, which refuses RS256.
        let key = try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8))
        _ = try await found.confidentialClient(registeredAs: "App", key: key, in: MemoryVault())
        #expect(registered() == sentWithKey)
    }

    @Test("M519: when an API moves to another server, that one hears of no client, code or token of before")
    func moved() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change {
            $0.secretEnds = 0
            $0.isManaged = true
        }
        let first = try await network.client(in: vault)
        let old = try await Handshake(first, vault: vault, transport: network).signIn(through: network.browser())
        network.change { $0.issuer = "https://other.example" }
        let second = try await network.client(in: vault)
        #expect(second.id == "client-2")
        let app = try Handshake(second, vault: vault, transport: network)
        #expect(try await app.account() == nil, "its account is another one")
        let account = try await app.signIn(through: network.browser())
        try await account.refresh()
        #expect(!network.told("other.example").contains("client-1"))
        #expect(!network.told("other.example").contains("secret-1"))
        #expect(!network.told("other.example").contains("management-1"))
        // The old account goes on with its own server.
        try await old.refresh()
        #expect(network.requests.last?.head.authority == "as.example")
        network.change { $0.issuer = "https://as.example" }
        #expect(try await network.client(in: vault).id == "client-1", "what is kept is kept by server")
    }

    @Test("M503: a client is registered again when its secret has expired, is for fewer scopes, or is forgotten")
    func again() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.secretEnds = 1_750_001_000 }
        #expect(try await network.client(in: vault).id == "client-1")
        #expect(try await network.client(in: vault, at: 1_750_000_999).id == "client-1")
        #expect(try await network.client(in: vault, at: 1_750_001_000).id == "client-2")
        network.change { $0.secretEnds = nil }
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        try await found.forgetClient(in: vault)
        #expect(try await network.client(in: vault).id == "client-3")
        network.change { $0.scopes = ["a", "b"] }
        #expect(try await network.client(in: vault).id == "client-4")
        network.change { $0.scopes = ["b"] }
        let narrower = try await network.client(in: vault)
        #expect(narrower.id == "client-4")
        #expect(narrower.scopes == ["b"], "it asks for what is wanted, not for all that is registered")
        network.change { $0.scopes = ["b", "a"] }
        #expect(try await network.client(in: vault).id == "client-4", "the narrower sign-in took nothing away")
        let elsewhere = try await network.client(in: vault, redirect: .uri(try RedirectURI("com.example.app:/cb")))
        #expect(elsewhere.id == "client-5")
    }

    @Test("M504: a managed registration is changed for more scopes and for a new secret, and keeps its client")
    func managed() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change {
            $0.isManaged = true
            $0.secretEnds = 1_750_001_000
        }
        #expect(try await network.client(in: vault).id == "client-1")
        network.change { $0.scopes = ["b"] }
        network.change {
            $0.managed = .json(
                200,
                [
                    "client_id": "client-1", "client_secret": "secret-1b",
                    "token_endpoint_auth_method": "client_secret_post", "client_secret_expires_at": 1_750_001_000,
                    "registration_access_token": "management-2",
                    "registration_client_uri": "https://as.example/managed",
                ])
        }
        let wider = try await network.client(in: vault)
        #expect(wider.id == "client-1")
        #expect(wider.credential?.secret?.reveal() == "secret-1b")
        let put = try #require(network.sent(.put, "/managed").first)
        #expect(put["scope"]?.string == "a b")
        #expect(put["client_id"]?.string == "client-1")
        #expect(put["redirect_uris"] == network.sent(.post, "/register").first?["redirect_uris"])
        network.change {
            $0.managed = .json(
                200,
                [
                    "client_id": "client-1", "client_secret": "secret-1c",
                    "token_endpoint_auth_method": "client_secret_post", "client_secret_expires_at": 1_750_009_000,
                ])
        }
        let renewed = try await network.client(in: vault, at: 1_750_002_000)
        #expect(renewed.credential?.secret?.reveal() == "secret-1c")
        #expect(
            network.requests.last { $0.head.path == "/managed" }?.head.headerFields[.authorization]
                == "Bearer management-2")
        #expect(network.sent(.post, "/register").count == 1)
        // The server does not know it any more.
        network.change { $0.managed = .json(401, ["error": "invalid_token"]) }
        #expect(try await network.client(in: vault, at: 1_750_010_000).id == "client-2")
    }

    @Test("M504: a managed registration whose answer has no secret, or is another client's, is made again")
    func unusable() async throws {
        for answer in [
            ["client_id": "client-1", "token_endpoint_auth_method": "client_secret_post"], ["client_id": "client-7"],
        ] {
            let (network, vault) = (RegistrationNetwork(), MemoryVault())
            network.change {
                $0.isManaged = true
                $0.secretEnds = 0
            }
            #expect(try await network.client(in: vault).id == "client-1")
            network.change {
                $0.scopes = ["b"]
                $0.managed = .json(200, answer)
            }
            let client = try await network.client(in: vault)
            #expect(client.id == "client-2")
            #expect(client.credential?.secret?.reveal() == "secret-2")
            #expect(network.sent(.put, "/managed").count == 1)
        }
    }

    @Test("M504: of two tokens one is stored, whatever fails between the answer and its use")
    func storedFirst() async throws {
        let (network, vault) = (RegistrationNetwork(), FlakyVault())
        network.change { $0.isManaged = true }
        _ = try await network.client(in: vault)
        network.change { $0.scopes = ["b"] }
        network.change {
            $0.managed = .json(
                200,
                [
                    "client_id": "client-1", "registration_access_token": "management-2",
                    "registration_client_uri": "https://as.example/managed",
                ])
        }
        func stored() async throws -> String? {
            let key = try #require(try await vault.keys(of: .appRegistration).keys.first)
            let bytes = try #require(try await vault.record(key))
            return try Registrations.client(stored: bytes, as: "App").registration?.management?.token.reveal()
        }
        vault.failReplacement(number: 1)
        #expect(await handshakeError { try await network.client(in: vault) }?.code == "vault_unavailable")
        #expect(try await stored() == "management-1")
        #expect(try await network.client(in: vault).id == "client-1")
        #expect(try await stored() == "management-2")
    }

    @Test("M504: a registration is deleted with its own token, and one by hand is left alone")
    func deleted() async throws {
        let (network, vault) = (RegistrationNetwork(), MemoryVault())
        network.change { $0.isManaged = true }
        let client = try await network.client(in: vault)
        await client.unregister(transport: network)
        let last = try #require(network.requests.last)
        #expect(last.head.method == .delete && last.head.path == "/managed")
        #expect(last.head.headerFields[.authorization] == "Bearer management-1")
        let count = network.requests.count
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        await (try found.client(id: "by-hand", issuedBy: Issuer("https://as.example"))).unregister(transport: network)
        #expect(network.requests.allSatisfy { $0.head.method != .delete || $0.head.authority == "as.example" })
        #expect(network.requests.dropFirst(count).allSatisfy { $0.head.method != .delete })
    }

    @Test("M506: a client that is named by its document is taken where the server says so, and refused elsewhere")
    func document() async throws {
        let network = RegistrationNetwork()
        let address = "https://app.example/client.json"
        let closed = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        #expect(await handshakeError { try closed.client(documentAt: address) }?.code == "invalid_configuration")
        network.change { $0.metadata = ["client_id_metadata_document_supported": true] }
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        #expect(try found.client(documentAt: address).id == address)
        #expect(await handshakeError { try found.client(documentAt: address + "?x") }?.code == "invalid_configuration")
        #expect(network.sent(.post, "/register").isEmpty)
    }

    @Test("a registration for devices names their grant type, and is stored with it")
    func devices() async throws {
        let network = RegistrationNetwork()
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        let client = try await found.register(as: "App", redirect: .loopback, for: ["a"], onDevices: true)
        let types = network.sent(.post, "/register").first?["grant_types"]?.array?.compactMap(\.string)
        #expect(types?.contains("urn:ietf:params:oauth:grant-type:device_code") == true)
        let stored = try Registrations.client(stored: try Registrations.stored(client), as: "App")
        #expect(stored.registration?.isForDevices == true)
        #expect(stored.registration?.redirect == client.redirect)
    }
}
