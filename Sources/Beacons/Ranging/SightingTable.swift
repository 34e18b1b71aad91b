/// The beacons that were heard recently, up to a maximum of each kind.
///
/// Beacons of one kind never displace one of another. When a kind is full, the older half of the beacons that were heard
/// only once is dropped: a flood of invented or rotating identifiers displaces itself, and never a beacon that keeps
/// sending. If all were heard more than once, new ones are ignored until one falls silent.
struct SightingTable<Entry> {
    /// The maximum number of beacons of a kind.
    let capacity: Int
    /// How many packets of new beacons of each kind were ignored.
    private(set) var leftOut: [Int: Int] = [:]
    private(set) var slots: [BeaconIdentity: Slot] = [:]
    private var counts: [Int: Int] = [:]
    /// The kinds of which clearing can find little: more only after a tick.
    private var cleared: Set<Int> = []

    struct Slot {
        var entry: Entry
        let kind: Int
        var packets: Int
        var lastSeen: Timestamp
    }

    /// The result of a packet.
    enum Outcome: Equatable {
        case known, new, leftOut
    }

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Adds a packet of a beacon. A beacon that is known keeps its kind.
    ///
    /// - Returns: the result, and the beacons that were dropped.
    mutating func note(
        _ identity: BeaconIdentity, of kind: Int = 0, at time: Timestamp, new: @autoclosure () -> Entry,
        update: (inout Entry) -> Void
    ) -> (outcome: Outcome, displaced: [BeaconIdentity]) {
        if let index = slots.index(forKey: identity) {
            slots.values[index].packets += 1
            slots.values[index].lastSeen = time
            update(&slots.values[index].entry)
            return (.known, [])
        }
        var displaced: [BeaconIdentity] = []
        if isFull(kind) {
            displaced = cleared.contains(kind) ? [] : clear(kind)
            // Clearing visits every beacon, so it must make room for many packets before it runs again.
            if displaced.count < capacity / 16 { cleared.insert(kind) }
            guard !isFull(kind) else {
                leftOut[kind, default: 0] += 1
                return (.leftOut, displaced)
            }
        }
        var entry = new()
        update(&entry)
        slots[identity] = Slot(entry: entry, kind: kind, packets: 1, lastSeen: time)
        counts[kind, default: 0] += 1
        return (.new, displaced)
    }

    /// Removes the beacons that were last heard before a time.
    mutating func removeSilent(since oldest: Timestamp) -> [BeaconIdentity] {
        let silent = slots.filter { $0.value.lastSeen < oldest }.map(\.key)
        for identity in silent { remove(identity) }
        cleared = []
        return silent
    }

    /// Updates every entry.
    mutating func updateAll(_ update: (BeaconIdentity, inout Slot) -> Void) {
        var index = slots.startIndex
        while index < slots.endIndex {
            update(slots.keys[index], &slots.values[index])
            slots.formIndex(after: &index)
        }
    }

    private func isFull(_ kind: Int) -> Bool { counts[kind, default: 0] >= capacity }

    private mutating func remove(_ identity: BeaconIdentity) {
        guard let slot = slots.removeValue(forKey: identity) else { return }
        counts[slot.kind, default: 1] -= 1
    }

    private mutating func clear(_ kind: Int) -> [BeaconIdentity] {
        let once = slots.filter { $0.value.kind == kind && $0.value.packets == 1 }
            .sorted { $0.value.lastSeen < $1.value.lastSeen }.map(\.key)
        let leaving = Array(once.prefix((once.count + 1) / 2))
        for identity in leaving { remove(identity) }
        return leaving
    }
}

extension SightingTable: Sendable where Entry: Sendable {}
extension SightingTable.Slot: Sendable where Entry: Sendable {}
