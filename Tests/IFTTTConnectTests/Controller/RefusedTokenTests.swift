import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

@Suite("Tokens that IFTTT refuses")
struct RefusedTokenTests {
    private let line = "GET /v2/connections/aB3dE5fG"
    private let shown = ScriptedIFTTT.Reply.json(Balcony.json(status: "null", userConnection: nil))

    /// A vault that cannot be written for a time.
    private struct Stuck: Vault {
        let inner = MemoryVault()
        let isStuck: @Sendable () -> Bool

        func record(_ key: VaultKey) async throws -> [UInt8]? { try await inner.record(key) }
        func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await inner.keys(of: kind) }
        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            if isStuck() { throw VaultError.unavailable("the test says so") }
            return try await inner.update(key, body)
        }
    }

    /// The place of the user's token, as one process sees it.
    private func tokens(_ vault: any Vault) throws -> UserTokens {
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        return UserTokens(in: try Handshake(client, vault: vault, transport: ScriptedIFTTT()))
    }

    private func controller(
        _ ifttt: ScriptedIFTTT, _ tokens: UserTokens?,
        partner: @escaping @Sendable () async throws -> UserToken? = { nil }
    ) throws -> ConnectController {
        struct Nowhere: ConnectBrowser {
            func open(_ destination: ConnectActivation.Destination) async throws -> String? { nil }
        }
        var environment = ConnectEnvironment(browser: Nowhere(), tokens: .redirect)
        environment.tokenDelivery = .redirectOrPartnerServer(partner)
        return ConnectController(
            ConnectActivation(try Player.configuration()), tokens: tokens, environment: environment,
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: HurriedClock())))
    }

    /// Runs from the first look until the connection is shown, or cannot be.
    private func load(_ controller: ConnectController) async {
        let updates = controller.updates()
        let running = Task { await controller.run() }
        controller.send(.appeared)
        for await update in updates {
            guard case .activation(let activation) = update else { continue }
            if activation.state == .initial || activation.state == .loadingFailed { break }
        }
        running.cancel()
        await running.value
    }

    @Test("W10: a late refusal of an old token leaves the newer one that another process has stored, and uses it")
    func late() async throws {
        let vault = MemoryVault()
        let (here, elsewhere) = (try tokens(vault), try tokens(vault))
        let (old, new) = (try token("utk_old"), try token("utk_new"))
        try await here.store(old)
        let ifttt = ScriptedIFTTT([line: [.late(401) { try await elsewhere.store(new) }, shown]])
        await load(try controller(ifttt, here))
        #expect(ifttt.requests.map { $0.header("Authorization") } == ["Bearer utk_old", "Bearer utk_new"])
        #expect(try await here.token() == new)
    }

    @Test("W10: a late refusal leaves the token that this process has stored meanwhile")
    func lateHere() async throws {
        let here = try tokens(MemoryVault())
        let keeper = TokenKeeper(here) { nil }
        let (old, new) = (try token("utk_old"), try token("utk_new"))
        try await keeper.store(old)
        try await keeper.store(new)
        try await keeper.drop(old)
        #expect(try await keeper.token() == new)
        #expect(try await here.token() == new)
    }

    @Test("W10: a partner's token that was refused is not taken again, and a newer one is")
    func partner() async throws {
        let given = Mutex(["utk_one", "utk_one", "utk_two"])
        let ifttt = ScriptedIFTTT([line: [.status(401), shown]])
        let here = try tokens(MemoryVault())
        let controller = try controller(ifttt, here) {
            try token(given.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
        }
        await load(controller)
        _ = try await controller.api.connection(try ConnectionID(Balcony.id))
        #expect(ifttt.requests.map { $0.header("Authorization") } == ["Bearer utk_one", nil, "Bearer utk_two"])
        #expect(try await here.token() == (try token("utk_two")))
    }

    @Test("W10: a token that is rejected during a refresh is dropped, and the partner's newer one is used immediately")
    func refreshed() async throws {
        let given = Mutex("utk_one")
        let on = ScriptedIFTTT.Reply.json(Balcony.json())
        let ifttt = ScriptedIFTTT([line: [on, .status(401), on]])
        let controller = try controller(ifttt, try tokens(MemoryVault())) { try token(given.withLock { $0 }) }
        let updates = controller.updates()
        let running = Task { await controller.run() }
        controller.send(.appeared)
        for await case .activation(let activation) in updates where activation.state == .connected { break }
        given.withLock { $0 = "utk_two" }
        controller.send(.refresh)
        while ifttt.requests.count < 3 { await Task.yield() }
        for _ in 0..<200 { await Task.yield() }
        #expect(
            ifttt.requests.map { $0.header("Authorization") } == ["Bearer utk_one", "Bearer utk_one", "Bearer utk_two"])
        #expect(controller.activation.state == .connected)
        running.cancel()
        await running.value
    }

    @Test("an unreadable vault is reported as this module's error by every accessor")
    func accountOfBrokenVault() async throws {
        struct Broken: Vault {
            func record(_ key: VaultKey) async throws -> [UInt8]? { throw VaultError.unavailable("the test says so") }
            func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
                throw VaultError.unavailable("the test says so")
            }
            func update<Result: Sendable>(
                _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
            ) async throws -> Result {
                throw VaultError.unavailable("the test says so")
            }
        }
        let tokens = try tokens(Broken())
        let expected = ConnectError.account(.vault(.unavailable("the test says so")))
        await #expect(throws: expected) { try await tokens.token() }
        await #expect(throws: expected) { _ = try await tokens.account() }
    }

    @Test("a partner's token that cannot be kept is used from memory, and the reason is told")
    func unkept() async throws {
        let ifttt = ScriptedIFTTT([line: [.json(Balcony.json())]])
        let controller = try controller(ifttt, try tokens(Stuck { true })) { try token("utk_one") }
        let updates = controller.updates()
        let running = Task { await controller.run() }
        controller.send(.appeared)
        var problems: [ConnectError] = []
        for await update in updates {
            if case .problem(let problem) = update { problems.append(problem) }
            guard case .activation(let activation) = update else { continue }
            if activation.state == .connected || activation.state == .loadingFailed { break }
        }
        #expect(controller.activation.state == .connected)
        #expect(problems == [.account(.vault(.unavailable("the test says so")))])
        #expect(ifttt.requests.map { $0.header("Authorization") } == ["Bearer utk_one"])
        running.cancel()
        await running.value
    }

    @Test("a rejected token that the vault cannot delete is not sent again, and a new one is")
    func stuck() async throws {
        let isStuck = Mutex(false)
        let keeper = TokenKeeper(try tokens(Stuck(isStuck: { isStuck.withLock { $0 } }))) { nil }
        let old = try token("utk_old")
        try await keeper.store(old)
        isStuck.withLock { $0 = true }
        let stuck = ConnectError.account(.vault(.unavailable("the test says so")))
        await #expect(throws: stuck) { try await keeper.drop(old) }
        #expect(try await keeper.token() == nil)
        isStuck.withLock { $0 = false }
        // IFTTT itself has given it again: it is good.
        try await keeper.store(old)
        #expect(try await keeper.token() == old)
    }

    @Test("what the activation has decided of a token is done also when the run is cancelled meanwhile")
    func cancelledRun() async throws {
        struct Interrupting: Vault {
            let inner = MemoryVault()
            let interrupt: @Sendable () -> Void

            func record(_ key: VaultKey) async throws -> [UInt8]? { try await inner.record(key) }
            func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await inner.keys(of: kind) }
            func update<Result: Sendable>(
                _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
            ) async throws -> Result {
                interrupt()
                return try await inner.update(key, body)
            }
        }
        let running = Mutex<Task<Void, Never>?>(nil)
        let here = try tokens(Interrupting { running.withLock { $0?.cancel() } })
        try await here.store(try token("utk_old"))
        let controller = try controller(ScriptedIFTTT([line: [.status(401), shown]]), here)
        controller.send(.appeared)
        let run = Task { await controller.run() }
        running.withLock { $0 = run }
        await run.value
        #expect(run.isCancelled)
        #expect(try await here.token() == nil)
    }

    @Test("a token that comes while the partner's server is asked is not replaced by the partner's answer")
    func partnerIsLate() async throws {
        let here = try tokens(MemoryVault())
        let box = Mutex<TokenKeeper?>(nil)
        let (redirect, partner) = (try token("utk_redirect"), try token("utk_partner"))
        let keeper = TokenKeeper(here) {
            try await box.withLock { $0 }?.store(redirect)
            return partner
        }
        box.withLock { $0 = keeper }
        #expect(try await keeper.token() == redirect)
        #expect(try await here.token() == redirect)
        box.withLock { $0 = nil }
    }

    @Test("F106: a button without a token finds the one that another button stores, also after the user has logged out")
    func storedElsewhere() async throws {
        let vault = MemoryVault()
        let (here, elsewhere) = (try tokens(vault), try tokens(vault))
        let keeper = TokenKeeper(here) { nil }
        #expect(try await keeper.token() == nil)
        let (first, second) = (try token("utk_first"), try token("utk_second"))
        try await elsewhere.store(first)
        #expect(try await keeper.token() == first)
        try await keeper.forget()
        #expect(try await keeper.token() == nil)
        try await elsewhere.store(second)
        #expect(try await keeper.token() == second)
    }

    @Test("F106: logging out while a token is being stored leaves none")
    func signedOutWhileStoring() async throws {
        struct Slow: Vault {
            let inner = MemoryVault()
            let began: @Sendable () -> Void
            let mayWrite: AsyncStream<Void>

            func record(_ key: VaultKey) async throws -> [UInt8]? { try await inner.record(key) }
            func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await inner.keys(of: kind) }
            func update<Result: Sendable>(
                _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
            ) async throws -> Result {
                began()
                for await _ in mayWrite {}
                return try await inner.update(key, body)
            }
        }
        let (begins, began) = AsyncStream<Void>.makeStream()
        let (mayWrite, open) = AsyncStream<Void>.makeStream()
        let here = try tokens(Slow(began: { began.yield() }, mayWrite: mayWrite))
        let keeper = TokenKeeper(here) { nil }
        let new = try token("utk_new")
        let storing = Task { try await keeper.store(new) }
        for await _ in begins { break }
        let leaving = Task { try await keeper.forget() }
        for _ in 0..<200 { await Task.yield() }
        open.finish()
        try await storing.value
        try await leaving.value
        #expect(try await keeper.token() == nil)
        #expect(try await here.token() == nil)
    }

    @Test("F106: a token of a user who has logged out since is not stored, and one of the next user is")
    func storedAfterSignOut() async throws {
        let here = try tokens(MemoryVault())
        let keeper = TokenKeeper(here) { nil }
        try await keeper.forget(signOuts: 1)
        try await keeper.store(try token("utk_late"), after: 0)
        #expect(try await keeper.token() == nil)
        #expect(try await here.token() == nil)
        let next = try token("utk_next")
        try await keeper.store(next, after: 1)
        #expect(try await here.token() == next)
    }

    @Test("a token is forgotten in the vault only if it is still the stored one")
    func compared() async throws {
        let vault = MemoryVault()
        let (here, elsewhere) = (try tokens(vault), try tokens(vault))
        let (old, new) = (try token("utk_old"), try token("utk_new"))
        #expect(try await !here.forget(ifStill: old))
        try await elsewhere.store(new)
        #expect(try await !here.forget(ifStill: old))
        #expect(try await elsewhere.token() == new)
        #expect(try await here.forget(ifStill: new))
        #expect(try await elsewhere.token() == nil)
    }

    @Test("a run that was cancelled is followed by another, which takes in what was sent in between")
    func anotherRun() async throws {
        let ifttt = ScriptedIFTTT([line: [shown]])
        let controller = try controller(ifttt, nil)
        await load(controller)
        controller.connect()
        let updates = controller.updates()
        let running = Task { await controller.run() }
        let isConnecting = await updates.contains {
            if case .activation(let activation) = $0, case .enteringEmail = activation.state { true } else { false }
        }
        running.cancel()
        await running.value
        #expect(isConnecting)
    }
}
