public import Beacons
import Foundation
public import Handshake

/// The user's own seed and the day keys of friends (beacons dossier 8.4). They are stored encrypted in a vault.
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
public struct RollingKeys: Sendable {
    /// Day keys to share with a friend. The holder recognises the user on these days only.
    public struct Shared: Sendable, Codable {
        /// The person whose beacons they recognise.
        public let person: UserNumber
        /// 32 bytes in hexadecimal digits, keyed by days since 1970. Secret.
        fileprivate let keys: [String: String]

        fileprivate init(person: UserNumber, keys: [DayKey]) {
            self.person = person
            self.keys = Dictionary(
                keys.map { (String($0.day.number), Beacons.Hexadecimal.encode($0.reveal())) }, uniquingKeysWith: { $1 })
        }

        /// How many days they cover.
        public var count: Int { keys.count }

        /// The keys.
        ///
        /// - Throws: ``NearbyError/sharedKeys(_:)`` when they are invalid.
        public func dayKeys() throws(NearbyError) -> [DayKey] {
            guard keys.count <= RollingKeys.maximumDays else {
                throw .sharedKeys(
                    "they cover \(keys.count) days, more than the maximum of \(RollingKeys.maximumDays)")
            }
            return try everyKey()
        }

        /// The keys, without the bound on their count.
        fileprivate func everyKey() throws(NearbyError) -> [DayKey] {
            var read: [DayKey] = []
            for (day, digits) in keys {
                guard let number = UInt32(day), let bytes = Beacons.Hexadecimal.decode(digits.utf8),
                    let key = try? DayKey(day: RollingDay(number: number), revealed: bytes)
                else {
                    throw .sharedKeys(
                        "the key of day \(day.prefix(20).debugDescription) is not 32 bytes in hexadecimal digits")
                }
                read.append(key)
            }
            return read.sorted { $0.day < $1.day }
        }
    }

    /// The longest period, in days, that keys are shared for. Share new ones afterwards.
    public static let maximumDays = 31

    /// The longest period for which a friend's keys are stored: later keys are added to earlier ones.
    private static let maximumStoredDays = 2 * maximumDays

    private let vault: any Vault
    private let community: String

    /// The keys of a community.
    ///
    /// - Parameters:
    ///   - vault: where they are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    public init(in vault: any Vault, community: String) {
        self.vault = vault
        self.community = community
    }

    /// The user's own seed; created at the first call. Two processes that ask concurrently get the same.
    public func seed() async throws -> RollingSeed {
        try await wrapped {
            try await vault.update(VaultKey(.beaconSeed, [community])) { record in
                if let contents = await record.contents { return try Self.seed(contents) }
                let seed = RollingSeed.random()
                try await record.replace(with: seed.reveal())
                return seed
            }
        }
    }

    /// The user's own seed, if there is one.
    public func existingSeed() async throws -> RollingSeed? {
        try await wrapped {
            try await vault.record(VaultKey(.beaconSeed, [community])).map { try Self.seed($0) }
        }
    }

    /// Deletes the user's own seed, even a damaged one. Keys shared before no longer recognise the user.
    ///
    /// - Returns: whether there was one.
    @discardableResult public func forgetSeed() async throws -> Bool {
        try await wrapped {
            try await vault.remove(VaultKey(.beaconSeed, [community]))
        }
    }

    /// The user's own day keys, to be given to a friend over a confidential channel.
    ///
    /// - Parameters:
    ///   - own: the user's own number.
    ///   - days: how many, from 1 to ``maximumDays``.
    ///   - time: a moment of the first day.
    public func share(_ own: UserNumber, days: Int, from time: Timestamp) async throws -> Shared {
        let seed = try await seed()
        let first = try today(time)
        let days = min(max(days, 1), Self.maximumDays)
        return Shared(
            person: own, keys: (0..<UInt32(days)).map { seed.dayKey(for: RollingDay(number: first.number &+ $0)) })
    }

    /// Stores a friend's keys. Keys for the same day replace earlier ones; keys of past days are deleted. Of more than twice
    /// ``maximumDays``, the earliest days are stored.
    ///
    /// - Parameters:
    ///   - shared: the friend's keys. They name their owner: accept them only from that person.
    ///   - time: the present.
    public func addFriend(_ shared: Shared, at time: Timestamp) async throws {
        let keys = try shared.dayKeys()
        let oldest = try today(time).number
        try await wrapped {
            try await vault.update(key(shared.person)) { record in
                let known = try await record.contents.map { try Self.decode($0, of: shared.person) }?.everyKey() ?? []
                // A window around midnight still uses yesterday's keys.
                let current = Dictionary((known + keys).map { ($0.day, $0) }, uniquingKeysWith: { $1 }).values
                    .filter { $0.day.number &+ 1 >= oldest }.sorted { $0.day < $1.day }.prefix(Self.maximumStoredDays)
                try await record.replace(
                    with: Array(try JSONEncoder().encode(Shared(person: shared.person, keys: Array(current)))))
            }
        }
    }

    /// Deletes a friend's keys, even damaged ones.
    ///
    /// - Returns: whether there were any.
    @discardableResult public func removeFriend(_ person: UserNumber) async throws -> Bool {
        try await wrapped {
            try await vault.remove(key(person))
        }
    }

    /// The usable keys of friends, and the errors of damaged records.
    public func friends() async throws -> (keys: [(UserNumber, DayKey)], damaged: [NearbyError]) {
        let listing = try await wrapped { try await vault.keys(of: .beaconFriend) }
        var keys: [(UserNumber, DayKey)] = []
        var damaged = listing.damaged.map { NearbyError.vault($0) }
        for name in listing.keys where name.components.first == community && name.components.count == 2 {
            guard let person = Int(name.components[1]).flatMap({ try? UserNumber($0) }) else { continue }
            do {
                let bytes = try await wrapped { try await vault.record(name) }
                guard let bytes else { continue }
                keys += try Self.decode(bytes, of: person).everyKey().map { (person, $0) }
            } catch let error as NearbyError {
                damaged.append(error)
            }
        }
        return (keys, damaged)
    }

    private func key(_ person: UserNumber) -> VaultKey {
        VaultKey(.beaconFriend, [community, person.description])
    }

    private func today(_ time: Timestamp) throws(NearbyError) -> RollingDay {
        do {
            return try RollingWindow(at: time).day
        } catch {
            throw .sharedKeys("\(error)")
        }
    }

    private static func seed(_ bytes: [UInt8]) throws(VaultError) -> RollingSeed {
        do throws(BeaconsError) {
            return try RollingSeed(revealed: bytes)
        } catch {
            throw .damaged(what: "the seed of rolling identifiers", reason: "\(error)")
        }
    }

    private static func decode(_ bytes: [UInt8], of person: UserNumber) throws(NearbyError) -> Shared {
        guard let shared = try? JSONDecoder().decode(Shared.self, from: Data(bytes)), shared.person == person else {
            throw .damaged(person, reason: "the friend's keys are not a record of this version")
        }
        return shared
    }

    private func wrapped<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as VaultError {
            throw NearbyError.vault(error)
        }
    }
}

extension RollingKeys.Shared: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret keys of \(count) days of person \(person))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["person": person, "count": count]) }
}
