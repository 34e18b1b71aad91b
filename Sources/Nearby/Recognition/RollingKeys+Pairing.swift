public import Beacons
public import Circles
import Crypto
import Foundation
import Handshake

/// Pairing: two people who meet give each other signed keys, without a server (circles dossier 5).
extension RollingKeys {
    /// The user's card for a pairing, with keys of 31 days.
    ///
    /// - Parameters:
    ///   - scope: the pair's.
    ///   - number: the user's own number; nil when there is none.
    ///   - name: how the other person knows the user.
    ///   - time: the present.
    public func pairingCard(
        in scope: CircleScope, number: UserNumber?, name: String, at time: Timestamp
    ) async throws -> PairingCard {
        let own = try await memberKeys()
        let seconds = UInt64(max(0, time.wholeSeconds))
        let number = number.flatMap { UInt32(exactly: $0.value) } ?? 0
        let first = try today(time).number
        let keys = try await givenKeys(days: Self.maximumDays, from: time)
        return try await CircleEnvironment.placing {
            try PairingCard(
                name: name, member: MemberRecord(signedBy: own, in: scope, number: number, at: seconds),
                keys: KeyRecord(
                    signedBy: own,
                    KeyRecord.Terms(
                        scope: scope, number: number, generation: 1, sequence: 1, epoch: 0, firstDay: first,
                        issued: seconds, isPair: true),
                    dayKeys: keys.map { $0.reveal() }))
        }
    }

    /// Stores the card of a person whom the user has paired with. It replaces all earlier keys of the person, also those that
    /// another identity signed: this one was verified in person. Its number was not: a number of another known person is refused.
    ///
    /// - Returns: the person. A person who gave no number gets one that no beacon carries.
    /// - Throws: ``NearbyError/sharedKeys(_:)`` for the user's own card or number, and for keys or a number of another person;
    ///   ``CircleProblem/tableNeeded(circle:)``.
    public func addPaired(_ card: PairingCard, at time: Timestamp) async throws -> UserNumber {
        guard try await memberKeys().identity != card.member.identity else {
            throw NearbyError.sharedKeys("they are your own")
        }
        let person = try Self.person(of: card)
        try await refuseOtherName(card, of: person)
        var keys: [DayKey] = []
        for (day, key) in card.keys.dayKeys {
            guard let key = try? DayKey(day: RollingDay(number: day), revealed: key) else { continue }
            keys.append(key)
        }
        try await refuseKnown(keys, of: person, at: time)
        try await mappingVaultErrors {
            let shared = Shared(
                person: person, keys: keys, identity: Beacons.Hexadecimal.encode(card.member.identity), name: card.name)
            try await vault.replace(key(person), with: Array(try JSONEncoder().encode(shared)))
            try await ChangeMark.note(in: vault, community: community)
        }
        return person
    }

    /// Refuses a card whose number the user has, or knows under other names only: a person can state any number.
    private func refuseOtherName(_ card: PairingCard, of person: UserNumber) async throws {
        guard try await !isOwn(person) else { throw NearbyError.sharedKeys("number \(person) is your own") }
        var names = try await circleTables().compactMap { $0.entry(person)?.row.name }
        let stored = try await mappingVaultErrors { try await vault.record(key(person)) }
        if let friend = stored.flatMap({ try? Self.decode($0, of: person) }),
            friend.identity != Beacons.Hexadecimal.encode(card.member.identity)
        {
            // What came in a file has no name: the log has the one that the service states.
            let log = EncounterLog(in: vault, community: community)
            let known = try? await log.history(of: person)?.known?.name
            if let name = friend.name ?? known { names.append(name) }
        }
        guard let name = names.first, !names.contains(card.name) else { return }
        throw NearbyError.sharedKeys(
            "number \(person) is \(name), and this person's name is \(card.name). If they are the same, pair again with that name"
        )
    }

    /// Whether a number is the user's, at the service or in a circle.
    func isOwn(_ person: UserNumber) async throws -> Bool {
        try await mappingVaultErrors {
            for records in try await CircleRecords.all(in: vault, community: community) {
                if let number = try await records.state()?.number, Int(exactly: number) == person.value { return true }
            }
            for key in try await vault.keys(of: .ownNumber).keys where key.components.first == community {
                if try await vault.record(key) == Array(person.description.utf8) { return true }
            }
            return false
        }
    }

    /// The names that paired people gave.
    ///
    /// A friend who is not among them is one whose keys came in a file.
    public func pairedNames() async throws -> [UserNumber: String] {
        let listing = try await mappingVaultErrors { try await vault.keys(of: .beaconFriend) }
        var names: [UserNumber: String] = [:]
        for name in listing.keys where name.components.first == community && name.components.count == 2 {
            guard let person = Int(name.components[1]).flatMap({ try? UserNumber($0) }),
                let bytes = try? await vault.record(name), let stored = try? Self.decode(bytes, of: person)
            else { continue }
            names[person] = stored.name
        }
        return names
    }

    /// The number of a card; for one without, a number beyond those that beacons carry, derived from the identity.
    private static func person(of card: PairingCard) throws -> UserNumber {
        if let number = Int(exactly: card.member.number), number > 0, let person = try? UserNumber(number) {
            return person
        }
        let digest = SHA256.hash(data: card.member.identity).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return try UserNumber(0x4000_0000 | digest & 0x3FFF_FFFF)
    }

    /// The keys that the user pairs with; created at the first call.
    private func memberKeys() async throws -> MemberKeys {
        try await mappingVaultErrors {
            try await vault.update(VaultKey(.beaconSeed, [community, "member"])) { record in
                if let contents = await record.contents {
                    guard let keys = MemberKeys(revealed: contents) else {
                        throw VaultError.damaged(
                            what: "your identity in pairings", reason: "its keys have another length")
                    }
                    return keys
                }
                let keys = MemberKeys()
                try await record.replace(with: keys.reveal())
                return keys
            }
        }
    }
}
