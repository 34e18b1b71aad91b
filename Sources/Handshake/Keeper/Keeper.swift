import AsyncSupport
package import Logging
package import OAuth
import Synchronization

/// Keeps accounts signed in: refreshes each one before it lapses.
///
/// ```swift
/// let keeper = Keeper(handshake)
/// await keeper.run()  // until the task is cancelled
/// ```
///
/// ### Guarantees
///
/// * **Once.** An access token is refreshed once, however many keepers in however many processes use the vault: a keeper reads the record
///   before it acts, and refreshes only the token it read, while it holds the record (``Vault/update(_:_:)``). A keeper that dies loses
///   nothing: the others have the account in their own queues, and repeat the refresh that it had begun, as soon as its hold has ended,
///   if the vault can list such accounts (``Vault/claimUnfinished(of:except:)``).
/// * **Spread.** When an account is refreshed depends on chance within ``Options/spread``, so that accounts of one minute do not come due
///   in one minute again, and keepers seldom meet.
/// * **Polite.** Each service has a rate and a bound of concurrent refreshes (``RateLimit``). A service that fails is left alone for as long
///   as it asks (`Retry-After`), and for a pause that doubles; then one account tries for all.
/// * **Bounded.** In memory is a queue of names and times, not the accounts. The vault is listed page by page each
///   ``Options/scanInterval``, and accounts in the queue are not read again. A listing begins at a random account, so that keepers which
///   are killed before its end leave none out for ever.
///
/// Accounts that cannot lapse, or cannot be refreshed, are left alone: those of a client without users, those without a refresh token.
public final class Keeper: Sendable {
    /// When accounts are refreshed, and how fast.
    public let options: Options

    let accounts: any KeptAccounts
    let time: TimeSource
    let random: RandomSource
    let log: Logger
    private let webhook: KeeperWebhook?
    private let broadcast = Broadcaster<KeeperEvent>(capacity: 10_000)
    let lanes = Mutex<[LaneKey: KeeperLane]>([:])
    private let counts = Mutex(KeeperReport())
    let telemetry = Telemetry.chosen()
    /// What the listing under way has met; the report has the last complete one's.
    private let listing = Mutex(Listing())

    private struct Listing {
        var left = 0
        var damaged = 0
    }

    /// Accounts of one authorization server share its rate limit.
    struct LaneKey: Hashable {
        let service: String
        let issuer: String
    }

    /// Makes a keeper of all accounts of an app's clients.
    ///
    /// - Parameters:
    ///   - handshake: the app.
    ///   - options: when accounts are refreshed, and how fast.
    ///   - webhook: where sessions that ended are reported; nil for nowhere.
    public convenience init(_ handshake: Handshake, options: Options = Options(), webhook: KeeperWebhook? = nil) {
        let environment = handshake.environment
        self.init(
            of: handshake, options: options, webhook: webhook, time: environment.time, random: environment.random,
            log: environment.log)
    }

    /// Makes a keeper of accounts that several apps have.
    package init(
        of accounts: any KeptAccounts, options: Options, webhook: KeeperWebhook? = nil, time: TimeSource = .system,
        random: RandomSource = .system, log: Logger = Logger(label: "handshake")
    ) {
        self.accounts = accounts
        self.options = options
        self.webhook = webhook
        self.time = time
        self.random = random
        self.log = log
    }

    /// What happens to the accounts from now on, as this keeper sees it.
    public var events: AsyncStream<KeeperEvent> { broadcast.values() }

    /// Ends the streams of events, after the events so far.
    package func endEvents() { broadcast.finish() }

    /// What this keeper has done so far.
    public var report: KeeperReport {
        var report = counts.withLock { $0 }
        for lane in lanes.withLock({ Array($0.values) }) { report.kept += lane.count }
        return report
    }

