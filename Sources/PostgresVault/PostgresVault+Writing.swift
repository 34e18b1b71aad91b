#if PostgreSQL
import Handshake

extension PostgresVault {
    /// A write that concludes is as fenced as any other, and its lease is free in the same commit that stores the contents, so no holder gets it
    /// without them (`vault-lease.md` 5). While its answer is out, it is repeated: a copy that comes late finds another holder, fence or version.
    /// If another holder has written by then, it counts as lost though it was stored; the caller looks before it stores again.
    ///
    /// - Parameters:
    ///   - isUnfinished: whether another replacement is to follow; nil when that stays as it was.
    ///   - concludes: whether this is the last write of the hold.
    func write(
        _ contents: [UInt8], canonical: [UInt8], kind: String, isUnfinished: Bool? = nil, concludes: Bool = false,
        with hold: PostgresHold
    ) async throws(VaultError) {
        try await noting(hold) { () throws(VaultError) in
            var takesOldKey = false
            // Once more for each rotation that began meanwhile.
            for _ in 0..<3 {
                let keys = keys
                let (key, expected) = (keys.active.number, hold.version)
                let version = try next(after: expected, of: hold.name)
                guard let seal = keys[key] else { break }
                let record = try sealed(
                    contents, canonical: canonical, kind: kind, as: hold.name, by: seal, key: key, version: version,
                    ciphers: hold.ciphers)
                let now = LeaseMoment.now()
                let written = try await store.replace(
                    record, of: hold, after: expected, takesOldKey: takesOldKey, isUnfinished: isUnfinished,
                    concludes: concludes, timing: timing, for: retryTime(of: hold))
                switch written {
                case .done(let version, let isReleased):
                    note(version, of: hold.name)
                    if isReleased { holds.remove(hold) }
                    return hold.wrote(version, sentAt: now, isReleased: isReleased)
                case .lost: throw lost(hold, mayBeStored: concludes)
                case .otherKey(let number):
                    try keys.requireNotOlder(number, path: path(of: hold.name))
                    do throws(VaultError) { try await readKeys() } catch {
                        // The new key has not come to this machine. What follows a first write may be an answer that no request brings
                        // again: it is stored with the key that it was to leave, and the next rotation finds it.
                        guard case .locked = error, hold.mayHaveAnswer, !takesOldKey else { throw error }
                        takesOldKey = true
                    }
                }
            }
            throw .unavailable(
                "\(path(of: hold.name)): the vault's keys change faster than they can be read. Try again")
        }
    }

    /// The version that follows a hold's, and every one that was seen.
    private func next(after version: Int64, of name: RecordName) throws(VaultError) -> Int64 {
        guard let next = RecordVersion.next(after: version, seen: newest(of: name)) else {
            throw .versionsDiffer(of: path(of: name))
        }
        return next
    }

    func remove(with hold: PostgresHold) async throws(VaultError) -> Bool {
        var existed = false
        try await noting(hold) { () throws(VaultError) in
            let now = LeaseMoment.now()
            let expected = hold.version
            let version = RecordVersion.removal(after: expected, seen: newest(of: hold.name))
            let removed = try await store.remove(
                hold, after: expected, as: version, timing: timing, for: retryTime(of: hold))
            guard let removed else { throw lost(hold) }
            note(removed.version, of: hold.name)
            hold.wrote(removed.version, sentAt: now)
            existed = removed.existed
        }
        // What remains does no harm, and another removal comes back to it.
        if UInt8.random(in: .min ... .max) == 0 { try? await store.forgetOldLeases() }
        return existed
    }

    /// An answer that no request brings again is tried for longer.
    private func retryTime(of hold: PostgresHold) -> Duration {
        hold.mayHaveAnswer ? PostgresStore.answerRetryTime : .seconds(5)
    }

    /// Runs a write of a hold, and notes when the storage fails.
    private func noting(_ hold: PostgresHold, _ body: () async throws(VaultError) -> Void) async throws(VaultError) {
        if let reason = hold.beginWriting() { throw .unavailable("\(path(of: hold.name)): \(reason)") }
        defer { hold.endWriting() }
        do throws(VaultError) { try await body() } catch {
            // For whatever reason it was not stored: an answer that is lost here comes from no request again.
            if hold.mayHaveAnswer, hold.end == nil { hold.failedToWrite() }
            throw error
        }
    }

    private func lost(_ hold: PostgresHold, mayBeStored: Bool = false) -> VaultError {
        let isLong = hold.began.duration(to: .now) > holds.bodyLimit
        let cause = isLong ? " after \(holds.bodyLimit), for which an update keeps it at most" : ""
        hold.end(
            mayBeStored
                ? "another holder took the record\(cause); this change may have been stored before"
                : "another holder took the record\(cause), so nothing was changed")
        return .unavailable("\(path(of: hold.name)): \(hold.end ?? "the hold ended")")
    }

    // MARK: Confirming

    /// Makes sure that a hold lasts for a time from now, and some more: by what is durable, and by this machine's clock.
    ///
    /// - Throws: `VaultError.unavailable` when it does not, and cannot be renewed.
    func confirm(_ hold: PostgresHold, for time: Duration) async throws(VaultError) {
        for isRenewed in [false, true] {
            if let reason = hold.end { throw .unavailable("\(path(of: hold.name)): \(reason)") }
            if let sent = hold.durable, timing.lasts(for: time, sentAt: sent, at: .now()) { return }
            guard !isRenewed else { break }
            let sent = LeaseMoment.now()
            guard try await store.renew([hold], timing: timing).contains(hold.holder) else { throw lost(hold) }
            hold.wasRenewed(at: sent)
        }
        throw .unavailable(
            "\(path(of: hold.name)): the lease of \(timing.lease) could not be renewed for the next \(time), so nothing was sent. Try again"
        )
    }
}
#endif
