#if Server
import Crypto
import Handshake
import IFTTTConnect

/// A webhook as the ledger knows it.
///
/// It is the connection and the request's identifier that make it the same again: not the service key, which may have been
/// changed meanwhile, and not the time, which an attempt to deliver may bring again. A connection has one partner service
/// (dossier 0), so the webhooks of two services in one vault are never taken for each other.
struct Delivery: Sendable, Equatable {
    /// How many records there are.
    static let records = 4096

    /// Its digest: nobody finds two webhooks that share these bits.
    let tag: Tag
    /// The record in which it is remembered.
    let record: VaultKey
    /// Seconds since 1970 until which it may be taken.
    let until: Double

    /// - Parameters:
    ///   - webhook: the webhook.
    ///   - tolerance: seconds for which it may be late.
    init(_ webhook: ConnectWebhook, tolerance: Double) {
        // No identifier of a connection has a zero byte, so no two pairs are one text.
        let digest = Array(SHA256.hash(data: Array("\(webhook.connection)\0\(webhook.requestID)".utf8)))
        tag = Tag(digest[2...17])
        record = VaultKey(.delivery, [String((Int(digest[0]) << 8 | Int(digest[1])) % Self.records)])
        until = webhook.sentAt + tolerance
    }

    init(tag: Tag, record: VaultKey, until: Double) {
        (self.tag, self.record, self.until) = (tag, record, until)
    }
}

/// 128 bits that tell one thing from all others: a webhook's digest, or a claimant.
struct Tag: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// - Parameter bytes: 16 of them.
    init(_ bytes: some Collection<UInt8>) {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8).prefix(8)))
    }
}
#endif
