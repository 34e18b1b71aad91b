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
    /// An API and the servers that it may name. Each registers clients, signs users in without a page, and manages registrations.
    private final class Network: Transport {
        struct State {
            var issuer = "https://as.example"
            var scopes: [String] = ["a"]
            var isManaged = false
            var secretEnds: Int?
            /// Members of the metadata.
            var metadata: [String: any Sendable] = [:]
            /// What the registration's management answers instead.
            var managed: ResponseMessage?
            var count = 0
            var requests: [RequestMessage] = []
        }

        let state = Mutex(State())

        func change(_ body: (inout sending State) -> Void) { state.withLock { body(&$0) } }
        var requests: [RequestMessage] { state.withLock { $0.requests } }

        /// The JSON objects that were sent to a path.
        func sent(_ method: HTTPRequest.Method, _ path: String) -> [JSONObject] {
            requests.filter { $0.head.method == method && $0.head.path == path }.map { request in
                guard case .bytes(let bytes) = request.content else { return [:] }
                return (try? JSONValue(parsing: bytes).object) ?? [:]
            }
        }

        /// All that a host was told.
        func told(_ host: String) -> String {
            requests.filter { $0.head.authority == host }.map { request in
                guard case .bytes(let bytes) = request.content else { return "\(request.head)" }
                return "\(request.head) \(String(decoding: bytes, as: UTF8.self))"
            }.joined(separator: "\n")
        }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            state.withLock { state in
                state.requests.append(request)
                let host = "https://\(request.head.authority ?? "")"
                switch (request.head.method, request.head.path ?? "") {
                case (_, "/.well-known/oauth-protected-resource/mcp"):
                    return .json(
                        200,
                        [
                            "resource": "https://api.example/mcp", "authorization_servers": [state.issuer],
                            "scopes_supported": state.scopes,
                        ])
                case (_, "/.well-known/oauth-authorization-server"):
                    let members: [String: Any] = [
                        "issuer": host, "authorization_endpoint": host + "/authorize",
                        "token_endpoint": host + "/token",
                        "registration_endpoint": host + "/register", "revocation_endpoint": host + "/revoke",
                        "code_challenge_methods_supported": ["S256"],
                    ]
                    return .json(200, members.merging(state.metadata) { $1 })
                case (.post, "/register"):
                    state.count += 1
                    var members: [String: Any] = ["client_id": "client-\(state.count)"]
                    if let end = state.secretEnds {
                        members["client_secret"] = "secret-\(state.count)"
                        members["token_endpoint_auth_method"] = "client_secret_post"
                        members["client_secret_expires_at"] = end
                    }
                    if state.isManaged {
                        members["registration_access_token"] = "management-1"
                        members["registration_client_uri"] = host + "/managed"
                    }
                    return .json(201, members)
                case (_, "/managed"): return state.managed ?? .json(200, ["client_id": "client-1"])
                case (_, "/token"):
                    return .json(
                        200,
                        [
                            "access_token": "access", "token_type": "Bearer", "expires_in": 3600,
                            "refresh_token": "refresh",
                        ])
                default: return .json(404, [:])
                }
            }
        }

        func client(
            in vault: any Vault, at time: Double = 1_750_000_000, redirect: Client.Redirect = .loopback
        ) async throws -> Client {
            let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: self)
            return try await found.client(
                registeredAs: "App", redirect: redirect, in: vault,
                time: TimeSource(now: { time }, clock: ContinuousClock()))
        }

        func browser(opened redirects: Shared<[String]> = Shared([])) -> ScriptedBrowser {
            ScriptedBrowser { page in
                redirects.change { $0.append(page.redirectURI.string) }
                let state = URLComponents(string: page.url)?.queryItems?.first { $0.name == "state" }?.value ?? ""
                return "\(page.redirectURI.string)?code=code&state=\(state)"
            }
        }
    }

    @Test("M505: a second sign-in has the registered client and port, and another port where that one is taken")
    func port() async throws {
        let (network, vault) = (Network(), MemoryVault())
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

    @Test("M519: when an API moves to another server, that one hears of no client, code or token of before")
    func moved() async throws {
        let (network, vault) = (Network(), MemoryVault())
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
        let (network, vault) = (Network(), MemoryVault())
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
        let (network, vault) = (Network(), MemoryVault())
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
            let (network, vault) = (Network(), MemoryVault())
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
        let (network, vault) = (Network(), FlakyVault())
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
        let (network, vault) = (Network(), MemoryVault())
        network.change { $0.isManaged = true }
        let client = try await network.client(in: vault)
        await DiscoveredResource.unregister(client, transport: network)
        let last = try #require(network.requests.last)
        #expect(last.head.method == .delete && last.head.path == "/managed")
        #expect(last.head.headerFields[.authorization] == "Bearer management-1")
        let count = network.requests.count
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        await DiscoveredResource.unregister(
            try found.client(id: "by-hand", issuedBy: Issuer("https://as.example")), transport: network)
        #expect(network.requests.allSatisfy { $0.head.method != .delete || $0.head.authority == "as.example" })
        #expect(network.requests.dropFirst(count).allSatisfy { $0.head.method != .delete })
    }

    @Test("a client with a key and one without are kept beside each other, and forgotten apart")
    func methods() async throws {
        let (network, vault) = (Network(), MemoryVault())
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

    @Test("a registration of a sign-in that was not finished serves its account's next one, and no other")
    func unfinished() async throws {
        let (network, vault) = (Network(), MemoryVault())
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

    @Test("M506: a client that is named by its document is taken where the server says so, and refused elsewhere")
    func document() async throws {
        let network = Network()
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
        let network = Network()
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        let client = try await found.register(as: "App", redirect: .loopback, for: ["a"], onDevices: true)
        let types = network.sent(.post, "/register").first?["grant_types"]?.array?.compactMap(\.string)
        #expect(types?.contains("urn:ietf:params:oauth:grant-type:device_code") == true)
        let stored = try Registrations.client(stored: try Registrations.stored(client), as: "App")
        #expect(stored.registration?.isForDevices == true)
        #expect(stored.registration?.redirect == client.redirect)
    }
}
