import Synchronization

/// A master key as a vault's table shows it, without the key itself (`vault-lease.md` 3, 8).
package struct MasterKeyEntry: Sendable {
    package let number: Int64
    /// Under what a key store keeps it.
    package let identifier: VaultIdentifier
    /// ``RecordSeal/check`` with the right key.
    package let proof: [UInt8]
    /// The key of records' names, sealed with this key; nil for the first one, which it is derived from.
    package let names: [UInt8]?
    /// Whether new records are sealed with it. The others only open what they sealed.
    package let isActive: Bool

    package init(number: Int64, identifier: VaultIdentifier, proof: [UInt8], names: [UInt8]?, isActive: Bool) {
        self.number = number
        self.identifier = identifier
        self.proof = proof
        self.names = names
        self.isActive = isActive
    }
}

/// The master keys of a vault that are in use: one seals, and any of them opens what it sealed.
package struct MasterKeyRing: Sendable {
    /// The key that seals.
    package let active: MasterKeyEntry
    /// What seals with it. All seals give records the same names.
    package let seal: RecordSeal
    private let seals: [Int64: RecordSeal]

    /// - Parameters:
    ///   - entries: the keys that are not retired.
    ///   - masters: the keys that were found, by their numbers. An old one may be missing: its records are then locked.
    ///   - former: the ring as it was before. What it opens, this one opens too: a listing may still hold records of a key that was retired
    ///     meanwhile.
    ///   - path: what errors call the vault.
    ///   - missing: the error when the key is missing that seals.
    package init(
        vault: VaultIdentifier, _ entries: [MasterKeyEntry], _ masters: [Int64: VaultMasterKey],
        after former: MasterKeyRing? = nil, path: String, missing: (MasterKeyEntry) -> VaultError
    ) throws(VaultError) {
        var seals = former?.seals ?? [:]
        for entry in entries {
            if let known = seals[entry.number] {
                guard known.check == entry.proof else {
                    throw .damaged(
                        what: "\(path), table key",
                        reason: "key \(entry.number) was replaced; if you put back a copy of the vault, open it again")
                }
                continue
            }
            guard let master = masters[entry.number] else { continue }
            let seal = RecordSeal(vault: vault, master: master)
            guard seal.check == entry.proof else {
                guard entry.isActive else { continue }
                throw .locked("the key is not the one that \(path) was made with; put the right one back")
            }
            if let names = entry.names {
                seals[entry.number] = try seal.withNames(names, path: "\(path), table key")
            } else {
                seals[entry.number] = seal
            }
        }
        guard var active = entries.first(where: \.isActive), entries.count(where: \.isActive) == 1 else {
            throw .damaged(what: "\(path), table key", reason: "it has no active key, or several")
        }
        // Numbers only grow: this was read before the former ring was.
        if let former, former.active.number > active.number { active = former.active }
        guard let seal = seals[active.number] else { throw missing(active) }
        self.active = active
        self.seal = seal
        self.seals = seals
    }

    /// What opens the records of a key; nil when the key is not there.
    package subscript(number: Int64) -> RecordSeal? { seals[number] }

    /// The table's entry of a new key, which is to seal from now on.
    ///
    /// - Parameters:
    ///   - number: the key's number.
    ///   - identifier: under what a key store keeps it.
    ///   - seal: what seals with it.
    package func successor(
        _ number: Int64, _ identifier: VaultIdentifier, _ seal: RecordSeal
    ) throws -> MasterKeyEntry {
        MasterKeyEntry(
            number: number, identifier: identifier, proof: seal.check,
            names: try self.seal.names(sealedWith: seal), isActive: true)
    }

    /// Refuses to seal with an older key than was used before.
    ///
    /// Numbers only grow: a copy was put back, or an attacker wants records sealed with a key that has leaked.
    ///
    /// - Parameters:
    ///   - number: the key that the vault's table says seals now.
    ///   - path: what errors call the record.
    package func requireNotOlder(_ number: Int64, path: String) throws(VaultError) {
        guard number >= active.number else {
            throw .damaged(
                what: "\(path), table key",
                reason: "an older key is in use again; if you put back a copy of the vault, open it again")
        }
    }
}

/// Keys that records name and the vault did not have. Each is looked for again after a while, not for each record.
///
/// A class, because the calls of a vault share it.
package final class UnknownKeys: Sendable {
    private static let pause = Duration.seconds(10)
    private static let capacity = 100

    private let looks = Mutex<[Int64: ContinuousClock.Instant]>([:])

    package init() {}

    /// Whether the keys are to be read again for this one.
    package func mayLook(for number: Int64, at now: ContinuousClock.Instant = .now) -> Bool {
        looks.withLock { looks in
            looks = looks.filter { $0.value.duration(to: now) < Self.pause }
            return looks[number] == nil && looks.count < Self.capacity
        }
    }

    /// Notes that the vault does not have it.
    package func note(_ number: Int64, at now: ContinuousClock.Instant = .now) {
        looks.withLock { looks in
            if looks[number] == nil, looks.count < Self.capacity { looks[number] = now }
        }
    }

    /// What opens the records of a key, which another process may have made since the keys were read.
    ///
    /// - Parameters:
    ///   - keys: gives those that were read last.
    ///   - readKeys: reads them again.
    /// - Throws: ``VaultError/locked(_:)`` when the key is missing; what `readKeys` throws.
    package func seal(
        ofKey number: Int64, in keys: @autoclosure () -> MasterKeyRing, _ path: String,
        reading readKeys: () async throws(VaultError) -> Void
    ) async throws(VaultError) -> RecordSeal {
        if let seal = keys()[number] { return seal }
        if mayLook(for: number) { try await readKeys() }
        guard let seal = keys()[number] else {
            note(number)
            throw .locked("\(path) was sealed with key \(number), which is missing; put it back")
        }
        return seal
    }
}

extension VaultError {
    /// A key that the caller gave cannot be replaced by another one.
    package static func keyCannotChange(of path: String) -> VaultError {
        .denied(
            what: path,
            reason: "the key was given by the caller, so it cannot be replaced. "
                + "Make a vault with another key, and copy the records to it")
    }

    /// A record's version is not that of its lease.
    package static func versionsDiffer(of path: String) -> VaultError {
        .damaged(
            what: path,
            reason: "its version is not the last one that was written, so it was changed or put back by hand")
    }
}

/// What a record in a table is bound to beside its name: it opens as no other part, kind or version.
package enum RecordPart: String {
    case label, body

    package func context(_ kind: String, key: Int64, version: Int64) -> [UInt8] {
        Array("\(rawValue) \(kind) \(key) \(version)".utf8)
    }
}
