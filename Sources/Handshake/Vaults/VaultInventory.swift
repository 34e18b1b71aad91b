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
    /// What could not be read, each once.
    public internal(set) var failures: [VaultError] = []

    /// How many records could be read.
    public var records: Int { counts.reduce(0) { $0 + $1.records } }
    /// The bytes of their contents.
    public var bytes: Int { counts.reduce(0) { $0 + $1.bytes } }
}

extension Vault {
    /// Reads every record, which shows whether each one opens.
    ///
    /// It changes nothing, and holds one record in memory at a time. Records that are made or removed meanwhile may be counted or not.
    ///
    /// - Throws: `CancellationError`, and ``VaultError`` when the vault as a whole cannot be read.
    @concurrent
    public func inventory() async throws -> VaultInventory {
        var inventory = VaultInventory()
        var failures = Failures()
        for kind in VaultKey.Kind.allCases {
            let listing = try await keys(of: kind)
            failures.addListed(listing.damaged)
            var count = VaultInventory.Count(kind: kind)
            for key in listing.keys {
                try Task.checkCancellation()
                do {
                    // Nil: removed since it was listed.
                    guard let contents = try await record(key) else { continue }
                    count.records += 1
                    count.bytes += contents.count
                    count.largest = max(count.largest, contents.count)
                } catch let error as VaultError {
                    failures.add(error)
                }
            }
            if count.records > 0 { inventory.counts.append(count) }
        }
        inventory.failures = failures.all
        return inventory
    }
}

/// Errors in the order they came. Those of listings count once: a vault of files reports a damaged record with every kind.
struct Failures {
    private(set) var all: [VaultError] = []
    private var seen: Set<VaultError> = []

    mutating func addListed(_ errors: [VaultError]) {
        for error in errors where seen.insert(error).inserted { all.append(error) }
    }

    mutating func add(_ error: VaultError) { all.append(error) }
}
