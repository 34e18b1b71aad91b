import AsyncSupport
import Synchronization

/// A first-in, first-out lock for each key, within this process.
///
/// Keys are independent. Waiting blocks no thread, can be cancelled, and ends at a deadline. A turn is given or given up
/// exactly once: a caller that stops waiting does not take its turn along.
package final class ExclusiveQueue<Key: Hashable & Sendable>: Sendable {
    /// One caller's turn: true when it came, false when the deadline did. Taking it out of its line and settling it go together.
    private typealias Turn = SingleResult<Bool>

    /// The callers that wait for one held key. Tickets are served in their order; a missing one has left.
    private struct Line {
        var waiting: [UInt64: Turn] = [:]
        var nextServed: UInt64 = 0
        var nextIssued: UInt64 = 0
    }

    /// A line for each key that is held.
    private let lines = Mutex<[Key: Line]>([:])

    /// Makes a queue in which every key is free.
    package init() {}

    /// Takes a key if it is free.
    package func tryAcquire(_ key: Key) -> Bool {
        lines.withLock { lines in
            guard lines[key] == nil else { return false }
            lines[key] = Line()
            return true
        }
    }

    /// How many callers wait for a key that another one has.
    package func waitingCount(for key: Key) -> Int { lines.withLock { $0[key]?.waiting.count ?? 0 } }

    /// Takes a key, after all who came before.
    ///
    /// - Returns: false when the deadline came first; the key is then not held.
    /// - Throws: `CancellationError`; the key is then not held.
    package func acquire<C: Clock>(_ key: Key, until deadline: C.Instant, on clock: C) async throws -> Bool {
        guard let (ticket, turn) = join(key) else { return true }
        async let _ = expire(key, ticket, at: deadline, on: clock)
        return try await withTaskCancellationHandler {
            try await turn.value
        } onCancel: {
            abandon(key, ticket, .failure(CancellationError()))
        }
    }

    /// Hands a key to the next in the line.
    package func release(_ key: Key) {
        nextTurn(key)?.settle(.success(true))
    }

    /// Takes the key and returns nil, or queues.
    private func join(_ key: Key) -> (ticket: UInt64, turn: Turn)? {
        lines.withLock { lines in
            guard var line = lines.removeValue(forKey: key) else {
                lines[key] = Line()
                return nil
            }
            let ticket = line.nextIssued
            let turn = Turn()
            line.nextIssued += 1
            line.waiting[ticket] = turn
            lines[key] = line
            return (ticket, turn)
        }
    }

    /// The turn after this one; nil, and the key is free, when no caller waits.
    private func nextTurn(_ key: Key) -> Turn? {
        lines.withLock { lines in
            guard var line = lines.removeValue(forKey: key) else { return nil }
            while line.nextServed < line.nextIssued {
                line.nextServed += 1
                if let turn = line.waiting.removeValue(forKey: line.nextServed - 1) {
                    lines[key] = line
                    return turn
                }
            }
            return nil
        }
    }

    private func expire<C: Clock>(_ key: Key, _ ticket: UInt64, at deadline: C.Instant, on clock: C) async {
        do {
            try await clock.sleep(until: deadline, tolerance: nil)
            abandon(key, ticket, .success(false))
        } catch {
            // Cancelled: the turn came, or was given up, before the deadline.
        }
    }

    private func abandon(_ key: Key, _ ticket: UInt64, _ outcome: Result<Bool, any Error>) {
        lines.withLock { $0[key]?.waiting.removeValue(forKey: ticket) }?.settle(outcome)
    }
}
