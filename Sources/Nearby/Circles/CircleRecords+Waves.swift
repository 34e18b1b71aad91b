import Beacons
import Foundation

/// What is stored of waves, and of the keys that they may be about.
extension CircleRecords {
    struct PendingWave: Sendable, Codable {
        var id: String
        let person: UInt32
        let day: UInt32
        /// Seconds since 1970. It is not sent any more afterwards; an answer may be there for another day.
        let expires: Double
        /// What is sent, until the server is known to have it.
        var content: Content?
        /// What was known of the person, so that an answer opens also when newer keys have come. Earlier versions have none.
        var other: OtherMember?

        struct Content: Sendable, Codable {
            let meetings: [Data]
            let box: Data
            /// The day of which the person was waved at before.
            let wavedBefore: UInt32?
        }
    }

    /// Another member's identity, and day keys, newest first.
    struct OtherMember: Sendable, Codable {
        let identity: Data
        let keys: [UInt32: [Data]]
    }

    /// A wave whose answer was told, or that was forgotten: the server must still hear that it is of no more use, and its
    /// box is told once.
    struct AnsweredWave: Sendable, Codable, Hashable {
        let id: String
        /// The digest of the answer; empty of a wave that was forgotten.
        let box: Data
        /// Seconds since 1970.
        let expires: Double
        var isDeleted = false
    }

    /// What the user was to others: the keys of an identity, and day keys of a seed.
    struct FormerKeys: Sendable, Codable {
        let keys: Data
        let dayKeys: [UInt32: Data]
        let lastDay: UInt32

        static let maximum = 4
    }
}

extension CircleRecords.State {
    /// Removes what the user has sent to a person. The server is told that the waves are of no more use.
    mutating func removeWaves(at person: UInt32) {
        for wave in waves where wave.person == person {
            answered = (answered ?? []) + [CircleRecords.AnsweredWave(id: wave.id, box: Data(), expires: wave.expires)]
        }
        waves.removeAll { $0.person == person }
        waved[person] = nil
    }

    /// Forgets waves that have expired, who was waved at before yesterday, and keys of which no wave is any more.
    ///
    /// A wave lives a day, and its match another one.
    mutating func expireWaves(at now: Double) {
        waves.removeAll { $0.expires + JoinedCircle.secondsOfDay <= now }
        answered = answered?.filter { $0.expires + JoinedCircle.secondsOfDay > now }
        waved = waved.filter { Double($0.value &+ 2) * JoinedCircle.secondsOfDay > now }
        formerKeys = formerKeys?.filter { Double($0.lastDay &+ 2) * JoinedCircle.secondsOfDay > now }
    }

    /// Takes answers, each once, whatever the server repeats.
    ///
    /// - Returns: those that were not told yet.
    mutating func take(_ opened: [CircleRecords.AnsweredWave: MutualWave]) -> [MutualWave] {
        var told: [MutualWave] = []
        for (answer, wave) in opened where waves.contains(where: { $0.id == answer.id }) {
            guard !(answered ?? []).contains(where: { $0.box == answer.box }) else { continue }
            waves.removeAll { $0.id == answer.id }
            answered = (answered ?? []) + [answer]
            told.append(wave)
        }
        return told.sorted { ($0.time, $0.person) < ($1.time, $1.person) }
    }

    /// Whether something is there that ``expireWaves(at:)`` forgets one day.
    var hasWaves: Bool {
        !waves.isEmpty || !waved.isEmpty || answered?.isEmpty == false || formerKeys?.isEmpty == false
    }

    /// Replaces the seed. What the user was to others so far is kept: waves that arrive may be about it.
    mutating func renewSeed(on today: UInt32) {
        rememberKeys(on: today)
        seed = Data(RollingSeed.random().reveal())
        isSeedUnsent = true
        // Those that are published are of the old one.
        publishedUntil = 0
    }

    private mutating func rememberKeys(on today: UInt32) {
        guard let ownSeed, isSeedUnsent != true else { return }
        // Others learn of new keys within hours, and a meeting may have been yesterday.
        let days = [today &- 1, today, today &+ 1].map { day in
            (day, Data(ownSeed.dayKey(for: RollingDay(number: day)).reveal()))
        }
        let former = CircleRecords.FormerKeys(
            keys: keys, dayKeys: Dictionary(days, uniquingKeysWith: { first, _ in first }), lastDay: today &+ 1)
        formerKeys = Array(([former] + (formerKeys ?? [])).prefix(CircleRecords.FormerKeys.maximum))
    }
}
