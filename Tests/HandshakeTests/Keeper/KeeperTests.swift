import Foundation
import HTTPTypes
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("A keeper")
struct KeeperTests {
    private let server = StrictAccounts()
    private let vault = MemoryVault()

    private func keeper(_ change: (inout Keeper.Options) -> Void = { _ in }) throws -> Keeper {
        var options = Keeper.Options()
        change(&options)
        return Keeper(try server.app(vault), options: options)
    }

    private func pass(
        _ step: Duration = .seconds(1), waitingFor keepers: [RunningKeeper] = [], until isOver: () -> Bool
    ) async {
        await server.pass(step, waitingFor: keepers, until: isOver)
    }

    @Test("VL48: two keepers of one vault refresh each account once an expiry, and none expires or is sent twice")
    func twoKeepers() async throws {
        let names = (0..<60).map { "user\($0)" }
        try await server.store(names, in: vault)
        let keepers = [RunningKeeper(try keeper()), RunningKeeper(try keeper())]
        await pass(.seconds(5), waitingFor: keepers) { server.refreshes.count >= 3 * names.count }
        for keeper in keepers { await keeper.stop() }
        #expect(server.reused.isEmpty)
        for name in names {
            let times = [1_800_000_000] + server.refreshes.filter { $0.name == name }.map(\.time)
            for (before, after) in zip(times, times.dropFirst()) {
                #expect((2_330...3_590).contains(after - before), "\(name): \(after - before) s")
            }
        }
        let told = keepers.map(\.keeper.report)
        #expect(told.allSatisfy { $0.failed == 0 && $0.ended == 0 && $0.refreshed > 0 })
    }

    @Test("accounts of one minute are refreshed over a part of their life, not together")
    func spread() async throws {
        try await server.store((0..<100).map { "user\($0)" }, in: vault)
        let running = RunningKeeper(try keeper { $0.limit = .init(perSecond: 1_000, concurrent: 100) })
        await pass(.seconds(1), waitingFor: [running]) { server.refreshes.count == 100 }
        await running.stop()
        let times = server.refreshes.map(\.time)
        #expect((times.max() ?? 0) - (times.min() ?? 0) > 180)
    }

    @Test(
        "a service's rate and its bound of concurrent refreshes are kept",
        arguments: [
            Keeper.RateLimit(perSecond: 0.1, concurrent: 50), Keeper.RateLimit(perSecond: 1_000, concurrent: 2),
        ])
    func rate(_ limit: Keeper.RateLimit) async throws {
        try await server.store((0..<50).map { "user\($0)" }, in: vault, age: 3_500)
        let clock = server.clock
        server.answer { _, _ in
            try? await clock.sleep(for: .seconds(1))
            return nil
        }
        let running = RunningKeeper(try keeper { $0.limit = limit })
        await pass(.milliseconds(500)) { server.refreshes.count == 50 }
        await running.stop()
        #expect(server.mostRunning <= limit.concurrent)
        let times = server.refreshes.map(\.time)
        #expect((times.max() ?? 0) - (times.min() ?? 0) >= 48 / limit.perSecond)
    }

    struct Asked: Sendable, CustomTestStringConvertible {
        let field: String
        let pause: ClosedRange<Double>
        var testDescription: String { field }
    }

