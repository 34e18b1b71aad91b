import Handshake

@testable import PostgresVault

/// A process that uses the record, in simulated time.
struct LeaseProcess {
    enum Step {
        case rest, acquire
        /// The look whether the lease lasts for a request.
        case confirm(isRenewed: Bool)
        /// The request leaves.
        case leave(confirmedAt: Double)
        /// The answer is there; nil where it never came.
        case answered(Int?)
        case store
        /// A statement's answer is waited for.
        case exchange
    }

    /// What is written, and so what follows.
    enum Purpose {
        case journal, answer, putBack, end
    }

    /// A statement whose answer is waited for, and which is sent again until it comes.
    struct Exchange {
        var statement: LeaseMessage.Statement
        var number = 0
        var purpose = Purpose.journal
        /// Since when it is tried, by the process's clock; and when it is sent again.
        var start: ContinuousClock.Instant
        var sent: LeaseMoment
        var limit: Duration
        var attempts = 0
        var reply: LeaseMessage.Reply?
    }

    /// What renews holds beside all else.
    struct Renewal {
        var next = Double.infinity
        var number = 0
        var sent: LeaseMoment?
        var due: [PostgresHold] = []
        var reply: Set<Int64>?
    }

    let isKeeper: Bool
    /// Which of the processes that ran in this place it is.
    let life: Int
    /// The last number of a message.
    var number: Int
    var step = Step.rest
    var next = Double.infinity
    var frozenUntil = 0.0
    /// What its clock missed.
    var missed = 0.0
    var cutEnd = 0.0
    /// When it stood still or was cut off.
    var disturbances: [ClosedRange<Double>] = []
    var exchange: Exchange?
    var renewal = Renewal()

    var holder: Int64 = 0
    var own: PostgresHolds.Unreleased?
    var hold: PostgresHold?
    var renewing: [PostgresHold] = []
    var observation = LeaseObservation()
    let watched = WatchedLeases()
    var isClaimed = false
    var began: ContinuousClock.Instant?
    var pause = 0.05
    /// The content that was read, or written last by this hold.
    var content = 0
    /// The content before the journal.
    var before = 0
    /// When the journal was first sent.
    var journaledAt = 0.0
    var answer: Int?
    /// An answer that could not be stored, as it seemed: what it follows, and itself.
    var unstored: (token: Int, answer: Int)?
    var retry = 5.0
    /// The write whose outcome is looked up.
    var pending: Exchange?

    init(isKeeper: Bool, after other: LeaseProcess? = nil) {
        self.isKeeper = isKeeper
        life = (other?.life ?? 0) + 1
        number = (other?.number ?? 0) + 1
    }

    func isReady(at now: Double) -> Bool { next <= now && frozenUntil <= now }
}

/// A statement under way to the server.
struct LeaseMessage {
    enum Statement {
        case acquire(holder: Int64, own: LeaseSimulation.Value, claim: LeaseSimulation.Claim?)
        case want
        case replace(PostgresHold, expected: Int64, content: Int, base: Int, isUnfinished: Bool?, concludes: Bool)
        case state(PostgresHold)
        case renew([PostgresHold])
        case release(PostgresHold)
        /// CLAIM and WATCH of a keeper, which may take an abandoned lease that has ended, or any.
        case watch(isEnding: Bool, isForced: Bool)
    }

    enum Reply {
        case acquired(fence: Int64, version: Int64, content: Int)
        case nothing
        case look(LeaseObservation.Look?)
        case written(version: Int64, isReleased: Bool)
        case state(isOurs: Bool, version: Int64, content: Int)
        case renewed(Set<Int64>)
        case released
        case watched(isClaimed: Bool, look: LeaseObservation.Look?)
    }

    var at = 0.0
    let process: Int
    let life: Int
    let number: Int
    let statement: Statement
    /// Whether its answer comes.
    var isAnswered = true
    var isRenewal = false
}

