/// What an advertisement is.
public enum Frame: Sendable, Hashable {
    case iBeacon(IBeacon)
    case altBeacon(AltBeacon)
    case eddystone(EddystoneFrame)
    case exposureNotification(ExposureNotification)
    /// A 16-byte rolling identifier in the service data that the parser was told of (dossier 8.4).
    case rolling(RollingToken)
    /// Another message of Apple's, by its type: most of the traffic (dossier 2.3).
    case otherApple(messageType: UInt8)
    /// Says that it is of a format and breaks its rules.
    case malformed(Format)
    /// Nothing that is known here.
    case unknown

    /// The formats that have rules to break.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case iBeacon, altBeacon, eddystone, exposureNotification, rolling
    }

    /// The beacon that it names; nil when it names none.
    public var identity: BeaconIdentity? {
        switch self {
        case .iBeacon(let beacon): beacon.identity
        case .altBeacon(let beacon): beacon.identity
        case .eddystone(.uid(let uid, _)): .eddystone(uid)
        case .eddystone(.ephemeral(let identifier, _)): .ephemeral(identifier)
        case .rolling(let token): .rolling(token)
        default: nil
        }
    }

    /// The signal strength to expect at 1 m; nil when the sender does not say, or says something implausible.
    public var powerAtOneMetre: RSSI? {
        switch self {
        case .iBeacon(let beacon): beacon.powerAtOneMetre
        case .altBeacon(let beacon): beacon.powerAtOneMetre
        case .eddystone(let frame): frame.powerAtOneMetre
        default: nil
        }
    }

    /// How much it tells: of several structures in one advertisement the first of the highest rank counts.
    var rank: Int {
        switch self {
        case .unknown: 0
        case .otherApple: 1
        case .malformed: 2
        default: 3
        }
    }
}
