public import Beacons

/// What a radio is to send from now on.
public enum Broadcast: Sendable, Hashable {
    case data(AdvertisingData)
    /// Nothing: a rolling identifier has windows in which it has no short form (dossier 8.4).
    case silence
}

/// In which frame an identifier is sent (dossier 8.4).
public enum BroadcastForm: Sendable, Hashable {
    /// An iBeacon of this fleet, with its power at 1 m in dBm. A rolling identifier has 4 bytes in it.
    case iBeacon(ProximityUUID, power: Int8 = -59)
    /// An Eddystone UID with its power at 0 m in dBm: 16 bytes of a rolling identifier.
    case eddystoneUID(power: Int8 = -18)
    /// Data of a service: 16 bytes of a rolling identifier.
    case serviceData(ServiceUUID)
}
