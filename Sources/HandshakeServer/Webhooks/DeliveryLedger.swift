#if Server
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Records accepted webhooks in the vault, so that none is delivered again.
///
/// A webhook can still be delivered twice: after a lost claim, after a clock jumped ahead, after a failed write, and after a record
/// was damaged. Each case is described below.
///
/// There are at most 4096 records. A webhook's digest selects its record, so a delivery reads that record and writes it
/// twice, however many webhooks are remembered; each write drops expired entries. While the app handles a webhook it is
/// claimed, and the claim is renewed. A process that dies, or is suspended for longer than ``leaseDuration``, loses its
/// claim: then another process may deliver the webhook.
///
/// **Clocks.** After a clock was set back, an old webhook can seem recent again. So each record keeps the latest expiry of the
/// webhooks that it dropped. An unknown webhook that does not expire later may be one of them: it is ``Outcome/forgotten``, and
/// is not delivered. The claim of a process that died then stays valid for longer, by as much as the clock was set back. A clock that jumps
/// ahead of the others by more than 40 s may end a claim of another process; within one process, a webhook in progress is
/// never started again.
///
/// **Storage.** If the vault cannot be read or written when a webhook is claimed, the webhook is not delivered and the error
/// is thrown. If the vault cannot be written after the app accepted the webhook, this process remembers it and writes it at
/// the next delivery attempt; another process may deliver it after ``leaseDuration``. A damaged record is replaced by an empty
/// one: one in 4096 of the latest webhooks may then be delivered twice, rather than never.
struct DeliveryLedger: Sendable {
    /// Seconds after which a process that does not renew its claim counts as dead.
    static let leaseDuration = 60.0
    /// How often a claim is renewed: a single failed renewal has no effect.
    static let renewalInterval = Duration.seconds(20)

    let vault: any Vault
    let time: TimeSource
    /// The accepted delay in seconds.
    let tolerance: Double
    let handlerTimeout: Duration
    let log: Logger
    var random = RandomSource.system
    private let own = OwnDeliveries()

    init(vault: any Vault, time: TimeSource, tolerance: Double, handlerTimeout: Duration, log: Logger) {
        self.vault = vault
        self.time = time
        self.tolerance = tolerance
        self.handlerTimeout = handlerTimeout
        self.log = log
    }

    /// The result of a delivery.
    enum Outcome: Sendable {
        /// The app accepted it, now or before.
        case accepted
        /// A process is handling it.
        case busy
        /// Its record is full.
        case full
        /// It is as old as forgotten webhooks, so it may have been accepted.
        case forgotten
        /// The handler failed; IFTTT may deliver it again.
        case failed(any Error)
    }

    /// Delivers a webhook unless it was delivered before.
    ///
    /// - Throws: what the vault throws before the delivery; `CancellationError`.
    func deliver(
        _ webhook: ConnectWebhook, to handler: @escaping @Sendable (ConnectWebhook) async throws -> Void
    ) async throws -> Outcome {
        let delivery = Delivery(webhook, tolerance: tolerance)
        switch own.begin(delivery) {
        case .underway?: return .busy
        case .unwritten?:
            await finish(delivery)
            return .accepted
        case nil: break
        }
        let holder = Tag(random.bytes(16))
        do {
            let verdict = try await update(delivery) { $0.claim(delivery, claim(holder), now: time.now()) }
            if let outcome = Outcome(verdict) {
                own.end(delivery)
                return outcome
            }
        } catch {
            own.end(delivery)
            throw error
        }
        do {
            try await renewing(delivery, holder) { try await limited { try await handler(webhook) } }
        } catch {
            await release(delivery, holder)
            return .failed(error)
        }
        await finish(delivery)
        return .accepted
    }

    /// The handler's timeout has passed.
    struct Overdue: Error {}

    /// Runs a body with a timeout, and returns after it even when the body ignores cancellation: otherwise it would keep its
    /// claim without limit.
    private func limited(_ body: @escaping @Sendable () async throws -> Void) async throws {
        typealias End = Result<Void, any Error>
        let (ends, end) = AsyncStream<End>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let work = Task {
            do {
                try await body()
                end.yield(.success(()))
            } catch {
                end.yield(.failure(error))
            }
        }
        let alarm = Task {
            try await time.clock.sleep(for: handlerTimeout)
            end.yield(.failure(Overdue()))
            work.cancel()
        }
        defer { alarm.cancel() }
        // On cancellation, cancels the body and still awaits its result.
        let first = Task { await ends.first { _ in true } }
        let result = await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            work.cancel()
        }
        try (result ?? .failure(Overdue())).get()
    }

    private func claim(_ holder: Tag) -> DeliveryRecord.Claim {
        .init(holder: holder, expiresAt: time.now() + Self.leaseDuration)
    }

    /// Runs a body while renewing its claim.
    private func renewing(_ delivery: Delivery, _ holder: Tag, during body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await renew(delivery, holder) }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Renews a claim until the task is cancelled or another process has the claim.
    private func renew(_ delivery: Delivery, _ holder: Tag) async {
        while (try? await time.clock.sleep(for: Self.renewalInterval)) != nil {
            do {
                guard try await update(delivery, { $0.renew(delivery, claim(holder)) }) else {
                    log.warning("a claim to a webhook was lost: this process was suspended, or a clock jumped")
                    return
                }
            } catch is CancellationError {
                return
            } catch {
                log.warning("a claim to a webhook was not renewed", metadata: ["reason": "\(type(of: error))"])
            }
        }
    }

    private func finish(_ delivery: Delivery) async {
        do {
            try await shielded(delivery) { $0.finish(delivery, now: time.now()) }
            own.end(delivery)
        } catch {
            log.error("an accepted webhook could not be recorded", metadata: ["reason": "\(type(of: error))"])
            own.remember(delivery, now: time.now())
        }
    }

    private func release(_ delivery: Delivery, _ holder: Tag) async {
        do {
            try await shielded(delivery) { $0.release(delivery, heldBy: holder) }
        } catch {
            log.error("a claim to a webhook could not be released", metadata: ["reason": "\(type(of: error))"])
        }
        own.end(delivery)
    }

    /// Changes a record even when the caller was cancelled, because IFTTT hung up or the server shuts down: the app has
    /// already acted.
    private func shielded(
        _ delivery: Delivery, _ change: @escaping @Sendable (inout DeliveryRecord) -> Void
    ) async throws {
        try await Task { try await update(delivery, change) }.value
    }

    /// Changes a webhook's record. An unchanged record is not written.
    private func update<Result: Sendable>(
        _ delivery: Delivery, _ change: @Sendable (inout DeliveryRecord) -> Result
    ) async throws -> Result {
        try await vault.update(delivery.record) { held in
            let stored = DeliveryRecord(stored: await held.contents)
            var record = stored
            let result = change(&record)
            if record != stored { try await held.replace(with: record.bytes) }
            return result
        }
    }
}

extension DeliveryLedger.Outcome {
    /// The answer that needs no handler; nil when the handler has to run.
    fileprivate init?(_ verdict: DeliveryRecord.Verdict) {
        switch verdict {
        case .new: return nil
        case .accepted: self = .accepted
        case .busy: self = .busy
        case .full: self = .full
        case .forgotten: self = .forgotten
        }
    }
}
#endif
