/// A vault that notices when a record was put back, and takes a newer one from a caller that has it (`vault-lease.md` 8).
package protocol RestoringVault: Vault {
    /// Replaces a record that is older than one which this vault has seen. Any other stays as it is.
    ///
    /// - Parameter newer: what is to be stored in the place of the given contents; nil to leave them.
    /// - Returns: whether it was replaced.
    /// - Throws: ``VaultError``, `CancellationError`, and what `newer` throws.
    func restore(_ key: VaultKey, _ newer: @Sendable ([UInt8]) throws -> [UInt8]?) async throws -> Bool
}
