#if Server
/// One of the records of a ``DeliveryLedger``: webhooks by their digests, each until nobody would take it any more.
///
/// All times are seconds since 1970. What is stored is a byte 1, the format; the latest time that was forgotten; and for each webhook its
/// digest, until when it would be taken, and a byte that says whether its claimant and the claim's lease follow. Digests and claimants are 16
/// bytes, times 8 (IEEE 754), with the most significant byte first.
struct DeliveryRecord: Sendable, Equatable {
    /// The most webhooks that one record holds: 25 kB. A day of 20,000 each quarter of an hour is 1.9 million, 469 in a record, and
    /// by chance 600 in one of them at most; so four times that many in all are room for a day twice as busy.
    static let capacity = 1024

    /// A process's claim to a webhook while it is handed over.
    struct Claim: Sendable, Equatable {
        /// Who: unguessable, new for each claim.
        let holder: Tag
        /// Until when the holder counts as alive.
        let lease: Double
    }

    private struct Entry: Equatable {
        /// Until when the webhook would be taken if it were not here.
        var until: Double
        /// Who is at work on it; nil when it was taken.
        var claim: Claim?
    }

    private var entries: [Tag: Entry] = [:]
    /// The latest `until` of all that was forgotten. A webhook that is not remembered, and is no newer, may be among it: a
    /// clock that is set back must not make it new.
    private var forgotten = 0.0

    /// An empty record.
    init() {}

    private static let format: UInt8 = 1

    /// Reads what is stored. Nothing, and what cannot be read, is an empty record.
    init(stored bytes: [UInt8]?) {
        var reader = Reader(bytes ?? [])
        guard reader.byte() == Self.format, let forgotten = reader.time() else { return }
        var entries: [Tag: Entry] = [:]
        while !reader.isAtEnd {
            guard let tag = reader.tag(), let until = reader.time(), let claimed = reader.byte() else { return }
            switch claimed {
            case 0: entries[tag] = Entry(until: until, claim: nil)
            case 1:
                guard let holder = reader.tag(), let lease = reader.time() else { return }
                entries[tag] = Entry(until: until, claim: Claim(holder: holder, lease: lease))
            default: return
            }
        }
        (self.entries, self.forgotten) = (entries, forgotten)
    }

    /// What is to be stored.
    var bytes: [UInt8] {
        var bytes = [Self.format]
        bytes.reserveCapacity(9 + entries.count * 25)
        bytes.write(forgotten)
        for (tag, entry) in entries {
            bytes.write(tag)
            bytes.write(entry.until)
            bytes.append(entry.claim == nil ? 0 : 1)
            if let claim = entry.claim {
                bytes.write(claim.holder)
                bytes.write(claim.lease)
            }
        }
        return bytes
    }

    /// How many webhooks it holds.
    var count: Int { entries.count }

    /// What is known of a webhook that somebody wants to take.
    enum Verdict: Sendable, Equatable {
        /// It is new; the claim stands.
        case new
        /// It was taken before.
        case taken
        /// A process is at work on it.
        case busy
        /// There is no room to remember it.
        case full
        /// It is as old as what was forgotten already.
        case forgotten
    }

    /// Claims a webhook, unless it was taken or claimed.
    mutating func claim(_ delivery: Delivery, _ claim: Claim, now: Double) -> Verdict {
        var until = delivery.until
        if let known = entries[delivery.tag] {
            until = max(until, known.until)
            guard let current = known.claim else {
                // Sent again with a later time, it is to be remembered for longer.
                entries[delivery.tag]?.until = until
                return .taken
            }
            guard now > current.lease else { return .busy }
        } else {
            forget(now: now)
            guard until > forgotten else { return .forgotten }
            guard entries.count < Self.capacity else { return .full }
        }
        entries[delivery.tag] = Entry(until: until, claim: claim)
        return .new
    }

    /// Prolongs a claim.
    ///
    /// - Returns: whether it still stands.
    mutating func renew(_ delivery: Delivery, _ claim: Claim) -> Bool {
        if let known = entries[delivery.tag], known.claim?.holder != claim.holder { return false }
        entries[delivery.tag] = Entry(until: max(delivery.until, entries[delivery.tag]?.until ?? 0), claim: claim)
        return true
    }

    /// Notes that a webhook was taken, whoever has a claim to it now.
    mutating func finish(_ delivery: Delivery, now: Double) {
        entries[delivery.tag] = Entry(until: max(delivery.until, entries[delivery.tag]?.until ?? 0), claim: nil)
        forget(now: now)
    }

    /// Gives a claim up; another's stays.
    mutating func release(_ delivery: Delivery, heldBy holder: Tag) {
        guard entries[delivery.tag]?.claim?.holder == holder else { return }
        entries[delivery.tag] = nil
    }

    /// Forgets what would be refused for its age, and is not being worked on.
    private mutating func forget(now: Double) {
        let old = entries.filter { $0.value.until < now && ($0.value.claim?.lease ?? 0) < now }
        for (tag, entry) in old {
            entries[tag] = nil
            forgotten = max(forgotten, entry.until)
        }
    }
}

/// Takes a record's bytes from its beginning to its end. Everything is nil when too few are left.
private struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func tag() -> Tag? {
        guard let high = number(), let low = number() else { return nil }
        return Tag(high: high, low: low)
    }

    /// A time is a number: what is not would be later than none and earlier than none.
    mutating func time() -> Double? {
        guard let time = number().map(Double.init(bitPattern:)), time.isFinite else { return nil }
        return time
    }

    private mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest.removeFirst(8) }
        return rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension [UInt8] {
    fileprivate mutating func write(_ number: UInt64) {
        for shift: UInt64 in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func write(_ time: Double) {
        write(time.bitPattern)
    }

    fileprivate mutating func write(_ tag: Tag) {
        write(tag.high)
        write(tag.low)
    }
}
#endif
