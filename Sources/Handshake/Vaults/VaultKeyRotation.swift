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
    /// What could not be sealed with the new key. The old key stays in use for it.
    public package(set) var failures: [VaultError] = []

    /// Whether no record needs an old key.
    public var isComplete: Bool { failures.isEmpty }

    package init(key: Int64, isResumed: Bool) {
        self.key = key
        self.isResumed = isResumed
    }
}
