public import Beacons
import Foundation
public import Handshake

/// The people whom the user met, and when. There is one encrypted record per person in a `Vault`.
///
/// It is as safe as the vault: changes are exclusive across tasks and processes, and durable when a function returns;
/// records on disk are encrypted. Encounters are personal data of other people, so they are deleted after
/// ``EncounterRules/retention``, and ``forget(_:)`` deletes everything about a person.
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
public struct EncounterLog: Sendable {
    /// The log's answer to ``announce(_:at:)``.
    package enum Announcement: Sendable, Hashable {
        /// Alert the user now. The log has recorded it, so no other process alerts.
        case due(Person?)
        /// The user was alerted less than the interval ago.
        case recent(at: Double)
    }

    private let vault: any Vault
    private let community: String
    /// The log's absence, interval and retention.
    public let rules: EncounterRules

    /// Opens the log of a community.
    ///
    /// - Parameters:
    ///   - vault: where the records are stored.
    ///   - community: the namespace of the numbers, such as `recurse-center`: two communities share no records.
    ///   - rules: absence, interval and retention.
    public init(in vault: any Vault, community: String, rules: EncounterRules = EncounterRules()) {
        self.vault = vault
        self.community = community
        self.rules = rules
    }

    /// The history of one person, or nil.
    public func history(of person: UserNumber) async throws -> PersonHistory? {
        let bytes = try await mappingVaultErrors { try await vault.record(key(person)) }
        return try bytes.map { try Self.decode($0, of: person) }
    }

    /// The whole log. Leaves out encounters older than the retention, even before ``prune(at:)`` deletes them.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: everyone who was met, the most recent first, and one error for each record that is damaged.
    public func contents(at now: Double) async throws -> (people: [PersonHistory], damaged: [NearbyError]) {
        let listing = try await mappingVaultErrors { try await vault.keys(of: .encounters) }
        var people: [PersonHistory] = []
        var damaged = listing.damaged.map { NearbyError.vault($0) }
        for person in listing.keys.compactMap(person(of:)) {
            do {
                guard var history = try await history(of: person) else { continue }
                if let oldest = oldest(at: now) { _ = history.removeEncounters(before: oldest) }
                if !history.encounters.isEmpty { people.append(history) }
            } catch let error as NearbyError {
                damaged.append(error)
            }
        }
        people.sort { ($0.lastSeen ?? 0, $1.person) > ($1.lastSeen ?? 0, $0.person) }
        return (people, damaged)
    }

    /// Writes a running or finished encounter.
    ///
    /// - Parameters:
    ///   - encounter: its present state.
    ///   - person: whom the user met.
    ///   - wasLogged: whether an earlier call wrote the same encounter. If its record has been deleted since, the user has
    ///     forgotten the person: nothing is written, even when another process has started a new record.
    /// - Returns: the encounter as the log stores it now, or nil when the person was forgotten.
    public func note(
        _ encounter: Encounter, with person: UserNumber, wasLogged: Bool
    ) async throws -> Encounter? {
        try await change(person) { history in
            if wasLogged, history?.place(of: encounter, absence: rules.absence) == nil { return nil }
            var changed = history ?? PersonHistory(of: person)
            let merged = changed.note(encounter, absence: rules.absence)
            if let oldest = oldest(at: encounter.lastSeen) { _ = changed.removeEncounters(before: oldest) }
            history = changed
            return merged
        }
    }

    /// Decides whether to alert the user about a person now. A ``Announcement/due(_:)`` is stored before this returns, so
    /// that neither a restart nor another process alerts twice.
    ///
    /// An alert about a number that any device can send does not silence one about the person whom a key verifies.
    ///
    /// - Parameters:
    ///   - person: the person who is near.
    ///   - trust: how sure it is who it is.
    ///   - time: seconds since 1970.
    package func announce(
        _ person: UserNumber, trust: Trust = .unverified, at time: Double
    ) async throws -> Announcement {
        try await change(person) { history in
            var changed = history ?? PersonHistory(of: person)
            // A time in the future: the clock has been set back since.
            let last = changed.lastAnnounced.map { min($0, time) }
            guard
                EncounterTracker.isDue(lastAnnounced: last, at: time, interval: rules.announcementInterval)
                    || trust > changed.announcedTrust ?? .unverified
            else {
                if changed.lastAnnounced != last {
                    changed.lastAnnounced = last
                    history = changed
                }
                return .recent(at: last ?? time)
            }
            changed.lastAnnounced = time
            changed.announcedTrust = trust
            history = changed
            return .due(changed.known)
        }
    }

    /// Stores a person's profile for use without a network. Does nothing when the log has no record of the person.
    public func introduce(_ person: UserNumber, as known: Person) async throws {
        try await change(person) { history in history?.known = known }
    }

    /// Deletes everything about a person, including damaged records.
    ///
    /// - Returns: whether there was a record.
    @discardableResult public func forget(_ person: UserNumber) async throws -> Bool {
        try await mappingVaultErrors {
            try await vault.remove(key(person))
        }
    }

