#if Server
import Synchronization

/// This process's own deliveries, independent of the vault and the clocks.
///
/// A class, because requests share it.
final class OwnDeliveries: Sendable {
    /// The maximum number of webhooks that are remembered while the vault cannot be written.
    static let capacity = 4096

    enum Standing: Sendable {
        /// The app is handling it.
        case underway
        /// The app accepted it, but the vault does not have it. The time is in seconds since 1970.
        case unwritten(until: Double)
    }

    private let standings = Mutex<[Tag: Standing]>([:])

    /// Starts a delivery.
    ///
    /// - Returns: the known state; nil when there is none and the delivery has started.
    func begin(_ delivery: Delivery) -> Standing? {
        standings.withLock { standings in
            if let known = standings[delivery.tag] { return known }
            standings[delivery.tag] = .underway
            return nil
        }
    }

    /// Removes a delivery whose state the vault has.
    func end(_ delivery: Delivery) {
        standings.withLock { $0[delivery.tag] = nil }
    }

    /// Remembers an accepted webhook that could not be written to the vault.
    func remember(_ delivery: Delivery, now: Double) {
        standings.withLock { standings in
            let unwritten = standings.compactMap { tag, standing in
                if case .unwritten(let until) = standing { (tag: tag, until: until) } else { nil }
            }
            for (tag, until) in unwritten where until < now { standings[tag] = nil }
            if unwritten.count >= Self.capacity, let oldest = unwritten.min(by: { $0.until < $1.until }) {
                standings[oldest.tag] = nil
            }
            standings[delivery.tag] = .unwritten(until: delivery.until)
        }
    }
}
#endif
