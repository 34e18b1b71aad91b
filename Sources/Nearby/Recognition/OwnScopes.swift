public import Beacons
import Circles
import Foundation
public import Handshake

/// What the user is recognised by: a seed for each circle, and one for friends.
///
/// See the circles dossier, chapter 2. The holder of the keys of one scope recognises the user in that scope alone. Each scope is
/// sent in an advertisement of its own.
public struct OwnScopes: Sendable {
    /// A circle, or friends.
    public struct Scope: Sendable {
        /// The circle's name; nil for friends.
        public let circle: String?
        public let seed: RollingSeed
        /// Whether its identifiers are sent now.
        ///
        /// They are not while a circle is paused, while no key of the present day is published in it, or while no friend has keys.
        public let isSent: Bool
    }

    /// All scopes: circles, and last friends.
    public let all: [Scope]

    /// The seeds whose identifiers are sent now.
    ///
    /// Those of each circle without a pause where keys of the present day are published, and last that of friends while a
    /// friend has keys of it.
    public var sent: [RollingSeed] { all.filter(\.isSent).map(\.seed) }
    /// How many of them are of circles.
    public var circles: Int { all.count { $0.isSent && $0.circle != nil } }
    /// All seeds, also those that are not sent now.
    public var seeds: [RollingSeed] { all.map(\.seed) }

    /// Whether friends are among those whom something is sent for.
    public var hasFriends: Bool { all.contains { $0.isSent && $0.circle == nil } }

    /// When the published keys of a circle that is sent for end first, unless others are published by then.
    let end: Timestamp?
    /// How long a device that sleeps, or whose vault cannot be read, goes on after ``end``, in seconds.
    private static let maximumWait = 900.0

    /// Reads the user's scopes.
    ///
    /// - Parameters:
    ///   - vault: where they are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    ///   - time: the present.
    /// - Throws: ``NearbyError``, `CancellationError`.
    public init(in vault: any Vault, community: String, at time: Timestamp) async throws {
        let keys = RollingKeys(in: vault, community: community)
        let stored = try await keys.existingSeed()
        var all: [Scope] = []
        var isSentToFriends = try await keys.hasRecipients(at: time)
        var isPaused = false
        var ends: [Timestamp] = []
        for records in try await mappingVaultErrors({ try await CircleRecords.all(in: vault, community: community) }) {
            guard let state = try await mappingVaultErrors({ try await records.state() }) else { continue }
            if let seed = state.ownSeed {
                // What no member has a key of is not sent.
                let end = state.isPaused ? nil : state.endOfKeys(of: seed).flatMap { time < $0 ? $0 : nil }
                all.append(Scope(circle: state.circle, seed: seed, isSent: end != nil))
                if let end { ends.append(end) }
            } else if state.isPaused {
                // Its members may have keys of the one seed that an earlier version had for all.
                isPaused = true
            } else if let stored, state.hasPublished(keysOf: stored),
                let end = state.endOfKeys(of: stored), time < end
            {
                isSentToFriends = true
                ends.append(end)
            }
        }
        if let stored { all.append(Scope(circle: nil, seed: stored, isSent: isSentToFriends && !isPaused)) }
        self.all = all
        end = ends.min()
    }

    /// Waits until something else is to be sent, because published keys have ended.
    ///
    /// - Returns: whether that came; false where no keys of a circle are sent, or others follow.
    package func waitForEnd(in vault: any Vault, community: String, time: TimeSource) async throws -> Bool {
        let sent = sent.map { $0.reveal() }
        var end = end
        while let moment = end {
            let now = time.now()
            let rest = moment.secondsSince1970 - now
            guard rest <= 0 else {
                try await time.clock.sleep(for: .seconds(min(rest, Self.maximumWait)))
                continue
            }
            let present = Timestamp(secondsSince1970: now) ?? .now()
            guard let later = try? await OwnScopes(in: vault, community: community, at: present) else {
                try await time.clock.sleep(for: .seconds(Self.maximumWait))
                continue
            }
            guard later.sent.map({ $0.reveal() }) == sent else { return true }
            end = later.end
        }
        return false
    }

    /// The keys of all scopes for the days around a time, by which the user's own beacon is recognised.
    package func dayKeys(around time: Timestamp) -> [DayKey] {
        guard let today = try? RollingWindow(at: time).day.number else { return [] }
        // A window around midnight still uses yesterday's key.
        let days = (today &- min(today, 1))...(today &+ UInt32(RollingKeys.maximumDays))
        return seeds.flatMap { seed in days.map { seed.dayKey(for: RollingDay(number: $0)) } }
    }

    /// Whether a key is the user's own, in whatever scope.
    func contains(_ key: DayKey) -> Bool {
        seeds.contains { $0.dayKey(for: key.day).reveal() == key.reveal() }
    }
}

extension CircleRecords.State {
    /// The seed of the circle; nil before the first publication, and in a state of an earlier version.
    var ownSeed: RollingSeed? { seed.flatMap { try? RollingSeed(revealed: Array($0)) } }

    /// Whether members may have keys of the one seed that an earlier version had for circles and friends alike.
    var hasSharedSeed: Bool { ownSeed == nil && sequence > 0 }

    /// When the published keys of a seed end; nil while none are published.
    ///
    /// What is sent in their last window is sent until then, a few minutes after midnight (circles dossier 2).
    func endOfKeys(of seed: RollingSeed) -> Timestamp? {
        guard publishedUntil > 0 else { return nil }
        let next = UInt64(publishedUntil) + 1
        return seed.change(to: RollingWindow(number: UInt32(clamping: next * 96)))
    }

    /// Whether the published keys are of a seed. Earlier versions published those of the seed for pairing.
    func hasPublished(keysOf seed: RollingSeed) -> Bool {
        publishedKey == JoinedCircle.digest(seed.dayKey(for: RollingDay(number: publishedUntil)))
    }
}
