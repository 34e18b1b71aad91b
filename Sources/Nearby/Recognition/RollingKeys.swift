public import Beacons
import Crypto
import Foundation
public import Handshake

/// The user's own seed for friends, and the day keys of friends.
///
/// See the beacons dossier, 8.4. They are stored encrypted in a vault. Circles have seeds of their own, see ``OwnScopes``.
///
/// What a user shares is signed (Ed25519, RFC 8032). The first keys of a friend pin the friend's identity: keys that were
/// changed, and keys that another identity signed, are refused.
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
public struct RollingKeys: Sendable {
    /// The longest period, in days, that keys are shared for. Share new ones afterwards.
    public static let maximumDays = 31

    /// The longest period for which a friend's keys are stored: later keys are added to earlier ones.
    private static let maximumStoredDays = 2 * maximumDays

    let vault: any Vault
    let community: String

    /// The keys of a community.
    ///
    /// - Parameters:
    ///   - vault: where they are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    public init(in vault: any Vault, community: String) {
        self.vault = vault
        self.community = community
    }

    /// The user's own seed for friends; created at the first call.
    ///
    /// Concurrent calls of two processes get the same one.
    public func seed() async throws -> RollingSeed {
        try await mappingVaultErrors {
            try await vault.update(seedKey) { record in
                if let contents = await record.contents { return try Self.seed(contents) }
                let seed = RollingSeed.random()
                try await record.replace(with: seed.reveal())
                return seed
            }
        }
    }

    /// The user's own seed for friends, if there is one.
    public func existingSeed() async throws -> RollingSeed? {
        try await mappingVaultErrors {
            try await vault.record(seedKey).map { try Self.seed($0) }
        }
    }

    /// Deletes the user's own seed for friends, even a damaged one.
    ///
    /// Keys that were given before no longer recognise the user.
    ///
    /// - Returns: whether there was one.
    @discardableResult public func forgetSeed() async throws -> Bool {
        try await mappingVaultErrors {
            let existed = try await vault.remove(seedKey)
            _ = try await vault.remove(lastSharedDayKey)
            if existed { try await ChangeMark.note(in: vault, community: community) }
            return existed
        }
    }

    /// The user's own day keys, to be given to a friend over a confidential channel.
    ///
    /// - Parameters:
    ///   - own: the user's own number.
    ///   - days: how many, from 1 to ``maximumDays``.
    ///   - time: a moment of the first day.
    public func share(_ own: UserNumber, days: Int, from time: Timestamp) async throws -> Shared {
        let keys = try await givenKeys(days: days, from: time)
        let identity = try await identity()
        var shared = Shared(
            person: own, keys: keys, identity: Beacons.Hexadecimal.encode(identity.publicKey.rawRepresentation))
        let code = try identity.signature(for: Shared.signedBytes(own, keys, in: community))
        shared.signature = Beacons.Hexadecimal.encode(code)
        return shared
    }

    /// The user's own day keys, which a friend has from now on.
    ///
    /// - Parameters:
    ///   - days: how many, from 1 to ``maximumDays``.
    ///   - time: a moment of the first day.
    func givenKeys(days: Int, from time: Timestamp) async throws -> [DayKey] {
        let first = try today(time)
        let days = UInt32(min(max(days, 1), Self.maximumDays))
        let isNew = try await !hasRecipients(at: time)
        try await noteShared(through: first.number &+ days &- 1)
        let seed = try await seed()
        // A watch that runs begins to send them.
        if isNew { try await mappingVaultErrors { try await ChangeMark.note(in: vault, community: community) } }
        return (0..<days).map { seed.dayKey(for: RollingDay(number: first.number &+ $0)) }
    }

    /// Stores a friend's keys. Keys for the same day replace earlier ones; keys of past days are deleted. If there are more
    /// than twice ``maximumDays``, only the earliest days are stored.
    ///
    /// - Parameters:
    ///   - shared: the friend's keys. The first ones pin the friend's identity: accept them only from that person.
    ///   - time: the present.
    /// - Throws: ``NearbyError/sharedKeys(_:)`` for keys that are changed, expired, or another person's, and for the user's own
    ///   number; ``NearbyError/otherIdentity(_:)``; ``NearbyError/keysOfMember(_:)``: a circle says who has the number, or
    ///   had it until 30 days ago, and the file does not; ``CircleProblem/tableNeeded(circle:)``. Nothing is stored then.
    public func addFriend(_ shared: Shared, at time: Timestamp) async throws {
        let keys = try shared.dayKeys()
        let identity = try shared.verifiedIdentity(of: keys, in: community)
        let oldest = try today(time).number
        guard keys.contains(where: { $0.day.number >= oldest }) else {
            throw NearbyError.sharedKeys("they have expired")
        }
        guard try await !isOwn(shared.person) else {
            throw NearbyError.sharedKeys("number \(shared.person) is your own")
        }
        guard try await !circleTables().contains(where: { $0.hasPin(shared.person) }) else {
            throw NearbyError.keysOfMember(shared.person)
        }
        try await refuseKnown(keys, of: shared.person, at: time)
        try await mappingVaultErrors {
            try await vault.update(key(shared.person)) { record in
                let stored = try await record.contents.map { try Self.decode($0, of: shared.person) }
                if let pinned = stored?.identity, pinned != identity {
                    throw NearbyError.otherIdentity(shared.person)
                }
                let known = try stored?.everyKey() ?? []
                // A window around midnight still uses yesterday's keys.
                let current = Dictionary((known + keys).map { ($0.day, $0) }, uniquingKeysWith: { $1 }).values
                    .filter { $0.day.number &+ 1 >= oldest }.sorted { $0.day < $1.day }.prefix(Self.maximumStoredDays)
                try await record.replace(
                    with: Array(
                        try JSONEncoder().encode(
                            Shared(
                                person: shared.person, keys: Array(current), identity: identity, name: stored?.name))))
            }
            try await ChangeMark.note(in: vault, community: community)
        }
    }

    /// Refuses keys that are known as another person's: neither of the two could be recognised.
    func refuseKnown(_ keys: [DayKey], of person: UserNumber, at time: Timestamp) async throws {
        let own = try await OwnScopes(in: vault, community: community, at: time)
        guard !keys.contains(where: own.contains) else { throw NearbyError.sharedKeys("they are your own") }
        var others = try await friends().keys.filter { $0.0 != person }
        for table in try await circleTables() {
            for keys in table.dayKeys(without: []).values { others += keys.filter { $0.0 != person } }
        }
        let known = Dictionary(others.map { ($0.1.reveal(), $0.0) }, uniquingKeysWith: { first, _ in first })
        for key in keys {
            if let other = known[key.reveal()] {
                throw NearbyError.sharedKeys("they are the keys of person \(other)")
            }
        }
    }

    /// The tables of the circles that the user is in.
    ///
    /// - Throws: ``CircleProblem/tableNeeded(circle:)`` where one cannot be read: it may have who is asked about.
    func circleTables() async throws -> [CircleTable] {
        try await CircleEnvironment.placing {
            var tables: [CircleTable] = []
            for records in try await CircleRecords.all(in: vault, community: community) {
                do {
                    tables.append(try await records.table())
                } catch CircleProblem.unreadableTable(let circle) {
                    throw CircleProblem.tableNeeded(circle: circle)
                }
            }
            return tables
        }
    }

    /// Deletes a friend's keys, even damaged ones, and the user's own seed for friends.
    ///
    /// The friend does not recognise the user any more. The other friends need new keys; circles have seeds of their own.
    ///
    /// - Returns: whether there were any keys.
    @discardableResult public func removeFriend(_ person: UserNumber) async throws -> Bool {
        let isFriend = try await mappingVaultErrors {
            try await vault.keys(of: .beaconFriend).keys.contains(key(person))
        }
        guard isFriend else { return false }
        // First: a call that is interrupted can be repeated.
        try await forgetSeed()
        try await mappingVaultErrors {
            _ = try await vault.remove(key(person))
            try await ChangeMark.note(in: vault, community: community)
        }
        return true
    }

    /// The usable keys of friends, and the errors of damaged records.
    public func friends() async throws -> (keys: [(UserNumber, DayKey)], damaged: [NearbyError]) {
        let listing = try await mappingVaultErrors { try await vault.keys(of: .beaconFriend) }
        var keys: [(UserNumber, DayKey)] = []
        var damaged = listing.damaged.map { NearbyError.vault($0) }
        for name in listing.keys where name.components.first == community && name.components.count == 2 {
            guard let person = Int(name.components[1]).flatMap({ try? UserNumber($0) }) else { continue }
            do {
                let bytes = try await mappingVaultErrors { try await vault.record(name) }
                guard let bytes else { continue }
                keys += try Self.decode(bytes, of: person).everyKey().map { (person, $0) }
            } catch let error as NearbyError {
                damaged.append(error)
            }
        }
        return (keys, damaged)
    }

    private var identityKey: VaultKey { VaultKey(.beaconSeed, [community, "identity"]) }

    /// The key that signs what the user shares; created at the first call.
    private func identity() async throws -> Curve25519.Signing.PrivateKey {
        try await mappingVaultErrors {
            try await vault.update(identityKey) { record in
                if let contents = await record.contents {
                    guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: contents) else {
                        throw VaultError.damaged(
                            what: "your identity among friends", reason: "it is not an Ed25519 key")
                    }
                    return key
                }
                let key = Curve25519.Signing.PrivateKey()
                try await record.replace(with: Array(key.rawRepresentation))
                return key
            }
        }
    }

    func key(_ person: UserNumber) -> VaultKey {
        VaultKey(.beaconFriend, [community, person.description])
    }

    func today(_ time: Timestamp) throws(NearbyError) -> RollingDay {
        do {
            return try RollingWindow(at: time).day
        } catch {
            throw .sharedKeys("\(error)")
        }
    }

    /// The last day of a stored record's keys; nil when it cannot be read.
    static func lastDay(in bytes: [UInt8], of person: UserNumber) -> RollingDay? {
        try? decode(bytes, of: person).everyKey().map(\.day).max()
    }

    static func seed(_ bytes: [UInt8]) throws(VaultError) -> RollingSeed {
        do throws(BeaconsError) {
            return try RollingSeed(revealed: bytes)
        } catch {
            throw .damaged(what: "the seed of rolling identifiers", reason: "\(error)")
        }
    }

    static func decode(_ bytes: [UInt8], of person: UserNumber) throws(NearbyError) -> Shared {
        guard let shared = try? JSONDecoder().decode(Shared.self, from: Data(bytes)), shared.person == person else {
            throw .damaged(person, reason: "the friend's keys are not a record of this version")
        }
        return shared
    }
}
