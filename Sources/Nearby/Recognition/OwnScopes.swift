public import Beacons
import Circles
import Foundation
public import Handshake

/// What the user is recognised by: a seed for each circle, and one for friends.
///
/// See the circles dossier, chapter 2. Who has the keys of one scope recognises the user in that scope alone. Each scope is
/// sent in an advertisement of its own.
public struct OwnScopes: Sendable {
    /// The seeds whose identifiers are sent now.
    ///
    /// Those of each circle without a pause, and last that of friends while somebody has keys of it.
    public let sent: [RollingSeed]
    /// How many of them are of circles.
    public let circles: Int
    /// All seeds, also those that are not sent now.
    public let seeds: [RollingSeed]

    /// Whether friends are among those whom something is sent for.
    public var hasFriends: Bool { sent.count > circles }

    /// Reads the user's scopes.
    ///
    /// - Parameters:
    ///   - vault: where they are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    ///   - time: the present.
    /// - Throws: ``NearbyError``, `CancellationError`.
    public init(in vault: any Vault, community: String, at time: Timestamp) async throws {
        let pairing = RollingKeys(in: vault, community: community)
        let stored = try await pairing.existingSeed()
        var (sent, seeds): ([RollingSeed], [RollingSeed]) = ([], [])
        var isPairingSent = try await pairing.hasRecipients(at: time)
        var isPaused = false
        for records in try await pairing.wrapped({ try await CircleRecords.all(in: vault, community: community) }) {
            guard let state = try await pairing.wrapped({ try await records.state() }) else { continue }
            if let seed = state.ownSeed {
                seeds.append(seed)
                if !state.isPaused { sent.append(seed) }
            } else if state.isPaused {
                // Its members may have keys of the one seed that an earlier version had for all.
                isPaused = true
            } else if let stored, state.hasPublished(keysOf: stored) {
                isPairingSent = true
            }
        }
        circles = sent.count
        if let stored {
            seeds.append(stored)
            if isPairingSent, !isPaused { sent.append(stored) }
        }
        (self.sent, self.seeds) = (sent, seeds)
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

    /// Whether the published keys are of a seed. Earlier versions published those of the seed for pairing.
    func hasPublished(keysOf seed: RollingSeed) -> Bool {
        publishedKey == JoinedCircle.digest(seed.dayKey(for: RollingDay(number: publishedUntil)))
    }
}
