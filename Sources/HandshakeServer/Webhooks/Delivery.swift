#if Server
import Crypto
import Handshake
import IFTTTConnect

/// The identity of a webhook in the ledger.
///
/// Connection and request ID identify a webhook: not the service key, which may have been rotated meanwhile, and not the
/// time, which can differ between delivery attempts. A connection has one partner service (dossier 0), so webhooks of two
/// services in one vault cannot be confused.
struct Delivery: Sendable, Equatable {
    /// The number of records.
    static let records = 4096

    /// The digest; finding two webhooks with the same one is infeasible.
    let tag: Tag
    /// The record in which it is remembered.
    let record: VaultKey
    /// Until when it is accepted, in seconds since 1970.
    let until: Double

    /// - Parameters:
    ///   - webhook: the webhook.
    ///   - tolerance: the accepted delay in seconds.
    init(_ webhook: ConnectWebhook, tolerance: Double) {
        // A connection's identifier has no zero byte, so the concatenation is unambiguous.
        let digest = Array(SHA256.hash(data: Array("\(webhook.connection)\0\(webhook.requestID)".utf8)))
        tag = Tag(digest[2...17])
        record = VaultKey(.delivery, [String((Int(digest[0]) << 8 | Int(digest[1])) % Self.records)])
        until = webhook.sentAt + tolerance
    }

    init(tag: Tag, record: VaultKey, until: Double) {
        (self.tag, self.record, self.until) = (tag, record, until)
    }
}

/// A 128-bit identifier: a webhook's digest, or the holder of a claim.
struct Tag: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// - Parameter bytes: 16 bytes.
    init(_ bytes: some Collection<UInt8>) {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8).prefix(8)))
    }
}
#endif
