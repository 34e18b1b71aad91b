public import Beacons
import Circles
import Foundation
import Handshake
import OAuth

/// A wave that both have sent: the meeting was mutual.
public struct MutualWave: Sendable, Hashable {
    public let person: UserNumber
    public let name: String
    /// What the other person wrote. It came from that person: escape it before display.
    public let text: String
    /// When it was written: seconds since 1970.
    public let time: Double
}

/// Waves: two members who have recognised each other greet each other, and neither learns of it unless both do (dossier 6).
extension JoinedCircle {
    private static let windowLength = 900.0
    private static let windowsOfDay: UInt32 = 96

    /// Waves at a member whom the user has met today or yesterday.
    ///
    /// - Parameters:
    ///   - person: the member.
    ///   - text: what the member reads, at most 80 bytes.
    ///   - log: says when the two have met.
    public func wave(at person: UserNumber, text: String, log: EncounterLog) async throws {
        try await CircleEnvironment.placing {
            let number = try Self.number(person)
            let state = try await state()
            guard let entry = try await records.table().entry(person), !state.hidden.contains(number) else {
                throw CircleProblem.wave("number \(person) is no member of \(quoted(state.circle, limit: 80))")
            }
            guard !entry.isChanged, let identity = entry.identity else {
                throw CircleProblem.wave(
                    "\(quoted(entry.row.name, limit: 80)) has a new identity. Ask in person, then pair again")
            }
            guard entry.keys?.terms.waves == true else {
                throw CircleProblem.wave("\(quoted(entry.row.name, limit: 80)) takes no waves")
            }
            // What a wave of an earlier day said, the windows beside it included, may have been answered, and is refused then.
            let last = state.waved[number].map { ($0 &+ 1) &* Self.windowsOfDay } ?? 0
            let known = try await windows(with: person, log: log)
            let windows = known.filter { $0 / Self.windowsOfDay == state.waved[number] || $0 > last }
            guard let newest = windows.max() else {
                let name = quoted(entry.row.name, limit: 80)
                throw CircleProblem.wave(
                    known.isEmpty
                        ? "you have not met \(name) in the last hours" : "you have not met \(name) since you waved last"
                )
            }
            let day = newest / Self.windowsOfDay
            guard state.waved[number] != day else {
                throw CircleProblem.wave("you have waved at \(quoted(entry.row.name, limit: 80)) today")
            }
            var secrets: [UInt32: WaveSecret] = [:]
            // The days of the windows and of their neighbours: two people may have met around midnight.
            for day in [day &- 1, day, day &+ 1] {
                secrets[day] = try await secret(with: identity, entry, day: day, state)
            }
            guard let secret = secrets[day] else {
                throw CircleProblem.wave("the keys of that day are not known any more")
            }
            let meetings = Self.meetings(of: windows, after: last, with: secrets)
            let greeting = Greeting(window: newest, time: UInt64(max(0, now)), text: text)
            let box: [UInt8]
            do {
                box = try secret.seal(greeting, from: try Self.keys(state).identity)
            } catch CircleError.malformed {
                throw CircleProblem.wave("a text has at most \(WaveSecret.maximumText) bytes and no control characters")
            }
            let object = try await server(state).send(
                .post, "v1/waves",
                json: [
                    "meet": .array(meetings.map { .string(Base64URL.encode($0)) }),
                    "box": .string(Base64URL.encode(box)),
                ], expecting: [201]
            ).object("the wave")
            guard let id = object["id"]?.string, let seconds = object["expires_in"]?.integer else {
                throw CircleProblem.malformed("the wave")
            }
            let pending = CircleRecords.PendingWave(
                id: id, person: number, day: day, expires: now + Double(min(max(seconds, 0), 86_400)))
            try await records.changeState { state in
                state.waves.append(pending)
                state.waved[number] = day
            }
        }
    }

