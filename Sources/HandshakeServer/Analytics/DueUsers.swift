#if Server
import Handshake

/// A bounded list of users with pending events, in order of arrival.
///
/// It is a hint: the events are in the vault, where users beyond the bound are found.
struct DueUsers: Sendable {
    /// The maximum number of users in the list; beyond it, the vault is listed.
    static let capacity = 4096

    /// Whether the vault may have others: initially, and after the list was full.
    var isIncomplete = true
    private var keys: [VaultKey] = []
    private var isReady: [VaultKey: Bool] = [:]

    var isEmpty: Bool { keys.isEmpty }

    /// Adds a user with pending events.
    ///
    /// - Parameters:
    ///   - key: the key of the user's record.
    ///   - isReady: whether enough events are pending to send them immediately.
    mutating func note(_ key: VaultKey, isReady ready: Bool) {
        if let known = isReady[key] {
            isReady[key] = known || ready
        } else if keys.count < Self.capacity {
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

    /// Removes and returns the users whose events are due.
    ///
    /// - Parameter all: all users; otherwise only those with enough pending events.
    mutating func take(all: Bool) -> [VaultKey] {
        let taken = all ? keys : keys.filter { isReady[$0] == true }
        keys = all ? [] : keys.filter { isReady[$0] != true }
        for key in taken { isReady[key] = nil }
        return taken
    }
}
#endif
