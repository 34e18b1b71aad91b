/// A vault that notices when a record was put back, and takes a newer one from a caller that has it (`vault-lease.md` 8).
package protocol RestoringVault: Vault {
    /// Replaces a record that was put back, for a caller that has the newest version which this vault has seen. Any other record stays as it is, and so
    /// does one of which the vault has seen a newer version than the caller has. A version that another process stored and this one never saw
    /// cannot be known: then what the caller has counts as the newest.
    ///
    /// - Parameters:
    ///   - version: ``VersionedRecord/version`` of what the caller has.
    ///   - newer: what is to be stored in place of the given contents; nil to leave them.
    /// - Returns: whether it was replaced.
    /// - Throws: ``VaultError``, `CancellationError`, and what `newer` throws.
    func restore(
        _ key: VaultKey, from version: Int64, _ newer: @Sendable ([UInt8]) throws -> [UInt8]?
    ) async throws -> Bool
}

/// A held record of a vault that counts its versions.
package protocol VersionedRecord: LockedRecord {
    /// The version of what is stored now; nil where the vault counts none.
    var version: Int64? { get async }
}

extension LockedRecord {
    /// The version of what is stored now; nil where the vault counts none.
    package var storedVersion: Int64? { get async { await (self as? any VersionedRecord)?.version } }
}