    @Test(
        "Retry-After is kept to in seconds and as a date, and a hostile one ends no session",
        arguments: [
            Asked(field: "120", pause: 120...133), Asked(field: "Fri, 15 Jan 2027 08:05:00 GMT", pause: 300...331),
            Asked(field: "-5", pause: 0.5...2.3), Asked(field: "NaN", pause: 0.5...2.3),
            Asked(field: "1e9", pause: 0.5...2.3), Asked(field: "0", pause: 0.5...2.3),
            Asked(field: "Thu, 01 Jan 1970 00:00:00 GMT", pause: 0.5...2.3),
            Asked(field: "99999999999999999999999", pause: 3_600...3_961),
            Asked(field: "Fri, 31 Dec 9999 23:59:59 GMT", pause: 3_600...3_961),
        ])
    func retryAfter(_ asked: Asked) async throws {
        try await server.store(["a", "b", "c"], in: vault, age: 3_500)
        server.answer { _, number in
            number == 1 ? .json(429, ["error": "slow_down"], [.retryAfter: asked.field]) : nil
        }
        let running = RunningKeeper(try keeper { $0.limit = .init(perSecond: 1_000, concurrent: 1) })
        let paused = await running.first { $0.pausedUntil != nil }
        let until = try #require(paused?.pausedUntil)
        #expect(asked.pause.contains(until - server.now), "\(until - server.now) s")
        await pass(.milliseconds(250)) { server.refreshes.count == 3 }
        #expect((server.refreshes.first?.time ?? 0) >= until - 0.001)
        #expect(await running.first(\.isResumed) != nil)
        await running.stop()
        #expect(server.reused.isEmpty)
    }

    @Test("a service that is down is asked by one account at a time, in pauses that double, and then goes on")
    func down() async throws {
        try await server.store((0..<20).map { "user\($0)" }, in: vault, age: 3_500)
        let server = server
        server.answer { _, number in
            // The first eight have all been sent before one of them is answered.
            while number <= 8, server.requests < 8, !Task.isCancelled { await Task.yield() }
            return number <= 14 ? .json(503, [:]) : nil
        }
        let running = RunningKeeper(try keeper { $0.limit = .init(perSecond: 1_000, concurrent: 8) })
        await pass(.milliseconds(500), waitingFor: [running]) { server.refreshes.count == 20 }
        #expect(await running.first(\.isResumed) != nil)
        await running.stop()
        // Eight that run together are one failure; each later one is a single account's.
        let pauses = running.events.filter { $0.pausedUntil != nil }
        #expect(pauses.count == 7)
        let lengths = pauses.map { ($0.pausedUntil ?? 0) - $0.time }
        #expect(lengths.last ?? 0 > 16 * (lengths.first ?? 0) && lengths.last ?? 0 > 60)
        #expect(server.reused.isEmpty)
    }

    @Test("a session that the service ended is told once, with its reason, and is asked for no more")
    func ended() async throws {
        try await server.store(["gone", "stays"], in: vault, age: 3_500)
        server.answer { name, _ in name == "gone" ? .json(400, ["error": "invalid_grant"]) : nil }
        let running = RunningKeeper(try keeper())
        await pass(.seconds(5), waitingFor: [running]) { server.refreshes.count == 4 }
        _ = await running.first { if case .ended = $0.change { true } else { false } }
        await running.stop()
        let endings = running.events.filter { if case .ended = $0.change { true } else { false } }
        #expect(endings.map(\.change) == [.ended(.refreshRejected)])
        #expect(endings.first?.account?.name == "gone")
        #expect(server.requests == 5)
        // The vault was listed several times meanwhile.
        #expect(running.keeper.report.ended == 1 && running.keeper.report.left == 1)
    }

    @Test("an account whose refresh is refused for a reason of its own keeps no other waiting")
    func ownFailure() async throws {
        try await server.store((0..<5).map { "user\($0)" }, in: vault, age: 3_500)
        server.answer { name, _ in name == "user0" ? .json(400, ["error": "invalid_request"]) : nil }
        let running = RunningKeeper(try keeper { $0.limit = .init(perSecond: 1_000, concurrent: 1) })
        await pass(.milliseconds(250)) { server.refreshes.count == 4 && running.failures.count >= 2 }
        await running.stop()
        #expect(running.events.allSatisfy { $0.pausedUntil == nil })
        let failures = running.failures
        #expect((54...66).contains(failures[0]) && (108...132).contains(failures[1]))
    }

