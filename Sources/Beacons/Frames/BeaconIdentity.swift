/// A beacon's identity: its identifiers, never the sender's address (dossier 2.3).
///
/// An AltBeacon and an iBeacon with the same identifiers are the same beacon.
public enum BeaconIdentity: Sendable, Hashable, Codable {
    /// An iBeacon or AltBeacon.
    case proximity(uuid: ProximityUUID, major: UInt16, minor: UInt16)
    /// An Eddystone UID.
    case eddystone(EddystoneUID)
    /// An Eddystone ephemeral identifier: one beacon until it rotates.
    case ephemeral(UInt64)
    /// A 16-byte rolling identifier: one beacon until it rotates (dossier 8.4).
    case rolling(RollingToken)
    /// A rolling identifier that is a service UUID (circles dossier 2). It is one beacon until it rotates.
    case rollingService(RollingUUID)

    /// Whether the form has no room for a power at 1 m: a distance can be guessed only (circles dossier 2).
    var isWithoutPower: Bool {
        switch self {
        case .rolling, .rollingService: true
        case .proximity, .eddystone, .ephemeral: false
        }
    }
}
