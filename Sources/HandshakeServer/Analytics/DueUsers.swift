#if Server
import Handshake

/// Of whom events wait, as far as this process knows: a list of bounded length, in the order in which they came.
///
/// It is a hint. The events are in the vault, and whoever is not on the list is found there.
struct DueUsers: Sendable {
    /// The most users that are remembered; of more, the vault is asked.
    static let most = 4096

    /// Whether there may be others in the vault: at first, and after the list was full.
    var isIncomplete = true
    private var keys: [VaultKey] = []
    private var isReady: [VaultKey: Bool] = [:]

    var isEmpty: Bool { keys.isEmpty }

    /// Notes that events of a user wait.
    ///
    /// - Parameters:
    ///   - key: whose.
    ///   - isReady: whether they are so many that they are to be sent without waiting longer.
    mutating func note(_ key: VaultKey, isReady ready: Bool) {
        if let known = isReady[key] {
            isReady[key] = known || ready
        } else if keys.count < Self.most {
            keys.append(key)
            isReady[key] = ready
        } else {
            isIncomplete = true
        }
    }

    mutating func forget(_ key: VaultKey) {
        guard isReady.removeValue(forKey: key) != nil else { return }
        keys.removeAll { $0 == key }
    }

    /// Takes the users off the list whose turn it is.
    ///
    /// - Parameter all: everybody; otherwise those alone of whom enough waits.
    mutating func take(all: Bool) -> [VaultKey] {
        let taken = all ? keys : keys.filter { isReady[$0] == true }
        keys = all ? [] : keys.filter { isReady[$0] != true }
        for key in taken { isReady[key] = nil }
        return taken
    }
}
#endif