extension LeaseMessage.Statement {
    /// What a schedule that is told says of it; nil for looks that found nothing.
    func text(_ reply: LeaseMessage.Reply) -> String? {
        func name(_ hold: PostgresHold) -> String {
            "\(LeaseSimulation.number(hold.holder)) with fence \(hold.fence)"
        }
        switch (self, reply) {
        case (.acquire(let holder, let own, let claim), .acquired(let fence, let version, let content)):
            let claimed = claim.map { ", claiming beat \($0.look.beat)\($0.isForced ? " by force" : "")" } ?? ""
            let former = own == .null ? "" : ", after its own \(own.number)"
            return "ACQUIRE as \(holder)\(former)\(claimed): fence \(fence), version \(version), content \(content)"
        case (.replace(let hold, let expected, let content, let base, _, let concludes), _):
            var outcome = "no row"
            if case .written(_, let isReleased) = reply { outcome = isReleased ? "released" : "done" }
            return "REPLACE by \(name(hold)), version \(expected + 1), content \(content) after \(base)"
                + "\(concludes ? ", concluding" : ""): \(outcome)"
        case (.state, .state(let isOurs, let version, let content)):
            return "STATE: \(isOurs ? "own" : "another one's"), version \(version), content \(content)"
        case (.renew(let holds), .renewed(let standing)):
            return "RENEW of \(holds.map(name).joined(separator: ", ")): \(standing.isEmpty ? "lost" : "\(standing)")"
        case (.release(let hold), _): return "RELEASE by \(name(hold))"
        case (.watch, .watched(true, _)): return "CLAIM of an unfinished record"
        default: return nil
        }
    }
}

// MARK: Messages

extension LeaseSimulation {
    /// Lets a statement arrive, and its answer.
    mutating func arrive(_ message: LeaseMessage) {
        // What is under way when the connection is cut comes to nothing, or late as a copy.
        guard reaches(message.process) || !message.isAnswered && !isAway else { return }
        let reply = carryOut(message.statement)
        if isTold, let text = message.statement.text(reply) {
            tell(message.process, "\(text)\(message.isAnswered ? "" : " (late, or its answer is lost)")")
        }
        guard message.isAnswered, processes[message.process].life == message.life else { return }
        let delay = 0.001 + chance() * 0.02
        if message.isRenewal {
            guard processes[message.process].renewal.number == message.number, case .renewed(let holders) = reply
            else { return }
            processes[message.process].renewal.reply = holders
            processes[message.process].renewal.next = now + delay
        } else if processes[message.process].exchange?.number == message.number {
            processes[message.process].exchange?.reply = reply
            processes[message.process].next = now + delay
        }
    }

    private mutating func carryOut(_ statement: LeaseMessage.Statement) -> LeaseMessage.Reply {
        let (before, time) = (server, serverTime)
        let life = Value.int(Self.timing.lease.milliseconds)
        switch statement {
        case .acquire(let holder, let own, let claim):
            let parameters = Self.acquisition(holder, own, claim)
            guard let row = statements.acquire(&server.lease, parameters, at: time) else { return .nothing }
            changed(from: before, by: holder, own: own)
            return .acquired(fence: row[0].number, version: row[1].number, content: server.content)
        case .want:
            statements.want(&server.lease, [.int(0)], at: time)
            return .look(server.holder == .null ? nil : look)
        case .replace(let hold, let expected, let content, let base, let isUnfinished, let concludes):
            let parameters: [Value] = [
                .int(0), .int(Self.number(hold.holder)), .int(hold.fence), .int(expected), life, .null, .int(1),
                .int(expected + 1), .null, .null, .bool(false), isUnfinished.map { .bool($0) } ?? .null,
                .bool(concludes),
            ]
            guard let row = statements.replace(&server.lease, parameters, at: time) else { return .nothing }
            let former = server.content
            if former != base, former != content {
                violate(.overwritten, "Content \(former) by \(content), which follows \(base).")
            }
            server.content = content
            changed(from: before, by: Self.number(hold.holder))
            return .written(version: row[1].number, isReleased: row[2].isTrue)
        case .state(let hold):
            let lease = server.lease ?? LeaseStatements.none
            let isOurs = server.holder == .int(Self.number(hold.holder)) && lease[.fence] == .int(hold.fence)
            return .state(isOurs: isOurs, version: lease[.version].number, content: server.content)
        case .renew(let holds):
            var standing: Set<Int64> = []
            for hold in holds {
                let holder = Self.number(hold.holder)
                let row = statements.renew(
                    &server.lease, holder: .int(holder), fence: .int(hold.fence), [.null, .null, .null, life],
                    at: time)
                guard let row else { continue }
                standing.insert(row.number)
                committed()
            }
            return .renewed(standing)
        case .release(let hold):
            let holder = Value.int(Self.number(hold.holder))
            let parameters: [Value] = [.int(0), holder, .int(hold.fence)]
            if statements.release(&server.lease, parameters, isSilent: isSilent, at: time) {
                if before.holder != holder { violate(.freed) }
                committed()
                if !isSilent, before.lease?[.wanted] == before.lease?[.fence] { notify() }
            }
            return .released
        case .watch(let isEnding, let isForced): return watch(isEnding: isEnding, isForced: isForced)
        }
    }

