import Beacons
import Circles
import Crypto
import Foundation
import Handshake
import OAuth

/// What is stored of a circle that the user is in (circles dossier 8): a state, a table, packs of photos.
struct CircleRecords: Sendable {
    let vault: any Vault
    let community: String
    /// The circle's scope in hexadecimal digits.
    let scope: String

    init(in vault: any Vault, community: String, scope: CircleScope) {
        self.vault = vault
        self.community = community
        self.scope = Beacons.Hexadecimal.encode(scope.bytes)
    }

    private init(in vault: any Vault, community: String, scopeText: String) {
        self.vault = vault
        self.community = community
        scope = scopeText
    }

    /// The circles of a community that the user is in.
    static func all(in vault: any Vault, community: String) async throws -> [CircleRecords] {
        try await vault.keys(of: .circle).keys.compactMap { key in
            let parts = key.components
            guard parts.count == 3, parts[0] == community, parts[2] == "state" else { return nil }
            return CircleRecords(in: vault, community: community, scopeText: parts[1])
        }.sorted { $0.scope < $1.scope }
    }

    /// The circles of a community of which anything is stored, also where the state cannot be read: such a record is not listed.
    static func traces(in vault: any Vault, community: String) async throws -> [CircleRecords] {
        let scopes = try await vault.keys(of: .circle).keys.compactMap { key -> String? in
            let parts = key.components
            return parts.count >= 3 && parts[0] == community && parts[2] != "farewell" ? parts[1] : nil
        }
        return Set(scopes).sorted().map { CircleRecords(in: vault, community: community, scopeText: $0) }
    }

    // MARK: The state

    /// What the user is in the circle.
    struct State: Sendable, Codable {
        var address: String
        var circle: String
        var service: String
        var number: UInt32
        var name: String
        var batch: String
        /// Secret.
        var bearer: String
        /// Seconds since 1970.
        var expires: Int64
        /// The private keys of the identity. Secret.
        var keys: Data
        var generation: UInt32 = 1
        /// The published identity.
        var identity = Data()
        /// The seed of what is sent in this circle. Secret. Nil before the first publication; earlier versions had one for everything.
        var seed: Data?
        /// The sequence of the last key record that was sent or may have been.
        var sequence: UInt32 = 0
        var epoch: UInt32 = 0
        /// When an epoch was the reason for a new seed last: seconds since 1970.
        var epochRenewed: Double?
        /// Before when a watch does not synchronise, although something is due: seconds since 1970.
        var retryFrom: Double?
        /// The last day whose key is published.
        var publishedUntil: UInt32 = 0
        /// The digest of that key: a seed that was renewed meanwhile is published again.
        var publishedKey: Data?
        /// When keys are published next, and when the tables are fetched next: seconds since 1970.
        var nextPublish = 0.0
        var nextSync = 0.0
        /// When the tables were fetched last.
        var synced = 0.0
        var isPaused = false
        /// From whom the user hides, at the server.
        var hidden: Set<UInt32> = []
        /// Whom the user has forgotten: they are not recognised, and not fetched again.
        var blocked: Set<UInt32> = []
        var membersTag: String?
        var keysTag: String?
        /// Waves that wait, and the day of which each person was waved at last.
        var waves: [PendingWave] = []
        var waved: [UInt32: UInt32] = [:]
        /// Waves whose answer was told.
        var answered: [AnsweredWave]?
        /// What the user was to others before a new seed or identity, newest first. Secret.
        var formerKeys: [FormerKeys]?
        /// Whether no other member can have a key of the seed.
        var isSeedUnsent: Bool?
        /// Why the last synchronisation failed, for `doctor`; nil when it did not.
        var trouble: String?
        /// Whether the server may not have the identity yet: it was rotated, and no answer came.
        var isIdentityPending: Bool?
        /// Whether the server has rejected the bearer.
        var isSignedOut: Bool?
        /// Of whom the server must still be told that the user hides from them, and of whom that this has ended. It is told
        /// in this order.
        var unsentHides: Set<UInt32>?
        var unsentUnhides: Set<UInt32>?
        /// Whether the next synchronisation fetches everything: the user no longer forgets a member.
        var mustFetchWhole: Bool?
        /// Whether the server has withdrawn all keys that were sent, or may have been.
        var isWithdrawn: Bool?
        /// Whether the tables were read with a clock that is off.
        var isClockOff: Bool?
        /// Whether the server shows the user's photo and batch, as it said last; nil before it was asked.
        var showsPhoto: Bool?
        var showsBatch: Bool?
        /// Whether the server has a photo of the user, shown or not; nil before it was asked.
        var hasPhoto: Bool?
        /// What the server must still be told of these.
        var unsentPhoto: Bool?
        var unsentBatch: Bool?
        /// Whether members can wave at the user; nil counts as true.
        var takesWaves: Bool?
        /// Whether the photos of the others are not fetched.
        var skipsPhotos: Bool?
        /// How often rows of members have come, and how often they had when all packs of photos were asked about last.
        var memberChanges: Int?
        var photosAskedAt: Int?
        /// When a table that could not be read was replaced, and its pins were lost: seconds since 1970.
        var pinsLost: Double?
        /// Whether a synchronisation has ended with that; nil where nothing was lost.
        var isLossReported: Bool?
        /// Whether a table is stored, so that one that is not there is lost; earlier versions did not note it.
        var hasTable: Bool?

