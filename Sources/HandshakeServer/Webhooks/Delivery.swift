import Crypto
import Handshake
import IFTTTConnect
import OAuth

/// A webhook as the ledger knows it.
///
/// It is the connection and the request's identifier that make it the same again: not the service key, which may have been
/// changed meanwhile, and not the time, which an attempt to deliver may bring anew. A connection has one partner service
/// (dossier 0), so the webhooks of two services in one vault are never taken for each other.
struct Delivery: Sendable, Equatable {
    /// 128 bits of a digest: nobody finds two webhooks that share them.
    let name: String
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
        name = Base64URL.encode(digest[1...16])
        record = VaultKey(.delivery, [String(digest[0])])
        until = webhook.sentAt + tolerance
    }
}
