import Synchronization

/// A vault whose waits and failures are counted.
struct MeasuredVault: RestoringVault {
    let base: any Vault
    let telemetry: Telemetry

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try await counting { try await base.record(key) }
    }

    func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>] {
        let records = try await counting { try await base.records(keys) }
        for case .failure(let error) in records { count(error) }
        return records
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        try await counting { try await base.keys(of: kind) }
    }

    func forEachPage(of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void) async throws {
        try await counting { try await base.forEachPage(of: kind, body) }
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let start = ContinuousClock.now
        let isOfBody = Mutex(false)
        do {
            return try await base.update(key) { record in
                telemetry.time("handshake_vault_wait_seconds", since: start, ["kind": key.kind.rawValue])
                do { return try await body(MeasuredRecord(base: record, vault: self)) } catch {
                    // What the record or another call threw was counted there.
                    isOfBody.withLock { $0 = true }
                    throw error
                }
            }
        } catch let error as VaultError {
            if !isOfBody.withLock({ $0 }) { count(error) }
            throw error
        }
    }

    @discardableResult
    func remove(_ key: VaultKey) async throws -> Bool {
        try await counting { try await base.remove(key) }
    }

    func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey>
    ) async throws -> UnfinishedRecords? {
        try await counting { try await base.claimUnfinished(of: kind, except: passedOver) }
    }

    func returnUnfinished(_ keys: [VaultKey]) async throws {
        try await counting { try await base.returnUnfinished(keys) }
    }

    func restore(
        _ key: VaultKey, from version: Int64, _ newer: @Sendable ([UInt8]) throws -> [UInt8]?
    ) async throws -> Bool {
        guard let vault = base as? any RestoringVault else { return false }
        return try await counting { try await vault.restore(key, from: version, newer) }
    }

    fileprivate func counting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as VaultError {
            count(error)
            throw error
        }
    }

    private func count(_ error: VaultError) {
        telemetry.count("handshake_vault_failures_total", ["code": error.code])
    }
}

/// A held record whose failures are counted, also where the caller makes other errors of them.
private struct MeasuredRecord: VersionedRecord {
    let base: any LockedRecord
    let vault: MeasuredVault

    var contents: [UInt8]? { get async { await base.contents } }
    var version: Int64? { get async { await base.storedVersion } }

    func replace(with contents: [UInt8]) async throws {
        try await vault.counting { try await base.replace(with: contents) }
    }

    func journal(_ contents: [UInt8]) async throws {
        try await vault.counting { try await base.journal(contents) }
    }

    func conclude(with contents: [UInt8]) async throws {
        try await vault.counting { try await base.conclude(with: contents) }
    }

    func remove() async throws {
        try await vault.counting { try await base.remove() }
    }

    func confirm(for time: Duration) async throws {
        try await vault.counting { try await base.confirm(for: time) }
    }
}
