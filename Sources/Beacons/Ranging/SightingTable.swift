/// The beacons that were heard recently, up to a maximum.
///
/// When it is full, the older half of the beacons that were heard only once is dropped: a flood of invented or rotating
/// identifiers displaces itself, and never a beacon that keeps sending. If all were heard more than once, new ones are
/// ignored until one falls silent.
struct SightingTable<Entry> {
    /// The maximum number of beacons.
    let capacity: Int
    /// How many packets of new beacons were ignored.
    private(set) var leftOut = 0
    private(set) var slots: [BeaconIdentity: Slot] = [:]
    /// Whether clearing can find much: only once per tick.
    private var mayClear = true

    struct Slot {
        var entry: Entry
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

    /// Adds a packet of a beacon.
    ///
    /// - Returns: the result, and the beacons that were dropped.
    mutating func note(
        _ identity: BeaconIdentity, at time: Timestamp, new: @autoclosure () -> Entry, update: (inout Entry) -> Void
    ) -> (outcome: Outcome, displaced: [BeaconIdentity]) {
        if let index = slots.index(forKey: identity) {
            slots.values[index].packets += 1
            slots.values[index].lastSeen = time
            update(&slots.values[index].entry)
            return (.known, [])
        }
        var displaced: [BeaconIdentity] = []
        if slots.count >= capacity {
            displaced = mayClear ? clear() : []
            // Clearing visits every beacon, so it must make room for many packets before it runs again.
            if displaced.count < capacity / 16 { mayClear = false }
            guard slots.count < capacity else {
                leftOut += 1
                return (.leftOut, displaced)
            }
        }
        var entry = new()
        update(&entry)
        slots[identity] = Slot(entry: entry, packets: 1, lastSeen: time)
        return (.new, displaced)
    }

    /// Removes the beacons that were last heard before a time.
    mutating func removeSilent(since oldest: Timestamp) -> [BeaconIdentity] {
        let silent = slots.filter { $0.value.lastSeen < oldest }.map(\.key)
        for identity in silent { slots[identity] = nil }
        mayClear = true
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

    private mutating func clear() -> [BeaconIdentity] {
        let once = slots.filter { $0.value.packets == 1 }.sorted { $0.value.lastSeen < $1.value.lastSeen }.map(\.key)
        let leaving = Array(once.prefix((once.count + 1) / 2))
        for identity in leaving { slots[identity] = nil }
        return leaving
    }
}

extension SightingTable: Sendable where Entry: Sendable {}
extension SightingTable.Slot: Sendable where Entry: Sendable {}
