#if SQLite
import Handshake
import Synchronization

/// Who wrote a record last. It outlives the record, so that versions never start again.
struct SQLiteLease: Sendable, Hashable {
    let holder: [UInt8]
    let fence: Int64
    let version: Int64
}

/// One hold of a record: what its lease must be for the next write, or nil while there is none.
///
/// A class, because the writes of one body change it, one after the other.
final class SQLiteHold: Sendable {
    let holder = newHolder()
    private let expected: Mutex<SQLiteLease?>

    init(_ lease: SQLiteLease?) {
        expected = Mutex(lease)
    }

    /// What no other hold is called: 16 random bytes.
    static func newHolder() -> [UInt8] {
        (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// The lease that follows the stored one; nil when this hold no longer knows the record.
    ///
    /// A write whose answer was lost may have been stored: then this holder wrote last.
    ///
    /// - Parameter newest: a version that the next one is above, whatever is stored.
    func next(after stored: SQLiteLease?, above newest: Int64) -> SQLiteLease? {
        let expected = expected.withLock { $0 }
        guard stored == expected || stored?.holder == holder else { return nil }
        let isFirst = stored?.holder != holder
        let fence = stored?.fence ?? 0
        guard fence < .max - 1, let version = RecordVersion.next(after: stored?.version ?? 0, seen: newest) else {
            return nil
        }
        return SQLiteLease(holder: holder, fence: isFirst ? fence + 1 : fence, version: version)
    }

    func wrote(_ lease: SQLiteLease) {
        expected.withLock { $0 = lease }
    }
}
#endif