    @Test("a record whose key is missing keeps no other waiting, neither when it is due nor when it is listed")
    func lockedRecord() async throws {
        try await server.store((0..<5).map { "user\($0)" }, in: vault, age: 3_500)
        let locked = UnreadableVault(vault)
        locked.fail(
            AccountID(try server.client(), name: "user0").vaultKey, with: .locked("the record's key is missing"))
        let keeper = Keeper(try server.app(locked))
        let running = RunningKeeper(keeper)
        await pass(.milliseconds(250)) { server.refreshes.count == 4 && running.failures.count >= 2 }
        await pass(.seconds(5)) { server.refreshes.count >= 8 && running.failures.count >= 4 }
        await running.stop()
        #expect(running.events.allSatisfy { $0.pausedUntil == nil })
        #expect(server.refreshes.allSatisfy { $0.name != "user0" })
    }

    @Test("a vault that cannot be used pauses no service, is asked in pauses that double, and all accounts follow")
    func vaultFails() async throws {
        try await server.store((0..<5).map { "user\($0)" }, in: vault, age: 3_500)
        let failing = FailingVault(base: vault)
        let running = RunningKeeper(Keeper(try server.app(failing)))
        // Listed first: only the updates fail.
        await pass(.milliseconds(250), waitingFor: [running]) { running.failures.count >= 7 }
        #expect(running.events.allSatisfy { $0.pausedUntil == nil })
        #expect(running.keeper.lanes.withLock { $0.values.allSatisfy { !$0.isServiceFailing } })
        let pauses = running.failures
        // Half of each is by chance, and a tenth more.
        #expect(zip(pauses, [2, 4, 8, 16, 32, 60, 60.0]).allSatisfy { ($1 / 2...$1 * 1.1).contains($0) }, "\(pauses)")
        failing.works.change { $0 = true }
        await pass(.milliseconds(250)) { server.refreshes.count == 5 }
        await running.stop()
        #expect(running.events.allSatisfy { $0.pausedUntil == nil && !$0.isResumed })
        #expect(server.reused.isEmpty)
    }

