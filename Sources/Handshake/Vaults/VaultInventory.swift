import Synchronization

/// What a vault holds, counted by reading every record.
public struct VaultInventory: Sendable {
    /// The records of one kind that could be read.
    public struct Count: Sendable, Hashable {
        /// What the records are for.
        public let kind: VaultKey.Kind
        /// How many there are.
        public internal(set) var records = 0
        /// The bytes of their contents, before they are sealed.
        public internal(set) var bytes = 0
        /// The bytes of the largest one.
        public internal(set) var largest = 0
    }

    /// One entry for each kind that has records, in the order of ``VaultKey/Kind``.
    public internal(set) var counts: [Count] = []
    var failed = Failures()

    /// How many records could not be read.
    public var failureCount: Int { failed.count }
    /// Why, for the first 1,000 of them.
    public var failures: [VaultError] { failed.first }
    /// How many records could be read.
    public var records: Int { counts.reduce(0) { $0 + $1.records } }
    /// The bytes of their contents.
    public var bytes: Int { counts.reduce(0) { $0 + $1.bytes } }
}

extension Vault {
    /// Reads every record, which shows whether each one opens.
    ///
    /// It changes nothing, and holds one record and one page of keys in memory at a time. Records that are made or removed meanwhile may be counted or not.
    ///
    /// - Parameter report: gets how many records were read so far, and how many could not be; after each record.
    /// - Throws: `CancellationError`, and ``VaultError`` when the vault as a whole cannot be read.
    @concurrent
    public func inventory(
        progress report: @escaping @Sendable (_ read: Int, _ failed: Int) -> Void = { _, _ in }
    ) async throws -> VaultInventory {
        let progress = Mutex(InventoryProgress())
        for kind in VaultKey.Kind.allCases {
            progress.withLock { $0.counts.append(VaultInventory.Count(kind: kind)) }
            // A page at a time: a vault may have more names than a process has memory for.
            try await forEachPage(of: kind) { page in
                progress.withLock { $0.failures.addListed(page.damaged) }
                for key in page.keys {
                    try Task.checkCancellation()
                    do {
                        // Nil: removed since it was listed.
                        guard let contents = try await record(key) else { continue }
                        progress.withLock { $0.note(contents.count) }
                    } catch let error as VaultError {
                        progress.withLock { $0.failures.add(error) }
                    }
                    let (read, failed) = progress.withLock { ($0.read, $0.failures.count) }
                    report(read, failed)
                }
            }
        }
        return progress.withLock { $0.finished }
    }
}

/// What an inventory has counted so far.
private struct InventoryProgress {
    /// The last one is of the kind that is read.
    var counts: [VaultInventory.Count] = []
    var failures = Failures()
    /// How many records were read.
    private(set) var read = 0

    mutating func note(_ bytes: Int) {
        read += 1
        let last = counts.count - 1
        counts[last].records += 1
        counts[last].bytes += bytes
        counts[last].largest = max(counts[last].largest, bytes)
    }

    var finished: VaultInventory {
        var inventory = VaultInventory()
        inventory.counts = counts.filter { $0.records > 0 }
        inventory.failed = failures
        return inventory
    }
}

/// The first errors, in the order they came, and how many came.
///
/// Those of listings count once: a vault of files reports a damaged record with every kind.
struct Failures {
    /// How many are kept: a vault may have more records than a process has memory for.
    static let limit = 1000

    private(set) var first: [VaultError] = []
    private(set) var count = 0
    /// The hashes of those of listings: a few bytes for each.
    private var listed: Set<Int> = []

    mutating func addListed(_ errors: [VaultError]) {
        for error in errors where listed.insert(error.hashValue).inserted { add(error) }
    }

    mutating func add(_ error: VaultError) {
        count += 1
        if first.count < Self.limit { first.append(error) }
    }
}
