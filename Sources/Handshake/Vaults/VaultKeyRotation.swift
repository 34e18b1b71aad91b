/// What a rotation of a vault's key did.
public struct VaultKeyRotation: Sendable {
    /// The number of the key that seals now.
    public package(set) var key: Int64
    /// Whether a rotation was completed that had begun before, so that no key was made.
    public package(set) var isResumed: Bool
    /// How many records were sealed with the new key.
    public package(set) var resealed = 0
    /// The keys that no record names any more. The vault opens without them; backups from before need them.
    public package(set) var retired: [Int64] = []
    private var failed = Failures()

    /// How many could not be sealed with the new key. Their old key stays in use.
    public var failureCount: Int { failed.count }
    /// Why, for the first 1,000 of them.
    public var failures: [VaultError] { failed.first }
    /// Whether no record needs an old key.
    public var isComplete: Bool { failureCount == 0 }

    package init(key: Int64, isResumed: Bool) {
        self.key = key
        self.isResumed = isResumed
    }

    /// Notes why a record could not be sealed with the new key.
    package mutating func note(_ failure: VaultError) { failed.add(failure) }
}
