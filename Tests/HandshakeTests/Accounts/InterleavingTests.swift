import HTTPTypes
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

/// Orders of events that once went wrong, each against a service that answers from memory.
@Suite("Interleavings of refresh, sign-out and sign-in")
struct InterleavingTests {
    private let client: Client
    private let id: AccountID
    /// Stands still, so that no token expires while the machine is busy.
    private let time = TimeSource(now: { 1_750_000_000 }, clock: ContinuousClock())

    init() throws {
        var server = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"),
            authorizationEndpoint: try EndpointURL("https://as.example/authorize"),
            tokenEndpoint: try EndpointURL("https://as.example/token"))
        server.revocationEndpoint = try EndpointURL("https://as.example/revoke")
        let service = try Service(
            name: "s", authorizationServer: .described(server), apiRoot: try EndpointURL("https://api.example/v1/"))
        client = Client(service: service, id: "c")
        id = AccountID(client)
    }

    private func put(
        _ token: String, refresh: String? = "R1", life: Double = 3_600, in vault: any Vault
    ) async throws {
        let now = time.now()
        let record = AccountRecord(
            id: id,
            grant: Grant(
                accessToken: Secret(token), expiresAt: now + life, issuedAt: now - 3_600,
                refreshToken: refresh.map { Secret($0) }, scopes: []),
            state: .signedIn, refreshMethod: .refreshToken, generation: 1, server: nil)
        try await vault.update(id.vaultKey) { try await $0.replace(with: record.stored()) }
    }

    private func record(in vault: any Vault) async throws -> AccountRecord {
        try AccountRecord(stored: try #require(try await vault.record(id.vaultKey)), expected: id)
    }

    private func account(
        in vault: any Vault, _ answer: @escaping @Sendable (RequestMessage, Int) async throws -> ResponseMessage
    ) async throws -> Account {
        let count = Atomic(0)
        let transport = TappedTransport { request, _, _ in
            try await answer(request, count.add(1, ordering: .relaxed).newValue)
        }
        return try #require(try await Handshake(client, vault: vault, transport: transport, time: time).account())
    }

    private static func answer(_ status: Int, _ json: String = "{}", _ fields: HTTPFields = [:]) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: fields), content: Array(json.utf8))
    }

    private static func tokens(_ access: String, refresh: String = "R2") -> ResponseMessage {
        answer(
            200,
            #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":3600,"refresh_token":"\#(refresh)"}"#)
    }

    @Test("E2: a service that hands out the same access token again is asked once, and not for ever")
    func sameToken() async throws {
        let vault = MemoryVault()
        try await put("A1", in: vault)
        let calls = Mutex(0)
        let account = try await account(in: vault) { _, number in
            calls.withLock { $0 = number }
            guard number < 10 else { throw CancellationError() }
            return Self.tokens("A1", refresh: "R\(number + 1)")
        }
        try await account.refresh()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test(
        "F2: a path that would lengthen the authority is refused before anything is sent",
        arguments: ["@evil.example/", ".evil.example/", ":1/"])
    func path(_ path: String) async throws {
        let vault = MemoryVault()
        try await put("A1", in: vault)
        let account = try await account(in: vault) { _, _ in
            Issue.record("something was sent")
            return Self.answer(200)
        }
        let head = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: path)
        #expect(
            await handshakeError { try await account.send(RequestMessage(head: head)) }?.code == "invalid_configuration"
        )
    }

    @Test("F5: what another origin answers, which saw no token, is no reason to refresh")
    func foreignRefusal() async throws {
        let vault = MemoryVault()
        try await put("A1", in: vault)
        let account = try await account(in: vault) { request, _ in
            #expect(request.head.path != "/token")
            return request.head.authority == "api.example"
                ? Self.answer(302, "", [.location: "https://cdn.example/x"]) : Self.answer(401)
        }
        #expect(try await account.send(.get, "x").head.status == .unauthorized)
    }

    @Test("E4: a refusal of one address does not end a session that cannot be refreshed")
    func refusedWithoutRefreshToken() async throws {
        let vault = MemoryVault()
        try await put("A1", refresh: nil, in: vault)
        let account = try await account(in: vault) { request, _ in
            Self.answer(request.head.path == "/v1/bad" ? 401 : 200)
        }
        #expect(await handshakeError { try await account.send(.get, "bad") } == .signInRequired(id, .notRefreshable))
        #expect(try await account.send(.get, "good").head.status == .ok)
        #expect(try await record(in: vault).state == .signedIn)
    }

    @Test("an access token without a refresh token is handed out to its last second")
    func lastSeconds() async throws {
        let vault = MemoryVault()
        try await put("A1", refresh: nil, life: 50, in: vault)
        let account = try await account(in: vault) { _, _ in Self.answer(500) }
        #expect(try await account.accessToken().reveal() == "A1")
    }

    @Test("E4: a lost answer stays a lost answer when the second call does not get through")
    func lostThenUnreachable() async throws {
        let vault = MemoryVault()
        try await put("A1", life: -1, in: vault)
        let account = try await account(in: vault) { _, number in
            switch number {
            case 1: throw TransportError.cut(host: "as.example", reason: "reset")
            case 2: throw TransportError.unreachable(host: "as.example", reason: "refused")
            default: Self.answer(400, #"{"error":"invalid_grant"}"#)
            }
        }
        #expect(await handshakeError { try await account.accessToken() }?.code == "refresh_uncertain")
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(id, .answerLost))
    }

    @Test("C15: no token is handed out from the first moment of a sign-out, also when it is broken off")
    func brokenOffSignOut() async throws {
        let vault = MemoryVault()
        try await put("A1", in: vault)
        let arrived = Gate()
        let account = try await account(in: vault) { _, _ in
            arrived.open()
            try await waitForCancellation()
            return Self.answer(200)
        }
        let leaving = Task { try await account.signOut() }
        await arrived.wait()
        #expect(account.status.state != .signedIn)
        leaving.cancel()
        _ = await leaving.result
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(id, .signingOut))
    }

    @Test("E1: what the vault could not take is never stored over another sign-in")
    func unstoredOverAnotherSession() async throws {
        let vault = FlakyVault()
        try await put("A1", life: -1, in: vault)
        let account = try await account(in: vault) { _, _ in Self.tokens("A2") }
        vault.failReplacement(number: 2)
        #expect(await handshakeError { try await account.accessToken() }?.code == "vault_unavailable")
        // In another process: signed out, and another user signed in under the same name.
        try await vault.update(id.vaultKey) { try await $0.remove() }
        try await put("B1", in: vault)
        #expect(try await account.accessToken().reveal() == "B1")
        #expect(try await record(in: vault).grant.accessToken.reveal() == "B1")
    }

    @Test("E1: what the vault could not take outlives the account's value")
    func unstoredOutlives() async throws {
        let vault = FlakyVault()
        try await put("A1", life: -1, in: vault)
        let transport = TappedTransport { request, _, _ in
            guard case .bytes(let bytes) = request.content, String(decoding: bytes, as: UTF8.self).contains("=R1")
            else { return Self.answer(400, #"{"error":"invalid_grant"}"#) }
            return Self.tokens("A2")
        }
        let handshake = try Handshake(client, vault: vault, transport: transport)
        vault.failReplacement(number: 2)
        _ = await handshakeError { try await handshake.account()?.accessToken() }
        #expect(try await handshake.account()?.accessToken().reveal() == "A2")
        #expect(transport.requests.count == 1)
    }

    @Test("VL26: a refresh is in the journal whenever it is sent, also when it is repeated after a cut")
    func journalled() async throws {
        let vault = MemoryVault()
        try await put("A1", life: -1, in: vault)
        let journal = Mutex<[Bool]>([])
        let account = try await account(in: vault) { [self] _, number in
            let isUnfinished = try await record(in: vault).isUnfinished
            journal.withLock { $0.append(isUnfinished) }
            guard number > 1 else { throw TransportError.cut(host: "as.example", reason: "reset") }
            return Self.tokens("A2")
        }
        try await account.refresh()
        #expect(journal.withLock { $0 } == [true, true])
        #expect(try await record(in: vault).state == .signedIn)
    }

    @Test("VL27: a rejection that the vault could not take is stored by the next attempt, which asks no service")
    func unstoredRejection() async throws {
        let vault = FlakyVault()
        try await put("A1", life: -1, in: vault)
        let transport = TappedTransport { _, _, _ in Self.answer(400, #"{"error":"invalid_grant"}"#) }
        let handshake = try Handshake(client, vault: vault, transport: transport, time: time)
        let events = handshake.events
        vault.failReplacement(number: 2)
        #expect(
            await handshakeError { try await handshake.account()?.accessToken() }?.code == "vault_unavailable")
        #expect(
            await handshakeError { try await handshake.account()?.accessToken() }
                == .signInRequired(id, .refreshRejected))
        #expect(transport.requests.count == 1)
        #expect(try await record(in: vault).state == .ended(.refreshRejected))
        #expect(await events.first { _ in true }?.change == .ended(.refreshRejected))
    }

    /// A process whose vault did not take the answer of a refresh.
    private func unstored(in vault: FlakyVault, _ clock: any Clock<Duration>) async throws -> Handshake {
        try await put("A1", life: -1, in: vault)
        let transport = TappedTransport { _, _, _ in Self.tokens("A2") }
        let handshake = try Handshake(
            client, vault: vault, transport: transport, time: TimeSource(now: time.now, clock: clock))
        vault.failReplacement(number: 2)
        #expect(
            await handshakeError { try await handshake.account()?.accessToken() }?.code == "vault_unavailable")
        #expect(try await record(in: vault).isUnfinished)
        return handshake
    }

    @Test("VL27: an answer that the vault could not take is stored when it can, though the account is not used again")
    func unstoredWithoutUse() async throws {
        let (vault, clock) = (FlakyVault(), ManualClock())
        let handshake = try await unstored(in: vault, clock)
        vault.failReplacement(number: 1)
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while try await record(in: vault).isUnfinished, ContinuousClock.now < end {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        #expect(try await record(in: vault).grant.accessToken.reveal() == "A2")
        withExtendedLifetime(handshake) {}
    }

    @Test("VL27: a process that ends stores what the vault could not take before, also when its task is cancelled")
    func unstoredAtTheEnd() async throws {
        let vault = FlakyVault()
        let handshake = try await unstored(in: vault, ManualClock())
        let ending = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await handshake.finishRefreshes()
        }
        await ending.value
        #expect(try await record(in: vault).grant.accessToken.reveal() == "A2")
    }

    @Test("VL27: an answer that the vault could not take is not stored over what another process has stored")
    func unstoredSuperseded() async throws {
        let vault = FlakyVault()
        let handshake = try await unstored(in: vault, ManualClock())
        try await put("B1", in: vault)
        await handshake.finishRefreshes()
        #expect(try await record(in: vault).grant.accessToken.reveal() == "B1")
        #expect(try await handshake.account()?.accessToken().reveal() == "B1")
    }

    @Test("K3: a new sign-in revokes the refreshed grant that the vault could not take, and not the one before it")
    func unstoredReplaced() async throws {
        let vault = FlakyVault()
        let provider = ScriptedProvider()
        let app = try provider.app(vault: vault)
        let account = try await app.signIn(through: provider.browser)
        vault.failReplacement(number: 2)
        #expect(await handshakeError { try await account.refresh() }?.code == "vault_unavailable")
        #expect(account.unstored != nil)
        _ = try await app.signIn(through: provider.browser)
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-2", "access-2"])
        #expect(try await account.accessToken().reveal() == "access-3")
    }

    @Test("a record that was read before a sign-out does not bring the account back")
    func staleRecord() async throws {
        let vault = MemoryVault()
        try await put("A1", in: vault)
        let handshake = try Handshake(client, vault: vault, transport: TappedTransport { _, _, _ in Self.answer(200) })
        let stale = try await record(in: vault)
        let account = try #require(try await handshake.account())
        _ = try await account.signOut(revoking: false)
        let late = handshake.hold(stale, client: client)
        #expect(await handshakeError { try await late.accessToken() } == .signInRequired(id, .absent))
    }

    @Test("B4: two services behind loopback redirects of one path refuse to start, whatever their ports")
    func loopbackMixUp() throws {
        let other = Client(service: .recurseCenter, id: "d")
        #expect(throws: HandshakeError.self) { try Handshake(client, other, vault: MemoryVault()) }
        let apart = Client(service: .recurseCenter, id: "d", redirect: .loopback(path: "/callback/rc"))
        _ = try Handshake(client, apart, vault: MemoryVault())
    }

    @Test("A5: a redirect counts for the user only who began its sign-in")
    func anotherUser() async throws {
        let uri = try RedirectURI("https://app.example/cb")
        let server = Client(service: client.service, id: "c", redirect: .uri(uri))
        let transport = TappedTransport { _, _, _ in Self.tokens("V1") }
        let handshake = try Handshake(server, vault: MemoryVault(), transport: transport)
        let begun = try await handshake.beginSignIn(as: "attacker")
        let redirect = "\(uri)?code=x&state=\(begun.request.state.reveal())"
        #expect(
            await handshakeError { try await handshake.finishSignIn(redirectURL: redirect, as: "victim") }?.code
                == "state_mismatch")
        #expect(transport.requests.isEmpty)
        #expect(try await handshake.finishSignIn(redirectURL: redirect, as: "attacker").id.name == "attacker")
    }
}
