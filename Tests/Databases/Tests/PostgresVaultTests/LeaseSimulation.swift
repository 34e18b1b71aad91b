import Handshake
import TestFixtures

@testable import PostgresVault

/// One record, a few processes and a service that rotates refresh tokens, in simulated time, with everything that can go wrong (`vault-lease.md` 9).
///
/// The decisions are the vault's own: ``LeaseTiming``, ``LeaseObservation`` and ``PostgresHold``. The server's statements are modelled as the atomic
/// steps that they are; the tests of leases run them on a server.
struct LeaseSimulation {
    /// What the processes of a schedule did.
    struct Outcome {
        var sends = 0
        var takeovers = 0
        /// Writes that were refused because another holder had the record.
        var refused = 0
        /// Second sends of a token whose first sender died, or whose answer never came.
        var afterLostAnswer = 0
        /// Those after a holder that stalled or was cut off, with its request or with the answer.
        var afterStall = 0
        /// Second sends while a request of a holder that did not stall was under way.
        var unexplained = 0
        /// A write that undid what a later holder had written.
        var overwritten = 0
        /// Concluding writes that were stored, and followed by another holder's before that was known.
        var followed = 0
        /// Whether a process could take the record at the end, when nothing failed any more.
        var progressed = false

        static func += (sum: inout Outcome, one: Outcome) {
            sum.sends += one.sends
            sum.takeovers += one.takeovers
            sum.refused += one.refused
            sum.afterLostAnswer += one.afterLostAnswer
            sum.afterStall += one.afterStall
            sum.unexplained += one.unexplained
            sum.overwritten += one.overwritten
            sum.followed += one.followed
        }
    }

    /// What is broken on purpose, to see that the checks notice it.
    enum Defect: CaseIterable {
        /// A lease is taken as soon as the server says that it has ended.
        case noObservation
        /// A write does not look at holder and fence.
        case noFence
        /// A refresh token is sent without a look at what is left of the lease.
        case noConfirmation
        /// The last write releases the lease in a statement before the one that stores the answer.
        case releasesFirst
        /// An answer that was not stored, as it seemed, is stored later without a look at what it follows.
        case storesBlindly
    }

    private enum Step {
        case begin, acquired, journalled, answered, stored, released
    }

    private struct Lease {
        var holder: [UInt8]?
        var fence: Int64 = 0
        var beat: Int64 = 0
        var until = 0.0
        var version: Int64 = 0
        /// The fence that a waiter wants.
        var wanted: Int64 = 0
        /// Who wrote the version: in the vault the sealed body tells.
        var writer: [UInt8] = []
    }

    /// A send of a refresh token, and why a second one would be no surprise.
    private struct Send {
        let process: Int
        let holder: [UInt8]
        let confirmedAt: Double
        let end: Double
        var isLost = false
        /// Whether another process took the record from this holder.
        var isRobbed = false
    }

    private struct Process {
        var step = Step.begin
        /// When it goes on; nil after a crash.
        var next: Double?
        var hold: PostgresHold?
        var observation = LeaseObservation()
        var holder: [UInt8] = []
        var seenToken = 0
        /// The token before an answer that could not be stored, as it seemed.
        var unstored: Int?
        /// Whether a concluding write is repeated, because its answer did not come.
        var isRepeated = false
        var isCutOff: ClosedRange<Double>?
        var lastRenewal = 0.0
        var deadline = 0.0
    }

    private static let timing = LeaseTiming.standard
    private var random: SplitMix64
    private let defect: Defect?
    private var now = 0.0
    private var lease = Lease()
    /// What is committed durably: a crash of the server goes back to it.
    private var durable = Lease()
    /// The token that the record holds, and the one that the service takes.
    private var storedToken = 0
    private var serviceToken = 0
    private var clockJump = 0.0
    private var lastJump = -1_000.0
    private var outage: ClosedRange<Double>?
    private var processes: [Process] = []
    private var sends: [Int: [Send]] = [:]
    private(set) var outcome = Outcome()

