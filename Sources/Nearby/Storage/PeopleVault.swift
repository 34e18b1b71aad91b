public import Handshake
public import OAuth

/// A vault for one run of a watch. Its writes are refused once everyone is forgotten.
///
/// Without it, a watch that runs during a sign-out would store again what the sign-out deletes. A refused write throws
/// ``NearbyError/everyoneForgotten``; one that passes the check just before ``StoredPeople/forgetEveryone()`` is taken back.
public struct PeopleVault: Vault {
    private let base: any Vault
    private let key: VaultKey
    /// A random value that is replaced when everyone is forgotten.
    private let period: [UInt8]
    private let community: String
    /// The ``ChangeMark`` at the beginning of the run.
    private let mark: [UInt8]?

    /// How a run ended.
    public enum Ending: Sendable, Hashable {
        /// The body has ended.
        case ended
        /// Everyone was forgotten.
        case everyoneForgotten
        /// What the run depends on has changed: the seed, friends' keys, or a circle. Begin again with the new ones.
        case changed
    }

    /// Opens a vault for a run.
    ///
    /// - Parameters:
    ///   - base: where the records are stored.
    ///   - community: as for ``EncounterLog``.
    ///   - random: draws the value by which periods are told apart.
    /// - Throws: `VaultError`, `CancellationError`.
    public static func open(
        _ base: any Vault, community: String, random: RandomSource = .system
    ) async throws -> PeopleVault {
        let key = key(of: community)
        let period = try await base.update(key) { record in
            if let contents = await record.contents { return contents }
            let new = random.bytes(16)
            try await record.replace(with: new)
            return new
        }
        let mark = try await ChangeMark.current(in: base, community: community)
        return PeopleVault(base: base, key: key, period: period, community: community, mark: mark)
    }

    static func key(of community: String) -> VaultKey { VaultKey(.beaconSeed, [community, "period"]) }

    /// Whether everyone is still remembered.
    public var isCurrent: Bool {
        get async throws { try await base.record(key) == period }
    }

    /// Runs `body` until everyone is forgotten or what it depends on changes.
    ///
    /// A vault that cannot be read is asked again.
    ///
    /// - Parameters:
    ///   - interval: how often the vault is asked.
    ///   - clock: measures the interval.
    ///   - body: what uses this vault.
    /// - Returns: what ended the run.
    /// - Throws: what `body` throws; `CancellationError`.
    public func run(
        every interval: Duration = .seconds(2), on clock: any Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Ending {
        try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask {
                try await body()
                return .ended
            }
            group.addTask {
                while true {
                    guard (try? await isCurrent) ?? true else { return .everyoneForgotten }
                    guard try await isUnchanged() else { return .changed }
                    try await clock.sleep(for: interval)
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .ended
        }
    }

    private func isUnchanged() async throws -> Bool {
        do {
            return try await ChangeMark.current(in: base, community: community) == mark
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return true
        }
    }

    public func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }

    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    public func remove(_ key: VaultKey) async throws -> Bool { try await base.remove(key) }

    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { record in
            try await body(PeriodRecord(base: record, check: { try await requireCurrent() }))
        }
    }

    private func requireCurrent() async throws {
        guard try await isCurrent else {
            throw NearbyError.everyoneForgotten
        }
    }
}

/// A record of a ``PeopleVault``.
private struct PeriodRecord: LockedRecord {
    let base: any LockedRecord
    let check: @Sendable () async throws -> Void

    var contents: [UInt8]? { get async { await base.contents } }

    func replace(with contents: [UInt8]) async throws {
        try await check()
        try await base.replace(with: contents)
        do {
            try await check()
        } catch {
            try await base.remove()
            throw error
        }
    }

    func remove() async throws { try await base.remove() }

    func confirm(for time: Duration) async throws { try await base.confirm(for: time) }
}
