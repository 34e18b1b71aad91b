import Foundation
import OAuth
import TestFixtures
import Testing

@testable import Handshake

/// What a step-up does with the registration of an app that registered itself.
@Suite("Registrations that a step-up widens", .heavy)
struct WidenedRegistrationTests {
    private let network = RegistrationNetwork()
    private let vault = FlakyVault()
    private let time = TimeSource(now: { 1_750_000_000 }, clock: ContinuousClock())

    private func app(transport: (any Transport)? = nil) async throws -> Handshake {
        try await Handshake(network.client(in: vault), vault: vault, transport: transport ?? network, time: time)
    }

    private func steppedUp(_ app: Handshake, _ account: Account, _ scope: String) async throws -> [String] {
        let scopes = Shared<[String]>([])
        let browser = ScriptedBrowser { [network] page in
            let items = URLComponents(string: page.url)?.queryItems ?? []
            let asked = items.filter { $0.name == "scope" }.compactMap(\.value)
            scopes.change { $0 += asked }
            return try await network.browser().show(page)
        }
        _ = try await app.signIn(again: account, for: .scopes([scope]), through: browser)
        return scopes.value
    }

    /// The management answers with a secret and a token of its own.
    private func answer(_ number: Int) {
        network.change {
            $0.managed = .json(
                200,
                [
                    "client_id": "client-1", "client_secret": "secret-of-\(number)",
                    "token_endpoint_auth_method": "client_secret_post", "client_secret_expires_at": 0,
                    "registration_access_token": "management-of-\(number)",
                    "registration_client_uri": "https://as.example/managed",
                ])
        }
    }

    /// What the last token request was sent with.
    private var lastTokenRequest: String {
        guard case .bytes(let bytes)? = network.requests.last(where: { $0.head.path == "/token" })?.content else {
            return ""
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private var managementTokens: [String?] {
        network.requests.filter { $0.head.path == "/managed" }.map { $0.head.headerFields[.authorization] }
    }

    @Test("M518: a step-up registers the app for what it asks for, and all accounts have the new secret from then on")
    func widened() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let app = try await app()
        let account = try await app.signIn(as: "one", through: network.browser())
        let other = try await app.signIn(as: "two", through: network.browser())
        answer(1)
        #expect(try await steppedUp(app, account, "b") == ["a b"])
        #expect(network.sent(.put, "/managed").map { $0["scope"]?.string } == ["a b"])
        #expect(lastTokenRequest.contains("client_secret=secret-of-1"))
        try await other.refresh()
        #expect(lastTokenRequest.contains("client_secret=secret-of-1"), "an account that was there before")
        // What is registered is asked for without a change, and the next change is made by the new token.
        #expect(try await steppedUp(app, other, "b") == ["a b"])
        answer(2)
        #expect(try await steppedUp(app, other, "c") == ["a b c"])
        #expect(network.sent(.put, "/managed").map { $0["scope"]?.string } == ["a b", "a b c"])
        #expect(managementTokens == ["Bearer management-1", "Bearer management-of-1"])
        // The next process finds all of it.
        let next = try await network.client(in: vault)
        #expect(next.id == "client-1" && next.credential?.secret?.reveal() == "secret-of-2")
        #expect(network.sent(.post, "/register").count == 1)
    }

    @Test("M518: a registration that another process has widened is taken over, and not changed again")
    func takenOver() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let (first, second) = (try await app(), try await app())
        let account = try await first.signIn(through: network.browser())
        answer(1)
        _ = try await steppedUp(first, account, "b")
        let same = try #require(try await second.account())
        #expect(try await steppedUp(second, same, "b") == ["a b"])
        #expect(lastTokenRequest.contains("client_secret=secret-of-1"))
        #expect(managementTokens == ["Bearer management-1"])
    }