    @Test("a session that another process or the service's logout ended is told once by each keeper, with its reason")
    func endedElsewhere() async throws {
        try await server.store(["out", "stays"], in: vault, age: 2_000)
        let keepers = [RunningKeeper(try keeper()), RunningKeeper(try keeper())]
        await pass(.milliseconds(250)) { keepers.allSatisfy { $0.keeper.report.kept == 2 } }
        let id = AccountID(try server.client(), name: "out")
        try await vault.update(id.vaultKey) { locked in
            let record = try AccountRecord(stored: try #require(await locked.contents), expected: id)
            try await locked.replace(with: record.ended(.loggedOut).stored())
        }
        // Each keeper has had its turn by the second one.
        await pass(.seconds(5), waitingFor: keepers) { server.refreshes.count >= 2 }
        for keeper in keepers { await keeper.stop() }
        for keeper in keepers {
            let endings = keeper.events.filter { if case .ended = $0.change { true } else { false } }
            #expect(endings.map(\.change) == [.ended(.loggedOut)] && endings.first?.account?.name == "out")
            #expect(keeper.keeper.report.ended == 1)
        }
        #expect(server.refreshes.allSatisfy { $0.name == "stays" })
    }

    @Test("a keeper that is cancelled completes the refresh on its way")
    func cancelled() async throws {
        try await server.store(["a"], in: vault, age: 3_500)
        let (arrived, release) = (Gate(), Gate())
        server.answer { _, _ in
            arrived.open()
            await release.wait()
            return nil
        }
        let running = RunningKeeper(try keeper())
        await arrived.wait()
        async let isComplete = {
            await running.stop()
            return release.isOpen
        }()
        for _ in 0..<10_000 { await Task.yield() }
        release.open()
        #expect(await isComplete)
        let account = try #require(try await server.app(vault).account("a"))
        #expect(account.status.generation == 1 && account.status.state == .signedIn)
    }

    @Test("one pass refreshes what is due by then, once each, and leaves the rest of a failing service for later")
    func once() async throws {
        let passing = server.clock.pass(inStepsOf: .milliseconds(100), whileAsleep: 1)
        defer { passing.cancel() }
        try await server.store(["due", "due-too"], in: vault, age: 3_500)
        try await server.store(["later"], in: vault, age: 1_000)
        try await server.store(["fresh"], in: vault)
        let report = try await keeper().runOnce()
        #expect(Set(server.refreshes.map(\.name)) == ["due", "due-too"])
        #expect(report.refreshed == 2 && report.failed == 0)
        let next = try await keeper().runOnce(horizon: 1_800)
        #expect(Set(server.refreshes.dropFirst(2).map(\.name)) == ["later"])
        #expect(next.refreshed == 1)
        server.answer { _, _ in .json(503, [:]) }
        let failed = try await keeper { $0.limit = .init(concurrent: 1) }.runOnce(horizon: 3_000)
        #expect(failed.failed == 1 && failed.postponed == 3 && server.requests == 4)
    }

    @Test("where a service refuses early refreshes, a pass makes none of what is due by the next one")
    func lateRefreshes() async throws {
        let passing = server.clock.pass(inStepsOf: .milliseconds(100), whileAsleep: 1)
        defer { passing.cancel() }
        let client = try client { $0.refreshMargin = 25 }
        try await server.store(["early"], in: vault, client: client, age: 3_000)
        try await server.store(["late"], in: vault, client: client, age: 3_580)
        let report = try await Keeper(server.app(vault, client)).runOnce(horizon: 3_600)
        #expect(server.refreshes.map(\.name) == ["late"])
        #expect(report.refreshed == 1 && report.current == 1)
    }

    @Test("a 400 with an explanation and no code is about one account, and the others are refreshed")
    func refusalWithoutCode() async throws {
        let passing = server.clock.pass(inStepsOf: .milliseconds(100), whileAsleep: 1)
        defer { passing.cancel() }
        let client = try client {
            $0.token.errorCode = ""
            $0.token.errorText = "/message"
        }
        try await server.store(["refused", "other"], in: vault, client: client, age: 3_500)
        server.answer { name, _ in name == "refused" ? .json(400, ["message": "no such user"]) : nil }
        let report = try await Keeper(server.app(vault, client)).runOnce()
        #expect(server.refreshes.map(\.name) == ["other"])
        #expect(report.refreshed == 1 && report.failed == 1 && report.postponed == 0)
    }

    /// The server's client at a service that departs from the standard.
    private func client(_ change: (inout Service.Deviations) -> Void) throws -> Client {
        var deviations = Service.Deviations()
        change(&deviations)
        let strict = try server.client()
        let service = try Service(
            name: strict.service.name, authorizationServer: strict.service.authorizationServer, defaultScopes: [],
            deviations: deviations)
        return Client(service: service, id: strict.id, redirect: strict.redirect)
    }

    @Test("when an account is refreshed follows from its token's life, its age and its state", arguments: Moment.all)
    func schedule(_ row: Moment) throws {
        let id = AccountID(try server.client(), name: "a")
        var record = AccountRecord(
            id: id,
            grant: Grant(
                accessToken: Secret("a"), expiresAt: row.life.map { 1_000 + $0 }, issuedAt: 1_000,
                refreshToken: row.isRefreshable ? Secret("r") : nil, scopes: [],
                refreshTokenExpiresAt: row.refreshLife.map { 1_000 + $0 }),
            state: row.state, refreshMethod: row.method, generation: 0)
        if case .ended(let reason) = row.state { record = record.ended(reason) }
        let schedule = Keeper.Options().schedule(of: record, within: row.margin)
        #expect(schedule.map { [$0.earliest, $0.latest] } == row.expected)
    }

    struct Moment: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var life: Double?
        /// How long the service says that the refresh token lives.
        var refreshLife: Double?
        var isRefreshable = true
        var state = AccountRecord.State.signedIn
        var method = AccountRecord.RefreshMethod.refreshToken
        /// How many seconds before the token expires the service begins to refresh it.
        var margin: Double?
        let expected: [Double]?

        static let all = [
            Moment(testDescription: "ten minutes, in the last 25 s", life: 600, margin: 25, expected: [1_575, 1_575]),
            Moment(testDescription: "a minute, in its last half", life: 60, margin: 30, expected: [1_045, 1_045]),
            Moment(testDescription: "an hour", life: 3_600, expected: [3_340, 3_700]),
            Moment(testDescription: "a minute", life: 60, expected: [1_039, 1_045]),
            Moment(testDescription: "sixty days", life: 5_184_000, expected: [78_760, 87_400]),
            Moment(testDescription: "no end", life: nil, expected: [78_760, 87_400]),
            Moment(testDescription: "a negative life", life: -5, expected: [995, 995]),
            Moment(
                testDescription: "a day, and a refresh token of an hour", life: 86_400, refreshLife: 3_600,
                expected: [3_340, 3_700]),
            Moment(
                testDescription: "no end, and a refresh token of two minutes", life: nil, refreshLife: 120,
                expected: [1_078, 1_090]),
            Moment(
                testDescription: "an hour, and a refresh token of a second", life: 3_600, refreshLife: 1,
                expected: [3_340, 3_700]),
            Moment(
                testDescription: "no end, and a refresh token of 90, which are days", life: nil, refreshLife: 90,
                expected: [78_760, 87_400]),
            Moment(
                testDescription: "an hour, and a refresh token of a hundred days", life: 3_600, refreshLife: 8_640_000,
                expected: [3_340, 3_700]),
            Moment(
                testDescription: "a refresh token that outlived its end", life: 3_600, refreshLife: -5,
                expected: [3_340, 3_700]),
            Moment(
                testDescription: "a refresh without an outcome", life: 3_600, state: .refreshing(since: 1_100),
                expected: [1_130, 1_130]),
            Moment(testDescription: "no refresh token", life: 60, isRefreshable: false, expected: nil),
            Moment(testDescription: "a client's own", life: 60, method: .clientCredentials, expected: nil),
            Moment(testDescription: "a brought token", life: 60, method: .never, expected: nil),
            Moment(testDescription: "ended", life: 60, state: .ended(.loggedOut), expected: nil),
            Moment(testDescription: "signing out", life: 60, state: .signingOut(remaining: []), expected: nil),
        ]
    }

