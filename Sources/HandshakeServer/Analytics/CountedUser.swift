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

/// What a server keeps of a user who agreed to be counted. It rests sealed in the vault, and to remove it is to take the
/// consent back: identifier and events go with it, for every process.
struct CountedUser: Sendable, Codable {
    /// Seconds for which a process may be at work on a request before others take it for dead.
    static let lease = 60.0

    var version = 1
    var queue: AnalyticsQueue
    /// Until when somebody is sending, in seconds since 1970.
    private var lease: Double?

    /// What there is to send.
    enum Claim: Sendable {
        /// This process alone sends it now.
        case taken(AnalyticsQueue.Batch)
        /// Another process is sending.
        case busy
        case nothing
    }

    init(_ queue: AnalyticsQueue) {
        self.queue = queue
    }

    /// Reads a record; nil for what is none of this version, which is no consent that anybody could rely on.
    init?(stored bytes: [UInt8]) {
        guard let user = try? JSONDecoder().decode(CountedUser.self, from: Data(bytes)), user.version == 1 else {
            return nil
        }
        self = user
    }

    func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// Takes what is to be sent next, for this process alone.
    ///
    /// A lease that was taken in the future is of a clock that was set back.
    ///
    /// - Parameter now: seconds since 1970.
    mutating func claim(now: Double) -> Claim {
        guard let batch = queue.batch else { return .nothing }
        if let lease, now <= lease, lease <= now + 2 * Self.lease { return .busy }
        lease = now + Self.lease
        return .taken(batch)
    }

    /// Says how it went: what was sent is forgotten, and the rest stays.
    mutating func settle(_ batch: AnalyticsQueue.Batch, isSent: Bool) {
        // The consent was taken back and given again meanwhile: the lease is another request's.
        guard batch.anonymousID == queue.anonymousID else { return }
        if isSent { queue.remove(batch) }
        lease = nil
    }

    /// Where a user's record is.
    static func key(_ user: String) -> VaultKey {
        VaultKey(.analytics, [Base64URL.encode(SHA256.hash(data: Array(user.utf8)))])
    }
}
#endif