    /// Keeps the accounts until the task is cancelled.
    ///
    /// When this returns, the refreshes that were on their way have ended, and the reports that wait were sent to the webhook, for 10 s at most.
    @concurrent
    public func run() async {
        let hook = makeHook()
        let (found, finding) = AsyncStream.makeStream(of: KeeperLane.self)
        async let delivered: Void = hook.deliver()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    if self.options.listsAccounts {
                        group.addTask { await self.scanRepeatedly(hook) { finding.yield($0) } }
                    }
                    group.addTask { await self.repeatUnfinished { finding.yield($0) } }
                }
                finding.finish()
            }
            for await lane in found {
                group.addTask { await lane.run(for: self, hook, until: nil) }
            }
        }
        await accounts.finishRefreshes()
        hook.finish()
        await delivered
        lanes.withLock { $0 = [:] }
    }

    /// Refreshes the accounts that are due, each at most once, and returns. It is for programs that a timer starts.
    ///
    /// When a service fails, its remaining accounts are left for the next time. Reports that the webhook does not confirm delay the end by
    /// 80 s at most.
    ///
    /// - Parameter horizon: how many seconds ahead an account may be due: the time until the next call. 0 by default.
    /// - Returns: what was done.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault cannot be listed; `CancellationError`.
    @concurrent
    public func runOnce(horizon: Double = 0) async throws -> KeeperReport {
        let hook = makeHook()
        async let delivered: Void = hook.deliver()
        var failure: (any Error)?
        do {
            let until = time.now() + max(horizon.isFinite ? horizon : 0, 0)
            try await scan(hook, isOnce: true) { _ in }
            await withDiscardingTaskGroup { group in
                for lane in lanes.withLock({ Array($0.values) }) {
                    group.addTask { await lane.run(for: self, hook, until: until) }
                }
            }
            try Task.checkCancellation()
        } catch {
            failure = error
        }
        await accounts.finishRefreshes()
        hook.finish()
        await delivered
        let report = report
        lanes.withLock { $0 = [:] }
        if let failure { throw failure }
        return report
    }

    /// Tells when each account will be refreshed, without a request.
    ///
    /// - Parameter body: gets an account and the earliest time of its refresh, in seconds since 1970; nil when it is not kept.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault cannot be listed; what `body` throws; `CancellationError`.
    @concurrent
    public func plan(_ body: @escaping @Sendable (AccountID, Double?) async throws -> Void) async throws {
        try await forEachRecord { [accounts, options] id, stored in
            switch stored {
            case .success(let record?):
                try await body(id, options.schedule(of: record, within: accounts.refreshMargin(of: id))?.earliest)
            case .success(nil): break
            case .failure(let error):
                guard case .vault(let failure) = error, failure.isOfOneRecord else { throw error }
                self.reportDamage(failure)
            }
        }
    }

    private func makeHook() -> KeeperHook {
        KeeperHook(webhook, by: accounts, time: time, log: log)
    }

    func announce(
        _ change: KeeperEvent.Change, of account: AccountID? = nil, at service: String, time now: Double? = nil
    ) {
        switch change {
        case .paused, .resumed: tellPaused(service)
        case .refreshed, .ended, .failed: break
        }
        broadcast.send(KeeperEvent(service: service, account: account, change: change, time: now ?? time.now()))
    }

    func count(_ change: (inout KeeperReport) -> Void) {
        counts.withLock { change(&$0) }
    }

    /// A number from 0 to below 1.
    func chance() -> Double {
        let bytes = random.bytes(4).prefix(4)
        return Double(bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) / 4_294_967_296
    }
}

extension Keeper {
    private func scanRepeatedly(_ hook: KeeperHook, _ found: @escaping @Sendable (KeeperLane) -> Void) async {
        let backOff = BackOff(first: .seconds(5), longest: .seconds(300))
        var failures = 0
        while !Task.isCancelled {
            let elapsed = Self.elapsed(on: time.clock)
            var pause = options.scanInterval
            do {
                try await scan(hook, isOnce: false, found)
                failures = 0
                tellAccounts()
                // At most a tenth of the time goes into listing, however large the vault is.
                pause = max(pause, elapsed() / .seconds(1) * 9)
            } catch is CancellationError {
                return
            } catch {
                failures += 1
                pause = backOff.pause(afterFailures: failures) / .seconds(1)
                log.error("the vault cannot be listed", metadata: ["reason": "\(error)", "retry_in": "\(pause) s"])
            }
            let wait = min(pause, 86_400) * (0.9 + 0.2 * chance())
            guard (try? await time.clock.sleep(for: .seconds(max(wait, 0.001)))) != nil else { return }
        }
    }

    /// The time from now on by a clock that is never set.
    static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Lists the accounts and queues those that are not queued yet, and the reports that no webhook has taken.
    private func scan(
        _ hook: KeeperHook, isOnce: Bool, _ found: @escaping @Sendable (KeeperLane) -> Void
    ) async throws {
        try await forEachRecord(except: isQueued, concurrently: Self.concurrentReads) { id, stored in
            try self.queue(id, stored, hook, isOnce: isOnce, found)
        }
    }