    /// Deletes every record.
    ///
    /// - Returns: how many people were deleted.
    @discardableResult public func forgetEveryone() async throws -> Int {
        let listing = try await mappingVaultErrors { try await vault.keys(of: .encounters) }
        var count = 0
        for person in listing.keys.compactMap(person(of:)) where try await forget(person) { count += 1 }
        return count
    }

    /// Deletes encounters older than the retention, and people who have no others.
    ///
    /// Keeps 512 of the people whom no key has verified, because any device could have invented them. Does nothing where the
    /// rules have no retention.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: how many people were deleted.
    @discardableResult public func prune(at now: Double) async throws -> Int {
        try await prune(at: now, sparing: [])
    }

    /// Deletes as ``prune(at:)``, and neither counts nor deletes unverified people who are near: a watch takes the end of a record
    /// for the user's wish to forget the person.
    func prune(at now: Double, sparing near: Set<UserNumber>) async throws -> Int {
        // Without a retention, as in the replay of a recording, nothing is deleted.
        guard let oldest = oldest(at: now) else { return 0 }
        let listing = try await mappingVaultErrors { try await vault.keys(of: .encounters) }
        var count = 0
        var unverified: [PersonHistory.Rank] = []
        for person in listing.keys.compactMap(person(of:)) {
            guard var known = try await readable(person) else { continue }
            let isPast = known.removeEncounters(before: oldest)
            if known.isUnverified, !near.contains(person), !isPast || !known.encounters.isEmpty {
                unverified.append(known.rank)
            }
            guard isPast else { continue }
            count += try await change(person) { history in
                guard history?.removeEncounters(before: oldest) == true, history?.encounters.isEmpty == true else {
                    return 0
                }
                history = nil
                return 1
            }
        }
        let surplus = max(0, unverified.count - Self.maximumUnverified)
        guard surplus > 0 else { return count }
        unverified.sort { $0 < $1 }
        for (_, _, _, _, person) in unverified.prefix(surplus) {
            count += try await change(person) { history in
                // A key may have verified the person meanwhile.
                guard history?.isUnverified == true else { return 0 }
                history = nil
                return 1
            }
        }
        return count
    }

    /// How many people whom any device can have invented are stored: as many as can be near at the same time.
    static var maximumUnverified: Int { Trust.unverified.places }

    /// A person's history; nil for none, and for one that is damaged.
    private func readable(_ person: UserNumber) async throws -> PersonHistory? {
        do {
            return try await history(of: person)
        } catch NearbyError.damaged {
            return nil
        }
    }

    /// Deletes what has expired: encounters, and what else ``StoredPeople/expire(at:)`` deletes. Does nothing where the rules
    /// have no retention.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - near: the people who are near: none of them is deleted for there being too many.
    ///   - alerts: where alerts that have expired may still be shown: they are removed.
    func expire(at now: Double, sparing near: Set<UserNumber> = [], alerts: (any Alerts)? = nil) async throws {
        guard rules.retention != nil else { return }
        _ = try await prune(at: now, sparing: near)
        _ = try await StoredPeople(in: vault, community: community, alerts: alerts).expire(at: now, sparing: near)
    }

    private func oldest(at now: Double) -> Double? {
        rules.retention.map { now - $0 }
    }

    private func key(_ person: UserNumber) -> VaultKey {
        VaultKey(.encounters, [community, person.description])
    }

    private func person(of key: VaultKey) -> UserNumber? {
        guard key.components.count == 2, key.components[0] == community else { return nil }
        return Int(key.components[1]).flatMap { try? UserNumber($0) }
    }

    /// Changes a person's record under the vault's exclusive lock. An unchanged record is not written.
    private func change<Result: Sendable>(
        _ person: UserNumber, _ body: @Sendable (inout PersonHistory?) -> Result
    ) async throws -> Result {
        try await mappingVaultErrors {
            try await vault.update(key(person)) { record in
                let before = try await record.contents.map { try Self.decode($0, of: person) }
                var after = before
                let result = body(&after)
                if after != before {
                    if let after {
                        try await record.replace(with: try Self.encode(after))
                    } else {
                        try await record.remove()
                    }
                }
                return result
            }
        }
    }

    private static func encode(_ history: PersonHistory) throws(NearbyError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(history))
        } catch {
            throw .vault(.unavailable("a record could not be written as JSON"))
        }
    }

    private static func decode(_ bytes: [UInt8], of person: UserNumber) throws(NearbyError) -> PersonHistory {
        let history: PersonHistory
        do {
            history = try JSONDecoder().decode(PersonHistory.self, from: Data(bytes))
        } catch {
            // The decoder's message may quote the record.
            throw .damaged(person, reason: "its content is not a record of this version")
        }
        guard history.person == person else { throw .damaged(person, reason: "it is about another person") }
        return history
    }
}