    /// NOTIFY, which mostly arrives.
    private mutating func notify() {
        for index in processes.indices {
            guard case .acquire = processes[index].step, happens(0.9) else { continue }
            let told = now + 0.001 + chance() * 0.005
            processes[index].next = min(processes[index].next, told)
        }
    }

    private mutating func watch(isEnding: Bool, isForced: Bool) -> LeaseMessage.Reply {
        guard let lease = server.lease, lease[.lane] == .int(0) else { return .watched(isClaimed: false, look: nil) }
        let due = lease[.dueAt].seconds
        let isHeld = server.holder != .null
        let isFree = !isHeld || isEnding && lease[.until].seconds <= serverTime || isForced
        let isClaimed = due <= serverTime && isFree
        let postponed = serverTime + 5
        if isClaimed { server.lease?[.dueAt] = .time(postponed) }
        return .watched(isClaimed: isClaimed, look: isHeld && due <= serverTime + 10 ? look : nil)
    }

    /// Sends a statement, and again until its answer comes.
    private mutating func send(
        _ index: Int, _ statement: LeaseMessage.Statement, _ purpose: LeaseProcess.Purpose = .journal,
        for limit: Duration = .seconds(5)
    ) {
        processes[index].exchange = .init(
            statement: statement, purpose: purpose, start: instant(index), sent: moment(index), limit: limit)
        processes[index].step = .exchange
        transmit(index)
    }

    private mutating func transmit(_ index: Int) {
        processes[index].number += 1
        guard var exchange = processes[index].exchange else { return }
        (exchange.number, exchange.attempts) = (processes[index].number, exchange.attempts + 1)
        processes[index].exchange = exchange
        let wait = post(exchange.statement, exchange.number, of: index)
        processes[index].next = now + wait
    }

    /// Lets a message leave.
    ///
    /// - Returns: when its sender gives up to wait.
    private mutating func post(
        _ statement: LeaseMessage.Statement, _ number: Int, of index: Int, isRenewal: Bool = false
    ) -> Double {
        let luck = chance()
        var message = LeaseMessage(
            process: index, life: processes[index].life, number: number, statement: statement, isRenewal: isRenewal)
        if luck < 0.02 {
            // A copy on a connection that was given up.
            (message.at, message.isAnswered) = (now + chance() * 60, false)
            messages.append(message)
        }
        // Refused immediately, while the server is away.
        if isAway { return 0.2 + chance() * 0.8 }
        if luck < 0.01 || !reaches(index) { return 5 }
        // The answers of a few are lost.
        message.at = now + 0.001 + chance() * (luck > 0.98 ? 6 : 0.03)
        message.isAnswered = luck > 0.03
        messages.append(message)
        return 5
    }

    // MARK: Renewals

    mutating func renew(_ index: Int) {
        let timing = Self.timing
        if let sent = processes[index].renewal.sent {
            let due = processes[index].renewal.due
            processes[index].renewal.sent = nil
            if let standing = processes[index].renewal.reply {
                for hold in due {
                    if standing.contains(Self.number(hold.holder)) {
                        hold.wasRenewed(at: sent)
                    } else if Self.number(hold.holder) != processes[index].own?.attempt.map(Self.number),
                        processes[index].renewing.contains(where: { $0 === hold })
                    {
                        hold.end("another holder took the record")
                        drop(hold, of: index)
                    }
                }
            }
            processes[index].renewal.next = now + (processes[index].renewal.reply == nil ? 1 : 2.5)
            return
        }
        var due: [PostgresHold] = []
        for hold in processes[index].renewing {
            switch hold.isDue(at: instant(index), renewal: timing.renewal, bodyLimit: PostgresHolds.bodyLimit) {
            case nil: drop(hold, of: index)
            case true?: due.append(hold)
            case false?: break
            }
        }
        guard !due.isEmpty else {
            processes[index].renewal.next = now + 2.5
            return
        }
        processes[index].number += 1
        let number = processes[index].number
        (processes[index].renewal.number, processes[index].renewal.reply) = (number, nil)
        (processes[index].renewal.due, processes[index].renewal.sent) = (due, moment(index))
        let wait = post(.renew(due), number, of: index, isRenewal: true)
        processes[index].renewal.next = now + wait
    }

