#if CommandLine
import Handshake
import OAuth
import Synchronization

/// Admits one browser to the companion's page: the first that opens the printed link.
///
/// The link's key is exchanged for a token that the page keeps for its tab and origin. A cookie would reach every other server on
/// this machine, since cookies know no ports.
///
/// A class with a lock, because requests come concurrently.
final class CompanionKey: Sendable {
    /// What the link has in it.
    let key: String
    private let token: Secret
    private let isUsed = Mutex(false)

    init(random: RandomSource = .system) {
        key = Base64URL.encode(random.bytes(32))
        token = Secret(Base64URL.encode(random.bytes(32)))
    }

    /// The token for the key, once; nil for another key, and the second time.
    func exchange(_ offered: String) -> String? {
        guard Secret(key).matches(Secret(offered)) else { return nil }
        let isFirst = isUsed.withLock { used in
            defer { used = true }
            return !used
        }
        return isFirst ? token.reveal() : nil
    }

    /// Whether an `Authorization` field has the token.
    func allows(_ field: String?) -> Bool {
        guard let field, field.hasPrefix("Bearer ") else { return false }
        return token.matches(Secret(String(field.dropFirst(7))))
    }
}
#endif
