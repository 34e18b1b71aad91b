/// What makes two packets the same beacon: its identifiers, never the sender's address (dossier 2.3).
///
/// An AltBeacon and an iBeacon with the same identifiers are one beacon.
public enum BeaconIdentity: Sendable, Hashable, Codable {
    /// An iBeacon or AltBeacon.
    case proximity(uuid: ProximityUUID, major: UInt16, minor: UInt16)
    /// An Eddystone UID.
    case eddystone(EddystoneUID)
    /// An Eddystone ephemeral identifier: a beacon until it changes.
    case ephemeral(UInt64)
    /// A 16-byte rolling identifier: a beacon until it changes (dossier 8.4).
    case rolling(RollingToken)
}
