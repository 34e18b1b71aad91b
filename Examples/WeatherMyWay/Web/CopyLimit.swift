#if Server && Sandbox
import Synchronization

/// Limits how many copies the app asks Sequencing.com for.
///
/// Within five minutes, at most five copies per user, five per address, and 500 in total.
///
/// A class, because requests share the count.
final class CopyLimit: Sendable {
    /// Seconds.
    private static let window = 300.0
    private static let (ownMaximum, commonMaximum) = (5, 500)

    private struct Copy {
        let user: String
        let address: String
        let time: Double
    }

    private let recent = Mutex<[Copy]>([])

    /// Whether the user may have a file copied now. A copy that is admitted counts.
    ///
    /// - Parameter now: seconds of a clock that is never set back.
    func admits(_ user: String, to address: String, now: Double) -> Bool {
        let copy = Copy(user: user, address: address.lowercased(), time: now)
        return recent.withLock { recent in
            recent.removeAll { now - $0.time >= Self.window }
            guard recent.count < Self.commonMaximum,
                recent.count(where: { $0.user == copy.user }) < Self.ownMaximum,
                recent.count(where: { $0.address == copy.address }) < Self.ownMaximum
            else { return false }
            recent.append(copy)
            return true
        }
    }
}
#endif
