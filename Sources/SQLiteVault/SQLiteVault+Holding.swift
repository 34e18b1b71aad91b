#if SQLite
import Handshake

extension SQLiteVault {
    /// Runs a body while holding a key.
    func holding<Result: Sendable>(
        _ key: VaultKey, _ body: (RecordName) async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await holding(keys.seal.name(of: key), body)
    }

    /// Runs a body while holding the key of a name.
    func holding<Result: Sendable>(
        _ name: RecordName, _ body: (RecordName) async throws -> Result
    ) async throws -> Result {
        try await take(name, on: clock)
        defer { giveBack(name.lock) }
        try file.requireSame()
        return try await body(name)
    }

    /// Takes a record's key: first in this vault, in order, then against the others who use the same file.
    private func take<C: Clock<Duration>>(_ name: RecordName, on clock: C) async throws {
        let deadline = clock.now.advanced(by: timeout)
        guard try await queue.acquire(name.lock, until: deadline, on: clock) else {
            throw VaultError.busy(path(of: name))
        }
        do {
            var pause = Duration.milliseconds(1)
            while try !file.locks.take(name.lock) {
                guard clock.now < deadline else { throw VaultError.busy(path(of: name)) }
                try await clock.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(10))
            }
        } catch {
            queue.release(name.lock)
            throw error
        }
    }

    private func giveBack(_ lock: Int64) {
        file.locks.giveBack(lock)
        queue.release(lock)
    }

    /// Forgets a few of the names whose records were removed long ago, if their keys are free. Versions of records start again only then.
    func forgetOldLeases() async {
        // What remains does no harm, and the next removal comes back to it.
        guard let names = try? await store.oldLeases() else { return }
        for bytes in names where bytes.count == 32 {
            let lock = RecordName(digest: bytes).lock
            guard queue.tryAcquire(lock) else { continue }
            if (try? file.locks.take(lock)) == true {
                try? await store.forgetLease(bytes)
                file.locks.giveBack(lock)
            }
            queue.release(lock)
        }
    }
}
#endif
