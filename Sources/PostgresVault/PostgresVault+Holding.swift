#if PostgreSQL
import Handshake

extension PostgresVault {
    /// Runs a body while holding the record of a name.
    func holding<Result: Sendable>(
        _ name: RecordName, _ body: (PostgresHold, SealedRecord?) async throws -> Result
    ) async throws -> Result {
        let (hold, record) = try await take(name, on: clock)
        defer { queue.release(name) }
        holds.add(hold)
        do {
            let result = try await body(hold, record)
            await release(hold)
            return result
        } catch {
            // It may have failed before it could write what waits.
            await release(hold, mayHaveMissed: error is VaultError || error is CancellationError)
            throw error
        }
    }

    /// Takes a record's lease: first in this vault, in order, then against all others.
    private func take<C: Clock<Duration>>(
        _ name: RecordName, on clock: C
    ) async throws -> (PostgresHold, SealedRecord?) {
        let start = clock.now
        let deadline = start.advanced(by: timeout)
        guard try await queue.acquire(name, until: deadline, on: clock) else { throw VaultError.busy(path(of: name)) }
        let watching = clock.now
        let holder = holds.unreleased(name)?.attempt ?? PostgresHold.newHolder()
        do {
            // Of a record that a keeper repeats it may be over already.
            var observation = watched.observation(of: name.bytes, at: LeaseMoment.now().instant)
            var pause = Duration.milliseconds(50)
            var attempts = 0
            while true {
                if let taken = try await acquire(name, as: holder, observation.claim(timing)) { return taken }
                let ticket = await listener.join(name)
                let look: LeaseObservation.Look?
                do { look = try await store.want(name) } catch {
                    listener.leave(ticket)
                    throw error
                }
                guard let look else {
                    listener.leave(ticket)
                    // Free, as it seems: others may be faster a few times, or the lease was changed by hand.
                    attempts += 1
                    guard clock.now < deadline else { throw VaultError.busy(path(of: name)) }
                    let next = clock.now.advanced(by: .milliseconds(50))
                    if attempts > 3 { try await clock.sleep(until: next, tolerance: nil) }
                    try Task.checkCancellation()
                    continue
                }
                observation.note(look, at: watching.duration(to: clock.now))
                guard clock.now < deadline else {
                    listener.leave(ticket)
                    throw VaultError.busy(path(of: name))
                }
                let next = clock.now.advanced(by: pause * Double.random(in: 0.75...1.25))
                let isNotified = try await listener.wait(ticket, until: min(next, deadline), on: clock)
                pause = isNotified ? .milliseconds(50) : min(pause * 2, .seconds(1))
            }
        } catch {
            queue.release(name)
            throw error
        }
    }

    private func acquire(
        _ name: RecordName, as holder: [UInt8], _ claim: (look: LeaseObservation.Look, isForced: Bool)?
    ) async throws -> (PostgresHold, SealedRecord?)? {
        let now = ContinuousClock.now
        // Before the record is read.
        let newest = newest(of: name)
        let own = holds.unreleased(name)
        do {
            let acquired = try await store.acquire(name, as: holder, own: own?.holder, claim: claim, timing: timing)
            guard let acquired else { return nil }
            holds.note(nil, of: name)
            let hold = PostgresHold(
                name, holder: holder, fence: acquired.fence, version: acquired.version, newest: newest, at: now,
                unstoredSince: own?.unstoredSince(before: acquired.fence, at: now, limit: holds.bodyLimit),
                isUnlimited: name == Self.rotation)
            guard !Task.isCancelled else {
                await release(hold, mayHaveMissed: true)
                throw CancellationError()
            }
            return (hold, acquired.record)
        } catch let error as VaultError {
            // The statement may have been done, and its answer lost, even if a repeat of it was refused a connection.
            holds.noteUnanswered(holder, of: name, after: own)
            throw error
        }
    }

    /// Releases a lease, unless it says that an answer is under way that no other holder may know of.
    ///
    /// Then it is renewed until the time of a body is over, and this process takes it at its next update (`vault-lease.md` 5).
    ///
    /// - Parameter mayHaveMissed: whether an answer that waited when the hold began may wait still, though no write of it failed.
    private func release(_ hold: PostgresHold, mayHaveMissed: Bool = false) async {
        if hold.isKept(mayHaveMissed: mayHaveMissed) {
            // An update that was cancelled while it took the lease over has not added it.
            holds.add(hold)
            holds.note(.init(unstoredOf: hold), of: hold.name)
            return
        }
        holds.remove(hold)
        guard hold.end == nil, !hold.isReleased else { return }
        do throws(VaultError) {
            try await store.release(hold)
        } catch {
            holds.note(.init(hold.holder), of: hold.name)
        }
    }
}
#endif
