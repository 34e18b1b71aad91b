/// Decides when a resolved identifier is enough to tell somebody of (dossier 8.4).
///
/// Four bytes fit a stranger's frame by chance once in a while: 2000 friends make one in 700,000. So a member counts after the 16-byte form, or after
/// 4-byte forms of two windows. At most ``capacity`` members wait for their second window, for an hour at the longest.
public struct RollingEvidence<Member: Hashable & Sendable>: Sendable {
    public let capacity: Int
    private var seen: [Member: RollingWindow] = [:]

    /// How many windows a single sighting is remembered.
    private static var memory: UInt32 { 4 }

    public init(capacity: Int = 1_024) {
        self.capacity = max(1, capacity)
    }

    /// Which form an identifier was received in.
    public enum Form: Sendable, Hashable {
        case sixteenBytes
        case fourBytes
    }

    /// Takes a sighting.
    ///
    /// - Returns: whether the member may be told of.
    public mutating func confirms(_ member: Member, in window: RollingWindow, by form: Form) -> Bool {
        if form == .sixteenBytes { return true }
        if let earlier = seen[member], earlier != window,
            earlier.number.distance(to: window.number).magnitude <= Self.memory
        {
            seen[member] = window
            return true
        }
        if seen[member] == nil, seen.count >= capacity { makeRoom(at: window) }
        // A full memory refuses newcomers rather than those who wait: the answer is only later then.
        guard seen[member] != nil || seen.count < capacity else { return false }
        seen[member] = window
        return false
    }

    private mutating func makeRoom(at window: RollingWindow) {
        seen = seen.filter { $0.value.number.distance(to: window.number).magnitude <= Self.memory }
    }
}
