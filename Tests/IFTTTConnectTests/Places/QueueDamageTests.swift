import Geofences
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

/// A vault in which records are torn, as by a disk: they can neither be listed nor read, only removed.
private final class TornVault: Vault {
    let torn = Mutex<Set<VaultKey>>([])
    private let base = MemoryVault()
    private static let damage = VaultError.damaged(what: "a file", reason: "its contents are truncated")

    private func check(_ key: VaultKey) throws {
        if torn.withLock({ $0.contains(key) }) { throw Self.damage }
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try check(key)
        return try await base.record(key)
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        let torn = torn.withLock { $0 }
        let keys = try await base.keys(of: kind).keys.filter { !torn.contains($0) }
        return VaultListing(keys: keys, damaged: torn.map { _ in Self.damage })
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try check(key)
        return try await base.update(key, body)
    }

    func remove(_ key: VaultKey) async throws -> Bool {
        torn.withLock { _ = $0.remove(key) }
        return try await base.remove(key)
    }
}

@Suite("Places: a damaged queue")
struct QueueDamageTests {
    private static func key(_ parts: String..., of account: String = "ifttt") -> VaultKey {
        VaultKey(.crossings, [account] + parts)
    }

    private func bench(_ vault: any Vault) -> PlacesBench {
        PlacesBench(
            ["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]], vault: vault)
    }

    /// Records so many crossings, the first at this second.
    private func record(_ count: Int, from second: Int = 0, by synchronizer: PlacesSynchronizer) async throws {
        for number in 0..<count {
            try await synchronizer.record(.exit, of: "ifttt_a0", at: PlacesBench.now + Double(second + number))
        }
    }

    private func damages(_ synchronizer: PlacesSynchronizer) async -> Int {
        await synchronizer.finishedEvents().count { if case .queueDamaged = $0 { true } else { false } }
    }

    @Test(
        "F087: a batch with other contents is told and left as it is; later crossings are recorded and uploaded",
        arguments: ["", "{", "[]", #"{"version":2,"crossings":[]}"#, #"{"version":1,"crossings":[{}]}"#])
    func contents(text: String) async throws {
        let bench = bench(MemoryVault())
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        try await record(1, by: synchronizer)
        try await bench.vault.update(Self.key("1")) { try await $0.replace(with: Array(text.utf8)) }
        #expect(try await synchronizer.damagedRecords.count == 1)
        try await record(2, from: 10, by: synchronizer)
        for _ in 0..<2 { await synchronizer.synchronize(.crossing) }
        #expect(try bench.uploads.map(\.count) == [2])
        #expect(try await bench.vault.record(Self.key("1")) == Array(text.utf8))
        #expect(await damages(synchronizer) == 1)
    }

    @Test(
        "F087: a torn batch stops neither recording nor uploading, of this account or another, and goes when it is asked for"
    )
    func torn() async throws {
        let vault = TornVault()
        let bench = bench(vault)
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        try await record(CrossingQueue.batchSize + 3, by: synchronizer)
        vault.torn.withLock { $0 = [Self.key("2"), VaultKey(.account, ["another"])] }
        try await record(4, from: 1_000, by: synchronizer)
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        #expect(try bench.uploads.map(\.count) == [CrossingQueue.batchSize, 4])
        #expect(try await synchronizer.damagedRecords.count == 1)
        let second = try bench.synchronizer(of: "second")
        #expect(try await second.damagedRecords.isEmpty)
        #expect(try await second.waiting().isEmpty)
        #expect(try await synchronizer.removeDamagedRecords() == 1)
        #expect(try await synchronizer.damagedRecords.isEmpty)
        #expect(vault.torn.withLock { $0 } == [VaultKey(.account, ["another"])])
    }

    @Test("a torn counter stops nothing, and no crossing is queued twice")
    func tornCounter() async throws {
        let vault = TornVault()
        let synchronizer = try bench(vault).synchronizer()
        try await record(CrossingQueue.batchSize + 3, by: synchronizer)
        vault.torn.withLock { $0 = [Self.key("last")] }
        try await record(5, from: CrossingQueue.batchSize + 1, by: synchronizer)
        try await record(CrossingQueue.batchSize, from: 1_000, by: synchronizer)
        let waiting = try await synchronizer.waiting()
        #expect(waiting.count == 2 * CrossingQueue.batchSize + 6)
        #expect(Set(waiting.map(\.id)).count == waiting.count)
        #expect(waiting.map(\.occurredAt) == waiting.map(\.occurredAt).sorted())
    }

    @Test("F081: deactivating removes damaged records too")
    func deactivation() async throws {
        let vault = TornVault()
        let synchronizer = try bench(vault).synchronizer()
        try await record(CrossingQueue.batchSize + 3, by: synchronizer)
        vault.torn.withLock { $0 = [Self.key("1"), Self.key("last")] }
        try await synchronizer.deactivate()
        #expect(vault.torn.withLock { $0 }.isEmpty)
        #expect(try await vault.keys(of: .crossings).keys.isEmpty)
    }

    @Test("a vault that fails during a synchronization is told as such")
    func vaultFailure() async throws {
        let vault = FailingVault(MemoryVault())
        let bench = bench(vault)
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        vault.failing.withLock { $0 = .places }
        #expect(await synchronizer.synchronize() == .failed)
        let full = ConnectError.account(.vault(.unavailable("the disk is full")))
        #expect(await synchronizer.lastFailure == full)
        #expect(await synchronizer.finishedEvents().contains(.synchronizationFailed(full)))
    }
}
