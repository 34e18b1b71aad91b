import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("Refresh: rejected, unreachable and uncertain are different", .heavy)
struct RefreshOutcomeTests {
    /// One fault at the token endpoint, and what has to come of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: String
        let code: String
        /// How many token requests the failing call may make.
        let calls: Int
        var testDescription: String { "\(fault) gives \(code)" }
    }

    @Test(
        "E4: what does not end the session keeps it, and the next attempt succeeds",
        arguments: [
            Row(
                fault: "status 503 {\"error\":\"temporarily_unavailable\"} x1", code: "temporarily_unavailable",
                calls: 1),
            Row(fault: "status 429 x1", code: "http_429", calls: 1),
            Row(fault: "status 500 x1", code: "http_500", calls: 1),
            Row(fault: "status 401 {\"error\":\"invalid_client\"} x1", code: "invalid_client", calls: 1),
            Row(fault: "garbage x1", code: "malformed_response", calls: 1),
            Row(fault: "redirect http://127.0.0.1:1/elsewhere x1", code: "unexpected_redirect", calls: 1),
            Row(fault: "huge 2000000 x1", code: "refresh_uncertain", calls: 1),
        ])
    func survives(_ row: Row) async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 8_000)
        try world.inject("POST /oauth/token => \(row.fault)")
        let error = await handshakeError { try await account.accessToken() }
        #expect(error?.code == row.code)
        #expect(world.tokenRequests() == row.calls)
        #expect(try await !account.accessToken().isEmpty, "the session goes on")
        await world.sandbox.stop()
    }

    @Test("E4: a server that cannot be reached leaves the session as it was")
    func unreachable() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        let offline = TappedTransport { request, base, limits in
            throw TransportError.unreachable(host: request.head.authority ?? "", reason: "offline")
        }
        let elsewhere = try #require(try await world.app(transport: offline).account())
        world.time.advance(by: 8_000)
        #expect(await handshakeError { try await elsewhere.accessToken() }?.code == "unreachable")
        #expect(elsewhere.status.state == .signedIn)
        #expect(try await !account.accessToken().isEmpty)
        await world.sandbox.stop()
    }

    @Test(
        "E4: only a rejected refresh token ends the session, and it is not tried again",
        arguments: SandboxService.Name.withSignIn)
    func rejected(_ name: SandboxService.Name) async throws {
        let world = try await World(name)
        let (handshake, account) = try await world.signedIn()
        world.sandbox.revokeRefreshTokens(name)
        world.time.advance(by: 8_000)
        for _ in 0..<3 {
            let error = await handshakeError { try await account.accessToken() }
            #expect(error == .signInRequired(account.id, .refreshRejected))
        }
        #expect(world.tokenRequests() == 1, "a token known to be void is not sent again")
        #expect(try await handshake.account()?.status.state == .ended(.refreshRejected), "the account is still known")
        world.time.advance(by: -8_000)
        let again = try await handshake.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(try await !again.accessToken().isEmpty)
        #expect(try await !account.accessToken().isEmpty, "the older value lives on with the new session")
        await world.sandbox.stop()
    }

    @Test("a lost answer to a single-use refresh ends in a plain request to sign in, and never in a loop")
    func lostAnswer() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 8_000)
        try world.inject("POST /oauth/token => drop x1")
        let error = await handshakeError { try await account.accessToken() }
        #expect(error == .signInRequired(account.id, .answerLost))
        #expect(world.tokenRequests() == 2, "one call whose answer is lost, one that finds out")
        #expect(await handshakeError { try await account.accessToken() }?.code == "sign_in_required")
        #expect(world.tokenRequests() == 2)
        await world.sandbox.stop()
    }

    @Test("a lost answer does no harm where the refresh token can be used again")
    func lostAnswerReusable() async throws {
        let world = try await World(.sequencing)
        let (_, account) = try await world.signedIn(try world.confidentialClient())
        world.time.advance(by: 8_000)
        try world.inject("POST /oauth2/token* => drop x1")
        #expect(try await !account.accessToken().isEmpty)
        await world.sandbox.stop()
    }

    @Test("two lost answers are reported as uncertain, and the journal survives the process")
    func uncertain() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 8_000)
        try world.inject("POST /oauth/token => cut 5 x2")
        let error = await handshakeError { try await account.accessToken() }
        guard case .refreshUncertain(account.id, .cut) = try #require(error) else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(account.status.state == .refreshUncertain, "the status of this process does not claim a session")
        #expect(account.status.isRefreshable)
        let later = try #require(try await world.app().account())
        #expect(later.status.state == .refreshUncertain)
        #expect(await handshakeError { try await later.accessToken() } == .signInRequired(account.id, .answerLost))
        await world.sandbox.stop()
    }

    @Test("VL3: an answer that was lost by a clock far ahead is waited for ten minutes too")
    func lostAhead() async throws {
        let world = try await World()
        var client = try world.client()
        client.options.retriesLostRefreshes = false
        let (_, account) = try await world.signedIn(client)
        world.time.advance(by: 1_000_000)
        try world.inject("POST /oauth/token => cut 5 x1")
        #expect(await handshakeError { try await account.accessToken() }?.code == "refresh_uncertain")
        world.time.advance(by: -900_000)
        // By this process and by another one.
        for account in [account, try #require(try await world.app(client).account())] {
            #expect(await handshakeError { try await account.refresh() } == .refreshUncertain(account.id, nil))
        }
        world.time.advance(by: 600)
        #expect(await handshakeError { try await account.refresh() } == .signInRequired(account.id, .answerLost))
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("a token that still lives is used while the service is in trouble, and the service is left in peace")
    func graceOfTheMargin() async throws {
        let world = try await World()
        world.holdClocks()
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 7_160)
        try world.inject("POST /oauth/token => status 503")
        for _ in 0..<50 { #expect(try await !account.accessToken().isEmpty) }
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("an access token without a refresh token works until it expires, and then sign-in is needed")
    func notRefreshable() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn(try world.client(scopes: ["openid", "profile"]))
        #expect(!account.status.isRefreshable)
        _ = try await account.identity()
        world.time.advance(by: 8_000)
        #expect(
            await handshakeError { try await account.accessToken() } == .signInRequired(account.id, .notRefreshable))
        #expect(world.tokenRequests() == 0)
        await world.sandbox.stop()
    }

    @Test("a new grant that the vault cannot take is stored before anyone sees it")
    func vaultFailsAfterRotation() async throws {
        let vault = FlakyVault()
        let world = try await World(vault: vault)
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 8_000)
        vault.failReplacement(number: 2)
        let failed = await handshakeError { try await account.accessToken() }
        #expect(failed?.code == "vault_unavailable")
        let token = try await account.accessToken()
        #expect(world.tokenRequests() == 1, "the rotated token was kept and not asked for again")
        let later = try #require(try await world.app().account())
        #expect(try await later.accessToken().matches(token))
        await world.sandbox.stop()
    }

    @Test("VL14, VL23: a refresh token is not sent while the vault cannot say that the record stays held")
    func unconfirmed() async throws {
        let vault = FlakyVault()
        let world = try await World(vault: vault)
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 8_000)
        vault.failConfirmation()
        let failed = await handshakeError { try await account.accessToken() }
        #expect(failed?.code == "vault_unavailable")
        #expect(world.tokenRequests() == 0, "nothing was sent")
        #expect(try await world.app().account()?.status.state == .signedIn, "no journal entry stays")
        #expect(try await !account.accessToken().isEmpty)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }
}

