#if Server
/// One record of a ``DeliveryLedger``: webhooks by digest, each until it would be rejected as too old.
///
/// All times are seconds since 1970. Format: a byte 1 (the version); the latest forgotten time; then for each webhook its
/// digest, its expiry, and a byte that says whether the claim's holder and expiry follow. Digests and holders are 16 bytes, times 8
/// (IEEE 754), most significant byte first.
struct DeliveryRecord: Sendable, Equatable {
    /// The maximum number of webhooks per record: 25 kB. 20,000 webhooks each quarter of an hour are 1.9 million a day, 469 per record and by
    /// chance at most 600 in one; four times 1024 leaves room for a day twice as busy.
    static let capacity = 1024

    /// A process's claim to a webhook while it is delivered.
    struct Claim: Sendable, Equatable {
        /// The holder: unguessable, new for each claim.
        let holder: Tag
        /// When the holder counts as dead, unless it renews the claim.
        let expiresAt: Double
    }

    private struct Entry: Equatable {
        /// Until when the webhook would be accepted if it were not recorded.
        var until: Double
        /// The current claim; nil when the webhook was accepted.
        var claim: Claim?
    }

    private var entries: [Tag: Entry] = [:]
    /// The latest `until` of all forgotten webhooks. One that is not remembered and no newer may be among them: a clock that
    /// is set back must not make it new.
    private var forgotten = 0.0

    /// An empty record.
    init() {}

    private static let format: UInt8 = 1

    /// Reads a record. Missing or damaged bytes make an empty one.
    init(stored bytes: [UInt8]?) {
        var reader = Reader(bytes ?? [])
        guard reader.byte() == Self.format, let forgotten = reader.time() else { return }
        var entries: [Tag: Entry] = [:]
        while !reader.isAtEnd {
            guard let tag = reader.tag(), let until = reader.time(), let claimed = reader.byte() else { return }
            switch claimed {
            case 0: entries[tag] = Entry(until: until, claim: nil)
            case 1:
                guard let holder = reader.tag(), let expiresAt = reader.time() else { return }
                entries[tag] = Entry(until: until, claim: Claim(holder: holder, expiresAt: expiresAt))
            default: return
            }
        }
        (self.entries, self.forgotten) = (entries, forgotten)
    }

    /// The encoded record.
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
                bytes.write(claim.expiresAt)
            }
        }
        return bytes
    }

    /// How many webhooks it has.
    var count: Int { entries.count }

    /// The result of claiming a webhook.
    enum Verdict: Sendable, Equatable {
        /// It is new; the claim is stored.
        case new
        /// It was accepted before.
        case accepted
        /// A process is handling it.
        case busy
        /// The record is full.
        case full
        /// It is as old as forgotten webhooks.
        case forgotten
    }

    /// Claims a webhook unless it was accepted or claimed.
    mutating func claim(_ delivery: Delivery, _ claim: Claim, now: Double) -> Verdict {
        var until = delivery.until
        if let known = entries[delivery.tag] {
            until = max(until, known.until)
            guard let current = known.claim else {
                // Sent again with a later time: remember it for longer.
                entries[delivery.tag]?.until = until
                return .accepted
            }
            guard now > current.expiresAt else { return .busy }
        } else {
            forget(now: now)
            guard until > forgotten else { return .forgotten }
            guard entries.count < Self.capacity else { return .full }
        }
        entries[delivery.tag] = Entry(until: until, claim: claim)
        return .new
    }

    /// Renews a claim.
    ///
    /// - Returns: whether the claim is still valid.
    mutating func renew(_ delivery: Delivery, _ claim: Claim) -> Bool {
        if let known = entries[delivery.tag], known.claim?.holder != claim.holder { return false }
        entries[delivery.tag] = Entry(until: max(delivery.until, entries[delivery.tag]?.until ?? 0), claim: claim)
        return true
    }

    /// Records that a webhook was accepted, whichever process holds a claim.
    mutating func finish(_ delivery: Delivery, now: Double) {
        entries[delivery.tag] = Entry(until: max(delivery.until, entries[delivery.tag]?.until ?? 0), claim: nil)
        forget(now: now)
    }

    /// Releases a claim, unless it is another holder's.
    mutating func release(_ delivery: Delivery, heldBy holder: Tag) {
        guard entries[delivery.tag]?.claim?.holder == holder else { return }
        entries[delivery.tag] = nil
    }

    /// Drops expired webhooks that are not in progress.
    private mutating func forget(now: Double) {
        let old = entries.filter { $0.value.until < now && ($0.value.claim?.expiresAt ?? 0) < now }
        for (tag, entry) in old {
            entries[tag] = nil
            forgotten = max(forgotten, entry.until)
        }
    }
}

/// Reads a record's bytes in order. Everything is nil when too few are left.
private struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func tag() -> Tag? {
        guard let high = number(), let low = number() else { return nil }
        return Tag(high: high, low: low)
    }

    /// NaN and infinity are rejected, because they would break comparisons.
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
