import Handshake
import Synchronization

/// A vault in memory whose storage can be taken away.
final class FailingVault: ForwardingVault {
    let base: MemoryVault
    private let updatesLeft = Mutex<Int?>(nil)

    init(_ base: MemoryVault = MemoryVault()) {
        self.base = base
    }

    /// Fails after so many more updates.
    func fail(after count: Int = 0) { updatesLeft.withLock { $0 = count } }

    func recover() { updatesLeft.withLock { $0 = nil } }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let isOver = updatesLeft.withLock { left in
            guard let count = left else { return false }
            left = max(count - 1, 0)
            return count == 0
        }
        if isOver { throw VaultError.unavailable("the test says so") }
        return try await base.update(key, body)
    }
}
