public import Beacons
import Foundation
public import Handshake

/// Everything that a vault stores for people nearby.
///
/// One place expires and forgets it.
/// It covers encounters, profiles, photos, the keys of friends, and what the user is recognised by. Nothing about people
/// nearby is stored anywhere else.
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
public struct StoredPeople: Sendable {
    /// What was deleted.
    public struct Deletion: Sendable, Hashable {
        /// What a record is about.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            case encounters, profiles, photos, friends
            /// A circle's rows, keys, photos and waves.
            case circles
            /// What the user is recognised by: the seed, the identity that signs, the number.
            case own
        }

        /// The people who were forgotten. Empty for what expired without leaving the person unknown.
        ///
        /// Also who may have been in a table that was removed because it was unreadable.
        public internal(set) var people: Set<UserNumber> = []
        /// How many records of each kind were deleted.
        public internal(set) var records: [Kind: Int] = [:]
        /// How many circles' tables were removed whole, because they were unreadable.
        ///
        /// The next synchronisation fetches the members, and pins the identities that the server shows then.
        public internal(set) var unreadableCircles = 0
        /// Whether one person was forgotten, and not everyone.
        ///
        /// Of ``records``, circles are then those from which the person's entry was removed, or the whole table.
        public internal(set) var isAboutOnePerson = false
        /// One error for each record that cannot be read. It cannot be attributed to a person, and stays.
        public internal(set) var damaged: [NearbyError] = []

        /// Whether nothing was deleted.
        public var isEmpty: Bool { records.isEmpty }

        /// Adds what was deleted later. Only the damaged records that were found then remain.
        public mutating func add(_ later: Deletion) {
            people.formUnion(later.people)
            records.merge(later.records) { $0 + $1 }
            unreadableCircles += later.unreadableCircles
            damaged = later.damaged
        }