    @Test(
        "M518: an app that gets its first secret by a step-up asks about tokens with it",
        arguments: ["account", "app", "service"])
    func firstSecret(_ asked: String) async throws {
        network.change {
            $0.isManaged = true
            $0.metadata["introspection_endpoint"] = "https://as.example/introspect"
            $0.answers["/introspect"] = .json(200, ["active": true])
        }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        answer(1)
        network.change { $0.secret = "secret-of-1" }
        _ = try await steppedUp(app, account, "b")
        let found =
            switch asked {
            case "account": try await account.introspection()
            case "service": try await app.introspection(of: Secret("a token"), at: account.service.name)
            default: try await app.introspection(of: Secret("a token"))
            }
        #expect(found.isActive)
    }

    @Test("M518: a change of the registration that cannot be stored stops the step-up, and without a hold none is made")
    func unstored() async throws {
        network.change { $0.isManaged = true }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        answer(1)
        vault.failConfirmation()
        #expect(await handshakeError { try await steppedUp(app, account, "b") }?.code == "vault_unavailable")
        #expect(network.sent(.put, "/managed").isEmpty)
        vault.failReplacement(number: 1)
        #expect(await handshakeError { try await steppedUp(app, account, "b") }?.code == "vault_unavailable")
        #expect(network.sent(.put, "/managed").count == 1)
        try await account.refresh()
        #expect(!lastTokenRequest.contains("client_secret"), "what is not stored is not used")
    }

    @Test(
        "M518: where no registration can be changed, the user is asked as the app is registered",
        arguments: ["not managed", "not in the vault", "refused"])
    func unchanged(_ reason: String) async throws {
        network.change { $0.isManaged = reason != "not managed" }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        switch reason {
        case "refused": network.change { $0.managed = .json(403, ["error": "access_denied"]) }
        case "not in the vault":
            try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
                .forgetClient(in: vault)
        default: break
        }
        #expect(try await steppedUp(app, account, "b") == ["a b"])
        #expect(network.sent(.put, "/managed").count == (reason == "refused" ? 1 : 0))
        #expect(network.sent(.post, "/register").count == 1)
    }

    @Test("M518: where the server fails that changes registrations, the step-up stops before the page")
    func failed() async throws {
        network.change { $0.isManaged = true }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        network.change { $0.managed = .json(503, [:]) }
        #expect(await handshakeError { try await steppedUp(app, account, "b") }?.code == "http_503")
    }

