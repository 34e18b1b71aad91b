/// A vault whose waits and failures are counted.
struct MeasuredVault: Vault {
    let base: any Vault
    let telemetry: Telemetry

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try await counting { try await base.record(key) }
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
        return try await counting {
            try await base.update(key) { record in
                telemetry.time("handshake_vault_wait_seconds", since: start, ["kind": key.kind.rawValue])
                return try await body(record)
            }
        }
    }

    @discardableResult
    func remove(_ key: VaultKey) async throws -> Bool {
        try await counting { try await base.remove(key) }
    }

    private func counting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as VaultError {
            telemetry.count("handshake_vault_failures_total", ["code": error.code])
            throw error
        }
    }
}
