import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Refreshes that no process has finished, and a keeper")
struct KeeperRepeatTests {
    private let server = StrictAccounts()
    private let vault = TellingVault()

    /// A keeper that has listed accounts, and lists none again.
    private func keeper(of names: String...) async throws -> RunningKeeper {
        try await server.store(names, in: vault)
        var options = Keeper.Options()
        options.scanInterval = 86_400
        let running = RunningKeeper(Keeper(try server.app(vault), options: options))
        await pass(running) { running.keeper.report.kept == names.count }
        return running
    }

    private func pass(_ keeper: RunningKeeper, until isOver: () -> Bool) async {
        await server.pass(.seconds(5), waitingFor: [keeper], tasks: 3, until: isOver)
    }

    private func key(_ name: String) throws -> VaultKey { try AccountID(server.client(), name: name).vaultKey }

    /// Leaves an account as a process does that died in the middle of its refresh, which it began so many seconds ago.
    private func leave(_ name: String, begun seconds: Double = 30) async throws {
        let (key, id, since) = (try key(name), AccountID(try server.client(), name: name), server.now - seconds)
        try await vault.update(key) { record in
            let stored = try AccountRecord(stored: #require(await record.contents), expected: id)
            try await record.journal(stored.entering(.refreshing(since: since)).stored())
        }
    }

    @Test("an account that the vault hands out is refreshed now, though it was begun a moment ago, and keeps its turn")
    func broughtForward() async throws {
        let running = try await keeper(of: "first", "other")
        // Too long ago to be left alone, and not long enough to be due.
        try await leave("first", begun: 21)
        vault.hand(out: [try key("first")])
        await server.pass(waitingFor: [running], tasks: 3) { vault.hasHandedOut }
        // Time stands still.
        while server.refreshes.isEmpty, running.keeper.report.current == 0 { await Task.yield() }
        #expect(server.refreshes.map(\.name) == ["first"])
        await pass(running) { server.refreshes.filter { $0.name == "first" }.count == 3 }
        await running.stop()
        let times = server.refreshes.filter { $0.name == "first" }.map(\.time)
        for (before, after) in zip(times, times.dropFirst()) { #expect((2_330...3_590).contains(after - before)) }
        #expect(running.keeper.report.failed == 0 && server.reused.isEmpty)
    }

    @Test("a refresh that another keeper has just repeated is not repeated, unless it was handed out again later")
    func justSent() async throws {
        let running = try await keeper(of: "first")
        try await leave("first", begun: 1)
        vault.hand(out: [try key("first")])
        await pass(running) { running.keeper.report.current == 1 || server.requests > 0 }
        #expect(server.requests == 0)
        let start = server.now
        await pass(running) { server.now > start + 20 }
        vault.hand(out: [try key("first")])
        await pass(running) { !server.refreshes.isEmpty }
        await running.stop()
        #expect(server.requests == 1)
    }

    @Test("an account that is handed out and has no unfinished refresh is not asked for")
    func finished() async throws {
        let running = try await keeper(of: "first")
        vault.hand(out: [try key("first")])
        await pass(running) { running.keeper.report.current == 1 }
        await running.stop()
        #expect(server.requests == 0)
    }

    @Test("an account that is handed out again and again is queued once, and a service that asks for a pause has it")
    func polite() async throws {
        let running = try await keeper(of: "first")
        let (server, asked) = (server, Shared(0.0))
        server.answer { _, number in
            guard number == 1 else { return nil }
            asked.change { $0 = server.now }
            return .json(429, [:], [.retryAfter: "3000"])
        }
        try await leave("first")
        vault.hand(out: [try key("first")], isRepeated: true)
        await pass(running) { asked.value > 0 && server.now > asked.value + 100 }
        let lanes = running.keeper.lanes.withLock { Array($0.values) }
        let queued = lanes.map { lane in lane.state.withLock { $0.queue.count } }
        #expect(queued == [2])
        await pass(running) { server.refreshes.count == 1 }
        await pass(running) { server.now > asked.value + 4_000 }
        await running.stop()
        #expect((server.refreshes.first?.time ?? 0) >= asked.value + 2_999)
        #expect(server.requests == 2)
    }

    @Test("an account that the keeper did not know is kept from then on")
    func unknown() async throws {
        let running = try await keeper(of: "first")
        try await server.store(["second"], in: vault)
        try await leave("second")
        vault.hand(out: [try key("second")])
        await pass(running) { server.refreshes.filter { $0.name == "second" }.count == 2 }
        #expect(running.keeper.report.kept == 2)
        await running.stop()
        #expect(server.reused.isEmpty)
    }

    @Test("a keeper that lists no accounts refreshes those that the vault hands out, and no other")
    func unlisted() async throws {
        try await server.store(["first", "other"], in: vault)
        var options = Keeper.Options()
        options.listsAccounts = false
        let running = RunningKeeper(Keeper(try server.app(vault), options: options))
        try await leave("first")
        vault.hand(out: [try key("first")])
        await server.pass(.seconds(5), waitingFor: [running], tasks: 1) { server.refreshes.count == 1 }
        let end = server.now + 2 * StrictAccounts.life
        await server.pass(.seconds(5), waitingFor: [running], tasks: 1) { server.now > end }
        await running.stop()
        #expect(server.requests == 1 && running.keeper.report.refreshed == 1)
    }

    @Test("an account that is handed out and whose client is another keeper's is given back")
    func foreign() async throws {
        let running = try await keeper(of: "first")
        let foreign = AccountID(try server.client("other"), name: "first").vaultKey
        try await leave("first")
        vault.hand(out: [foreign, try key("first")])
        await pass(running) { server.refreshes.count == 1 }
        await running.stop()
        #expect(vault.returned.value == [foreign])
    }

    @Test("an account that was given back is passed over for a minute")
    func passedOver() async throws {
        let running = try await keeper(of: "first")
        let foreign = AccountID(try server.client("other"), name: "first").vaultKey
        vault.hand(out: [foreign], isRepeated: true)
        await pass(running) { !vault.returned.value.isEmpty }
        let start = server.now
        await pass(running) { server.now > start + 50 }
        #expect(vault.returned.value == [foreign])
        await pass(running) { vault.returned.value.count > 1 }
        #expect((60.0...70).contains(server.now - start))
        await running.stop()
    }

    @Test("a repeat that the service turns away leaves the refresh unfinished, and one that it takes does not")
    func turnedAway() async throws {
        let vault = MarkingVault()
        try await server.store(["first"], in: vault)
        let id = AccountID(try server.client(), name: "first")
        try await vault.update(id.vaultKey) { record in
            let stored = try AccountRecord(stored: #require(await record.contents), expected: id)
            try await record.journal(stored.entering(.refreshing(since: stored.grant.issuedAt)).stored())
        }
        server.answer { _, number in number == 1 ? .json(503, [:]) : nil }
        let account = try #require(try await server.app(vault).account("first"))
        await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(server.requests == 1 && vault.isMarked.value)
        try await account.refresh()
        #expect(server.refreshes.count == 1 && !vault.isMarked.value)
    }

    @Test("a vault is asked every five seconds, and every second while it watches further accounts")
    func watching() async throws {
        let running = try await keeper(of: "first")
        for (isWatching, range) in [(false, 4.4...5.6), (true, 0.8...1.2)] {
            vault.watch(isWatching)
            let (first, count) = (vault.questions.value, 10)
            await server.pass(.milliseconds(100), waitingFor: [running], tasks: 3) { vault.questions.value > first }
            let start = server.now
            await server.pass(.milliseconds(100), waitingFor: [running], tasks: 3) {
                vault.questions.value > first + count
            }
            #expect(range.contains((server.now - start) / Double(count)))
        }
        await running.stop()
    }

    @Test("a vault that cannot tell is asked once")
    func silent() async throws {
        let vault = TellingVault(isTelling: false)
        try await server.store(["first"], in: vault)
        let running = RunningKeeper(Keeper(try server.app(vault), options: Keeper.Options()))
        await server.pass(waitingFor: [running]) { server.refreshes.count == 1 }
        await running.stop()
        #expect(vault.questions.value == 1)
    }
}

/// A vault in memory that hands out what a test says.
private struct TellingVault: ForwardingVault {
    let base = MemoryVault()
    var isTelling = true
    let questions = Shared(0)
    let returned = Shared<[VaultKey]>([])
    private let isWatching = Shared(false)
    private let answer = Shared<(keys: [VaultKey], isRepeated: Bool)>(([], false))

    var hasHandedOut: Bool { answer.value.keys.isEmpty }

    func hand(out keys: [VaultKey], isRepeated: Bool = false) { answer.change { $0 = (keys, isRepeated) } }

    func watch(_ isWatching: Bool) { self.isWatching.change { $0 = isWatching } }

    func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey>
    ) async throws -> UnfinishedRecords? {
        questions.change { $0 += 1 }
        guard isTelling else { return nil }
        return answer.change { answer in
            defer { if !answer.isRepeated { answer.keys = [] } }
            let keys = answer.keys.filter { !passedOver.contains($0) }
            return UnfinishedRecords(keys: keys, isWatching: isWatching.value)
        }
    }

    func returnUnfinished(_ keys: [VaultKey]) async throws { returned.change { $0 += keys } }
}

/// A vault in memory that knows whether its last replacement was a journal.
private struct MarkingVault: ForwardingVault {
    let base = MemoryVault()
    let isMarked = Shared(false)

    private struct Record: LockedRecord {
        let base: any LockedRecord
        let isMarked: Shared<Bool>

        var contents: [UInt8]? { get async { await base.contents } }

        func replace(with contents: [UInt8]) async throws {
            try await base.replace(with: contents)
            isMarked.change { $0 = false }
        }

        func journal(_ contents: [UInt8]) async throws {
            try await base.journal(contents)
            isMarked.change { $0 = true }
        }

        func remove() async throws { try await base.remove() }
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { try await body(Record(base: $0, isMarked: isMarked)) }
    }
}
