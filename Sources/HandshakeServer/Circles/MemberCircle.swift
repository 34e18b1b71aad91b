#if Server
import AsyncSupport
import Circles
import Crypto
import HTTPTypes
public import Handshake
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server side of a circle (circles dossier 4).
///
/// Members of one community recognise each other offline. It stores who is a member, what members see of each other, and sealed waves that wait. It never learns who met whom. All of
/// it is in memory, and each change is in the vault before anyone sees it: one process serves a circle. Keys of past days,
/// service tokens and bearers are not stored; of a bearer there is a digest.
///
/// An actor, because all requests share its members.
public actor MemberCircle {
    /// The name that members see.
    public nonisolated let name: String
    /// The public URL of the routes. The circle's scope derives from it, so it never changes.
    public nonisolated let address: PublicAddress

    nonisolated let scope: CircleScope
    nonisolated let time: TimeSource
    nonisolated let random: RandomSource
    private let vault: any Vault

    var members: [UInt32: CircleMember] = [:]
    /// When a pair began or ceased to be hidden from each other, as a revision.
    var pairs: [Pair: UInt64] = [:]
    var waves: [String: CircleWave] = [:]
    /// Values of waves that were matched, and until when they may not be sent again. In memory only: a start knows those of
    /// matches that were not fetched.
    var spent: [[UInt8]: Double] = [:]
    private(set) var state = State()
    private var turns = TurnQueue()
    /// Digests of bearers, and whose they are.
    private var owners: [Data: UInt32] = [:]
    /// Published day keys, and whose they are.
    private var publishers: [[UInt8]: UInt32] = [:]

    /// Two members, in the order of their numbers.
    struct Pair: Sendable, Hashable {
        let low: UInt32
        let high: UInt32

        init(_ one: UInt32, _ other: UInt32) {
            (low, high) = (min(one, other), max(one, other))
        }
    }

    /// For how long tombstones, the answers to bearers of removed members, expired bearers, and members without a valid one are kept:
    /// 30 days.
    static let retention = 30.0 * 86_400
    /// How much of the time between two cleanings counts at most, in seconds: a day.
    private static let maximumInterval = 86_400.0
    /// How long a bearer is valid.
    static let bearerLifetime = 30.0 * 86_400
    /// How many members there can be.
    static let maximumMembers = 20_000

    /// Opens a circle, or makes an empty one.
    ///
    /// - Parameters:
    ///   - name: what members see, 1 to 80 bytes.
    ///   - address: the public URL of the routes; it never changes.
    ///   - vault: where members are stored.
    ///   - time: the clock.
    ///   - random: draws bearers, codes and identifiers.
    /// - Throws: ``HandshakeServerError``; `CancellationError`.
    public init(
        named name: String, at address: PublicAddress, in vault: any Vault, time: TimeSource = .system,
        random: RandomSource = .system
    ) async throws {
        guard MemberText.isName(name) else {
            throw HandshakeServerError.configuration(
                member: "name", problem: "a circle's name has 1 to 80 bytes and no control characters")
        }
        self.name = name
        self.address = address
        self.vault = vault
        self.time = time
        self.random = random
        scope = CircleScope(circleAt: address.description)
        do {
            try await load()
        } catch let error as VaultError {
            throw HandshakeServerError.vault(error)
        }
    }

    /// Removes a member for good, also one who has just left.
    ///
    /// The bearers are refused, and the member cannot join again: the number stays stored, until ``readmit(_:)``. The keys that the
    /// member has fetched become useless within six hours, because everyone else publishes new ones; within twelve where another
    /// member was removed in the six hours before. A number that has not joined yet can be removed too: no member is told.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``; `CancellationError`.
    public func remove(_ number: UInt32) async throws {
        try await placing {
            try await inTurn { circle in
                let now = circle.time.now()
                // No member has keys of a number that has not joined, so none is told.
                guard let known = circle.members[number] else {
                    try await circle.store(CircleMember(number: number).forgotten)
                    return
                }
                guard !known.isRemoved else { return }
                // First, so that a removal that is interrupted in between can be repeated. No member publishes before this turn ends.
                try await circle.raiseEpoch(at: now)
                try await circle.leave(number, at: now, isRemoved: true)
            }
        }
    }

    /// Lets a removed member join again.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``; `CancellationError`.
    public func readmit(_ number: UInt32) async throws {
        try await placing {
            try await inTurn { circle in
                guard var member = circle.members[number], member.isRemoved else { return }
                // A tombstone like that of a member who has left, which expires.
                member.isRemoved = false
                member.bearers = [:]
                try await circle.store(member)
            }
        }
    }

    /// How many members there are.
    public var count: Int { members.values.count { $0.gone == nil } }

    // MARK: Changes

    /// Runs a change after all earlier ones, also when its caller is cancelled.
    func inTurn<Result: Sendable>(
        _ body: @escaping @Sendable (isolated MemberCircle) async throws -> Result
    ) async throws -> Result {
        try await turns.add { try await body(self) }.value
    }

    /// The next revision of the table.
    func nextRevision() -> UInt64 {
        state.revision += 1
        return state.revision
    }

    /// Stores a member; when this returns, others see the change.
    func store(_ member: CircleMember) async throws {
        try await vault.replace(memberKey(member.number), with: member.stored)
        try await storeState()
        take(member)
    }

    /// Puts a member in place of its earlier state.
    private func take(_ member: CircleMember) {
        drop(member.number)
        for digest in member.bearers.keys { owners[digest] = member.number }
        for key in member.keys?.dayKeys ?? [] { publishers[key.key] = member.number }
        members[member.number] = member
    }

    private func drop(_ number: UInt32) {
        guard let member = members.removeValue(forKey: number) else { return }
        for digest in member.bearers.keys { owners[digest] = nil }
        for key in member.keys?.dayKeys ?? [] where publishers[key.key] == number { publishers[key.key] = nil }
    }

    /// Whether another member publishes one of a record's keys.
    ///
    /// Every member has the keys of the others. A member who published a copy would make one identifier two people's, which
    /// names neither.
    func hasKeys(of record: KeyRecord, besides number: UInt32) -> Bool {
        record.dayKeys.contains { key in publishers[key.key].map { $0 != number } ?? false }
    }

    /// Replaces a member by a tombstone.
    func leave(_ number: UInt32, at now: Double, isRemoved: Bool) async throws {
        guard let member = members[number] else { return }
        for pair in pairs.keys where pair.low == number || pair.high == number { pairs[pair] = nil }
        // Members who hide from this one go on hiding: otherwise leaving and joining again would end it.
        for wave in waves.values where wave.sender == number { try await remove(wave) }
        try await store(member.tombstone(at: now, isRemoved: isRemoved, revision: nextRevision()))
    }

    /// Begins a new epoch, in which members publish keys of a new seed; less than six hours after the last one it is due later.
    ///
    /// Members' devices notice an epoch within six hours, and keys of two epochs ago are refused.
    private func raiseEpoch(at now: Double) async throws {
        if mayRaiseEpoch(at: now) {
            state.epoch += 1
            state.epochRaised = now
            state.isEpochDue = false
        } else {
            guard !state.isEpochDue else { return }
            state.isEpochDue = true
        }
        try await storeState()
    }

    private func mayRaiseEpoch(at now: Double) -> Bool { abs(now - state.epochRaised) >= 21_600 }

    /// Begins the epoch of a removal that came too soon after another one.
    func raiseEpochIfDue() async throws {
        let now = time.now()
        if state.isEpochDue, mayRaiseEpoch(at: now) { try await raiseEpoch(at: now) }
    }

    /// Removes expired tombstones, waves and day keys, bearers that expired 30 days ago, and members who have had no valid bearer for as
    /// long; once an hour.
    func cleanIfDue() async throws {
        try await raiseEpochIfDue()
        let now = time.now()
        guard abs(now - state.cleaned) >= 3_600 else { return }
        state.observedTime += min(max(now - state.cleaned, 0), Self.maximumInterval)
        state.cleaned = now
        for wave in waves.values where wave.expires <= now { try await remove(wave) }
        spent = spent.filter { $0.value > now }
        for member in members.values {
            if let gone = member.gone {
                guard now - gone > Self.retention, !member.isForgotten else { continue }
                state.forgottenRevision = max(state.forgottenRevision, member.rowRevision)
                guard !member.isRemoved else {
                    try await store(member.forgotten)
                    continue
                }
                try await vault.remove(memberKey(member.number))
                drop(member.number)
            } else {
                var changed = member
                changed.cleanBearers(at: now, observedTime: state.observedTime)
                if let ended = changed.signedOut, state.observedTime - ended > Self.retention {
                    // The last device may have left while the server was out of its reach.
                    try await leave(member.number, at: now, isRemoved: false)
                    continue
                }
                let isPast = member.keys?.isPast(at: now) ?? false
                if isPast {
                    changed.keys = nil
                    changed.keysRevision = nextRevision()
                }
                if isPast || changed.expiredBearers != member.expiredBearers || changed.signedOut != member.signedOut {
                    try await store(changed)
                }
            }
        }
        try await storeState()
    }

    func store(_ wave: CircleWave) async throws {
        try await vault.replace(waveKey(wave.id), with: wave.stored)
        waves[wave.id] = wave
    }

    func remove(_ wave: CircleWave) async throws {
        try await vault.remove(waveKey(wave.id))
        waves[wave.id] = nil
    }

    // MARK: Bearers

    /// A new bearer of a member.
    func newBearer(for number: UInt32) async throws -> (bearer: String, expires: Double) {
        let bearer = Base64URL.encode(random.bytes(32))
        let expires = time.now() + Self.bearerLifetime
        guard var member = members[number] else { throw RequestRefusal.internalError }
        member.bearers[Self.digest(bearer)] = expires
        // The device may sign out before the next cleaning.
        member.signedOut = nil
        try await store(member)
        return (bearer, expires)
    }

    /// The member to whom a bearer was given.
    ///
    /// - Throws: 401 for an unknown or expired bearer, 403 for that of a removed member.
    func owner(ofBearer bearer: String) throws(RequestRefusal) -> CircleMember {
        let digest = Self.digest(bearer)
        guard let number = owners[digest], let member = members[number], let expires = member.bearers[digest],
            expires > time.now()
        else { throw Self.unknownBearer }
        guard !member.isRemoved else {
            throw RequestRefusal(.forbidden, "removed", "You are no longer a member of this circle")
        }
        guard member.gone == nil else { throw Self.unknownBearer }
        return member
    }

    static let unknownBearer = RequestRefusal(
        .unauthorized, "unauthorized", "Join the circle again: this device is signed out", challenge: "Bearer")

    static func digest(_ bearer: String) -> Data { Data(SHA256.hash(data: Array(bearer.utf8))) }

    // MARK: The vault

    private func load() async throws {
        if let bytes = try await vault.record(stateKey) { state = State(stored: bytes) ?? State() }
        if state.instance.isEmpty {
            state.instance = Base64URL.encode(random.bytes(6))
            try await storeState()
        }
        for key in try await vault.keys(of: .circle).keys where key.components.first == prefix {
            guard key.components.count == 3, let bytes = try await vault.record(key) else { continue }
            switch key.components[1] {
            case "member":
                guard let member = CircleMember(stored: bytes) else { continue }
                take(member)
            case "wave":
                guard let wave = CircleWave(stored: bytes) else { continue }
                waves[wave.id] = wave
                if let matched = wave.matched { spent[matched.value] = max(spent[matched.value] ?? 0, wave.expires) }
            default: continue
            }
        }
        // When a pair was hidden is not stored: after a start, recipients that asked before get the tombstone again.
        for member in members.values {
            for other in member.hidden { pairs[Pair(member.number, other)] = state.revision + 1 }
        }
        if !pairs.isEmpty { state.revision += 1 }
        let revisions = members.values.flatMap { [$0.rowRevision, $0.keysRevision] }
        state.revision = max(state.revision, revisions.max() ?? 0)
    }

    private func storeState() async throws { try await vault.replace(stateKey, with: state.stored) }

    private var prefix: String { scope.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    private var stateKey: VaultKey { VaultKey(.circle, [prefix, "state"]) }
    private func memberKey(_ number: UInt32) -> VaultKey { VaultKey(.circle, [prefix, "member", "\(number)"]) }
    private func waveKey(_ id: String) -> VaultKey { VaultKey(.circle, [prefix, "wave", id]) }

    private func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as VaultError {
            throw HandshakeServerError.vault(error)
        }
    }
}

extension KeyRecord {
    /// Whether all keys are of past days: keys that a member who is silent has published, and that link the member to recordings.
    ///
    /// Waves of the last day arrive on the day after; members delete the keys then too.
    fileprivate func isPast(at now: Double) -> Bool {
        guard let last = dayKeys.last?.day else { return false }
        return now >= (Double(last) + 2) * 86_400
    }
}
#endif