    /// Renews a hold from now on.
    private mutating func renew(_ hold: PostgresHold, of index: Int) {
        if processes[index].renewing.isEmpty { processes[index].renewal.next = now + 2.5 }
        processes[index].renewing.removeAll { $0.holder == hold.holder }
        processes[index].renewing.append(hold)
    }

    private mutating func drop(_ hold: PostgresHold, of index: Int) {
        processes[index].renewing.removeAll { $0 === hold }
    }

    // MARK: An update

    mutating func advance(_ index: Int) {
        switch processes[index].step {
        case .rest: begin(index)
        case .acquire: acquire(index)
        case .confirm(let isRenewed): confirm(index, isRenewed: isRenewed)
        case .leave(let confirmedAt): leave(index, confirmedAt: confirmedAt)
        case .answered(let answer): take(answer, index)
        case .store: store(index)
        case .exchange: goOn(index)
        }
    }

    private mutating func wait(_ index: Int, _ step: LeaseProcess.Step, _ seconds: Double) {
        processes[index].step = step
        processes[index].next = now + seconds
    }

    private mutating func rest(_ index: Int, _ seconds: Double) {
        (processes[index].hold, processes[index].answer, processes[index].isClaimed) = (nil, nil, false)
        // What could not be stored is tried again by itself.
        let isUnstored = processes[index].unstored != nil
        processes[index].retry = isUnstored ? min(processes[index].retry * 2, 300) : 5
        wait(index, .rest, isUnstored ? processes[index].retry / 2 : seconds)
    }

    private mutating func begin(_ index: Int) {
        if processes[index].isKeeper, processes[index].unstored == nil, !processes[index].isClaimed {
            let abandoned = processes[index].watched.abandoned(at: instant(index), Self.timing)
            return send(index, .watch(isEnding: !abandoned.ending.isEmpty, isForced: !abandoned.forced.isEmpty))
        }
        processes[index].began = instant(index)
        processes[index].pause = 0.05
        processes[index].observation = processes[index].watched.observation(
            of: LeaseSimulation.watchedName, at: instant(index))
        let own = processes[index].own
        let former = defect == .reusesHolder ? own?.holder : own?.attempt
        processes[index].holder = former.map { Self.number($0) } ?? newHolder(of: index)
        acquire(index)
    }

    private mutating func acquire(_ index: Int) {
        let own = processes[index].own.map { Value.int(Self.number($0.holder)) } ?? .null
        let claim = processes[index].observation.claim(Self.timing)
        send(index, .acquire(holder: processes[index].holder, own: own, claim: claim))
    }

    /// Goes on with the answer to a statement, or without one.
    private mutating func goOn(_ index: Int) {
        guard let exchange = processes[index].exchange else { return rest(index, 1) }
        guard let reply = exchange.reply else {
            // A write that may be done is repeated as it is.
            guard exchange.start.duration(to: instant(index)) < exchange.limit else { return giveUp(index, exchange) }
            return transmit(index)
        }
        processes[index].exchange = nil
        switch (exchange.statement, reply) {
        case (.acquire, .acquired(let fence, let version, let content)):
            acquired(index, fence, version, content, at: exchange.sent.instant)
        case (.acquire, _): send(index, .want)
        case (.want, .look(let look)): looked(index, look)
        case (.replace, .written(let version, let isReleased)): written(index, version, isReleased, exchange)
        case (.replace(let hold, _, _, _, _, _), _): look(index, at: hold, exchange)
        case (.state, .state(let isOurs, let version, let content)):
            judge(index, isOurs: isOurs, version: version, content: content, exchange)
        case (.renew, .renewed(let standing)): confirmed(index, standing, at: exchange.sent)
        case (.watch, .watched(let isClaimed, let look)): watched(index, isClaimed, look)
        default: rest(index, 1 + chance() * 10)
        }
    }