    init(seed: UInt64, defect: Defect? = nil) {
        random = SplitMix64(seed: seed)
        self.defect = defect
    }

    // MARK: Chance

    private mutating func chance() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }
    private mutating func happens(_ probability: Double) -> Bool { chance() < probability }

    /// How long a step takes: mostly moments, now and then a stall of a process.
    private mutating func pause() -> Double {
        if happens(0.04) { return 0.3 + chance() * chance() * 300 }
        return 0.001 + chance() * 0.05
    }

    // MARK: The run

    /// Runs one schedule.
    mutating func run() -> Outcome {
        let count = 2 + Int(random.next() % 3)
        for _ in 0..<count {
            var process = Process()
            process.next = chance() * 5
            processes.append(process)
        }
        let faultsEnd = 400.0
        while now < faultsEnd + 200, outcome.sends < 40 {
            guard
                let index = processes.indices.min(by: {
                    (processes[$0].next ?? .infinity) < (processes[$1].next ?? .infinity)
                }),
                let next = processes[index].next
            else { break }
            now = max(now, next)
            if now < faultsEnd { fail(index) }
            if processes[index].next != nil { advance(index) }
        }
        outcome.progressed = processes.contains { $0.next != nil } ? canTake() : true
        return outcome
    }

    /// What chance does to a process or the server before a step.
    private mutating func fail(_ index: Int) {
        if happens(0.01) {
            // Killed. Its lease stays; another process starts in its place.
            for token in sends.keys {
                for send in sends[token, default: []].indices where sends[token]?[send].process == index {
                    sends[token]?[send].isLost = true
                }
            }
            processes[index] = Process()
            processes[index].next = now + 1 + chance() * 20
        }
        if happens(0.005) { processes[index].isCutOff = now...(now + chance() * 200) }
        if happens(0.003) {
            // A restart of the server loses what was committed asynchronously.
            if happens(0.5) { lease = durable }
            outage = now...(now + chance() * 60)
        }
        if happens(0.003) {
            clockJump += happens(0.5) ? 3_600 : -3_600
            lastJump = now
        }
    }

    private func reaches(_ index: Int) -> Bool {
        outage?.contains(now) != true && processes[index].isCutOff?.contains(now) != true
    }

    private func moment(_ time: Double) -> LeaseMoment {
        LeaseMoment(instant: Self.origin.advanced(by: .seconds(time)), wall: .seconds(time))
    }

    private static let origin = ContinuousClock.now
    private var serverTime: Double { now + clockJump }
    private static let life = timing.lease / .seconds(1)

    // MARK: Statements

    /// ACQUIRE: whether the holder has the lease now.
    private mutating func acquire(as holder: [UInt8], _ claim: (look: LeaseObservation.Look, isForced: Bool)?) -> Bool {
        let isEnded = lease.until <= serverTime
        let isClaimed =
            claim.map {
                $0.look.holder == lease.holder && $0.look.fence == lease.fence && $0.look.beat == lease.beat
                    && (isEnded || $0.isForced)
            }
            ?? false
        let isTaken = defect == .noObservation ? isEnded : isClaimed
        guard lease.holder == nil || lease.holder == holder || isTaken else { return false }
        if let robbed = lease.holder, robbed != holder {
            outcome.takeovers += 1
            for token in sends.keys {
                for send in sends[token, default: []].indices where sends[token]?[send].holder == robbed {
                    sends[token]?[send].isRobbed = true
                }
            }
        }
        if lease.holder != holder { lease.fence += 1 }
        lease.holder = holder
        lease.beat += 1
        lease.until = serverTime + Self.life
        return true
    }

    /// REPLACE or RENEW: whether the hold stands.
    ///
    /// - Parameter concludes: whether the lease is released with it, if no other holder waits for it.
    private mutating func write(_ hold: PostgresHold, version: Int64?, concludes: Bool = false) -> Bool {
        let stands =
            lease.holder == hold.holder && lease.fence == hold.fence
            && (version == nil || lease.version == hold.version)
        guard stands || defect == .noFence else { return false }
        if !stands { outcome.overwritten += 1 }
        lease.beat += 1
        lease.until = serverTime + Self.life
        if let version { (lease.version, lease.writer) = (version, hold.holder) }
        if concludes, lease.wanted != lease.fence { lease.holder = nil }
        durable = lease
        return true
    }

    // MARK: A process

    private mutating func advance(_ index: Int) {
        renewOthers(except: index)
        switch processes[index].step {
        case .begin: begin(index)
        case .acquired: journal(index)
        case .journalled: confirm(index)
        case .answered: store(index)
        case .stored: release(index)
        case .released: restart(index, after: 1 + chance() * 30)
        }
    }

    /// The renewals of processes that neither stall nor are cut off until their next step.
    private mutating func renewOthers(except index: Int) {
        for other in processes.indices where other != index {
            guard let hold = processes[other].hold, processes[other].next != nil, reaches(other), !isStalled(other)
            else { continue }
            guard now - processes[other].lastRenewal >= Self.timing.renewal / .seconds(1) / 2 else { continue }
            processes[other].lastRenewal = now
            if write(hold, version: nil) {
                hold.wasRenewed(at: moment(now))
            } else {
                hold.end("another holder took the record")
            }
        }
    }

    /// A stall is a step that takes longer than a statement may.
    private func isStalled(_ index: Int) -> Bool { processes[index].deadline > now + 25 }

    private mutating func wait(_ index: Int, _ step: Step, _ seconds: Double) {
        processes[index].step = step
        processes[index].deadline = now + seconds
        processes[index].next = now + seconds
    }

    private mutating func restart(_ index: Int, after seconds: Double) {
        let (cut, unstored) = (processes[index].isCutOff, processes[index].unstored)
        processes[index] = Process()
        (processes[index].isCutOff, processes[index].unstored) = (cut, unstored)
        processes[index].next = now + seconds
    }

    private mutating func begin(_ index: Int) {
        if processes[index].holder.isEmpty {
            processes[index].holder = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        guard reaches(index) else { return wait(index, .begin, 1) }
        let holder = processes[index].holder
        if acquire(as: holder, processes[index].observation.claim(Self.timing)) {
            processes[index].hold = PostgresHold(
                PostgresVault.rotation, holder: holder, fence: lease.fence,
                version: lease.version,
                at: moment(now).instant)
            processes[index].lastRenewal = now
            processes[index].seenToken = storedToken
            if let unstored = processes[index].unstored {
                // It is stored if the record is the one that it follows.
                if unstored == storedToken || defect == .storesBlindly {
                    processes[index].seenToken = unstored
                    return wait(index, .answered, pause())
                }
                processes[index].unstored = nil
            }
            return wait(index, .acquired, pause())
        }
        lease.wanted = lease.fence
        let look = LeaseObservation.Look(holder: lease.holder ?? [], fence: lease.fence, beat: lease.beat)
        processes[index].observation.note(look, at: .seconds(now))
        wait(index, .begin, happens(0.05) ? chance() * 20 : 0.2 + chance())
    }

    private mutating func journal(_ index: Int) {
        guard let hold = processes[index].hold else { return restart(index, after: 1) }
        guard reaches(index) else { return wait(index, .acquired, 1) }
        guard hold.end == nil, write(hold, version: hold.version + 1) else {
            outcome.refused += 1
            return restart(index, after: 1)
        }
        hold.wrote(hold.version + 1, sentAt: moment(now))
        wait(index, .journalled, pause())
    }

    private mutating func confirm(_ index: Int) {
        guard let hold = processes[index].hold else { return restart(index, after: 1) }
        if defect == .noConfirmation { return send(index, confirmedAt: now) }
        for isRenewed in [false, true] {
            guard hold.end == nil else { return restart(index, after: 1) }
            if let sent = hold.durable, Self.timing.lasts(for: LeaseTiming.request, sentAt: sent, at: moment(now)) {
                return send(index, confirmedAt: now)
            }
            guard !isRenewed, reaches(index) else { break }
            guard write(hold, version: nil) else {
                hold.end("another holder took the record")
                return restart(index, after: 1)
            }
            hold.wasRenewed(at: moment(now))
        }
        restart(index, after: 5)
    }

    /// Sends the token that the record has, and takes the service's answer when it comes.
    private mutating func send(_ index: Int, confirmedAt: Double) {
        let token = processes[index].seenToken
        // A process that stalls between the look and the last byte sends late.
        let stall = happens(0.03) ? chance() * 60 : 0
        let request = LeaseTiming.request / .seconds(1)
        let duration = (happens(0.3) ? chance() * request : min(pause(), request)) + stall
        let isLost = happens(0.05)
        judge(index, token, confirmedAt: confirmedAt, end: now + duration, isLost: isLost)
        outcome.sends += 1
        if token == serviceToken { serviceToken += 1 }
        wait(index, isLost ? .released : .answered, duration)
        if isLost { releaseNow(index) }
    }

    /// Why a token is sent a second time.
    private mutating func judge(_ index: Int, _ token: Int, confirmedAt: Double, end: Double, isLost: Bool) {
        let before = sends[token, default: []]
        if let last = before.last {
            let duration = last.end - last.confirmedAt
            if last.isLost {
                outcome.afterLostAnswer += 1
            } else if now >= last.end
                ? last.isRobbed : duration >= 24.9 || abs(lastJump - last.confirmedAt) < 120 && duration >= 6.9
            {
                outcome.afterStall += 1
            } else {
                outcome.unexplained += 1
            }
        }
        let holder = processes[index].holder
        sends[token] =
            before + [Send(process: index, holder: holder, confirmedAt: confirmedAt, end: end, isLost: isLost)]
    }

    /// Stores the answer by a concluding write, which is repeated where its answer does not come.
    private mutating func store(_ index: Int) {
        guard let hold = processes[index].hold else { return restart(index, after: 1) }
        guard reaches(index) else { return wait(index, .answered, 1) }
        let (token, isRepeated) = (processes[index].seenToken, processes[index].isRepeated)
        if defect == .releasesFirst, lease.holder == hold.holder {
            lease.holder = nil
            return wait(index, .answered, pause())
        }
        // A hold that ended is asked no more; a write that is under way is repeated all the same.
        let stands =
            (hold.end == nil || isRepeated)
            && (write(hold, version: hold.version + 1, concludes: true) || defect == .releasesFirst)
        if stands {
            if token < storedToken { outcome.overwritten += 1 }
            storedToken = token + 1
            if happens(0.05) {
                processes[index].isRepeated = true
                return wait(index, .answered, happens(0.3) ? chance() * 30 : pause())
            }
        }
        let isSeen = isRepeated && lease.version == hold.version + 1 && lease.writer == hold.holder
        guard stands || isSeen else {
            if isRepeated { outcome.followed += 1 } else { outcome.refused += 1 }
            processes[index].unstored = token
            return restart(index, after: 1)
        }
        processes[index].unstored = nil
        hold.wrote(hold.version + 1, sentAt: moment(now))
        wait(index, .stored, pause())
    }

    private mutating func release(_ index: Int) {
        releaseNow(index)
        wait(index, .released, pause())
    }

    private mutating func releaseNow(_ index: Int) {
        guard let hold = processes[index].hold, reaches(index), !happens(0.02) else { return }
        if lease.holder == hold.holder, lease.fence == hold.fence { lease.holder = nil }
        processes[index].hold = nil
    }

    /// Whether a waiter gets the record, when nothing fails any more.
    private mutating func canTake() -> Bool {
        var observation = LeaseObservation()
        let holder = [UInt8](repeating: 255, count: 16)
        for _ in 0..<200 {
            if acquire(as: holder, observation.claim(Self.timing)) { return true }
            observation.note(.init(holder: lease.holder ?? [], fence: lease.fence, beat: lease.beat), at: .seconds(now))
            now += 1
        }
        return false
    }
}