        /// Adds the errors that are new. An attacker may leave many damaged records: none is compared with all others.
        mutating func addDamage(_ errors: [NearbyError]) {
            var known = Set(damaged)
            for error in errors where known.insert(error).inserted { damaged.append(error) }
        }
    }

    /// How long a person is remembered after the last encounter: 30 days.
    ///
    /// A profile or photo is kept as long after it was fetched.
    public static let retention = 30.0 * 86_400

    private let vault: any Vault
    private let community: String
    private let alerts: (any Alerts)?
    private var notices: ShownNotices { ShownNotices(in: vault, community: community) }

    /// - Parameters:
    ///   - vault: where the records are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    ///   - alerts: where alerts about people may still be shown: those about who is forgotten are removed.
    public init(in vault: any Vault, community: String, alerts: (any Alerts)? = nil) {
        self.vault = vault
        self.community = community
        self.alerts = alerts
    }

    /// Deletes everything about a person, and removes the alert about the person.
    ///
    /// Damaged records go too where their names tell that they are the person's; the others stay, and are in
    /// ``Deletion/damaged``. Where a circle's membership cannot be read, this throws after everything else is deleted: the
    /// circle would bring the person back.
    public func forget(_ person: UserNumber) async throws -> Deletion {
        do {
            let deletion = try await deleteRecords(about: person)
            try await withdraw([person])
            return deletion
        } catch {
            // A record that cannot be deleted leaves no alert behind.
            try? await withdraw([person])
            throw error
        }
    }

    /// Removes the alerts about people, and what is remembered of these.
    func withdraw(_ people: Set<UserNumber>) async throws {
        await alerts?.withdraw(people)
        _ = try await notices.take { person, _ in people.contains(person) }
    }

    private func deleteRecords(about person: UserNumber) async throws -> Deletion {
        try await mappingVaultErrors {
            var deletion = Deletion()
            for (kind, keys) in try await everything(&deletion) {
                for key in keys where number(of: key) == person { try await remove(key, kind, &deletion) }
            }
            // A damaged record is not listed, but its name is known where it has no account in it.
            for (kind, stored) in [(Deletion.Kind.encounters, VaultKey.Kind.encounters), (.friends, .beaconFriend)] {
                try await remove(VaultKey(stored, [community, person.description]), kind, &deletion)
            }
            let circles = await ofEachCircle { try await $0.forget(person) }
            deletion.isAboutOnePerson = true
            if !circles.done.isEmpty {
                deletion.people.insert(person)
                deletion.records[.circles, default: 0] += circles.done.count
                deletion.unreadableCircles = circles.done.count { $0 == .unreadableMembers }
            }
            if deletion.records[.friends] != nil || deletion.records[.circles] != nil {
                try await ChangeMark.note(in: vault, community: community)
            }
            if let failure = circles.failure { throw failure }
            if !deletion.damaged.isEmpty {
                // Those of the person are gone now.
                deletion.damaged = []
                _ = try await everything(&deletion)
            }
            return deletion
        }
    }

    /// Does something with each circle, also after one with which it failed.
    ///
    /// - Parameter body: returns what it did; nil for nothing.
    /// - Returns: what was done, and the first failure.
    private func ofEachCircle<Done: Sendable>(
        _ body: (CircleRecords) async throws -> Done?
    ) async -> (done: [Done], failure: (any Error)?) {
        var done: [Done] = []
        var failure: (any Error)?
        do {
            for records in try await CircleRecords.traces(in: vault, community: community) {
                do {
                    if let one = try await body(records) { done.append(one) }
                } catch {
                    failure = failure ?? error
                }
            }
        } catch {
            failure = error
        }
        return (done, failure)
    }

    /// Ends being friends with a person.
    ///
    /// The friend's keys go, those that the friend has of the user, and the person's photo. The other friends need new keys.
    ///
    /// - Returns: whether there were keys.
    @discardableResult
    public func unfriend(_ person: UserNumber) async throws -> Bool { try await unfriend([person]) }

    /// Ends being friends with several people, as with one.
    ///
    /// - Returns: whether there were keys of one of them.
    func unfriend(_ people: Set<UserNumber>) async throws -> Bool {
        try await mappingVaultErrors {
            for key in try await vault.keys(of: .photo).keys where person(of: key, in: people) != nil {
                try await vault.remove(key)
            }
            var hadFriend = false
            for key in try await vault.keys(of: .beaconFriend).keys {
                guard let friend = person(of: key, in: people) else { continue }
                let wasFriend = try await RollingKeys(in: vault, community: community).removeFriend(friend)
                hadFriend = hadFriend || wasFriend
            }
            return hadFriend
        }
    }

    /// The person whom a record of this community is about; nil where it is none of these people.
    private func person(of key: VaultKey, in people: Set<UserNumber>) -> UserNumber? {
        guard key.components.first == community, let person = number(of: key) else { return nil }
        return people.contains(person) ? person : nil
    }

    /// Deletes everything about everyone, and what the user is recognised by. Removes all alerts.
    ///
    /// Friends need new keys afterwards. Writers that use a ``PeopleVault`` write nothing more after it. The circles' servers are told of the sign-out later, by
    /// ``deliverFarewells(over:at:)``.
    public func forgetEveryone() async throws -> Deletion {
        try await mappingVaultErrors {
            var deletion = Deletion()
            // First, so that a watch that is running stops to write before the records are listed.
            try await vault.remove(PeopleVault.key(of: community))
            await alerts?.withdrawAll()
            try await vault.remove(ShownNotices.key(of: community))
            for (kind, keys) in try await everything(&deletion) {
                for key in keys { try await remove(key, kind, &deletion) }
            }
            let circles = await ofEachCircle { records in
                if let state = try? await records.state() {
                    try await records.rememberFarewell(
                        CircleFarewell(
                            address: state.address, bearer: state.bearer, isLeaving: false, expires: state.expires))
                }
                try await records.removeAll()
                return records
            }
            if !circles.done.isEmpty { deletion.records[.circles, default: 0] += circles.done.count }
            for kind in [VaultKey.Kind.beaconSeed, .ownNumber] {
                for key in try await listed(kind, &deletion) where key != ChangeMark.key(of: community) {
                    try await remove(key, .own, &deletion)
                }
            }
            try await vault.remove(ChangeMark.key(of: community))
            if let failure = circles.failure { throw failure }
            if !deletion.damaged.isEmpty {
                // Those of circles, and the mark of changes, are gone now: they were removed by name.
                deletion.damaged = []
                _ = try await everything(&deletion)
                for kind in [VaultKey.Kind.beaconSeed, .ownNumber] { _ = try await listed(kind, &deletion) }
            }
            return deletion
        }
    }

    /// Deletes what is older than ``retention``.
    ///
    /// Friends' keys of past days go too, and profiles and photos of people whom the log does not have.
    ///
    /// - Parameter now: seconds since 1970.
    public func expire(at now: Double) async throws -> Deletion {
        try await expire(at: now, sparing: [])
    }

    /// Deletes as ``expire(at:)``, but of those who are near none for there being too many unverified people.
    func expire(at now: Double, sparing near: Set<UserNumber>) async throws -> Deletion {
        try await mappingVaultErrors {
            var deletion = Deletion()
            try await expireEncounters(at: now, sparing: near, &deletion)
            let shown = try await notices.people(before: now - Self.retention)
            if !shown.isEmpty { try await withdraw(shown) }
            let met = Set(try await listed(.encounters, &deletion).compactMap(number(of:)))
            for (kind, stored) in [(Deletion.Kind.profiles, VaultKey.Kind.profile), (.photos, .photo)] {
                for key in try await listed(stored, &deletion) where try await hasExpired(key, at: now, met) {
                    try await remove(key, kind, &deletion)
                }
            }
            for key in try await listed(.beaconFriend, &deletion) where try await hasPast(key, at: now) {
                try await remove(key, .friends, &deletion)
            }
            let circles = await ofEachCircle { try await $0.expire(at: now, after: Self.retention) ? $0 : nil }
            if !circles.done.isEmpty { deletion.records[.circles, default: 0] += circles.done.count }
            if let time = Timestamp(secondsSince1970: now) {
                try await RollingKeys(in: vault, community: community).expireSeed(at: time)
            }
            if let failure = circles.failure { throw failure }
            return deletion
        }
    }

    /// Lets a watch that runs begin again, with what has changed.
    public func renewWatches() async throws {
        try await mappingVaultErrors { try await ChangeMark.note(in: vault, community: community) }
    }

    /// Tells the circles' servers which devices were signed out and who has left.
    ///
    /// What they were told before is not told again, nor is what cannot be told any more because the sign-in has ended. A watch that
    /// runs tells them too: see ``PeopleNearby/watch(in:community:time:plan:)``.
    ///
    /// - Parameters:
    ///   - transport: reaches the servers.
    ///   - now: seconds since 1970.
    public func deliverFarewells(over transport: any Transport, at now: Double) async {
        await CircleFarewell.deliver(in: vault, community: community, transport: transport, at: now)
    }

    private func expireEncounters(
        at now: Double, sparing near: Set<UserNumber>, _ deletion: inout Deletion
    ) async throws {
        let log = EncounterLog(in: vault, community: community, rules: EncounterRules(retention: Self.retention))
        let before = Set(try await listed(.encounters, &deletion).compactMap(number(of:)))
        guard try await log.prune(at: now, sparing: near) > 0 else { return }
        let gone = before.subtracting(try await listed(.encounters, &deletion).compactMap(number(of:)))
        deletion.people.formUnion(gone)
        deletion.records[.encounters, default: 0] += gone.count
    }

    /// Whether a profile or photo is old, or of a person whom the log does not have: it arrived while the person was
    /// forgotten. One from the future counts as old: the clock was set back.
    private func hasExpired(_ key: VaultKey, at now: Double, _ met: Set<UserNumber>) async throws -> Bool {
        guard let bytes = try? await vault.record(key) else { return false }
        guard let stored = DatedRecord(bytes)?.storedAt else { return true }
        let age = now - stored
        if age > Self.retention || age < -86_400 { return true }
        // A look-up ends up to a minute before the first encounter is stored.
        return age > 60 && number(of: key).map { !met.contains($0) } ?? true
    }

    /// Whether a friend's keys are all of past days.
    private func hasPast(_ key: VaultKey, at now: Double) async throws -> Bool {
        guard let person = number(of: key), let time = Timestamp(secondsSince1970: now),
            let window = try? RollingWindow(at: time), let bytes = try? await vault.record(key)
        else { return false }
        // The window before the present one is still accepted: after midnight, it uses yesterday's key.
        let first = RollingWindow(number: window.number == 0 ? 0 : window.number - 1).day
        return RollingKeys.lastDay(in: bytes, of: person).map { $0 < first } ?? false
    }

    private func everything(_ deletion: inout Deletion) async throws -> [(Deletion.Kind, [VaultKey])] {
        var all: [(Deletion.Kind, [VaultKey])] = []
        let kinds: [(Deletion.Kind, VaultKey.Kind)] = [
            (.encounters, .encounters), (.profiles, .profile), (.photos, .photo), (.friends, .beaconFriend),
        ]
        for (kind, stored) in kinds { all.append((kind, try await listed(stored, &deletion))) }
        return all
    }

    /// The keys of a kind in this community.
    private func listed(_ kind: VaultKey.Kind, _ deletion: inout Deletion) async throws -> [VaultKey] {
        let listing = try await vault.keys(of: kind)
        deletion.addDamage(listing.damaged.map { .vault($0) })
        return listing.keys.filter { $0.components.first == community }
    }

    private func remove(_ key: VaultKey, _ kind: Deletion.Kind, _ deletion: inout Deletion) async throws {
        guard try await vault.remove(key) else { return }
        deletion.records[kind, default: 0] += 1
        if kind != .own, let person = number(of: key) { deletion.people.insert(person) }
    }

    private func number(of key: VaultKey) -> UserNumber? {
        key.components.last.flatMap { Int($0) }.flatMap { try? UserNumber($0) }
    }
}
