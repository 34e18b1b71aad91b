#if Server
import Handshake
import Synchronization

/// Whose accounts are, as their services said, for ten minutes and at most 4096 of them.
///
/// A name belongs to one access token, so that another user's sign-in is never shown under it.
///
/// A class, because requests share it.
final class AccountNames: Sendable {
    private static let capacity = 4096
    private static let lifetime = 600.0

    private struct Key: Hashable {
        let account: AccountID
        let issuedAt: Double
        let generation: Int
    }

    private struct Name {
        let text: String
        let learnedAt: Double
    }

    private let known = Mutex<[Key: Name]>([:])

    /// The name that was learned; nil when there is none, or it is too old.
    func name(of status: AccountStatus, now: Double) -> String? {
        known.withLock { known in
            guard let name = known[Self.key(status)], abs(now - name.learnedAt) < Self.lifetime else { return nil }
            return name.text
        }
    }

    func remember(_ name: String, of status: AccountStatus, now: Double) {
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[Self.key(status)] = Name(text: name, learnedAt: now)
        }
    }

    private static func key(_ status: AccountStatus) -> Key {
        Key(account: status.id, issuedAt: status.issuedAt, generation: status.generation)
    }
}
#endif
