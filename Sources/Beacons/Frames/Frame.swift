/// The parsed content of an advertisement.
public enum Frame: Sendable, Hashable {
    case iBeacon(IBeacon)
    case altBeacon(AltBeacon)
    case eddystone(EddystoneFrame)
    case exposureNotification(ExposureNotification)
    /// A 16-byte rolling identifier (dossier 8.4). It came in the data of the service given to the parser.
    case rolling(RollingToken)
    /// A 128-bit service UUID that can be a rolling identifier (circles dossier 2).
    ///
    /// It may as well be any app's. The first one of the advertisement; ``FrameParser/rollingServices(in:)`` has all.
    case rollingService(RollingUUID)
    /// Another Apple message, by type: most of the traffic (dossier 2.3).
    case otherApple(messageType: UInt8)
    /// A malformed frame of a known format.
    case malformed(Format)
    /// No known format.
    case unknown

    /// The known formats.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case iBeacon, altBeacon, eddystone, exposureNotification, rolling
    }

    /// The identity of the beacon; nil when the frame has none.
    public var identity: BeaconIdentity? {
        switch self {
        case .iBeacon(let beacon): beacon.identity
        case .altBeacon(let beacon): beacon.identity
        case .eddystone(.uid(let uid, _)): .eddystone(uid)
        case .eddystone(.ephemeral(let identifier, _)): .ephemeral(identifier)
        case .rolling(let token): .rolling(token)
        case .rollingService(let uuid): .rollingService(uuid)
        default: nil
        }
    }

    /// The expected signal strength at 1 m. Nil when the sender gives none, or an implausible one.
    public var powerAtOneMetre: RSSI? {
        switch self {
        case .iBeacon(let beacon): beacon.powerAtOneMetre
        case .altBeacon(let beacon): beacon.powerAtOneMetre
        case .eddystone(let frame): frame.powerAtOneMetre
        default: nil
        }
    }

    /// The rank of a beacon, the highest.
    static let beaconRank = 4

    /// The rank of the frame: of several structures in one advertisement, the first of the highest rank counts.
    var rank: Int {
        switch self {
        case .unknown: 0
        case .otherApple: 1
        case .malformed: 2
        case .rollingService: 3
        default: Self.beaconRank
        }
    }
}
