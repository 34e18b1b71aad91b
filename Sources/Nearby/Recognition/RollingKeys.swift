public import Beacons
import Foundation
public import Handshake

/// One's own seed and the day keys of friends, sealed in a vault (beacons dossier 8.4).
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
public struct RollingKeys: Sendable {
    /// Day keys as one gives them to a friend: whoever has them recognises one on these days, and no others.
    public struct Shared: Sendable, Codable {
        /// Whose beacons they recognise.
        public let person: UserNumber
        /// 32 bytes in hexadecimal digits, by the number of the day since 1970. Secret.
        fileprivate let keys: [String: String]

        fileprivate init(person: UserNumber, keys: [DayKey]) {
            self.person = person
            self.keys = Dictionary(
                keys.map { (String($0.day.number), hexadecimal($0.reveal())) }, uniquingKeysWith: { $1 })
        }

        /// How many days they are for.
        public var count: Int { keys.count }

        /// The keys.
        ///
        /// - Throws: ``NearbyError/sharedKeys(_:)`` when what was given is not keys.
        public func dayKeys() throws(NearbyError) -> [DayKey] {
            guard keys.count <= RollingKeys.mostDays else {
                throw .sharedKeys(
                    "there are keys for \(keys.count) days, and no more than \(RollingKeys.mostDays) are taken")
            }
            return try everyKey()
        }

        /// The keys, however many.
        fileprivate func everyKey() throws(NearbyError) -> [DayKey] {
            var read: [DayKey] = []
            for (day, digits) in keys {
                guard let number = UInt32(day), let bytes = bytes(hexadecimal: digits),
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

    /// The most days that keys are shared for at once: a friend for longer is given new ones.
    public static let mostDays = 31

    /// For how many days a friend's keys are kept: what was given at several times joins.
    private static let mostKeptDays = 2 * mostDays

    private let vault: any Vault
    private let community: String

    /// The keys of a community.
    ///
    /// - Parameters:
    ///   - vault: where they rest.
    ///   - community: what the numbers mean, as for ``EncounterLog``.
    public init(in vault: any Vault, community: String) {
        self.vault = vault
        self.community = community
    }

    /// One's own seed; made at the first call. Two processes that ask at once get the same.
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

    /// One's own seed, if there is one.
    public func existingSeed() async throws -> RollingSeed? {
        try await wrapped {
            try await vault.record(VaultKey(.beaconSeed, [community])).map { try Self.seed($0) }
        }
    }

    /// Forgets one's own seed, also a damaged one: nobody recognises one by keys that were given out before.
    ///
    /// - Returns: whether there was one.
    @discardableResult public func forgetSeed() async throws -> Bool {
        try await wrapped {
            try await vault.remove(VaultKey(.beaconSeed, [community]))
        }
    }

    /// One's own day keys, to be given to a friend over a closed channel.
    ///
    /// - Parameters:
    ///   - own: one's own number.
    ///   - days: how many, from 1 to ``mostDays``.
    ///   - time: the first day is this one's.
    public func share(_ own: UserNumber, days: Int, from time: Timestamp) async throws -> Shared {
        let seed = try await seed()
        let first = try today(time)
        let days = min(max(days, 1), Self.mostDays)
        return Shared(
            person: own, keys: (0..<UInt32(days)).map { seed.dayKey(for: RollingDay(number: first.number &+ $0)) })
    }

    /// Takes a friend's keys; those for the same days replace the ones before, and those of past days are dropped. Of more than
    /// twice ``mostDays``, those of the first days are kept.
    ///
    /// - Parameters:
    ///   - shared: what the friend gave. It says itself whose it is: take it only from that person.
    ///   - time: the present.
    public func befriend(_ shared: Shared, at time: Timestamp) async throws {
        let keys = try shared.dayKeys()
        let oldest = try today(time).number
        try await wrapped {
            try await vault.update(key(shared.person)) { record in
                let known = try await record.contents.map { try Self.decode($0, of: shared.person) }?.everyKey() ?? []
                // Yesterday's are needed at midnight.
                let current = Dictionary((known + keys).map { ($0.day, $0) }, uniquingKeysWith: { $1 }).values
                    .filter { $0.day.number &+ 1 >= oldest }.sorted { $0.day < $1.day }.prefix(Self.mostKeptDays)
                try await record.replace(
                    with: Array(try JSONEncoder().encode(Shared(person: shared.person, keys: Array(current)))))
            }
        }
    }

    /// Forgets a friend's keys, also damaged ones.
    ///
    /// - Returns: whether there were any.
    @discardableResult public func unfriend(_ person: UserNumber) async throws -> Bool {
        try await wrapped {
            try await vault.remove(key(person))
        }
    }

    /// The friends' keys that may be of use, and what could not be read beside them.
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

/// Two lower-case digits a byte.
private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The bytes of pairs of digits in either case; nil for anything else.
private func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).reduce(into: [UInt8]?([])) { bytes, index in
        let values = digits[index...index + 1].map { Character(UnicodeScalar($0)).hexDigitValue }
        guard let high = values[0], let low = values[1] else {
            bytes = nil
            return
        }
        bytes?.append(UInt8(high << 4 | low))
    }
}
