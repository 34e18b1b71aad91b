import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

/// The articles' code, compiled; `CodeTests` compares.
private enum FirstSignIn {
    static func signIn(_ client: Client, data: String, config: String) async throws -> Account {
        let vault = try FileVault(directory: "\(data)/my-app/vault", keyFile: "\(config)/my-app/vault.key")
        let handshake = try Handshake(client, vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)
        return account
    }

    static func signInByName(_ handshake: Handshake) async throws -> Account {
        let account = try await handshake.signIn(as: "work", through: .systemBrowser, timeout: .seconds(120))
        return account
    }

    static func post(_ account: Account) async throws -> Int {
        struct NewPost: Encodable {
            let title: String
            let text: String
        }
        struct Post: Decodable {
            let id: Int
        }
        let body = try JSONEncoder().encode(NewPost(title: "Hello", text: "First post"))
        let post: Post = try await account.send(
            .post, "posts", headers: [.contentType: "application/json"], content: .bytes(Array(body)))
        return post.id
    }

    static func user(_ account: Account) -> String? {
        if let claims = account.status.identity {
            return claims.claims["email"]?.string ?? claims.subject
        }
        return nil
    }

    static func token(_ account: Account) async throws -> String {
        let token = try await account.accessToken().reveal()
        return token
    }

    static func onAnotherDevice(_ handshake: Handshake) async throws -> Account {
        let account = try await handshake.signInOnAnotherDevice { code in
            print(code.prompt())
            print(code.verificationURI.string, code.userCode)
            print(code.warning())
        }
        return account
    }

    static func send(_ account: Account) async throws -> ResponseMessage {
        let response = try await account.send(.get, "profiles/me")
        return response
    }

    static func find(_ handshake: Handshake) async throws -> Account? {
        guard let account = try await handshake.account() else { return nil }
        return account
    }

    static func errors(_ account: Account, _ handshake: Handshake) async throws -> ResponseMessage? {
        do {
            return try await account.send(.get, "profiles/me")
        } catch HandshakeError.signInRequired {
            let account = try await handshake.signIn(through: .systemBrowser)
            return try await account.send(.get, "profiles/me")
        } catch HandshakeError.network {
            return nil  // The session is as it was: try again later.
        }
    }

    static func signOut(_ account: Account) async throws -> SignOutReport {
        let report = try await account.signOut()
        return report
    }
}

actor DictionaryVault: Vault {
    private var records: [VaultKey: [UInt8]] = [:]
    private var held: Set<VaultKey> = []
    private var waiting: [VaultKey: [CheckedContinuation<Void, Never>]] = [:]

    func record(_ key: VaultKey) -> [UInt8]? { records[key] }

    func keys(of kind: VaultKey.Kind) -> VaultListing {
        VaultListing(keys: records.keys.filter { $0.kind == kind })
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        await take(key)
        defer { release(key) }
        return try await body(Record(key: key, vault: self))
    }

    private func take(_ key: VaultKey) async {
        if held.insert(key).inserted { return }
        await withCheckedContinuation { waiting[key, default: []].append($0) }
    }

    private func release(_ key: VaultKey) {
        if waiting[key, default: []].isEmpty { held.remove(key) } else { waiting[key]?.removeFirst().resume() }
    }

    fileprivate func set(_ key: VaultKey, to contents: [UInt8]?) { records[key] = contents }

    struct Record: LockedRecord {
        let key: VaultKey
        let vault: DictionaryVault

        var contents: [UInt8]? { get async { await vault.record(key) } }
        func replace(with contents: [UInt8]) async { await vault.set(key, to: contents) }
        func remove() async { await vault.set(key, to: nil) }
    }
}

private enum WritingAVault {
    static func open(
        _ folder: String, _ identifier: VaultIdentifier, _ masterKey: VaultMasterKey
    ) throws -> FileVault {
        let vault = try FileVault(directory: folder, identifier: identifier, masterKey: masterKey)
        return vault
    }
}

private enum SignInOnAServer {
    static func routes(
        secret: Secret, vault: any Vault, signedInUser: @escaping @Sendable (Request) async throws -> String?
    ) async throws {
        let address = try PublicAddress("https://shop.example/connect")
        let redirect = try RedirectURI("\(address)/recurse-center/callback")
        let client = Client.confidential(
            service: .recurseCenter, id: "your-client-id", secret: secret, redirect: .uri(redirect))

        let handshake = try Handshake(client, vault: vault)
        let router = Router()
        let routes = try SignInRoutes<BasicRequestContext>(handshake, at: address) { request, _ in
            try await signedInUser(request)
        }
        routes.add(to: router.group("connect"))

        let application = Application(router: router)
        try await application.runService()
        await handshake.finishRefreshes()
    }

