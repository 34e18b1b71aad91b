import Handshake

/// The vaults of the module itself. Those in databases have the same contract, in `Tests/Databases`.
extension VaultContract {
    static let all = [memory, files]

    static let memory = VaultContract(testDescription: "memory") { clock in
        let vault = MemoryVault(timeout: timeout, clock: clock)
        return Storage { vault }
    }

    static let files = VaultContract(testDescription: "files") { clock in
        let folder = try VaultFolder()
        return Storage { KeptVault(vault: try folder.open(timeout: timeout, clock: clock), folder: folder) }
    }
}

/// A file vault that keeps its temporary folder.
private struct KeptVault: Vault {
    let vault: FileVault
    let folder: VaultFolder

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await vault.record(key) }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await vault.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await vault.update(key, body)
    }

    func remove(_ key: VaultKey) async throws -> Bool { try await vault.remove(key) }
}
