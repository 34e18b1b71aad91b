import Handshake
import TestFixtures

@testable import PostgresVault

/// One record, two to four processes and a service that rotates refresh tokens, in simulated time, with all that can go wrong (`vault-lease.md` 9).
///
/// The decisions are the vault's own: what ACQUIRE, WANT, REPLACE, RENEW and RELEASE say of a lease (``LeaseStatements``), ``LeaseTiming``,
/// ``LeaseObservation``, ``WatchedLeases``, ``PostgresHold`` and what remains of one. READ, STATE, CLAIM and WATCH, the looks of a waiter, and the order
/// of all statements are this file's and ``LeaseProcess``'s; no record is removed. A schedule follows from its seed.
struct LeaseSimulation {
    /// What an app wants of a refresh token whose answer was lost, and what the database does.
    enum Kind: String, CaseIterable {
        /// It is sent again.
        case repeats
        /// It is sent once, whatever happens (`Client.Options.retriesLostRefreshes`).
        case sendsOnce
        /// It is sent again, and now and then a replica that lacks the last commits is promoted.
        case failsOver
    }

    /// What no schedule may do.
    enum Violation: String {
        case sentTwice = "a refresh token was sent twice, for no reason that the guide names"
        case sentAgain = "a refresh token that is sent once was sent twice"
        case overwritten = "a write undid what another holder had written"
        case takenEarly = "a lease was taken that had not been silent for an observation, or had not ended"
        case freed = "a holder's lease was released by another one"
        case stuck = "a process could not take the record when nothing failed any more"
    }

    /// What is broken on purpose in the model, to see that the checks notice it. Patches break the vault itself (`Tests/Mutations`).
    enum Defect: CaseIterable {
        /// The last write releases the lease in a statement before the one that stores the answer.
        case releasesFirst
        /// An answer that was not stored, as it seemed, is stored later without a look at what it follows.
        case storesBlindly
        /// A lease is released though the answer is not stored.
        case releasesEarly
        /// A lease that was not released for sure is not taken again by its process, but its holder is used a second time.
        case reusesHolder
    }

    /// What the processes of schedules did.
    struct Outcome {
        var sends = 0
        var takeovers = 0
        /// Writes that were refused because another holder had the record.
        var refused = 0
        /// Concluding writes that were stored, and followed by another holder's before that was known.
        var followed = 0
        /// Second sends of a token whose first sender died.
        var afterCrash = 0
        /// Those whose answer never came.
        var afterLostAnswer = 0
        /// Those after a holder that stalled for as long as the guide says.
        var afterStall = 0
        /// Those after a holder that could not store its answer for as long as a lease lasts.
        var afterHeldAnswer = 0
        /// Those after a stall or a cut that was shorter, while the server's clock jumped.
        var afterJump = 0
        /// Those of a token whose journal a failover lost.
        var afterFailover = 0
        /// Sessions that ended because a token is sent once.
        var ended = 0
        /// Answers that were stored after another holder had the record.
        var late = 0
        /// Leases that a keeper watched and took for a process that had died.
        var kept = 0

        static func += (sum: inout Outcome, one: Outcome) {
            for path: WritableKeyPath<Outcome, Int> in [
                \.sends, \.takeovers, \.refused, \.followed, \.afterCrash, \.afterLostAnswer, \.afterStall,
                \.afterHeldAnswer, \.afterJump, \.afterFailover, \.ended, \.late, \.kept,
            ] { sum[keyPath: path] += one[keyPath: path] }
        }
    }

    typealias Value = LeaseStatements.Value
    typealias Claim = (look: LeaseObservation.Look, isForced: Bool)

    /// What the record holds. Each content is written by one write.
    struct Content {
        let token: Int
        /// Since when a refresh is under way.
        var journal: Double?
    }

    /// What the server has.
    struct Storage {
        var lease: LeaseStatements.Row?
        var content = 0
        /// When holder, fence or beat changed.
        var changedAt = 0.0
        var holder: Value { lease?[.holder] ?? .null }
    }