    static func sandbox() throws -> Client {
        let sandbox = try EndpointURL("http://127.0.0.1:8081", security: .allowingInsecureLoopback)
        let address = try PublicAddress("http://127.0.0.1:8090/connect")
        let redirect = try RedirectURI("\(address)/recurse-center/callback")
        let client = Client.confidential(
            service: .recurseCenter.at(sandbox), id: "recurse-app", secret: Secret("recurse-app-secret"),
            redirect: .uri(redirect))
        return client
    }

    static func use(_ handshake: Handshake, userID: String) async throws -> ResponseMessage? {
        guard let account = try await handshake.account(userID) else { return nil }
        let response = try await account.send(.get, "profiles/me")
        return response
    }

    static func other(
        _ handshake: Handshake, userID: String, redirect: RedirectURI, query: String
    ) async throws -> Account {
        let attempt = try await handshake.beginSignIn(as: userID)
        // Redirect the browser to attempt.page.url. Then, in the route of the redirect URI:
        let account = try await handshake.finishSignIn(redirectURL: "\(redirect)?\(query)", as: userID)
        _ = attempt
        return account
    }
}

struct ApprovingBrowser: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}

@Suite("The articles", .heavy)
struct ArticleTests {
    @Test("test an integration with the sandbox")
    func sandbox() async throws {
        let sandbox = try await Sandbox.start()
        let service = sandbox.recurseCenter
        let registered = try #require(service.clients.first { $0.kind == .public })
        let redirect = try #require(registered.redirectURIs.first { $0.hasPrefix("com.") })
        let client = Client(
            service: .recurseCenter.at(try EndpointURL(service.origin, security: .allowingInsecureLoopback)),
            id: registered.id, redirect: .uri(try RedirectURI(redirect)))

        let handshake = try Handshake(client, vault: MemoryVault())
        let account = try await handshake.signIn(through: ApprovingBrowser(sandbox: sandbox))
        #expect(try await account.send(.get, "profiles/me").head.status == .ok)

        sandbox.inject(try FaultRule(parsing: "recurse-center GET /api/v1/profiles/me => drop"))
        await #expect(throws: HandshakeError.self) { try await account.send(.get, "profiles/me") }
        sandbox.clearFaults()

        sandbox.inject(try FaultRule(parsing: "recurse-center POST /oauth/token => status 503 x1"))
        sandbox.expireAccessTokens(.recurseCenter)
        await #expect(throws: HandshakeError.self) { try await account.send(.get, "profiles/me") }
        #expect(try await account.send(.get, "profiles/me").head.status == .ok)

        sandbox.inject(try FaultRule(parsing: "id-token:wrong-nonce x1"))

        sandbox.advanceClock(by: 7_200)
        sandbox.expireAccessTokens(.recurseCenter)
        sandbox.revokeRefreshTokens(.recurseCenter)
        let requests = sandbox.requests(.recurseCenter)
        #expect(requests.contains { $0.path == "/oauth/token" })
        let error = await #expect(throws: HandshakeError.self) { try await account.send(.get, "profiles/me") }
        #expect(error?.code == "sign_in_required")
        await sandbox.stop()
    }

    @Test("sign-in with another framework: its request has another host behind a proxy, the registered URI is taken")
    func otherFramework() async throws {
        let sandbox = try await Sandbox.start()
        let origin = try EndpointURL(sandbox.recurseCenter.origin, security: .allowingInsecureLoopback)
        let redirect = try RedirectURI("http://127.0.0.1:8090/connect/recurse-center/callback")
        let client = Client.confidential(
            service: .recurseCenter.at(origin), id: "recurse-app", secret: Secret("recurse-app-secret"),
            redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: MemoryVault())
        let attempt = try await handshake.beginSignIn(as: "ada")
        let location = try await sandbox.approve(attempt.page.url)
        let query = String(location.dropFirst(redirect.string.count + 1))
        let arrived = "http://backend.example:8080/connect/recurse-center/callback?\(query)"
        await #expect(throws: HandshakeError.self) {
            _ = try await handshake.finishSignIn(redirectURL: arrived, as: "ada")
        }
        let account = try await SignInOnAServer.other(handshake, userID: "ada", redirect: redirect, query: query)
        #expect(account.id.name == "ada")
        await sandbox.stop()
    }

    @Test("keep an account in a vault of one's own")
    func vault() async throws {
        let vault = DictionaryVault()
        let key = VaultKey(.account, ["example"])
        try await vault.update(key) { record in
            #expect(await record.contents == nil)
            try await record.replace(with: [1, 2])
        }
        #expect(await vault.record(key) == [1, 2])
        #expect(await vault.keys(of: .account).keys == [key])
        #expect(try await vault.remove(key))
        #expect(await vault.record(key) == nil)
    }
}
