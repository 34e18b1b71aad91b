import Foundation
import Geofences
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

/// Several lives of an app that walks one track through two areas, and what the service got of it.
private struct Walk {
    /// How the app goes on after it died.
    enum Resumption: CaseIterable {
        /// A recording is read from its start.
        case fromTheStart
        /// The source delivers the fix again that was being taken.
        case withTheSameFix
    }

    let vault = MemoryVault()
    let service = CountingService()
    /// What `receive` returned: the record, known to be durable.
    private(set) var witnessed: Set<String> = []

    /// Twice through the first area (at 13.4° east), once through the second; 20 seconds between fixes.
    static func track() throws -> [Fix] {
        let longitudes =
            [13.45, 13.45] + Array(repeating: 13.4, count: 4) + Array(repeating: 13.45, count: 3)
            + Array(repeating: 13.4, count: 3) + Array(repeating: 13.45, count: 3)
            + Array(repeating: 13.5, count: 3) + Array(repeating: 13.45, count: 3)
        return try longitudes.enumerated().map { number, longitude in
            try Fix(
                Coordinate(latitude: 52.52, longitude: longitude), accuracy: 5,
                time: Date(timeIntervalSince1970: PlacesBench.now + Double(number) * 20))
        }
    }

    /// What the service gets of a walk: each edge at the first fix beyond it.
    static let crossings: Set<CountingService.Content> = [
        .init(subscription: "a0", kind: "entry", time: "2025-01-01T00:00:40+0000"),
        .init(subscription: "a0", kind: "exit", time: "2025-01-01T00:02:00+0000"),
        .init(subscription: "a0", kind: "entry", time: "2025-01-01T00:03:00+0000"),
        .init(subscription: "a0", kind: "exit", time: "2025-01-01T00:04:00+0000"),
        .init(subscription: "a1", kind: "entry", time: "2025-01-01T00:05:00+0000"),
        .init(subscription: "a1", kind: "exit", time: "2025-01-01T00:06:00+0000"),
    ]

    /// Lives once, from a fix on, until the end of the track or of the life.
    ///
    /// - Returns: the fix at which the life ended.
    mutating func live(_ mortality: Mortality, from first: Int) async throws -> Int {
        let time = TimeSource(now: { PlacesBench.now + 600 }, clock: HurriedClock())
        let token = try token()
        var configuration = PlacesSynchronizer.Configuration()
        configuration.retry = .none
        let synchronizer = PlacesSynchronizer(
            of: "ifttt",
            api: ConnectAPI(
                ConnectAPI.Caller(userToken: { token }), transport: service.transport(mortality), time: time),
            vault: MortalVault(base: vault, mortality: mortality), configuration: configuration, time: time)
        let track = try Self.track()
        var place = first
        do {
            try await synchronizer.activate([ConnectionID(Balcony.id)])
            while place < track.count, !mortality.isDead {
                let crossings = try await synchronizer.receive(track[place], now: nil).crossings
                witnessed.formUnion(crossings.map(\.id))
                if !crossings.isEmpty { await synchronizer.synchronize(.crossing) }
                if !mortality.isDead { place += 1 }
            }
            await synchronizer.synchronize()
        } catch { try #require(mortality.isDead, "\(error)") }
        return place
    }

    /// Compares what arrived with what happened.
    func check(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
        let received = service.received.withLock { $0 }
        #expect(Set(received.map(\.content)) == Self.crossings, comment, sourceLocation: sourceLocation)
        let identifiers = Dictionary(grouping: received, by: \.content).mapValues { Set($0.map(\.id)) }
        #expect(identifiers.values.allSatisfy { $0.count == 1 }, comment, sourceLocation: sourceLocation)
        #expect(witnessed.isSubset(of: received.map(\.id)), comment, sourceLocation: sourceLocation)
    }
}

/// A vault whose next update waits until the test lets it go on.
private final class HeldVault: Vault {
    let isHolding = Mutex(false)
    let (began, go) = (Gate(), Gate())
    private let base = MemoryVault()

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }
    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let isHeld = isHolding.withLock { isHolding in
            defer { isHolding = false }
            return isHolding
        }
        if isHeld {
            began.open()
            await go.wait()
        }
        return try await base.update(key, body)
    }
}

@Suite("Places: crashes")
struct CrashTests {
    @Test(
        "F086, F087: whichever step is a process's last, every crossing arrives, and none twice as new",
        arguments: Walk.Resumption.allCases)
    fileprivate func everyStep(resumption: Walk.Resumption) async throws {
        var last = 1
        while true {
            var walk = Walk()
            let mortality = Mortality(dyingAt: last)
            let place = try await walk.live(mortality, from: 0)
            _ = try await walk.live(Mortality(dyingAt: .max), from: resumption == .fromTheStart ? 0 : place)
            walk.check("died at step \(last)")
            #expect(try await walk.vault.keys(of: .crossings).keys.isEmpty)
            guard mortality.isDead else { break }
            last += 1
        }
        #expect(last > 100, "a walk has more steps than these")
    }

    @Test(
        "F086, F087: processes that die one after another at random steps lose no crossing and double none",
        arguments: Walk.Resumption.allCases)
    fileprivate func manyDeaths(resumption: Walk.Resumption) async throws {
        var random = SplitMix64(seed: 12)
        for round in 0..<25 {
            var walk = Walk()
            var place = 0
            for _ in 0..<Int.random(in: 2...20, using: &random) {
                let mortality = Mortality(dyingAt: Int.random(in: 1...60, using: &random))
                place = try await walk.live(mortality, from: resumption == .fromTheStart ? 0 : place)
            }
            _ = try await walk.live(Mortality(dyingAt: .max), from: resumption == .fromTheStart ? 0 : place)
            walk.check("round \(round)")
        }
    }

