/// Decides whether a resolved identifier is reliable enough (dossier 8.4).
///
/// Four bytes can match a stranger's frame by chance: with 2000 friends, one frame in 700,000. So a member is confirmed by the
/// 16-byte form, or by 4-byte forms of two windows. Then it stays confirmed until it is silent for more than an hour. At most
/// ``capacity`` members are remembered.
package struct RollingEvidence<Member: Hashable & Sendable>: Sendable {
    package let capacity: Int
    private var seen: [Member: Sighting] = [:]

    /// What is remembered of a member.
    private struct Sighting: Sendable {
        var window: RollingWindow
        var isConfirmed: Bool
    }

    /// For how many windows the last sighting is remembered.
    private static var memory: UInt32 { 4 }

    package init(capacity: Int = 1_024) {
        self.capacity = max(1, capacity)
    }

    /// The form in which an identifier was received.
    package enum Form: Sendable, Hashable {
        case sixteenBytes
        case fourBytes
    }

    /// Adds a sighting.
    ///
    /// - Returns: whether the member is confirmed.
    package mutating func confirms(_ member: Member, in window: RollingWindow, by form: Form) -> Bool {
        if form == .sixteenBytes { return true }
        if let earlier = seen[member], Self.remembers(earlier.window, at: window) {
            let isConfirmed = earlier.isConfirmed || earlier.window != window
            seen[member] = Sighting(window: max(earlier.window, window), isConfirmed: isConfirmed)
            return isConfirmed
        }
        if seen[member] == nil, seen.count >= capacity { makeRoom(at: window) }
        // When full, new members are ignored rather than those that wait: that only delays the confirmation.
        guard seen[member] != nil || seen.count < capacity else { return false }
        seen[member] = Sighting(window: window, isConfirmed: false)
        return false
    }

    private mutating func makeRoom(at window: RollingWindow) {
        seen = seen.filter { Self.remembers($0.value.window, at: window) }
    }

    private static func remembers(_ earlier: RollingWindow, at window: RollingWindow) -> Bool {
        earlier.number.distance(to: window.number).magnitude <= memory
    }
}
