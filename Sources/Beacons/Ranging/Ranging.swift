/// Estimates the distance of beacons (dossier 6). It takes packets and returns a list at each tick.
///
/// A value without a clock: every call passes the time. It holds at most ``Settings-swift.struct/capacity`` beacons with at most
/// ``RunningAverage/maximumSamples`` samples and four transmitters each, whatever is received; beyond that, beacons that were heard
/// only once are dropped first.
public struct Ranging: Sendable {
    public let settings: Settings

    private let admission: RangingAdmission?
    private var table: SightingTable<Entry>
    private var timeline: SteadyTimeline
    /// The time of the last tick.
    private var ticked: Timestamp?

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
        var transmitters = RecentTransmitters()
    }

    public init(_ settings: Settings = Settings()) {
        self.init(settings, admitting: nil)
    }

    /// Ranges the beacons that are admitted.
    package init(_ settings: Settings, admitting admission: RangingAdmission?) {
        self.settings = settings
        self.admission = admission
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
        var kind = 0
        if let admission {
            // A packet that says that it is older than the last tick is none: its time leads back to no earlier window.
            guard let admitted = admission.kind(identity, ticked.map { max($0, time) } ?? time) else { return }
            kind = admitted
        }
        let now = timeline.advance(to: time)
        let new = Entry(filter: settings.filter, lastRSSI: nil, power: nil, received: time)
        _ = table.note(identity, of: kind, at: now, new: new) { entry in
            if let rssi { entry.filter.add(rssi, at: now) }
            entry.lastRSSI = rssi
            entry.power = frame.powerAtOneMetre
            entry.received = time
            if let transmitter { entry.transmitters.note(transmitter, at: now) }
        }
    }

    /// Drops beacons that fell silent and returns those in range. Call it once a second.
    public mutating func tick(at time: Timestamp) -> RangingUpdate {
        let now = timeline.advance(to: time)
        ticked = time
        _ = table.removeSilent(since: now.advanced(by: .zero - settings.retention))
        var beacons: [RangedBeacon] = []
        beacons.reserveCapacity(table.slots.count)
        table.updateAll { identity, slot in
            let rssi = slot.entry.filter.value(at: now)
            let metres = rssi.flatMap { settings.formula.metres(rssi: $0, powerAtOneMetre: slot.entry.power) }
            let guessed = identity.isWithoutPower ? settings.formula.roughMetres(rssi: rssi) : nil
            slot.entry.proximity.update(metres: metres ?? guessed)
            beacons.append(
                RangedBeacon(
                    identity: identity, rssi: rssi, lastRSSI: slot.entry.lastRSSI, metres: metres,
                    proximity: slot.entry.proximity.value, lastSeen: slot.entry.received, packets: slot.packets,
                    transmitters: slot.entry.transmitters.addresses(at: now)))
        }
        beacons.sort { $0.isNearer(than: $1) }
        return RangingUpdate(time: time, beacons: beacons, leftOutOfKind: table.leftOut)
    }
}

/// Decides which beacons are ranged, and which have places of their own.
///
/// Beacons of one kind never displace one of another: each kind has ``Ranging/Settings-swift.struct/capacity`` places.
package struct RangingAdmission: Sendable {
    /// The kind of a beacon that is heard at a time; nil for one that is not ranged.
    ///
    /// Called for every packet that matches a condition. There must be few kinds.
    let kind: @Sendable (BeaconIdentity, Timestamp) -> Int?

    package init(kind: @escaping @Sendable (BeaconIdentity, Timestamp) -> Int?) {
        self.kind = kind
    }
}

/// The devices that sent one identity last, at most four: an attacker can use any number of addresses.
private struct RecentTransmitters: Sendable {
    private static let maximum = 4
    /// Two transmitters of one identity within this time may be one that is relayed.
    private static let overlap = Duration.seconds(5)

    /// The one that was heard last is the last.
    private var all: [(address: DeviceAddress, heard: Timestamp)] = []

    mutating func note(_ address: DeviceAddress, at time: Timestamp) {
        if all.last?.address == address {
            all[all.count - 1].heard = time
            return
        }
        if let index = all.firstIndex(where: { $0.address == address }) {
            all.remove(at: index)
        } else if all.count >= Self.maximum {
            all.removeFirst()
        }
        all.append((address, time))
    }

    /// The last one, and before it those that were heard within the overlap.
    func addresses(at time: Timestamp) -> [DeviceAddress] {
        let recent = all.dropLast().filter { $0.heard.duration(to: time) < Self.overlap }
        return (recent + all.suffix(1)).map(\.address)
    }
}

extension RangedBeacon {
    fileprivate func isNearer(than other: RangedBeacon) -> Bool {
        if metres != other.metres { return (metres ?? .infinity) < (other.metres ?? .infinity) }
        return (rssi ?? -.infinity) > (other.rssi ?? -.infinity)
    }
}