    /// A send of a refresh token, and why a second one would be no surprise.
    struct Send {
        let process: Int
        let life: Int
        let holder: Int64
        /// When its journal was first sent to the server.
        let journaledAt: Double
        let confirmedAt: Double
        let end: Double
        let isLost: Bool
    }

    struct Robbery {
        /// Whether the process could not renew the lease.
        let isExcused: Bool
    }

    static let timing = LeaseTiming.standard
    /// What a keeper calls the record.
    static let watchedName: [UInt8] = [0]
    /// How long a late answer is waited for where a token is sent once; shorter than in life, so that schedules see its end.
    static let lateAnswer = 60.0
    private static let origin = ContinuousClock.now.advanced(by: .seconds(1_000_000))
    private static let faultsEnd = 400.0

    let kind: Kind
    let defect: Defect?
    let statements: LeaseStatements
    /// Whether the server takes no notification.
    let isSilent: Bool
    private var random: SplitMix64
    var now = 0.0
    var server = Storage()
    /// What is committed durably: a crash of the server goes back to it.
    var durable = Storage()
    /// The last states that were durable, of which a replica has one.
    var history: [(time: Double, state: Storage)] = []
    var contents = [Content(token: 0)]
    var serviceToken = 0
    private var clockJump = 0.0
    private var lastJump = -1_000.0
    private var lastFailover = -1_000.0
    private var outageEnd = 0.0
    var processes: [LeaseProcess] = []
    var messages: [LeaseMessage] = []
    private var sends: [Int: [Send]] = [:]
    private var holders: Int64 = 0
    /// Which process each holder is of.
    private var owners: [Int64: (process: Int, life: Int)] = [:]
    /// The holder of the same process from whom each has taken the record over.
    private var formers: [Int64: Int64] = [:]
    /// What became of the holders from whom another process took the record.
    private var robberies: [Int64: Robbery] = [:]
    private var outages: [ClosedRange<Double>] = []
    var outcome = Outcome()
    private(set) var violations: [Violation] = []
    /// What happened, a line an event; nil when it is not asked for.
    private(set) var schedule: [String]?
    var isTold: Bool { schedule != nil }

    init(seed: UInt64, _ kind: Kind, _ statements: LeaseStatements, defect: Defect? = nil, isTold: Bool = false) {
        random = SplitMix64(seed: seed)
        (self.kind, self.defect, self.statements) = (kind, defect, statements)
        isSilent = seed % 2 == 1
        schedule = isTold ? [] : nil
    }

    // MARK: Chance