    @Test("M503: the accounts of another process go on with the secret that a step-up has brought")
    func otherProcess() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let (first, second) = (try await app(), try await app())
        let account = try await first.signIn(through: network.browser())
        let same = try #require(try await second.account())
        answer(1)
        network.change { $0.secret = "secret-of-1" }
        _ = try await steppedUp(first, account, "b")
        try await same.refresh()
        #expect(lastTokenRequest.contains("client_secret=secret-of-1"))
        #expect(try await network.client(in: vault).id == "client-1")
        // A server that refuses that one too has forgotten the client.
        network.change { $0.secret = "another" }
        #expect(await handshakeError { try await same.refresh() }?.code == "client_forgotten")
        #expect(try await network.client(in: vault).id == "client-2")
    }

    @Test("M503: a refresh that a change of the registration overtakes does not forget the new registration")
    func overtaken() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let overtaking = OvertakingTransport(base: network, path: "/token")
        let app = try await app(transport: overtaking)
        let one = try await app.signIn(as: "one", through: network.browser())
        let two = try await app.signIn(as: "two", through: network.browser())
        answer(1)
        network.change { $0.secret = "secret-of-1" }
        let stepUp: @Sendable () async throws -> Void = { _ = try await steppedUp(app, two, "b") }
        overtaking.bodies.change { $0 = [stepUp] }
        try await one.refresh()
        #expect(network.sent(.put, "/managed").count == 1)
        #expect(lastTokenRequest.contains("client_secret=secret-of-1"))
        #expect(try await network.client(in: vault).id == "client-1")
    }

    @Test("M518: what lies in the vault with the same identifier and is another server's is neither used nor marked")
    func otherServer() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let client = try await network.client(in: vault)
        let app = try Handshake(client, vault: vault, transport: network, time: time)
        let account = try await app.signIn(through: network.browser())
        let place = try #require(client.registration?.vaultKey)
        let others = MemoryVault()
        network.change {
            $0.issuer = "https://other.example"
            $0.count = 0
        }
        let other = try await network.client(in: others)
        #expect(other.id == client.id && other.credential?.secret?.reveal() == "secret-1")
        let bytes = try Registrations.stored(other)
        try await vault.update(place) { try await $0.replace(with: bytes) }
        answer(1)
        #expect(try await steppedUp(app, account, "b") == ["a b"])
        #expect(network.sent(.put, "/managed").isEmpty)
        network.change { $0.token = .json(401, ["error": "invalid_client"]) }
        #expect(await handshakeError { try await account.refresh() }?.code == "client_forgotten")
        #expect(try await vault.record(place) == bytes)
    }

    @Test("M518, C9: a registration is widened to no more scopes than a grant may have, however many an API demands")
    func bounded() async throws {
        network.change { $0.isManaged = true }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        answer(1)
        _ = try? await steppedUp(app, account, String(repeating: "s", count: 16_384))
        #expect(network.sent(.put, "/managed").isEmpty)
    }

    @Test("M518, L1: an error of the server that changes registrations does not show the client's secret")
    func hidden() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 0
        }
        let app = try await app()
        let account = try await app.signIn(through: network.browser())
        network.change {
            $0.managed = .json(503, ["error": "busy", "error_description": "cannot change secret-1 now"])
        }
        let text = await handshakeError { try await steppedUp(app, account, "b") }.map { "\($0)" } ?? ""
        #expect(text.contains("cannot change") && !text.contains("secret-1"))
    }

    /// The client of an app that has registered itself, as a command remembers it and reads it before a sign-in.
    private func remembered() async throws -> (Registrations, DiscoveredResource, Client) {
        let registrations = Registrations(in: vault)
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: network)
        try await registrations.remember(try await found.register(as: "App"), as: "mine")
        return (registrations, found, try #require(try await registrations.client(named: "mine")))
    }

    /// The same client with another secret.
    private func client(_ read: Client, with secret: String) throws -> Client {
        read.registered(try #require(read.registration), .secret(Secret(secret), .post))
    }

    @Test("M518: what another process has changed of a registration stays when the user's scopes are remembered")
    func chosen() async throws {
        network.change { $0.isManaged = true }
        let (registrations, _, read) = try await remembered()
        var changed = read
        changed.registration?.management = ClientManagement(
            endpoint: try EndpointURL("https://as.example/managed"), token: Secret("management-2"))
        try await registrations.remember(changed, as: "mine")
        let known = try await registrations.remember(["a", "b"], of: read, as: "mine")
        #expect(known.registration?.vaultKey == read.registration?.vaultKey)
        let stored = try #require(try await registrations.client(named: "mine"))
        #expect(stored.scopes == ["a", "b"] && stored.hasChosenScopes)
        #expect(stored.registration?.management?.token.reveal() == "management-2")
    }

    @Test("M504: of two sign-ins that change a registration concurrently, the second changes what the first has stored")
    func concurrent() async throws {
        network.change { $0.isManaged = true }
        let (registrations, _, read) = try await remembered()
        let overtaking = OvertakingTransport(base: network, path: "/managed")
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: overtaking)
        @Sendable func changed(for scope: String, in vault: any Vault) async throws -> Client {
            var asking = found
            asking.scopes = [scope]
            return try #require(try await asking.changed(read, in: vault))
        }
        // The first change is answered when the second one waits for the record, or has been sent without it.
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let second = Shared<Task<Client, any Error>?>(nil)
        let waiting = AnnouncingVault(base: vault, arrival: arrival)
        let beforeFirst: @Sendable () async throws -> Void = {
            second.change { $0 = Task { try await changed(for: "c", in: waiting) } }
            for await _ in arrivals { break }
            answer(1)
        }
        let beforeSecond: @Sendable () async throws -> Void = {
            arrival.yield()
            answer(2)
        }
        overtaking.bodies.change { $0 = [beforeFirst, beforeSecond] }
        let first = try await changed(for: "b", in: vault)
        let last = try await #require(second.value).value
        #expect(managementTokens == ["Bearer management-1", "Bearer management-of-1"])
        #expect(network.sent(.put, "/managed").map { $0["scope"]?.string } == ["a b", "a b c"])
        #expect(first.credential?.secret?.reveal() == "secret-of-1" && first.scopes == ["b"])
        #expect(last.credential?.secret?.reveal() == "secret-of-2" && last.scopes == ["c"])
        #expect(last.registration?.vaultKey == read.registration?.vaultKey)
        let stored = try #require(try await registrations.client(named: "mine"))
        #expect(stored.registration?.management?.token.reveal() == "management-of-2")
        #expect(stored.credential?.secret?.reveal() == "secret-of-2")
        #expect(stored.scopes == read.scopes, "the account asks for what its last sign-in has asked for")
    }

    @Test("M504: a sign-in asks for the new secret of a registration, and the next one takes it over")
    func ended() async throws {
        network.change {
            $0.isManaged = true
            $0.secretEnds = 1
        }
        let (_, found, read) = try await remembered()
        answer(1)
        for _ in 0..<2 {
            let client = try #require(try await found.changed(read, in: vault))
            #expect(client.credential?.secret?.reveal() == "secret-of-1")
        }
        #expect(network.sent(.get, "/managed").count == 1 && managementTokens.count == 1)
    }

    @Test("M518: a secret that another process has stored during a sign-in stays")
    func meanwhile() async throws {
        network.change { $0.secretEnds = 0 }
        let (registrations, _, read) = try await remembered()
        try await registrations.remember(try client(read, with: "rotated"), as: "mine")
        try await registrations.remember(read, as: "mine", after: read)
        #expect(try await registrations.client(named: "mine")?.credential?.secret?.reveal() == "rotated")
    }

    @Test("M518: a secret that the user states for a sign-in is stored when it has succeeded")
    func stated() async throws {
        network.change { $0.secretEnds = 0 }
        let (registrations, _, read) = try await remembered()
        try await registrations.remember(try client(read, with: "stated"), as: "mine", after: read)
        #expect(try await registrations.client(named: "mine")?.credential?.secret?.reveal() == "stated")
    }

    @Test(
        "M518: a registration that was marked as forgotten before a sign-in or during it is known after its success",
        arguments: [true, false])
    func marked(before: Bool) async throws {
        let (registrations, _, read) = try await remembered()
        var marked = read
        marked.registration?.isForgotten = true
        try await registrations.remember(marked, as: "mine")
        let client = before ? marked : read
        try await registrations.remember(client, as: "mine", after: client)
        #expect(try await registrations.client(named: "mine")?.registration?.isForgotten == false)
    }

    @Test("M518: a new registration takes the place of the stored one, also with the same identifier")
    func again() async throws {
        network.change { $0.secretEnds = 0 }
        let (registrations, found, read) = try await remembered()
        try await registrations.remember(try client(read, with: "rotated"), as: "mine")
        network.change { $0.count = 0 }
        let again = try await found.register(as: "App")
        #expect(again.id == read.id)
        try await registrations.remember(again, as: "mine", after: read)
        #expect(try await registrations.client(named: "mine")?.credential?.secret?.reveal() == "secret-1")
    }
}

/// Performs something before each of the next requests to a path arrives.
private final class OvertakingTransport: Transport {
    let bodies = Shared<[@Sendable () async throws -> Void]>([])
    private let base: any Transport
    private let path: String

    init(base: any Transport, path: String) {
        self.base = base
        self.path = path
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        if request.head.path == path {
            let body = bodies.change { $0.isEmpty ? nil : Optional($0.removeFirst()) }
            try await body?()
        }
        return try await base.send(request, limits: limits)
    }
}

/// Announces each update before it waits for the record.
private struct AnnouncingVault: ForwardingVault {
    let base: FlakyVault
    let arrival: AsyncStream<Void>.Continuation

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        arrival.yield()
        return try await base.update(key, body)
    }
}