    /// No answer came in time.
    private mutating func giveUp(_ index: Int, _ exchange: LeaseProcess.Exchange) {
        processes[index].exchange = nil
        let hold = processes[index].hold
        switch exchange.statement {
        case .acquire(let holder, _, _):
            let own = PostgresHolds.Unreleased(unanswered: Self.bytes(holder), after: processes[index].own)
            processes[index].own = own
            if let attempted = own.attempted(PostgresVault.rotation) { renew(attempted, of: index) }
            rest(index, 1 + chance() * 5)
        case .replace, .state:
            if let hold, hold.mayHaveAnswer, hold.end == nil { hold.failedToWrite() }
            keepUnstored(index, exchange.purpose)
            finish(index, hasFailed: true)
        case .renew: finish(index, hasFailed: true)
        case .release(let hold):
            processes[index].own = .init(hold.holder)
            rest(index, 1 + chance() * 10)
        case .want, .watch: rest(index, 1 + chance() * 5)
        }
    }

    private mutating func looked(_ index: Int, _ look: LeaseObservation.Look?) {
        guard let look else { return wait(index, .acquire, 0.001) }
        let began = processes[index].began ?? instant(index)
        let time = began.duration(to: instant(index))
        processes[index].observation.note(look, at: time)
        // VaultError.busy
        guard time < Self.timing.shortestWait + .seconds(23) else { return rest(index, 1 + chance() * 30) }
        wait(index, .acquire, processes[index].pause * (0.75 + chance() / 2))
        processes[index].pause = min(processes[index].pause * 2, 1)
    }

    private mutating func watched(_ index: Int, _ isClaimed: Bool, _ look: LeaseObservation.Look?) {
        let looks = look.map { [(LeaseSimulation.watchedName, $0)] } ?? []
        processes[index].watched.note(looks, at: instant(index))
        processes[index].isClaimed = isClaimed
        if isClaimed { outcome.kept += 1 }
        wait(index, .rest, isClaimed ? 0.01 : look == nil ? 5 : 1)
    }

    private mutating func acquired(
        _ index: Int, _ fence: Int64, _ version: Int64, _ content: Int, at instant: ContinuousClock.Instant
    ) {
        let own = processes[index].own
        processes[index].own = nil
        let hold = PostgresHold(
            PostgresVault.rotation, holder: Self.bytes(processes[index].holder), fence: fence, version: version,
            at: instant,
            unstoredSince: own?.unstoredSince(before: fence, at: instant, limit: PostgresHolds.bodyLimit))
        renew(hold, of: index)
        (processes[index].hold, processes[index].content, processes[index].before) = (hold, content, content)
        let read = contents[content]
        if let unstored = processes[index].unstored {
            if unstored.token == read.token || defect == .storesBlindly {
                processes[index].answer = unstored.answer
                outcome.late += 1
                return wait(index, .store, 0.001)
            }
            // Another one's is there.
            processes[index].unstored = nil
        }
        if kind == .sendsOnce, let since = read.journal {
            guard now >= since + Self.lateAnswer else { return finish(index, hasFailed: true) }
            outcome.ended += 1
            serviceToken += 1
            contents.append(Content(token: serviceToken))
            return write(index, contents.count - 1, .end, concludes: true)
        }
        contents.append(Content(token: read.token, journal: now))
        write(index, contents.count - 1, .journal, isUnfinished: true)
    }

    // MARK: Writes

    private mutating func write(
        _ index: Int, _ content: Int, _ purpose: LeaseProcess.Purpose, isUnfinished: Bool = false,
        concludes: Bool = false
    ) {
        guard let hold = processes[index].hold, hold.end == nil else {
            keepUnstored(index, purpose)
            return finish(index, hasFailed: true)
        }
        if purpose == .journal { processes[index].journaledAt = now }
        let statement = LeaseMessage.Statement.replace(
            hold, expected: hold.version, content: content, base: processes[index].content,
            isUnfinished: isUnfinished, concludes: concludes)
        send(index, statement, purpose, for: hold.mayHaveAnswer ? PostgresStore.answerRetryTime : .seconds(5))
    }

    private mutating func written(
        _ index: Int, _ version: Int64, _ isReleased: Bool, _ exchange: LeaseProcess.Exchange
    ) {
        guard let hold = processes[index].hold,
            case .replace(_, _, let content, _, _, _) = exchange.statement
        else { return rest(index, 1) }
        processes[index].content = content
        if isReleased { drop(hold, of: index) }
        hold.wrote(version, sentAt: exchange.sent, isReleased: isReleased)
        switch exchange.purpose {
        case .journal: wait(index, .confirm(isRenewed: false), 0.001 + chance() * 0.05)
        case .answer:
            processes[index].unstored = nil
            finish(index)
        case .putBack: finish(index, hasFailed: true)
        case .end: finish(index)
        }
    }

