public import Beacons

/// What a radio sends from now on.
public enum Broadcast: Sendable, Hashable {
    case data(AdvertisingData)
    /// Nothing: in some windows, a rolling identifier has no short form (dossier 8.4).
    case silence
}

/// The frame that carries an identifier (dossier 8.4 and circles dossier 2).
public enum BroadcastForm: Sendable, Hashable {
    /// A service UUID: 16 bytes of a rolling identifier.
    ///
    /// No constant byte tells whose it is. Every platform sends and receives it.
    case serviceUUID
    /// An iBeacon of this fleet, with its power at 1 m in dBm. It carries 4 bytes of a rolling identifier.
    case iBeacon(ProximityUUID, power: Int8 = -59)
    /// An Eddystone UID with its power at 0 m in dBm: 16 bytes of a rolling identifier.
    case eddystoneUID(power: Int8 = -18)
    /// Service data: 16 bytes of a rolling identifier.
    case serviceData(ServiceUUID)
}