    @Test("positions that are reported concurrently are taken one after another")
    func concurrently() async throws {
        let vault = HeldVault()
        let bench = PlacesBench(
            ["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]], vault: vault)
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        let fixes = try [52.53, 52.52, 52.52, 52.52].enumerated().map { number, latitude in
            try Fix(
                Coordinate(latitude: latitude, longitude: 13.4), accuracy: 5,
                time: Date(timeIntervalSince1970: PlacesBench.now + Double(number) * 30))
        }
        for fix in fixes.prefix(2) { try await synchronizer.receive(fix, now: nil) }
        vault.isHolding.withLock { $0 = true }
        let first = Task { try await synchronizer.receive(fixes[2], now: nil).outcome.events }
        await vault.began.wait()
        let second = Task { try await synchronizer.receive(fixes[3], now: nil).outcome.events }
        for _ in 0..<100 { await Task.yield() }
        vault.go.open()
        #expect(try await first.value.map(\.kind) == [.enter])
        #expect(try await second.value.isEmpty)
    }

    @Test("crossings that a crash left in two batches are not added again")
    func twoBatches() async throws {
        let queue = CrossingQueue(in: MemoryVault(), of: "ifttt")
        let crossings = try (0..<CrossingQueue.batchSize + 2).map { second in
            try #require(
                AreaCrossing(
                    RegionCrossing(.enter, of: "ifttt_a0", at: PlacesBench.date(Double(second))), at: PlacesBench.now,
                    installation: "I"))
        }
        try await queue.append(Array(crossings.dropLast(2)))
        for _ in 0..<2 { try await queue.append(Array(crossings.suffix(4))) }
        #expect(try await queue.crossings() == crossings)
    }

    @Test(
        "a crossing that a full disk kept out of the queue is queued with the next position"
    )
    func fullDisk() async throws {
        let vault = FailingVault(MemoryVault())
        let bench = PlacesBench(
            ["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]], vault: vault)
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        bench.pass(150)
        let latitudes = [52.53, 52.52, 52.52, 52.53, 52.53, 52.53]
        for (number, latitude) in latitudes.enumerated() {
            // The disk is full when the entry is found, and has space again before the exit is.
            vault.failing.withLock { $0 = number == 2 ? .crossings : nil }
            let fix = try Self.fix(latitude, number)
            if number == 2 {
                await #expect(throws: ConnectError.account(.vault(.unavailable("the disk is full")))) {
                    try await synchronizer.receive(fix, now: nil)
                }
            } else {
                try await synchronizer.receive(fix, now: nil)
            }
        }
        #expect(try await synchronizer.waiting().map(\.kind) == [.enter, .exit])
    }

    @Test("a crossing at a time that is not a number is refused", arguments: [Double.nan, .infinity])
    func time(occurredAt: Double) async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        let error = await connectError {
            try await synchronizer.record(.exit, of: "ifttt_x", at: occurredAt)
        }
        #expect(error == .input(member: "date", problem: "a finite date is expected"))
        #expect(try await synchronizer.waiting().isEmpty)
    }

    @Test("a crossing that is reported twice is one; another kind, time, area or installation makes it another")
    func identifiers() async throws {
        func reported(
            _ kind: RegionCrossing.Kind, _ region: String, _ time: Double, _ installation: String
        ) -> String? {
            AreaCrossing(
                RegionCrossing(kind, of: region, at: PlacesBench.date(time)), at: PlacesBench.now,
                installation: installation)?.id
        }
        let first = try #require(reported(.enter, "ifttt_a0", 1, "I"))
        #expect(reported(.enter, "ifttt_a0", 1, "I") == first)
        let others = [
            reported(.exit, "ifttt_a0", 1, "I"), reported(.enter, "ifttt_a1", 1, "I"),
            reported(.enter, "ifttt_a0", 1.001, "I"), reported(.enter, "ifttt_a0", 1, "J"),
        ]
        #expect(Set(others + [first]).count == 5)
    }

    @Test("a synchronization of another process uploads the crossing that a full disk kept out of the queue")
    func foundBySynchronization() async throws {
        let connection = ScriptedIFTTT.Reply.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))
        let vault = FailingVault(MemoryVault())
        let bench = PlacesBench(["GET \(PlacesBench.path)": [connection]], vault: vault)
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        for (number, latitude) in [52.53, 52.52].enumerated() {
            try await synchronizer.receive(Self.fix(latitude, number), now: nil)
        }
        vault.failing.withLock { $0 = .crossings }
        await #expect(throws: ConnectError.account(.vault(.unavailable("the disk is full")))) {
            try await synchronizer.receive(Self.fix(52.52, 2), now: nil)
        }
        vault.failing.withLock { $0 = nil }
        let other = try bench.synchronizer()
        #expect(await other.synchronize() == .newData)
        #expect(try bench.uploads.joined().map { $0["event_type"] } == ["entry"])
    }

    private static func fix(_ latitude: Double, _ number: Int) throws -> Fix {
        try Fix(
            Coordinate(latitude: latitude, longitude: 13.4), accuracy: 5,
            time: Date(timeIntervalSince1970: PlacesBench.now + Double(number) * 30))
    }
}
