#if Server
import Synchronization

/// What one process knows of its webhooks by itself, whatever the vault and the clocks say.
///
/// A class, since requests share it.
final class OwnDeliveries: Sendable {
    /// The most webhooks that are remembered here because the vault could not be written.
    static let most = 4096

    enum Standing: Sendable {
        /// The app is at work on it.
        case underway
        /// The app took it, and the vault does not know. The time is in seconds since 1970.
        case unwritten(until: Double)
    }

    private let standings = Mutex<[Tag: Standing]>([:])

    /// Begins with a webhook.
    ///
    /// - Returns: what is known of it; nil when it is nothing, and the webhook is under way from now on.
    func begin(_ delivery: Delivery) -> Standing? {
        standings.withLock { standings in
            if let known = standings[delivery.tag] { return known }
            standings[delivery.tag] = .underway
            return nil
        }
    }

    /// The vault knows all that there is to know.
    func end(_ delivery: Delivery) {
        standings.withLock { $0[delivery.tag] = nil }
    }

    /// The app took it, and the vault could not be told.
    func remember(_ delivery: Delivery, now: Double) {
        standings.withLock { standings in
            let unwritten = standings.compactMap { tag, standing in
                if case .unwritten(let until) = standing { (tag: tag, until: until) } else { nil }
            }
            for (tag, until) in unwritten where until < now { standings[tag] = nil }
            if unwritten.count >= Self.most, let oldest = unwritten.min(by: { $0.until < $1.until }) {
                standings[oldest.tag] = nil
            }
            standings[delivery.tag] = .unwritten(until: delivery.until)
        }
    }
}
#endif
