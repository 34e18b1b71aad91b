import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("A keeper that lists and refreshes many accounts")
struct KeeperListingTests {
    private let server = StrictAccounts()
    private let vault = MemoryVault()

    @Test("the records of a page are asked for 64 at a time, by two concurrent requests")
    func reads() async throws {
        try await server.store((0..<200).map { "user\($0)" }, in: vault)
        let counting = CountingVault(base: vault)
        _ = try await Keeper(try server.app(counting)).runOnce()
        #expect(counting.mostReading.value == 2)
        #expect(counting.sizes.value.sorted() == [8, 64, 64, 64])
    }

    @Test("a listing begins at a random account of a page, and has every one of them")
    func start() async throws {
        let names = (10..<50).map { "user\($0)" }
        try await server.store(names, in: vault)
        let keeper = Keeper(try server.app(SortedVault(base: vault)))
        var firsts: Set<String> = []
        for _ in 0..<10 {
            let planned = Mutex<[String]>([])
            try await keeper.plan { id, _ in planned.withLock { $0.append(id.name) } }
            let order = planned.withLock { $0 }
            #expect(order.sorted() == names)
            firsts.insert(order.first ?? "")
        }
        #expect(firsts.count > 1)
    }

    @Test("as many refreshes run concurrently as begin in a second, so that slow answers do not halve the rate")
    func slowService() async throws {
        try await server.store((0..<60).map { "user\($0)" }, in: vault, age: 3_500)
        let release = Gate()
        server.answer { _, _ in
            await release.wait()
            return nil
        }
        var options = Keeper.Options()
        options.limit = .init(perSecond: 40)
        let running = RunningKeeper(Keeper(try server.app(vault), options: options))
        let end = server.now + 15
        // Time passes while the listing and the lane sleep.
        while server.requests < 20, server.now < end {
            server.clock.advance(by: .milliseconds(25), ifAsleep: 2)
            for _ in 0..<10 { await Task.yield() }
        }
        release.open()
        await running.stop()
        #expect(server.mostRunning >= 20)
    }

    @Test("a clock that is set back by hours puts the next refresh off by the rate's second, not by those hours")
    func setBack() async throws {
        // Long overdue: they are due after the clock was set back too.
        try await server.store(["one", "other"], in: vault, age: 12_000)
        let (server, behind) = (server, Shared(0.0))
        server.answer { _, number in
            if number == 1 { behind.change { $0 = 7_200 } }
            return nil
        }
        var options = Keeper.Options()
        options.limit = .init(perSecond: 1, concurrent: 1)
        let running = RunningKeeper(Keeper(try app(vault, behind: behind), options: options))
        let end = server.now + 60
        await server.pass(.milliseconds(250), waitingFor: [running]) { server.refreshes.count == 2 || server.now > end }
        await running.stop()
        let times = server.refreshes.map(\.time)
        #expect(times.count == 2 && (times.last ?? 0) - (times.first ?? 0) <= 2, "\(times)")
    }

    @Test("a clock that is set back by hours makes a pause after a failure as long as the longest one at most")
    func setBackWhilePaused() async throws {
        try await server.store(["one", "other"], in: vault, age: 12_000)
        let (server, behind) = (server, Shared(0.0))
        server.answer { _, number in number == 1 ? .json(503, [:]) : nil }
        var options = Keeper.Options()
        options.limit = .init(perSecond: 1, concurrent: 1)
        options.maximumPause = 60
        let running = RunningKeeper(Keeper(try app(vault, behind: behind), options: options))
        _ = await running.first { $0.pausedUntil != nil }
        behind.change { $0 = 7_200 }
        let end = server.now + 200
        await server.pass(waitingFor: [running]) { !server.refreshes.isEmpty || server.now > end }
        await running.stop()
        #expect(!server.refreshes.isEmpty)
    }

    @Test("a clock that is set forward by hours during a listing does not put off the next one")
    func setForward() async throws {
        try await server.store(["first"], in: vault)
        let (server, behind) = (server, Shared(0.0))
        let counting = CountingVault(base: vault) { behind.change { $0 = -7_200 } }
        let running = RunningKeeper(Keeper(try app(counting, behind: behind)))
        // The listing has ended: the keeper waits for the next one.
        while server.refreshes.isEmpty { await Task.yield() }
        try await server.store(["second"], in: vault)
        let end = server.now + 2_000
        await server.pass(.seconds(5), waitingFor: [running]) {
            server.refreshes.contains { $0.name == "second" } || server.now > end
        }
        await running.stop()
        #expect(server.refreshes.contains { $0.name == "second" })
    }

    /// An app whose calendar clock is behind the server's by so many seconds.
    private func app(_ vault: any Vault, behind: Shared<Double>) throws -> Handshake {
        let time = TimeSource(now: { [server] in server.now - behind.value }, clock: server.clock)
        return try Handshake(try server.client(), vault: vault, transport: server, time: time)
    }

    @Test(
        "how many run concurrently follows from the rate, within bounds, unless it is stated",
        arguments: [
            (Keeper.RateLimit(), 10), (.init(perSecond: 1), 8), (.init(perSecond: 30.5), 31),
            (.init(perSecond: 300), 64), (.init(perSecond: .infinity), 10), (.init(perSecond: 300, concurrent: 2), 2),
            (.init(perSecond: 300, concurrent: 0), 1), (.init(perSecond: 1, concurrent: 500), 500),
        ] as [(Keeper.RateLimit, Int)])
    func concurrency(_ limit: Keeper.RateLimit, _ expected: Int) {
        #expect(limit.concurrent == expected)
    }
}

/// A vault in memory that counts the requests for records.
private struct CountingVault: ForwardingVault {
    let base: MemoryVault
    var beforeRead: @Sendable () -> Void = {}
    let mostReading = Shared(0)
    let sizes = Shared<[Int]>([])
    private let reading = Shared(0)

    func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>] {
        beforeRead()
        sizes.change { $0.append(keys.count) }
        let now = reading.change { count in
            count += 1
            return count
        }
        mostReading.change { $0 = max($0, now) }
        // Others have time to come, also on a busy machine.
        for _ in 0..<200_000 where reading.value <= 2 { await Task.yield() }
        reading.change { $0 -= 1 }
        return try await base.records(keys)
    }
}

/// A vault in memory with its names in order, as a folder has them.
private struct SortedVault: ForwardingVault {
    let base: MemoryVault

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        let keys = try await base.keys(of: kind).keys
        return VaultListing(keys: keys.sorted { $0.canonical.lexicographicallyPrecedes($1.canonical) })
    }
}
