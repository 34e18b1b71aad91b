/// The record that a body of ``Vault/update(_:_:)`` holds, for every vault that writes through a closure.
///
/// An actor, because a body may use it from several tasks concurrently: changes happen one after the other, also where storing
/// suspends, and none after the hold ended.
package actor HeldRecord: VersionedRecord {
    package private(set) var contents: [UInt8]?
    /// Why nothing can be changed any more; nil while the body may.
    private var reason: String?
    private var isChanging = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let name: @Sendable () -> String
    private let confirming: (@Sendable (Duration) async throws(VaultError) -> Void)?
    private let journaling: (@Sendable ([UInt8]) async throws(VaultError) -> Void)?
    private let concluding: (@Sendable ([UInt8]) async throws(VaultError) -> Void)?
    private let store: @Sendable ([UInt8]?) async throws(VaultError) -> Void
    private let versioning: (@Sendable () -> Int64)?

    /// - Parameters:
    ///   - name: what errors call the record; no secret.
    ///   - version: the version of what is stored now; nil for a vault that counts none.
    ///   - confirm: makes sure that the hold lasts for a time from now; nil for a hold that ends with its process alone.
    ///   - journal: as `store`, for contents that another replacement is to follow; nil for a vault in which both are the same.
    ///   - conclude: as `store`, for the last contents of this hold, which may end with it; nil for a vault in which both are the same.
    ///   - store: makes the given contents, or their absence, durable before it returns.
    package init(
        _ name: @autoclosure @escaping @Sendable () -> String, contents: [UInt8]?,
        version: (@Sendable () -> Int64)? = nil,
        confirm: (@Sendable (Duration) async throws(VaultError) -> Void)? = nil,
        journal: (@Sendable ([UInt8]) async throws(VaultError) -> Void)? = nil,
        conclude: (@Sendable ([UInt8]) async throws(VaultError) -> Void)? = nil,
        store: @escaping @Sendable ([UInt8]?) async throws(VaultError) -> Void
    ) {
        self.name = name
        self.contents = contents
        confirming = confirm
        journaling = journal
        concluding = conclude
        self.store = store
        versioning = version
    }

    package var version: Int64? { versioning?() }

    package func replace(with contents: [UInt8]) async throws(VaultError) {
        try await change(to: contents)
    }

    package func journal(_ contents: [UInt8]) async throws(VaultError) {
        try await change(to: contents, by: journaling)
    }

    package func conclude(with contents: [UInt8]) async throws(VaultError) {
        try await change(to: contents, by: concluding, isLast: true)
    }

    package func remove() async throws(VaultError) {
        try await change(to: nil)
    }

    package func confirm(for time: Duration) async throws(VaultError) {
        try requireHeld()
        try await confirming?(time)
    }

    /// Runs a body with this record, which is of no use afterwards.
    package nonisolated(nonsending) func use<Result: Sendable>(
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

    /// Waits for a change that is being stored: the key must not be released before.
    private func end() async {
        await enter()
        reason = "the app used the record after its update had ended"
        leave()
    }

    private func requireHeld() throws(VaultError) {
        if let reason { throw .denied(what: name(), reason: reason) }
    }

    /// - Parameter special: stores contents instead of `store`.
    private func change(
        to contents: [UInt8]?, by special: (@Sendable ([UInt8]) async throws(VaultError) -> Void)? = nil,
        isLast: Bool = false
    ) async throws(VaultError) {
        await enter()
        defer { leave() }
        try requireHeld()
        // Also when it throws: the hold may have ended with it.
        if isLast { reason = "the app used the record after its last replacement" }
        if let contents, let special {
            try await special(contents)
        } else {
            try await store(contents)
        }
        self.contents = contents
    }

    private func enter() async {
        guard isChanging else {
            isChanging = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Hands the turn to the next, if there is one.
    private func leave() {
        if waiting.isEmpty { isChanging = false } else { waiting.removeFirst().resume() }
    }
}