        /// Whether the server must still be told that the user has paused.
        var mustWithdraw: Bool { isPaused && sequence > 0 && isWithdrawn != true }

        /// Whether the server must still be told something.
        var hasNews: Bool {
            unsentHides?.isEmpty == false || unsentUnhides?.isEmpty == false || mustWithdraw
                || isIdentityPending == true || unsentPhoto != nil || unsentBatch != nil
        }

        /// Whether a row of a member has come since all packs of photos were asked about.
        var mustAskForPhotos: Bool { photosAskedAt != memberChanges ?? 0 }

        /// That pins were lost within a week: a watch in the background may have no reader earlier.
        func loss(at now: Double) -> CircleProblem? {
            guard let pinsLost, now - pinsLost <= Self.lossNotice else { return nil }
            return .pinsLost(circle: quoted(circle, limit: 80))
        }

        private static let lossNotice = 7 * JoinedCircle.secondsOfDay

        /// Removes what the user has sent to a person. The server is told that the waves are of no more use.
        mutating func removeWaves(at person: UInt32) {
            for wave in waves where wave.person == person {
                answered = (answered ?? []) + [AnsweredWave(id: wave.id, box: Data(), expires: wave.expires)]
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
        mutating func take(_ opened: [AnsweredWave: MutualWave]) -> [MutualWave] {
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
            let former = FormerKeys(
                keys: keys, dayKeys: Dictionary(days, uniquingKeysWith: { first, _ in first }), lastDay: today &+ 1)
            formerKeys = Array(([former] + (formerKeys ?? [])).prefix(FormerKeys.maximum))
        }

        /// Whether the user has to join again to go on: the bearer has expired or was rejected.
        func mustJoinAgain(at now: Double) -> Bool { isSignedOut == true || Double(expires) <= now }

        /// Whether the user may join again: the sign-in has ended, or ends within days.
        func mayJoinAgain(at now: Double) -> Bool {
            mustJoinAgain(at: now) || Double(expires) - now <= JoinedCircle.renewalTime
        }

        /// Takes over what the user is to others from a membership that this one continues.
        mutating func takeIdentity(of earlier: State) {
            (keys, generation, identity) = (earlier.keys, earlier.generation, earlier.identity)
            (seed, sequence, epoch) = (earlier.seed, earlier.sequence, earlier.epoch)
            epochRenewed = earlier.epochRenewed
            (waves, waved, answered) = (earlier.waves, earlier.waved, earlier.answered)
            (formerKeys, isSeedUnsent) = (earlier.formerKeys, earlier.isSeedUnsent)
        }

        /// Takes over what the user has decided in a membership that this one continues.
        mutating func takeDecisions(of earlier: State) {
            (isPaused, hidden, blocked) = (earlier.isPaused, earlier.hidden, earlier.blocked)
            // The server may have heard nothing of them.
            unsentHides = earlier.hidden
            unsentUnhides = earlier.unsentUnhides
            // What it said last is no decision: another device may have decided since. Only what was off is sent again.
            unsentPhoto = earlier.unsentPhoto ?? (earlier.showsPhoto == false ? false : nil)
            unsentBatch = earlier.unsentBatch ?? (earlier.showsBatch == false ? false : nil)
            (takesWaves, skipsPhotos) = (earlier.takesWaves, earlier.skipsPhotos)
            // The table stays too.
            (hasTable, pinsLost, isLossReported) = (earlier.hasTable, earlier.pinsLost, earlier.isLossReported)
            (mustFetchWhole, isClockOff) = (earlier.mustFetchWhole, earlier.isClockOff)
            // Otherwise the table would count as one that was not fetched for 30 days.
            synced = earlier.synced
        }
    }

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

    func state() async throws -> State? {
        guard let bytes = try await vault.record(key("state")) else { return nil }
        return try Self.decode(bytes)
    }

    /// Changes the state; nil removes it.
    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (inout State?) throws -> Result) async throws -> Result {
        try await vault.update(key("state")) { record in
            var state = try await record.contents.map { try Self.decode($0) }
            let result = try body(&state)
            if let state {
                try await record.replace(with: Array(try JSONEncoder().encode(state)))
            } else {
                try await record.remove()
            }
            return result
        }
    }