/// A vault whose replacements can be made to fail.
final class FlakyVault: ForwardingVault {
    let base = MemoryVault()
    private let countdown = Mutex<Int?>(nil)
    private let confirmations = Mutex<Int?>(nil)

    /// Lets the next `number`-th replacement fail.
    func failReplacement(number: Int) {
        countdown.withLock { $0 = number }
    }

    /// Lets the next `number`-th confirmation fail.
    func failConfirmation(number: Int = 1) {
        confirmations.withLock { $0 = number }
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { locked in
            try await body(
                FlakyRecord(
                    base: locked, fails: { Self.isDue(self.countdown) },
                    losesHold: { Self.isDue(self.confirmations) }))
        }
    }

    private static func isDue(_ countdown: borrowing Mutex<Int?>) -> Bool {
        countdown.withLock { countdown in
            guard let left = countdown else { return false }
            countdown = left == 1 ? nil : left - 1
            return left == 1
        }
    }
}

private struct FlakyRecord: LockedRecord {
    let base: any LockedRecord
    let fails: @Sendable () -> Bool
    let losesHold: @Sendable () -> Bool

    var contents: [UInt8]? { get async { await base.contents } }

    func replace(with contents: [UInt8]) async throws {
        guard !fails() else { throw VaultError.unavailable("the disk is full") }
        try await base.replace(with: contents)
    }

    func remove() async throws { try await base.remove() }

    func confirm(for time: Duration) async throws {
        if losesHold() { throw VaultError.unavailable("the lease was lost") }
        try await base.confirm(for: time)
    }
}