    /// Asks what became of the waves that wait. Asks nothing when none waits.
    ///
    /// - Returns: those that were answered, each once.
    public func collectWaves() async throws -> [MutualWave] {
        try await CircleEnvironment.placing {
            let moment = now
            try await records.changeState { $0.expireWaves(at: moment) }
            let state = try await state()
            guard !state.waves.isEmpty else { return [] }
            let object = try await server(state).send(.get, "v1/waves").object("the waves")
            var mutual: [MutualWave] = []
            let table = try await records.table()
            for matched in (object["matched"]?.array ?? []).compactMap(\.object) {
                guard let id = matched["id"]?.string, let wave = state.waves.first(where: { $0.id == id }),
                    let box = matched["box"]?.string.flatMap({ Base64URL.decode($0) })
                else { continue }
                // Once a person and day, whatever the server repeats.
                try await records.changeState { $0.waves.removeAll { $0.id == id } }
                if let answer = try await open(box, wave, table, state) { mutual.append(answer) }
            }
            return mutual
        }
    }

    /// The people at whom the user has waved, and who have not answered.
    public func wavesWaiting() async throws -> [UserNumber] {
        try await CircleEnvironment.placing {
            try await records.state()?.waves.compactMap { try? UserNumber(Int($0.person)) } ?? []
        }
    }

    private func open(
        _ box: [UInt8], _ wave: CircleRecords.PendingWave, _ table: CircleTable, _ state: CircleRecords.State
    ) async throws -> MutualWave? {
        guard let person = try? UserNumber(Int(wave.person)), let entry = table.entry(person),
            let identity = entry.identity, !entry.isChanged
        else { return nil }
        let today = try Self.day(now)
        // The other one may have met the user the day after, or waved at a meeting of the day before.
        for day in Set([today, today &- 1, wave.day &- 1, wave.day, wave.day &+ 1]) {
            guard let secret = try? await secret(with: identity, entry, day: day, state),
                let greeting = try? secret.open(box, from: identity.identity, at: UInt64(max(0, now)))
            else { continue }
            return MutualWave(
                person: person, name: entry.row.name, text: greeting.text, time: Double(greeting.time))
        }
        return nil
    }

    /// The secret of a day; nil when a key of that day is not known, or not any more.
    private func secret(
        with identity: MemberRecord, _ entry: CircleTable.Entry, day: UInt32, _ state: CircleRecords.State
    ) async throws -> WaveSecret? {
        guard let theirs = entry.key(of: day), let seed = try await publishedSeed(state) else { return nil }
        let own = seed.dayKey(for: RollingDay(number: day)).reveal()
        return try WaveSecret(
            try Self.keys(state), identity, ownDayKey: own, otherDayKey: theirs, day: day)
    }

    /// The seed whose keys the other members have: in a state of an earlier version, that of pairing.
    private func publishedSeed(_ state: CircleRecords.State) async throws -> RollingSeed? {
        if let seed = state.ownSeed { return seed }
        let pairing = try await RollingKeys(in: environment.vault, community: environment.community).existingSeed()
        return pairing.flatMap { state.hasPublished(keysOf: $0) ? $0 : nil }
    }

    /// The windows of the last day in which the user has met a person.
    private func windows(with person: UserNumber, log: EncounterLog) async throws -> Set<UInt32> {
        var windows: Set<UInt32> = []
        for encounter in try await log.history(of: person)?.encounters ?? [] {
            let begin = max(encounter.firstSeen, now - 86_400)
            let end = min(encounter.lastSeen, now)
            guard begin <= end, begin >= 0, end < Double(UInt32.max) else { continue }
            windows.formUnion(UInt32(begin / Self.windowLength)...UInt32(end / Self.windowLength))
        }
        return windows
    }

    /// Eight values: of the newest windows, of their neighbours, then random ones, in no order.
    ///
    /// - Parameters:
    ///   - last: no window up to this one has a value.
    ///   - secrets: by day. A window of another day has no value.
    static func meetings(
        of windows: Set<UInt32>, after last: UInt32, with secrets: [UInt32: WaveSecret]
    ) -> [[UInt8]] {
        let newest = windows.sorted(by: >)
        let neighbours = newest.flatMap { [$0 &+ 1, $0 &- 1] }.filter { !windows.contains($0) }
        var values: [[UInt8]] = []
        for window in newest.prefix(WaveSecret.meetings / 2) + neighbours + newest.dropFirst(WaveSecret.meetings / 2) {
            guard values.count < WaveSecret.meetings, window > last,
                let value = secrets[window / windowsOfDay]?.meeting(in: window), !values.contains(value)
            else { continue }
            values.append(value)
        }
        while values.count < WaveSecret.meetings { values.append(RandomSource.system.bytes(16)) }
        return values.shuffled()
    }
}
