/// The record that a body of ``Vault/update(_:_:)`` holds, for vaults that write in one step without suspending.
///
/// An actor, because a body may use it from several tasks concurrently: changes happen one after the other, and none after
/// the hold ended.
actor HeldRecord: LockedRecord {
    private(set) var contents: [UInt8]?
    private var isHeld = true
    private let name: String
    private let store: @Sendable ([UInt8]?) throws(VaultError) -> Void

    /// - Parameters:
    ///   - name: what errors call the record; no secret.
    ///   - store: makes the given contents, or their absence, durable before it returns.
    init(
        _ name: String, contents: [UInt8]?, store: @escaping @Sendable ([UInt8]?) throws(VaultError) -> Void
    ) {
        self.name = name
        self.contents = contents
        self.store = store
    }

    func replace(with contents: [UInt8]) throws(VaultError) {
        try change(to: contents)
    }

    func remove() throws(VaultError) {
        try change(to: nil)
    }

    /// Runs a body with this record, which is of no use afterwards.
    nonisolated(nonsending) func use<Result: Sendable>(
        by body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(self)
            await end()
            return result
        } catch {
            await end()
            throw error
        }
    }

    private func end() {
        isHeld = false
    }

    private func change(to contents: [UInt8]?) throws(VaultError) {
        guard isHeld else {
            throw .denied(what: name, reason: "the app used the record after its update had ended")
        }
        try store(contents)
        self.contents = contents
    }
}