    /// Changes the state, if there is one.
    func changeState(_ body: @Sendable (inout State) -> Void) async throws {
        try await change { state in
            guard var changed = state else { return }
            body(&changed)
            state = changed
        }
    }

    /// Puts the bearer of an earlier membership back, which could not be renewed. What was decided meanwhile stays.
    ///
    /// - Parameters:
    ///   - earlier: the membership before.
    ///   - bearer: the new bearer. Where another one is stored, the user has joined again meanwhile.
    /// - Returns: whether the user has left the circle meanwhile.
    func signBackIn(as earlier: State, from bearer: String) async throws -> Bool {
        try await change { state in
            guard var changed = state else { return true }
            guard changed.bearer == bearer else { return false }
            (changed.bearer, changed.expires) = (earlier.bearer, earlier.expires)
            changed.isSignedOut = earlier.isSignedOut
            // One that was rotated meanwhile may be pending itself.
            if changed.identity == earlier.identity { changed.isIdentityPending = earlier.isIdentityPending }
            if changed.synced == earlier.synced, changed.trouble == nil { changed.trouble = earlier.trouble }
            state = changed
            return false
        }
    }

    /// Puts an earlier membership back, whose place another member's would have taken.
    ///
    /// - Parameters:
    ///   - earlier: the membership before.
    ///   - bearer: the new bearer. Where another one is stored, the user has joined again meanwhile.
    /// - Returns: whether the user has left the circle meanwhile.
    func restore(_ earlier: State, from bearer: String) async throws -> Bool {
        let hasLeft = try await change { state in
            guard let present = state else { return true }
            if present.bearer == bearer { state = earlier }
            return false
        }
        try await noteChange()
        return hasLeft
    }

    private static func decode(_ bytes: [UInt8]) throws -> State {
        guard let state = try? JSONDecoder().decode(State.self, from: Data(bytes)) else {
            throw VaultError.damaged(what: "your membership in a circle", reason: "it is not a record of this version")
        }
        return state
    }

    // MARK: The table

    /// The table; an empty one where none was stored yet.
    ///
    /// - Throws: ``CircleProblem/unreadableTable(circle:)`` where it is damaged, lost, or none of this version.
    func table() async throws -> CircleTable {
        guard let table = try await readableTable() else {
            let circle = (try? await state())?.circle
            throw CircleProblem.unreadableTable(circle: circle.map { quoted($0, limit: 80) } ?? "a circle")
        }
        return table
    }

    /// The table; nil where it is damaged, lost, or none of this version.
    func readableTable() async throws -> CircleTable? {
        do {
            guard try await mustHaveTable() else { return CircleTable() }
            var bytes = try await largeTable.contents()
            // Another process may have replaced it while it was read.
            if bytes == nil { bytes = try await largeTable.contents() }
            return bytes.flatMap { try? JSONDecoder().decode(CircleTable.self, from: Data($0)) }
        } catch VaultError.damaged {
            return nil
        }
    }

    /// Whether a table is there, or was, and was not removed with the members.
    private func mustHaveTable() async throws -> Bool {
        if try await vault.record(key("table")) != nil { return true }
        do {
            return try await state()?.hasTable == true
        } catch VaultError.damaged {
            return false
        }
    }

    /// Replaces the table.
    ///
    /// - Parameter known: the table before; nil when it does not matter.
    func replaceTable(_ table: CircleTable, known: CircleTable? = nil) async throws {
        guard table != known else { return }
        try await largeTable.replace(with: Array(try JSONEncoder().encode(table)))
        if table.rows != known?.rows { try await noteChange() }
    }

    /// A watch that runs begins again.
    func noteChange() async throws { try await ChangeMark.note(in: vault, community: community) }

    private var largeTable: LargeRecord { LargeRecord(in: vault, .circle, [community, scope, "table"]) }

    // MARK: Forgetting

