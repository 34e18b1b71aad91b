/// A filter for beacons; nil matches every value (dossier 6).
public enum BeaconCondition: Sendable, Hashable, Codable {
    /// iBeacons and AltBeacons.
    case proximity(uuid: ProximityUUID?, major: UInt16? = nil, minor: UInt16? = nil)
    /// Eddystone UIDs; an instance is 48 bits.
    case eddystone(namespace: EddystoneUID.Namespace?, instance: UInt64? = nil)
    /// Service UUIDs that can be rolling identifiers.
    case rollingService
    /// Every beacon of any format.
    case any

    /// Whether a beacon matches.
    public func contains(_ identity: BeaconIdentity) -> Bool {
        switch (self, identity) {
        case (.any, _), (.rollingService, .rollingService): true
        case (.proximity(let uuid, let major, let minor), .proximity(let itsUUID, let itsMajor, let itsMinor)):
            (uuid ?? itsUUID) == itsUUID && (major ?? itsMajor) == itsMajor && (minor ?? itsMinor) == itsMinor
        case (.eddystone(let namespace, let instance), .eddystone(let uid)):
            (namespace ?? uid.namespace) == uid.namespace && (instance ?? uid.instance) == uid.instance
        default: false
        }
    }
}