    @Test("an account that signs in later is found by the next listing, and one that was forgotten is left")
    func comingAndGoing() async throws {
        try await server.store(["first"], in: vault)
        let running = RunningKeeper(try keeper())
        await pass(.seconds(5)) { server.now > 1_800_000_010 }
        try await server.store(["second"], in: vault)
        try await vault.remove(AccountID(server.client(), name: "first").vaultKey)
        await pass(.seconds(5), waitingFor: [running]) { server.refreshes.count == 2 }
        await running.stop()
        #expect(server.refreshes.allSatisfy { $0.name == "second" })
    }

    @Test("a plan names every account that can be read, and counts one that cannot")
    func plan() async throws {
        try await server.store(["first", "damaged", "third"], in: vault)
        let damaged = AccountID(try server.client(), name: "damaged").vaultKey
        try await vault.update(damaged) { try await $0.replace(with: [1]) }
        let keeper = try keeper()
        let planned = Mutex<[String: Double]>([:])
        try await keeper.plan { id, due in planned.withLock { $0[id.name] = due } }
        #expect(Set(planned.withLock { $0.keys }) == ["first", "third"])
        #expect(keeper.report.damaged == 1)
        #expect(server.requests == 0)
    }

    @Test("the queue gives accounts in the order of their times")
    func queue() {
        var queue = KeeperQueue()
        var random = SplitMix64(seed: 7)
        let times = (0..<1_000).map { _ in Double(random.next() % 500) }
        for (index, time) in times.enumerated() {
            queue.push(.init(due: time, account: KeptName(group: 0, name: "\(index)")))
        }
        var got: [Double] = []
        while let item = queue.pop() { got.append(item.due) }
        #expect(got == times.sorted())
    }
}

/// A vault that can be read, and takes no record until it works.
private struct FailingVault: ForwardingVault {
    let base: MemoryVault
    let works = Shared(false)

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        guard works.value else { throw VaultError.unavailable("the database is down") }
        return try await base.update(key, body)
    }
}
