#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One of the records of a ``DeliveryLedger``: webhooks by their digests, each until nobody would take it any more.
///
/// All times are seconds since 1970.
struct DeliveryRecord: Sendable, Equatable, Codable {
    /// The most webhooks that one record holds.
    static let capacity = 1024

    /// Somebody's claim to a webhook while it is handed over.
    struct Claim: Sendable, Equatable, Codable {
        /// Who: unguessable, new for each claim.
        let holder: String
        /// Until when the holder counts as alive.
        let lease: Double
    }

    private struct Entry: Equatable, Codable {
        /// Until when the webhook would be taken if it were not here.
        var until: Double
        /// Who is at work on it; nil when it was taken.
        var claim: Claim?
    }

    private var entries: [String: Entry] = [:]
    /// The latest `until` of all that was forgotten. A webhook that is not remembered, and is no newer, may be among it: a
    /// clock that is set back must not make it new.
    private var forgotten = 0.0

    /// An empty record.
    init() {}

    /// Reads what is stored. Nothing, and what cannot be read, is an empty record.
    init(stored bytes: [UInt8]?) {
        self = bytes.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0)) } ?? Self()
    }

    /// What is to be stored.
    var bytes: [UInt8] {
        get throws { Array(try JSONEncoder().encode(self)) }
    }

    /// How many webhooks it holds.
    var count: Int { entries.count }

    /// What is known of a webhook that somebody wants to take.
    enum Verdict: Sendable, Equatable {
        /// It is new; the claim stands.
        case new
        /// It was taken before.
        case taken
        /// Somebody is at work on it.
        case busy
        /// There is no room to remember it.
        case full
        /// It is as old as what was forgotten already.
        case forgotten
    }

    /// Claims a webhook, unless it was taken or claimed.
    mutating func claim(_ delivery: Delivery, _ claim: Claim, now: Double) -> Verdict {
        var until = delivery.until
        if let known = entries[delivery.name] {
            until = max(until, known.until)
            guard let current = known.claim else {
                // Sent anew with a later time, it is to be remembered for longer.
                entries[delivery.name]?.until = until
                return .taken
            }
            guard now > current.lease else { return .busy }
        } else {
            forget(now: now)
            guard until > forgotten else { return .forgotten }
            guard entries.count < Self.capacity else { return .full }
        }
        entries[delivery.name] = Entry(until: until, claim: claim)
        return .new
    }

    /// Prolongs a claim.
    ///
    /// - Returns: whether it still stands.
    mutating func renew(_ delivery: Delivery, _ claim: Claim) -> Bool {
        if let known = entries[delivery.name], known.claim?.holder != claim.holder { return false }
        entries[delivery.name] = Entry(until: max(delivery.until, entries[delivery.name]?.until ?? 0), claim: claim)
        return true
    }

    /// Notes that a webhook was taken, whoever has a claim to it now.
    mutating func finish(_ delivery: Delivery, now: Double) {
        entries[delivery.name] = Entry(until: max(delivery.until, entries[delivery.name]?.until ?? 0), claim: nil)
        forget(now: now)
    }

    /// Gives a claim up; another's stays.
    mutating func release(_ delivery: Delivery, heldBy holder: String) {
        guard entries[delivery.name]?.claim?.holder == holder else { return }
        entries[delivery.name] = nil
    }

    /// Forgets what would be refused for its age, and is not being worked on.
    private mutating func forget(now: Double) {
        let old = entries.filter { $0.value.until < now && ($0.value.claim?.lease ?? 0) < now }
        for (name, entry) in old {
            entries[name] = nil
            forgotten = max(forgotten, entry.until)
        }
    }
}
