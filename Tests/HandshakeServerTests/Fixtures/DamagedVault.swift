import Handshake
import Nearby
import Synchronization
import Testing

@testable import Nearby

/// A vault of which some records are damaged: these can be removed, and then written again.
final class DamagedVault: ForwardingVault {
    let base = MemoryVault()
    private let damaged = Mutex<Set<VaultKey>>([])
    private let fault = Mutex<Fault?>(nil)

    enum Fault {
        /// It takes no part of a table.
        case full
        /// It does not list its records.
        case unlisted
    }

    func damage(_ key: VaultKey) { damaged.withLock { _ = $0.insert(key) } }

    func fail(by fault: Fault?) { self.fault.withLock { $0 = fault } }

    /// The one part of the table that is stored.
    func partOfTable() async throws -> VaultKey {
        let keys = try await base.keys(of: .circle).keys
        return try #require(keys.first { $0.components.count == 5 && $0.components[2] == "table" })
    }

    /// What another version might have stored, as long as what is there.
    func otherContent(of key: VaultKey) async throws -> [UInt8] {
        try #require(try await base.record(key)).map { _ in UInt8(ascii: "x") }
    }

    private func refuse(_ key: VaultKey) throws {
        guard damaged.withLock({ $0.contains(key) }) else { return }
        throw VaultError.damaged(what: "a record", reason: "its contents are truncated")
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try refuse(key)
        return try await base.record(key)
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        if fault.withLock(\.self) == .unlisted { throw Self.outage }
        let keys = try await base.keys(of: kind).keys
        return VaultListing(keys: keys.filter { (try? refuse($0)) != nil }, damaged: [])
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try refuse(key)
        if fault.withLock(\.self) == .full, key.components.count == 5 { throw Self.outage }
        return try await base.update(key, body)
    }

    static var outage: VaultError { .unavailable("the disk is full") }

    func remove(_ key: VaultKey) async throws -> Bool {
        damaged.withLock { _ = $0.remove(key) }
        return try await base.remove(key)
    }
}

extension CircleWorld {
    /// Ada's device in a circle with Zoë, after what it knows has stopped changing.
    func settledPair(in vault: DamagedVault) async throws -> (CircleDevice, JoinedCircle) {
        let ada = CircleDevice(self, vault: vault)
        let adas = try await ada.join()
        _ = try await CircleDevice(self).join(as: CircleDevice.zoe)
        for _ in 0..<3 { try await adas.synchronize() }
        return (ada, adas)
    }
}
