import Synchronization

/// A vault in this process's memory. Its records end with the value.
///
/// For tests, for previews, and for programs that must not leave anything behind. It keeps the promises of ``Vault``
/// but durability, which ends with the process, and encryption, since nothing leaves the process's memory. It waits
/// for other tasks only.
public final class MemoryVault: Vault {
    // By canonical keys: two strings that Swift calls equal may be different names.
    private let records = Mutex<[[UInt8]: (key: VaultKey, contents: [UInt8])]>([:])
    private let queue = ExclusiveQueue<[UInt8]>()
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Makes an empty vault.
    ///
    /// - Parameters:
    ///   - timeout: how long an update waits for those before it, until it fails as ``VaultError/busy(_:)``.
    ///   - clock: what measures the timeout.
    public init(timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous) {
        self.timeout = timeout
        self.clock = clock
    }

    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        records.withLock { $0[key.canonical]?.contents }
    }

    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        // Lazily: keys of other kinds, which may be many more, are not copied.
        VaultListing(keys: records.withLock { Array($0.values.lazy.filter { $0.key.kind == kind }.map(\.key)) })
    }

    /// Runs `body` while holding this key. Tasks that wait are served in the order they came.
    ///
    /// - Throws: ``VaultError/busy(_:)`` when callers before took longer than the vault's timeout;
    ///   `CancellationError` when the task was cancelled before it had the key; and whatever `body` throws. A
    ///   replacement made before `body` throws stays.
    @concurrent
    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let name = "a record of kind \(key.kind.rawValue)"
        let canonical = key.canonical
        guard try await enter(canonical, on: clock) else { throw VaultError.busy(name) }
        defer { queue.release(canonical) }
        let contents = records.withLock { $0[canonical]?.contents }
        let record = HeldRecord(name, contents: contents) { [self] contents throws(VaultError) in
            records.withLock { $0[canonical] = contents.map { (key, $0) } }
        }
        return try await record.use(by: body)
    }

    private func enter(_ canonical: [UInt8], on clock: some Clock<Duration>) async throws -> Bool {
        try await queue.acquire(canonical, until: clock.now.advanced(by: timeout), on: clock)
    }
}
