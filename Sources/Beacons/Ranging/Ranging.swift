/// Estimates the distance of beacons (dossier 6). It takes packets and returns a list at each tick.
///
/// A value without a clock: every call passes the time. It holds at most ``Settings-swift.struct/capacity`` beacons with at most
/// ``RunningAverage/maximumSamples`` samples each, whatever is received; beyond that, beacons that were heard only once are dropped
/// first.
public struct Ranging: Sendable {
    public let settings: Settings

    private var table: SightingTable<Entry>
    private var timeline: SteadyTimeline

    /// The settings of ranging.
    public struct Settings: Sendable, Hashable {
        /// Which beacons are ranged: those that match any condition.
        public var conditions: [BeaconCondition]
        public var filter: RSSIFilter = .standard
        public var formula: DistanceFormula = .standard
        /// How long a beacon stays in the list after its last packet.
        public var retention: Duration = .seconds(5)
        /// The maximum number of beacons.
        public var capacity = 4_096
        /// How frames are parsed.
        public var parser = FrameParser()

        public init(_ conditions: [BeaconCondition] = [.any]) {
            self.conditions = conditions
        }
    }

    private struct Entry: Sendable {
        var filter: RSSIFilter
        var lastRSSI: RSSI?
        var power: RSSI?
        var proximity = SteadyProximity()
        /// On the packets' clock.
        var received: Timestamp
        var transmitter: DeviceAddress?
        /// When another transmitter than the last one was heard, on the timeline.
        var otherHeard: Timestamp?
        var heard: Timestamp?
    }

    /// Two transmitters of one identity within this time may be one that is relayed.
    private static let overlap = Duration.seconds(5)

    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        table = SightingTable(capacity: settings.capacity)
        timeline = SteadyTimeline(jumpThreshold: .seconds(5))
    }

    /// Adds a packet. Ignores beacons that match no condition.
    public mutating func receive(_ advertisement: Advertisement) {
        let frame = settings.parser.frame(of: advertisement)
        var frames = [frame]
        // A device can send two: BlueZ reports the earlier ones of an address with the newest.
        if case .rollingService = frame {
            frames = settings.parser.rollingServices(in: advertisement.data).map { .rollingService($0) }
        }
        for frame in frames {
            receive(frame, rssi: advertisement.rssi, from: advertisement.address, at: advertisement.time)
        }
    }

    /// Adds a parsed frame.
    public mutating func receive(
        _ frame: Frame, rssi: RSSI?, from transmitter: DeviceAddress? = nil, at time: Timestamp
    ) {
        guard let identity = frame.identity, settings.conditions.contains(where: { $0.contains(identity) }) else {
            return
        }
        let now = timeline.advance(to: time)
        let new = Entry(filter: settings.filter, lastRSSI: nil, power: nil, received: time)
        _ = table.note(identity, at: now, new: new) { entry in
            if let rssi { entry.filter.add(rssi, at: now) }
            entry.lastRSSI = rssi
            entry.power = frame.powerAtOneMetre
            entry.received = time
            if let transmitter, let last = entry.transmitter, transmitter != last { entry.otherHeard = entry.heard }
            entry.transmitter = transmitter ?? entry.transmitter
            entry.heard = now
        }
    }

    /// Drops beacons that fell silent and returns those in range. Call it once a second.
    public mutating func tick(at time: Timestamp) -> RangingUpdate {
        let now = timeline.advance(to: time)
        _ = table.removeSilent(since: now.advanced(by: .zero - settings.retention))
        var beacons: [RangedBeacon] = []
        beacons.reserveCapacity(table.slots.count)
        table.updateAll { identity, slot in
            let rssi = slot.entry.filter.value(at: now)
            let metres = rssi.flatMap { settings.formula.metres(rssi: $0, powerAtOneMetre: slot.entry.power) }
            let guessed = identity.isWithoutPower ? settings.formula.roughMetres(rssi: rssi) : nil
            slot.entry.proximity.update(metres: metres ?? guessed)
            let isHeardTwice = slot.entry.otherHeard.map { $0.duration(to: now) < Self.overlap } ?? false
            beacons.append(
                RangedBeacon(
                    identity: identity, rssi: rssi, lastRSSI: slot.entry.lastRSSI, metres: metres,
                    proximity: slot.entry.proximity.value, lastSeen: slot.entry.received, packets: slot.packets,
                    transmitter: slot.entry.transmitter, isHeardTwice: isHeardTwice))
        }
        beacons.sort { $0.isNearer(than: $1) }
        return RangingUpdate(time: time, beacons: beacons, leftOut: table.leftOut)
    }
}

extension RangedBeacon {
    fileprivate func isNearer(than other: RangedBeacon) -> Bool {
        if metres != other.metres { return (metres ?? .infinity) < (other.metres ?? .infinity) }
        return (rssi ?? -.infinity) > (other.rssi ?? -.infinity)
    }
}