    /// Forgets a person: the row and the photo go, and the number is not taken again.
    ///
    /// A table that cannot be read may have the person, so it goes too, with everyone's pin; photos of the others stay. Without
    /// the state nothing changes: it could not be stored that the number is not taken again.
    ///
    /// - Returns: what there was; nil for nothing.
    /// - Throws: `VaultError.damaged` where the state cannot be read.
    func forget(_ person: UserNumber) async throws -> Forgotten? {
        guard let number = UInt32(exactly: person.value) else { return nil }
        guard try await state() != nil else { return try await removeMembers() ? .unreadableMembers : nil }
        try await changeState { $0.removeWaves(at: number) }
        guard var table = try await readableTable() else {
            try await changeState { $0.blocked.insert(number) }
            _ = try await pack(PhotoPack.index(of: number), without: { one, _ in one == number })
            return try await removeUnreadableTable() ? .unreadableMembers : nil
        }
        guard table.forget(number) else { return nil }
        // One that was stored in between goes too.
        try await changeState { state in
            state.blocked.insert(number)
            state.removeWaves(at: number)
        }
        try await replaceTable(table)
        _ = try await pack(PhotoPack.index(of: number), without: { one, _ in one == number })
        return .person
    }

    /// What is removed when a person is forgotten.
    enum Forgotten {
        /// The row or the pin.
        case person
        /// The rows and pins of all members, which could not be read.
        case unreadableMembers
    }

    /// Removes everything of the circle.
    func removeAll() async throws {
        // The state last, so that a failure leaves something to begin again with.
        try await removeMembers()
        try await vault.remove(key("unread"))
        try await vault.remove(key("state"))
        try await noteChange()
    }

    /// Removes members and photos that were not fetched for so long. The user stays a member.
    ///
    /// What cannot be read stays as long: a file may be put back, and an error may end when programs are restarted. A state that
    /// cannot be read does not say when members were fetched; they are kept from when this is found first.
    ///
    /// - Returns: whether there were any.
    func expire(at now: Double, after retention: Double) async throws -> Bool {
        let found: State?
        do {
            found = try await state()
        } catch VaultError.damaged {
            // The state itself stays: commands say what is wrong, and a later version may read it.
            guard try await isUnreadable(for: retention, at: now) else { return false }
            return try await removeMembers()
        }
        try await noteReadable()
        guard let state = found else { return try await removeMembers() }
        if state.hasWaves { try await changeState { $0.expireWaves(at: now) } }
        guard now - state.synced > retention else {
            guard let known = try await readableTable() else { return false }
            var table = known
            table.expireDepartures(at: UInt64(max(0, now)))
            table.expireKeys(today: UInt32(clamping: Int64(max(0, now) / JoinedCircle.secondsOfDay)))
            try await replaceTable(table, known: known)
            return false
        }
        // First: a table that is not there afterwards is not lost.
        if state.hasTable == true { try await changeState { $0.hasTable = nil } }
        guard try await removeMembers() else { return false }
        try await changeState { state in
            (state.membersTag, state.keysTag, state.waves, state.waved) = (nil, nil, [], [:])
            (state.answered, state.formerKeys) = (nil, nil)
        }
        try await noteChange()
        return true
    }

    /// Whether the state was not readable for longer than a time, which begins when this is asked first.
    private func isUnreadable(for retention: Double, at now: Double) async throws -> Bool {
        let stored = try? await vault.record(key("unread"))
        let known = stored.flatMap { Double(String(decoding: $0, as: UTF8.self)) }
        // A time in the future means that the clock was set back: it counts as now.
        let since = min(known ?? now, now)
        if since != known { try await vault.replace(key("unread"), with: Array("\(since)".utf8)) }
        return now - since > retention
    }

    /// Notes that the state can be read. Members may have been removed while it could not: all are fetched again.
    private func noteReadable() async throws {
        guard (try? await vault.record(key("unread"))) != nil else { return }
        try await changeState { ($0.membersTag, $0.keysTag) = (nil, nil) }
        try await vault.remove(key("unread"))
    }

    /// Removes a table that cannot be read; the next synchronisation fetches all members again.
    private func removeUnreadableTable() async throws -> Bool {
        // First: a table that is not there afterwards is lost, with its pins, which the next synchronisation reports.
        // Another table may be put back.
        try await changeState { ($0.membersTag, $0.keysTag, $0.hasTable) = (nil, nil, true) }
        let existed = try await removeTable()
        try await noteChange()
        return existed
    }

    /// Removes the table and its parts. A damaged record cannot be replaced before it is removed.
    @discardableResult
    func removeTable() async throws -> Bool {
        // What is damaged is not listed. Replacing the table removes its parts by their names.
        if (try? await vault.record(key("table"))) != nil { try await largeTable.replace(with: []) }
        var existed = try await vault.remove(key("table"))
        for key in try await vault.keys(of: .circle).keys
        where key.components.starts(with: [community, scope, "table"]) {
            existed = try await vault.remove(key) || existed
        }
        return existed
    }