    mutating func chance() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }
    mutating func happens(_ probability: Double) -> Bool { chance() < probability }

    /// Only where ``isTold``: a text costs more than the event.
    mutating func tell(_ index: Int?, _ text: String) {
        let time = (now * 1000).rounded() / 1000
        schedule?.append("\(time) s  \(index.map { "process \($0)" } ?? "server"): \(text)")
    }

    mutating func violate(_ violation: Violation, _ text: String = "") {
        if isTold, violations.isEmpty { tell(nil, "VIOLATION: \(violation.rawValue). \(text)") }
        violations.append(violation)
    }

    // MARK: The run

    /// Runs the schedule to its end, or to the first violation.
    mutating func run() -> Outcome {
        let count = 2 + Int(random.next() % 3)
        for index in 0..<count {
            var process = LeaseProcess(isKeeper: index > 1 && happens(0.5))
            process.next = chance() * 5
            processes.append(process)
        }
        while violations.isEmpty, now < Self.faultsEnd, outcome.sends < 6, step() {}
        if violations.isEmpty, !canTake() { violate(.stuck) }
        return outcome
    }

    /// Lets the next event happen.
    ///
    /// - Parameters:
    ///   - end: none is later.
    ///   - isOver: whether nothing fails any more and no body goes on: what is under way arrives, and holds are renewed.
    /// - Returns: whether there was one.
    private mutating func step(until end: Double = .infinity, isOver: Bool = false) -> Bool {
        var time = end
        var index = -1
        var event = 0
        for (number, process) in processes.enumerated() {
            let main = max(process.next, process.frozenUntil)
            if main < time, !isOver { (time, index, event) = (main, number, 0) }
            guard !process.renewing.isEmpty else { continue }
            let renewal = max(process.renewal.next, process.frozenUntil)
            if renewal < time { (time, index, event) = (renewal, number, 1) }
        }
        for (number, message) in messages.enumerated() where message.at < time {
            (time, index, event) = (message.at, number, 2)
        }
        guard index >= 0 else { return false }
        now = max(now, time)
        switch event {
        case 0:
            fail(index)
            if processes[index].isReady(at: now) { advance(index) }
        case 1: renew(index)
        default: arrive(messages.remove(at: index))
        }
        return true
    }

    /// What chance does to a process or the server before a step.
    private mutating func fail(_ index: Int) {
        let luck = chance()
        if luck > 0.06 { return }
        switch luck {
        case ..<0.006:
            if isTold { tell(index, "is killed") }
            // Its lease stays; another process starts in its place.
            processes[index] = LeaseProcess(isKeeper: processes[index].isKeeper, after: processes[index])
            processes[index].next = now + 1 + chance() * 20
        case ..<0.011:
            processes[index].cutEnd = now + chance() * 200
            processes[index].disturbances.append(now...processes[index].cutEnd)
            if isTold { tell(index, "is cut off from the server until \(processes[index].cutEnd)") }
        case ..<0.013:
            outageEnd = now + chance() * 60
            outages.append(now...outageEnd)
            let isImmediate = happens(0.5)
            if isImmediate { server = durable }
            if isTold { tell(nil, "is away until \(outageEnd)\(isImmediate ? ", and lost what was not durable" : "")") }
        case ..<0.016:
            clockJump += (happens(0.5) ? 1 : -1) * (happens(0.5) ? 30 : 3_600)
            lastJump = now
            if isTold { tell(nil, "its clock jumps to \(clockJump) s from the true time") }
        case ..<0.019 where kind == .failsOver:
            let time = now - chance() * 2
            guard let state = history.last(where: { $0.time <= time })?.state else { return }
            (server, durable, lastFailover) = (state, state, now)
            history = [(now, state)]
            outageEnd = now + chance() * 10
            outages.append(now...outageEnd)
            if isTold { tell(nil, "is replaced by a replica as of \(time)") }
        case ..<0.05:
            // Stopped, or its machine was frozen with a clock that missed it.
            let length = 0.3 + chance() * chance() * 300
            processes[index].frozenUntil = now + length
            processes[index].disturbances.append(now...(now + length))
            let misses = happens(0.5)
            if misses { processes[index].missed += length }
            if isTold { tell(index, "stands still for \(length) s\(misses ? ", which its clock misses" : "")") }
        default: break
        }
    }

    func instant(_ index: Int) -> ContinuousClock.Instant {
        Self.origin.advanced(by: .seconds(now - processes[index].missed))
    }

    func moment(_ index: Int) -> LeaseMoment { LeaseMoment(instant: instant(index), wall: .seconds(now)) }

    var serverTime: Double { now + clockJump }
    func reaches(_ index: Int) -> Bool { now >= outageEnd && now >= processes[index].cutEnd }
    var isAway: Bool { now < outageEnd }

    mutating func newHolder(of process: Int?) -> Int64 {
        holders += 1
        if let process { owners[holders] = (process, processes[process].life) }
        return holders
    }

    static func bytes(_ holder: Int64) -> [UInt8] { [UInt8](repeating: 0, count: 8) + holder.networkBytes }
    static func number(_ bytes: [UInt8]) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

    // MARK: What the server does

    /// Notes that the last statement has changed the lease: what a crash keeps, if its commit waited for the disk.
    mutating func committed() {
        server.changedAt = now
        guard statements.isDurable else { return }
        durable = server
        guard kind == .failsOver else { return }
        history.append((now, server))
        if history.count > 20 { history.removeFirst() }
    }

    /// Notes what a statement changed, and looks whether it may.
    mutating func changed(from before: Storage, by holder: Int64, own: Value = .null) {
        committed()
        guard case .int(let robbed) = before.holder, robbed != holder else { return }
        guard own != before.holder else {
            formers[holder] = robbed
            return
        }
        outcome.takeovers += 1
        let quiet = now - before.changedAt
        let lease = Self.timing.lease / .seconds(1)
        if quiet < Self.timing.observation / .seconds(1) || quiet < lease && lastJump < before.changedAt {
            violate(.takenEarly, "Holder \(robbed) was silent for \(quiet) s.")
        }
        let isExcused = isDisturbed(holderOf: robbed, for: quiet - 25) || lastJump > before.changedAt - 60
        var holder: Int64? = robbed
        while let next = holder {
            // A crash of the server that lost an ACQUIRE gives a lease back to a holder that knows of its loss.
            let former = robberies[next]
            robberies[next] = Robbery(isExcused: isExcused || former?.isExcused == true)
            holder = formers[next]
        }
    }

    /// Whether the process that has a holder stood still, was cut off or without a server for a time, out of the last seconds.
    private func isDisturbed(holderOf robbed: Int64, for time: Double) -> Bool {
        guard let owner = owners[robbed], processes[owner.process].life == owner.life else { return true }
        let since = now - time - 25
        let lost = (processes[owner.process].disturbances + outages).reduce(0) { sum, range in
            sum + max(0, min(now, range.upperBound) - max(since, range.lowerBound))
        }
        return lost >= time
    }

    /// Notes that a token was sent, and looks whether it may.
    mutating func note(_ send: Send, of token: Int) {
        outcome.sends += 1
        for last in sends[token, default: []] {
            let robbery = robberies[last.holder]
            let robbed = [last, send].filter { robberies[$0.holder] != nil }
            // A failover has lost a journal, or the first one's answer.
            if lastFailover > min(last.journaledAt, send.journaledAt) {
                outcome.afterFailover += 1
            } else if kind == .sendsOnce {
                violate(.sentAgain)
            } else if processes[last.process].life != last.life {
                outcome.afterCrash += 1
            } else if last.isLost {
                outcome.afterLostAnswer += 1
            } else if robbed.contains(where: { $0.end - $0.confirmedAt >= 24.9 }) {
                outcome.afterStall += 1
            } else if robbed.contains(where: { lastJump > $0.confirmedAt - 60 }) {
                outcome.afterJump += 1
            } else if let robbery, now >= last.end, robbery.isExcused {
                outcome.afterHeldAnswer += 1
            } else if now >= last.end + PostgresHolds.bodyLimit / .seconds(1) {
                // For so long a lease is kept for an answer that cannot be stored.
                outcome.afterHeldAnswer += 1
            } else {
                violate(.sentTwice)
            }
        }
        sends[token, default: []].append(send)
        serviceToken += 1
    }

    /// Whether a waiter gets the record, when nothing fails any more: at the latest when a process has thawed that stood still, its hold has lasted for as
    /// long as it may, and its lease has ended.
    private mutating func canTake() -> Bool {
        var observation = LeaseObservation()
        let start = now
        for second in 1...700 {
            if !isAway {
                let claim = observation.claim(Self.timing)
                let (parameters, time) = (Self.acquisition(newHolder(of: nil), .null, claim), serverTime)
                if statements.acquire(&server.lease, parameters, at: time) != nil { return true }
                observation.note(look, at: .seconds(now))
            }
            let next = start + Double(second)
            while step(until: next, isOver: true) {}
            now = next
        }
        return false
    }

    var look: LeaseObservation.Look {
        let lease = server.lease ?? LeaseStatements.none
        return .init(
            holder: Self.bytes(lease[.holder].number), fence: lease[.fence].number, beat: lease[.beat].number)
    }

    static func acquisition(_ holder: Int64, _ own: Value, _ claim: Claim?) -> [Value] {
        [
            .int(0), .int(holder), .int(timing.lease.milliseconds), own,
            claim.map { .int(number($0.look.holder)) } ?? .null, .int(claim?.look.fence ?? 0),
            .int(claim?.look.beat ?? 0), .bool(claim?.isForced ?? false),
        ]
    }
}
