public import Beacons
import Circles
import Crypto
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
    /// A server that does not answer is told again by ``collectWaves()``, for a day: a wave that it has already counts once.
    ///
    /// - Parameters:
    ///   - person: the member.
    ///   - text: what the member reads, at most 80 bytes.
    ///   - log: says when the two have met.
    /// - Returns: whether the server has been told.
    @discardableResult
    public func wave(at person: UserNumber, text: String, log: EncounterLog) async throws -> Bool {
        try await CircleEnvironment.placing {
            let number = try Self.number(person)
            let state = try await state()
            let isNoMember = CircleProblem.wave(
                "number \(person) is no member of \(quoted(state.circle, limit: 80))")
            if state.blocked.contains(number), !state.hidden.contains(number) {
                throw CircleProblem.forgottenMember(person, circle: quoted(state.circle, limit: 80))
            }
            guard let entry = try await records.table().entry(person), !state.hidden.contains(number) else {
                throw isNoMember
            }
            let name = quoted(entry.row.name, limit: 80)
            guard state.takesWaves != false else { throw CircleProblem.wavesOff(name: name) }
            guard !entry.isChanged, let identity = entry.identity else {
                throw CircleProblem.wave("\(name) has a new identity. Ask in person, then pair again")
            }
            guard entry.keys?.terms.waves == true else { throw CircleProblem.wave("members cannot wave at \(name)") }
            // What a wave of an earlier day said, the windows beside it included, may have been answered, and is refused then.
            let last = state.waved[number].map { ($0 &+ 1) &* Self.windowsOfDay } ?? 0
            let known = try await windows(with: person, of: .circle, log: log)
            let windows = known.filter { $0 / Self.windowsOfDay == state.waved[number] || $0 > last }
            guard let newest = windows.max() else {
                guard known.isEmpty else {
                    throw CircleProblem.wave("you have not met \(name) since you waved last")
                }
                let isHeard = try await !self.windows(with: person, of: .unverified, log: log).isEmpty
                throw CircleProblem.wave(
                    "you have not met \(name) in the last hours"
                        + (isHeard ? ": what was heard is unverified, and any device can send it" : ""))
            }
            let day = newest / Self.windowsOfDay
            let wavedToday = CircleProblem.wave("you have waved at \(name) today")
            guard state.waved[number] != day else { throw wavedToday }
            // The days of the windows and of their neighbours: two people may have met around midnight.
            let days = [day &- 1, day, day &+ 1]
            let other = Self.member(entry, identity, on: days)
            let sides = try await ownSides(state)
            let secrets = Dictionary(uniqueKeysWithValues: days.map { ($0, Self.secrets(sides, other, on: $0)) })
            guard let secret = secrets[day]?.first else {
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
            let wave = CircleRecords.PendingWave(
                id: Base64URL.encode(RandomSource.system.bytes(16)), person: number, day: day,
                expires: now + Self.secondsOfDay,
                content: .init(meetings: meetings.map { Data($0) }, box: Data(box), wavedBefore: state.waved[number]),
                other: other)
            // Stored before it is sent: when an answer is lost, the server may have it. Another process may have waved,
            // hidden the user or forgotten the person meanwhile.
            try await records.change { state in
                guard var changed = state, !changed.hidden.contains(number), !changed.blocked.contains(number) else {
                    throw isNoMember
                }
                guard changed.waved[number] != day else { throw wavedToday }
                changed.waves.append(wave)
                changed.waved[number] = day
                state = changed
            }
            return try await isTold { try await send(wave.id) }
        }
    }

    /// Sends a wave that the server may have already. One that it refuses was not sent.
    private func send(_ id: String) async throws {
        let state = try await state()
        guard let wave = state.waves.first(where: { $0.id == id }), let content = wave.content else { return }
        do {
            let object = try await server(state).send(
                .post, "v1/waves",
                json: [
                    "id": .string(wave.id), "meet": .array(content.meetings.map { .string(Base64URL.encode($0)) }),
                    "box": .string(Base64URL.encode(content.box)),
                ], expecting: [201]
            ).object("the wave")
            guard let id = object["id"]?.string, id.utf8.count <= 64, Base64URL.decode(id) != nil else {
                throw CircleProblem.malformed("the wave")
            }
            try await records.changeState { state in
                guard let index = state.waves.firstIndex(where: { $0.id == wave.id }) else { return }
                state.waves[index].content = nil
                // A server of an earlier version draws it.
                state.waves[index].id = id
            }
        } catch CircleProblem.refused(let status, let code, let message) where status < 500 {
            try await records.changeState { state in
                guard state.waves.contains(where: { $0.id == wave.id }) else { return }
                state.waves.removeAll { $0.id == wave.id }
                // A wave of a later day stays.
                if state.waved[wave.person] == wave.day { state.waved[wave.person] = content.wavedBefore }
            }
            throw CircleProblem.refused(status: status, code: code, message: message)
        }
    }

    /// Asks what became of the waves that wait. Asks nothing when none waits.
    ///
    /// - Returns: those that were answered, each once, also among several processes.
    public func collectWaves() async throws -> [MutualWave] {
        try await CircleEnvironment.placing {
            let moment = now
            try await records.changeState { $0.expireWaves(at: moment) }
            let state = try await state()
            guard !state.waves.isEmpty else {
                try? await deleteAnswered()
                return []
            }
            let object = try await server(state).send(.get, "v1/waves").object("the waves")
            var known = Set((object["waiting"]?.array ?? []).compactMap(\.string))
            var opened: [CircleRecords.AnsweredWave: MutualWave] = [:]
            // Answers that cannot be opened now wait for the next table.
            let table = try await records.readableTable() ?? CircleTable()
            for matched in (object["matched"]?.array ?? []).compactMap(\.object) {
                guard let id = matched["id"]?.string, let wave = state.waves.first(where: { $0.id == id }),
                    let box = matched["box"]?.string.flatMap({ Base64URL.decode($0) })
                else { continue }
                known.insert(id)
                // What does not open may be sealed with keys that come with the next table.
                guard let answer = try await open(box, wave, table, state) else { continue }
                let digest = Data(SHA256.hash(data: box))
                opened[.init(id: id, box: digest, expires: moment + Self.secondsOfDay)] = answer
            }
            // A wave that the server was not known to have may have been sent by another process since.
            let (found, asked) = (known, Set(state.waves.filter { $0.content == nil }.map(\.id)))
            // In one step: another process may have been told meanwhile.
            let told = try await records.change { [opened] state in
                state?.take(opened) ?? []
            }
            try await records.changeState { state in
                for index in state.waves.indices where found.contains(state.waves[index].id) {
                    state.waves[index].content = nil
                }
                // What the server has no more has expired there.
                state.waves.removeAll { $0.content == nil && asked.contains($0.id) && !found.contains($0.id) }
            }
            // What was answered is told, whatever comes now.
            try? await deleteAnswered()
            for wave in state.waves where !found.contains(wave.id) && wave.expires > moment {
                _ = try? await isTold { try await send(wave.id) }
            }
            return told
        }
    }

    /// Asks for answers until the task is cancelled.
    ///
    /// It does so every five to ten minutes, while a wave waits.
    ///
    /// - Parameter report: receives each answer once.
    /// - Throws: `CancellationError` alone.
    public func keepCollectingWaves(report: @Sendable (MutualWave) async -> Void) async throws {
        while true {
            do {
                for wave in try await collectWaves() { await report(wave) }
            } catch is NearbyError {
                // Asked again later.
            }
            try await environment.time.clock.sleep(for: .seconds(environment.random(Self.wavePause)))
        }
    }

    private static let wavePause = 300.0...600.0

    /// Tells the server which answers the device has.
    private func deleteAnswered() async throws {
        let state = try await state()
        for wave in state.answered ?? [] where !wave.isDeleted {
            _ = try await server(state).send(.delete, "v1/waves/\(wave.id)", expecting: [204])
            try await records.changeState { state in
                guard let index = state.answered?.firstIndex(where: { $0.id == wave.id }) else { return }
                state.answered?[index].isDeleted = true
            }
        }
    }

    /// The people at whom the user has waved, and who have not answered.
    public func wavesWaiting() async throws -> [UserNumber] {
        try await CircleEnvironment.placing {
            try await records.state()?.waves.filter { $0.expires > now }
                .compactMap { try? UserNumber(Int($0.person)) } ?? []
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
        let days = Set([today, today &- 1, wave.day &- 1, wave.day, wave.day &+ 1])
        let sides = try await ownSides(state)
        for other in [wave.other, Self.member(entry, identity, on: days)].compactMap(\.self) {
            guard let sender = try? MemberRecord(Array(other.identity)) else { continue }
            for secret in days.flatMap({ Self.secrets(sides, other, on: $0) }) {
                guard let greeting = try? secret.open(box, from: sender.identity, at: UInt64(max(0, now))) else {
                    continue
                }
                return MutualWave(
                    person: person, name: entry.row.name, text: greeting.text, time: Double(greeting.time))
            }
        }
        return nil
    }

    // MARK: Secrets

    /// What the user is, or was lately, to others: the keys of an identity, and the key of a day.
    private typealias OwnSide = (keys: MemberKeys, dayKey: @Sendable (UInt32) -> [UInt8]?)

    /// What the user is to others, and then what the user was before the last seeds.
    private func ownSides(_ state: CircleRecords.State) async throws -> [OwnSide] {
        var sides: [OwnSide] = []
        if let seed = try await publishedSeed(state) {
            sides.append((try Self.keys(state), { seed.dayKey(for: RollingDay(number: $0)).reveal() }))
        }
        for former in state.formerKeys ?? [] {
            guard let keys = MemberKeys(revealed: Array(former.keys)) else { continue }
            sides.append((keys, { former.dayKeys[$0].map { Array($0) } }))
        }
        return sides
    }

    /// What is known of a member on some days.
    private static func member(
        _ entry: CircleTable.Entry, _ identity: MemberRecord, on days: some Sequence<UInt32>
    ) -> CircleRecords.OtherMember {
        let keys = days.map { day in (day, entry.keys(of: day).map { Data($0) }) }
        return .init(identity: Data(identity.bytes), keys: Dictionary(uniqueKeysWithValues: keys))
    }

    /// The secrets of a day, those of the newest keys first; none when no key of that day is known, or not any more.
    private static func secrets(
        _ sides: [OwnSide], _ other: CircleRecords.OtherMember, on day: UInt32
    ) -> [WaveSecret] {
        guard let identity = try? MemberRecord(Array(other.identity)) else { return [] }
        return sides.flatMap { side in
            (other.keys[day] ?? []).compactMap { theirs in
                guard let own = side.dayKey(day) else { return nil }
                return try? WaveSecret(side.keys, identity, ownDayKey: own, otherDayKey: Array(theirs), day: day)
            }
        }
    }

    /// The seed whose keys the other members have: in a state of an earlier version, that of pairing.
    private func publishedSeed(_ state: CircleRecords.State) async throws -> RollingSeed? {
        if let seed = state.ownSeed { return seed }
        let pairing = try await RollingKeys(in: environment.vault, community: environment.community).existingSeed()
        return pairing.flatMap { state.hasPublished(keysOf: $0) ? $0 : nil }
    }

    /// The windows of the last day in which the user has met a person. A person who was heard with less trust was not met.
    private func windows(
        with person: UserNumber, of trust: Trust, log: EncounterLog
    ) async throws -> Set<UInt32> {
        var windows: Set<UInt32> = []
        for encounter in try await log.history(of: person)?.encounters ?? []
        where encounter.trust ?? .unverified >= trust {
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
    ///   - secrets: by day. A window of another day has no value; with keys of several seeds it has several.
    private static func meetings(
        of windows: Set<UInt32>, after last: UInt32, with secrets: [UInt32: [WaveSecret]]
    ) -> [[UInt8]] {
        let newest = windows.sorted(by: >)
        let neighbours = newest.flatMap { [$0 &+ 1, $0 &- 1] }.filter { !windows.contains($0) }
        var values: [[UInt8]] = []
        for window in newest.prefix(WaveSecret.meetings / 2) + neighbours + newest.dropFirst(WaveSecret.meetings / 2) {
            guard window > last else { continue }
            for secret in secrets[window / windowsOfDay] ?? [] where values.count < WaveSecret.meetings {
                guard let value = secret.meeting(in: window), !values.contains(value) else { continue }
                values.append(value)
            }
        }
        while values.count < WaveSecret.meetings { values.append(RandomSource.system.bytes(16)) }
        return values.shuffled()
    }
}
