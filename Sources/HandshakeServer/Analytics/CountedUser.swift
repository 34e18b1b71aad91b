#if Server
import Crypto
import Handshake
import IFTTTConnect
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The analytics record of a consenting user, stored encrypted in the vault. Deleting it withdraws the consent: ID and
/// events go with it, for every process.
struct CountedUser: Sendable, Codable {
    /// Seconds after which other processes consider a sending process dead.
    static let lease = 60.0

    var version = 1
    var queue: AnalyticsQueue
    /// The end of the sender's lease, in seconds since 1970.
    private var lease: Double?

    /// The result of claiming events to send.
    enum Claim: Sendable {
        /// This process holds the lease.
        case taken(AnalyticsQueue.Batch)
        /// Another process is sending.
        case busy
        case nothing
    }

    init(_ queue: AnalyticsQueue) {
        self.queue = queue
    }

    /// Reads a record; nil for another version, which counts as no consent.
    init?(stored bytes: [UInt8]) {
        guard let user = try? JSONDecoder().decode(CountedUser.self, from: Data(bytes)), user.version == 1 else {
            return nil
        }
        self = user
    }

    func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// Claims the next events for this process.
    ///
    /// A lease that begins in the future is from a clock that was set back.
    ///
    /// - Parameter now: seconds since 1970.
    mutating func claim(now: Double) -> Claim {
        guard let batch = queue.batch else { return .nothing }
        if let lease, now <= lease, lease <= now + 2 * Self.lease { return .busy }
        lease = now + Self.lease
        return .taken(batch)
    }

    /// Records the result: sent events are deleted, the others stay.
    mutating func settle(_ batch: AnalyticsQueue.Batch, isSent: Bool) {
        // Consent was withdrawn and given again meanwhile: the lease belongs to another request.
        guard batch.anonymousID == queue.anonymousID else { return }
        if isSent { queue.remove(batch) }
        lease = nil
    }

    /// The vault key of a user's record.
    static func key(_ user: String) -> VaultKey {
        VaultKey(.analytics, [Base64URL.encode(SHA256.hash(data: Array(user.utf8)))])
    }
}
#endif
