import Synchronization

/// The newest versions of records that an open vault has seen, so that an older one that was put back is noticed.
///
/// Bounded: of the names seen last it keeps at least half of its capacity, and never more than all of it. A version that was seen longer ago
/// than two weeks no longer counts, because a vault forgets the version of a record a month after it was removed (`vault-lease.md` 3, 8).
package final class SeenVersions: Sendable {
    private static let life: UInt64 = 14 * 24 * 3600 * 1000

    /// The first 128 bits of a record's name, which is a keyed digest.
    private struct Name: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ digest: [UInt8]) {
            high = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = digest.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    private struct Sight {
        let version: Int64
        let time: Int64

        /// Whichever way the clock was set meanwhile.
        func counts(at now: Int64) -> Bool { (now &- time).magnitude < life }
    }

    private struct Sights {
        var recent: [Name: Sight] = [:]
        var older: [Name: Sight] = [:]

        func newest(of name: Name, at now: Int64) -> Int64? {
            guard let sight = recent[name] ?? older[name], sight.counts(at: now) else { return nil }
            return sight.version
        }
    }

    private let sights = Mutex(Sights())
    private let capacity: Int

    /// - Parameter capacity: how many names are kept at most.
    package init(capacity: Int = 100_000) {
        self.capacity = capacity
    }

    /// How many names are kept.
    package var count: Int { sights.withLock { $0.recent.count + $0.older.count } }

    /// The newest version of a record that was seen; nil when none was, or too long ago.
    ///
    /// - Parameters:
    ///   - name: the record's name.
    ///   - now: milliseconds of the clock by which removed records are forgotten.
    package func newest(of name: [UInt8], at now: Int64) -> Int64? {
        sights.withLock { $0.newest(of: Name(name), at: now) }
    }

    /// Refuses an older version of a record than was seen before it was read, and notes any other.
    ///
    /// - Parameters:
    ///   - version: the version of the record that was opened.
    ///   - newest: ``newest(of:at:)`` from before the record was read.
    ///   - path: what errors call the record.
    /// - Throws: ``VaultError/damaged(what:reason:)``.
    package func accept(
        _ version: Int64, of name: [UInt8], seen newest: Int64, at now: Int64, path: @autoclosure () -> String
    ) throws(VaultError) {
        guard version >= newest else {
            throw .damaged(
                what: path(),
                reason: "version \(version) of it was put back after version \(newest) had been seen. "
                    + "If that was on purpose, restart the programs that use the vault")
        }
        note(version, of: name, at: now)
    }

    /// Notes a version that was opened or written.
    package func note(_ version: Int64, of name: [UInt8], at now: Int64) {
        let name = Name(name)
        sights.withLock { sights in
            let newest = sights.newest(of: name, at: now)
            if sights.recent[name] == nil, sights.recent.count >= capacity / 2 {
                sights.older = sights.recent
                sights.recent = [:]
            }
            sights.recent[name] = Sight(version: max(version, newest ?? version), time: now)
        }
    }
}

/// The numbers of the versions of a record in a database. They only grow, also where some were written by hand.
package enum RecordVersion {
    /// Where versions go on when a number was written by hand after which none follows.
    private static let middle: Int64 = 1 << 62

    /// The version of the next write; nil when no number follows.
    ///
    /// - Parameters:
    ///   - stored: the version of the record's lease.
    ///   - newest: the newest version that was seen.
    package static func next(after stored: Int64, seen newest: Int64) -> Int64? {
        let last = max(stored, newest)
        return last < .max - 1 ? last + 1 : nil
    }

    /// The version of a removal, which there always is: a record can be removed whatever was written by hand.
    package static func removal(after stored: Int64, seen newest: Int64) -> Int64 {
        next(after: stored, seen: newest) ?? min(max(newest, middle), .max - 2) + 1
    }
}
