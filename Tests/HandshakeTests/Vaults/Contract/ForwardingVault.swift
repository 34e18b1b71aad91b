import Handshake

/// A vault that leaves to another what it does not do itself. It removes a record as it updates one.
protocol ForwardingVault: Vault {
    associatedtype Base: Vault
    var base: Base { get }
}

extension ForwardingVault {
    func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key, body)
    }

    func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey>
    ) async throws -> UnfinishedRecords? {
        try await base.claimUnfinished(of: kind, except: passedOver)
    }

    func returnUnfinished(_ keys: [VaultKey]) async throws { try await base.returnUnfinished(keys) }
}

/// A vault that keeps its temporary folder.
struct KeptVault<Base: Vault, Folder: Sendable>: ForwardingVault {
    let base: Base
    let folder: Folder

    func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>] { try await base.records(keys) }

    func remove(_ key: VaultKey) async throws -> Bool { try await base.remove(key) }
}