    /// No row came back: the lease is lost, or the write was done before.
    private mutating func look(_ index: Int, at hold: PostgresHold, _ exchange: LeaseProcess.Exchange) {
        send(index, .state(hold), exchange.purpose)
        processes[index].pending = exchange
    }

    private mutating func judge(
        _ index: Int, isOurs: Bool, version: Int64, content: Int, _ exchange: LeaseProcess.Exchange
    ) {
        guard let hold = processes[index].hold, let write = processes[index].pending,
            case .replace(_, let expected, let written, _, _, let concludes) = write.statement
        else { return rest(index, 1) }
        if version == expected + 1, content == written {
            if !concludes, !isOurs { hold.end("another holder took the record after this change of it") }
            return self.written(index, version, concludes && !isOurs, write)
        }
        if concludes, write.attempts > 1 { outcome.followed += 1 } else { outcome.refused += 1 }
        hold.end("another holder took the record")
        keepUnstored(index, write.purpose)
        finish(index, hasFailed: true)
    }

    private mutating func keepUnstored(_ index: Int, _ purpose: LeaseProcess.Purpose) {
        guard purpose == .answer, let answer = processes[index].answer, processes[index].unstored == nil else { return }
        processes[index].unstored = (contents[processes[index].before].token, answer)
    }

    // MARK: Sending

    private mutating func confirm(_ index: Int, isRenewed: Bool) {
        guard let hold = processes[index].hold, hold.end == nil else { return finish(index, hasFailed: true) }
        if let sent = hold.durable, Self.timing.lasts(for: LeaseTiming.request, sentAt: sent, at: moment(index)) {
            return wait(index, .leave(confirmedAt: now), 0)
        }
        guard isRenewed else { return send(index, .renew([hold])) }
        // Nothing was sent.
        write(index, processes[index].before, .putBack)
    }

    private mutating func confirmed(_ index: Int, _ standing: Set<Int64>, at sent: LeaseMoment) {
        guard let hold = processes[index].hold else { return rest(index, 1) }
        guard standing.contains(Self.number(hold.holder)) else {
            hold.end("another holder took the record")
            return finish(index, hasFailed: true)
        }
        hold.wasRenewed(at: sent)
        confirm(index, isRenewed: true)
    }

    private mutating func leave(_ index: Int, confirmedAt: Double) {
        let token = contents[processes[index].content].token
        let luck = chance()
        let duration = luck < 0.3 ? chance() * (LeaseTiming.request / .seconds(1)) : 0.01 + chance() * 0.5
        let isLost = happens(0.05)
        if isTold { tell(index, "sends token \(token)\(isLost ? ", and no answer comes" : "")") }
        let send = Send(
            process: index, life: processes[index].life, holder: processes[index].holder,
            journaledAt: processes[index].journaledAt, confirmedAt: confirmedAt, end: now + duration, isLost: isLost)
        note(send, of: token)
        contents.append(Content(token: serviceToken))
        wait(index, .answered(isLost ? nil : contents.count - 1), duration)
    }

    private mutating func take(_ answer: Int?, _ index: Int) {
        guard let answer else { return finish(index) }
        processes[index].answer = answer
        if defect == .releasesFirst, let hold = processes[index].hold {
            let time = serverTime
            _ = statements.release(
                &server.lease, [.int(0), .int(processes[index].holder), .int(hold.fence)], isSilent: isSilent, at: time)
        }
        wait(index, .store, 0.001)
    }

    private mutating func store(_ index: Int) {
        guard let answer = processes[index].answer else { return finish(index) }
        write(index, answer, .answer, concludes: true)
    }

    // MARK: The end

    private mutating func finish(_ index: Int, hasFailed: Bool = false) {
        guard let hold = processes[index].hold else { return rest(index, 1) }
        if hold.isKept(mayHaveMissed: hasFailed), defect != .releasesEarly {
            processes[index].own = .init(unstoredOf: hold)
            return rest(index, 5)
        }
        drop(hold, of: index)
        guard hold.end == nil, !hold.isReleased else { return rest(index, 1 + chance() * 30) }
        send(index, .release(hold))
    }
}
