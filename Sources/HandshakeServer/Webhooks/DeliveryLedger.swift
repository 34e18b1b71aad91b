#if Server
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Hands webhooks over, each once: what was taken is in the vault, so that all processes know.
///
/// There are 4096 records and never more. A webhook's digest says in which one it stands, so handing one over reads and
/// writes that record alone, twice, however many are remembered; what is too old to be taken at all is dropped from a record
/// whenever it is written. While the app is at work on a webhook it is claimed, and the claim is renewed for as long as that
/// takes. Only a process that dies, or stands still for longer than ``lease``, loses a claim.
///
/// **Clocks.** A clock that is set back makes nothing new: a webhook that is not remembered, and is no newer than one that
/// was forgotten from its record, is ``Outcome/forgotten``. It makes the claims of processes that died last longer by as much.
/// A clock that jumps ahead of the others by more than 40 s may end a claim that another process is at work on; in one process
/// a webhook that is under way is never begun again.
///
/// **Storage.** A vault that cannot be read or written when a webhook is claimed keeps it from being handed over, and the
/// error is thrown. When the vault cannot be written after the app took the webhook, this process remembers it, and writes it
/// down when it comes again; another process may be handed it after ``lease``. A record with contents that are none of ours
/// is begun again: one in 4096 of the latest webhooks may then be handed over again, rather than never.
struct DeliveryLedger: Sendable {
    /// Seconds for which a process that does not renew its claim counts as alive.
    static let lease = 60.0
    /// How often a claim is renewed: one renewal may fail without consequence.
    static let renewal = Duration.seconds(20)

    let vault: any Vault
    let time: TimeSource
    /// Seconds for which a webhook may be late.
    let tolerance: Double
    /// How long the app may be at work on one.
    let handling: Duration
    let log: Logger
    var random = RandomSource.system
    private let own = OwnDeliveries()

    init(vault: any Vault, time: TimeSource, tolerance: Double, handling: Duration, log: Logger) {
        self.vault = vault
        self.time = time
        self.tolerance = tolerance
        self.handling = handling
        self.log = log
    }

    /// What became of a webhook.
    enum Outcome: Sendable {
        /// The app took it, now or before.
        case taken
        /// A process is at work on it.
        case busy
        /// Its record is full.
        case full
        /// It is as old as webhooks that were forgotten: it may have been taken.
        case forgotten
        /// The app did not take it; it may come again.
        case failed(any Error)
    }

    /// Hands a webhook over, unless it was before.
    ///
    /// - Throws: what the vault throws before anything was handed over; `CancellationError`.
    func deliver(
        _ webhook: ConnectWebhook, to handler: @escaping @Sendable (ConnectWebhook) async throws -> Void
    ) async throws -> Outcome {
        let delivery = Delivery(webhook, tolerance: tolerance)
        switch own.begin(delivery) {
        case .underway?: return .busy
        case .unwritten?:
            await finish(delivery)
            return .taken
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
        return .taken
    }

    /// The app was at work for too long.
    struct Overdue: Error {}

    /// Runs a body, cancels it when its time is over, and then waits for it no longer: what heeds no cancellation would otherwise
    /// keep its claim for ever.
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
            try await time.clock.sleep(for: handling)
            end.yield(.failure(Overdue()))
            work.cancel()
        }
        defer { alarm.cancel() }
        // Who is cancelled passes it on, and waits for what comes of it.
        let first = Task { await ends.first { _ in true } }
        let result = await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            work.cancel()
        }
        try (result ?? .failure(Overdue())).get()
    }

    private func claim(_ holder: Tag) -> DeliveryRecord.Claim {
        .init(holder: holder, lease: time.now() + Self.lease)
    }

    /// Runs a body while its claim is renewed.
    private func renewing(_ delivery: Delivery, _ holder: Tag, during body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await renew(delivery, holder) }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Renews a claim until the task is cancelled or the claim is another's.
    private func renew(_ delivery: Delivery, _ holder: Tag) async {
        while (try? await time.clock.sleep(for: Self.renewal)) != nil {
            do {
                guard try await update(delivery, { $0.renew(delivery, claim(holder)) }) else {
                    log.warning("a claim to a webhook was lost: this process stood still, or a clock jumped")
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
            log.error("a webhook that was taken is not written down", metadata: ["reason": "\(type(of: error))"])
            own.remember(delivery, now: time.now())
        }
    }

    private func release(_ delivery: Delivery, _ holder: Tag) async {
        do {
            try await shielded(delivery) { $0.release(delivery, heldBy: holder) }
        } catch {
            log.error("a claim to a webhook was not given up", metadata: ["reason": "\(type(of: error))"])
        }
        own.end(delivery)
    }

    /// Changes a record also when the caller's task was cancelled, because IFTTT hung up or the server is going down: what
    /// the app did is done.
    private func shielded(
        _ delivery: Delivery, _ change: @escaping @Sendable (inout DeliveryRecord) -> Void
    ) async throws {
        try await Task { try await update(delivery, change) }.value
    }

    /// Changes a webhook's record; one that stays as it was is not written.
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
    /// What is answered without asking the app; nil when it has to be asked.
    fileprivate init?(_ verdict: DeliveryRecord.Verdict) {
        switch verdict {
        case .new: return nil
        case .taken: self = .taken
        case .busy: self = .busy
        case .full: self = .full
        case .forgotten: self = .forgotten
        }
    }
}
#endif