    @discardableResult
    private func removeMembers() async throws -> Bool {
        var existed = try await removeTable()
        let listing = try await vault.keys(of: .circle)
        for key in listing.keys where key.components.starts(with: [community, scope]) {
            guard key.components.count > 2, !["state", "farewell", "unread"].contains(key.components[2]) else {
                continue
            }
            existed = try await vault.remove(key) || existed
        }
        guard !listing.damaged.isEmpty else { return existed }
        for index in UInt8.min...UInt8.max {
            existed = try await vault.remove(key("photos", "\(index)")) || existed
        }
        return existed
    }

    /// Remembers that the server must still be told of a sign-out or of leaving.
    func rememberFarewell(_ farewell: CircleFarewell) async throws {
        try await vault.replace(key("farewell"), with: Array(try JSONEncoder().encode(farewell)))
    }

    /// As ``rememberFarewell(_:)``, unless the server must still be told that the user leaves: that signs every device out.
    func rememberSignOut(_ farewell: CircleFarewell) async throws {
        try await vault.update(key("farewell")) { record in
            let bytes = await record.contents
            let stored = bytes.flatMap { try? JSONDecoder().decode(CircleFarewell.self, from: Data($0)) }
            guard stored?.isLeaving != true else { return }
            try await record.replace(with: Array(try JSONEncoder().encode(farewell)))
        }
    }

    func key(_ parts: String...) -> VaultKey { VaultKey(.circle, [community, scope] + parts) }
}

/// What the server must still be told: a device is signed out, or a member leaves. It outlives everything else of the circle.
struct CircleFarewell: Sendable, Codable {
    let address: String
    /// Secret.
    let bearer: String
    let isLeaving: Bool
    /// Seconds since 1970; the bearer is of no use afterwards.
    let expires: Int64

    /// Tells the servers what they must still be told. What cannot be sent now stays.
    ///
    /// - Returns: whether something stays.
    @discardableResult
    static func deliver(
        in vault: any Vault, community: String, transport: any Transport, at now: Double
    ) async -> Bool {
        var remains = false
        for key in (try? await vault.keys(of: .circle).keys) ?? [] {
            let parts = key.components
            guard parts.count == 3, parts[0] == community, parts[2] == "farewell",
                let bytes = try? await vault.record(key),
                let farewell = try? JSONDecoder().decode(CircleFarewell.self, from: Data(bytes))
            else { continue }
            guard await farewell.deliver(over: transport, at: now) != .pending else {
                remains = true
                continue
            }
            try? await vault.update(key) { record in
                // Another process may have stored a later one meanwhile.
                guard await record.contents == bytes else { return }
                try await record.remove()
            }
        }
        return remains
    }

    /// Tells the servers what they must still be told, from a watch that runs, until the task is cancelled.
    ///
    /// Whatever restarts the watch, it begins a minute after that. What cannot be sent is tried again a quarter of an hour to half an
    /// hour later, one request a circle, until the bearer expires. Otherwise it looks again when tables would be fetched.
    ///
    /// - Throws: `CancellationError` alone.
    static func keepDelivering(in environment: CircleEnvironment) async throws {
        var pause = JoinedCircle.restartPause
        while true {
            try await environment.time.clock.sleep(for: .seconds(pause))
            let remains = await deliver(
                in: environment.vault, community: environment.community, transport: environment.transport,
                at: environment.time.now())
            pause = environment.random(remains ? JoinedCircle.retryPause : JoinedCircle.pause)
        }
    }

    /// Tells the server. Also one that would be too late is sent: this device's clock may be off.
    ///
    /// - Returns: whether the server knows it. Where the bearer is of no use any more, it cannot be told that the user leaves, and
    ///   need not be told that the device is signed out.
    func deliver(over transport: any Transport, at now: Double) async -> JoinedCircle.Delivery {
        do {
            var server = try CircleServer(address, transport: transport, bearer: Secret(bearer))
            // Commands that have nothing to do with the server wait for it.
            server.limits.timeout = .seconds(5)
            _ = try await server.send(.delete, isLeaving ? "v1/me" : "v1/me/token", expecting: [204])
            return .delivered
        } catch CircleProblem.signedOut {
            return .signedOut
        } catch CircleProblem.removed {
            return .delivered
        } catch {
            return Double(expires) < now ? .signedOut : .pending
        }
    }
}