    private func isQueued(_ id: AccountID) -> Bool {
        lanes.withLock { $0[LaneKey(id)] }?.contains(id) ?? false
    }

    /// How many records one request reads. One request a record would make a keeper of a million accounts take minutes to start.
    private static let readSize = 64
    /// How many such requests run concurrently. A vault in a database has few connections (by default 8), and refreshes need them meanwhile.
    private static let concurrentReads = 2

    /// Reads the records of all accounts.
    ///
    /// - Parameters:
    ///   - isSkipped: whether an account is not read.
    ///   - width: how many requests run concurrently.
    private func forEachRecord(
        except isSkipped: @escaping @Sendable (AccountID) -> Bool = { _ in false }, concurrently width: Int = 1,
        _ body: @escaping @Sendable (AccountID, Result<AccountRecord?, HandshakeError>) async throws -> Void
    ) async throws {
        listing.withLock { $0 = Listing() }
        do {
            try await accounts.pages { [accounts] page in
                for error in page.damaged { self.reportDamage(error) }
                try await self.forEach(of: page.ids.filter { !isSkipped($0) }, concurrently: width) { ids in
                    for (id, stored) in zip(ids, try await accounts.stored(ids)) { try await body(id, stored) }
                }
            }
            let met = listing.withLock { $0 }
            count {
                $0.left = met.left
                $0.damaged = met.damaged
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Hands over the accounts of a page in batches, beginning at a random one: vaults of files have a single page, always in the same order.
    private func forEach(
        of ids: [AccountID], concurrently width: Int, _ body: @escaping @Sendable ([AccountID]) async throws -> Void
    ) async throws {
        let start = Int(chance() * Double(ids.count))
        var rest = (ids[start...] + ids[..<start])[...]
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            while !rest.isEmpty {
                let batch = Array(rest.prefix(Self.readSize))
                rest = rest.dropFirst(Self.readSize)
                if running == width { _ = try await group.next() } else { running += 1 }
                group.addTask {
                    try Task.checkCancellation()
                    try await body(batch)
                }
            }
            try await group.waitForAll()
        }
    }

    private func queue(
        _ id: AccountID, _ stored: Result<AccountRecord?, HandshakeError>, _ hook: KeeperHook, isOnce: Bool,
        _ found: (KeeperLane) -> Void
    ) throws(HandshakeError) {
        do throws(HandshakeError) {
            guard let record = try stored.get() else { return }
            guard let schedule = options.schedule(of: record, within: accounts.refreshMargin(of: id)) else {
                listing.withLock { $0.left += 1 }
                if let ending = record.unreportedEnding { hook.add(ending) }
                return
            }
            let due = isOnce ? schedule.earliest : schedule.time(chance: chance())
            withLane(of: id, found) { $0.add(id, due: due) }
        } catch {
            // The other accounts may well be readable.
            guard case .vault(let failure) = error, failure.isOfOneRecord else { throw error }
            let now = time.now()
            fail(id, with: error, at: now, retryAt: now + options.scanInterval)
        }
    }

    func fail(_ id: AccountID, with error: HandshakeError, at now: Double, retryAt: Double) {
        count { $0.failed += 1 }
        log.warning("an account was not refreshed", metadata: ["account": "\(id)", "reason": "\(error.code)"])
        announce(.failed(error, retryAt: retryAt), of: id, at: id.service, time: now)
    }

    /// Tells how many accounts are queued. A service with several authorization servers has one figure.
    func tellAccounts() {
        guard let telemetry else { return }
        let counts = lanes.withLock { $0 }.reduce(into: [:]) { $0[$1.key.service, default: 0] += $1.value.count }
        for (service, count) in counts { telemetry.gauge("handshake_keeper_accounts", count, at: service) }
    }

    /// Reports whether a service is paused, also when it is not: without a value an alert could not tell the two apart.
    func tellPaused(_ service: String) {
        guard let telemetry else { return }
        let isPaused = lanes.withLock { $0 }.contains { $0.key.service == service && $0.value.isServiceFailing }
        telemetry.gauge("handshake_keeper_paused", isPaused ? 1 : 0, at: service)
    }

    private func reportDamage(_ error: VaultError) {
        listing.withLock { $0.damaged += 1 }
        log.warning("a record cannot be read", metadata: ["reason": "\(error)"])
    }
}
