/// An iBeacon (dossier 2.1).
public struct IBeacon: Sendable, Hashable {
    /// The fleet.
    public let uuid: ProximityUUID
    public let major: UInt16
    public let minor: UInt16
    /// The power byte as sent: dBm at 1 m; 0 means "not calibrated" (dossier 2.3).
    public let power: Int8

    public init(uuid: ProximityUUID, major: UInt16, minor: UInt16, power: Int8 = -59) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.power = power
    }

    /// The identity of the beacon.
    public var identity: BeaconIdentity { .proximity(uuid: uuid, major: major, minor: minor) }

    /// The expected signal strength at 1 m. Nil when the beacon is not calibrated or the value is implausible.
    public var powerAtOneMetre: RSSI? { RSSI(Int(power)) }

    /// The 23 bytes after the company ID, as BlueZ expects them: `02 15 …`.
    public var manufacturerData: [UInt8] {
        Self.code.bigEndianBytes + uuid.bytes + major.bigEndianBytes + minor.bigEndianBytes
            + [UInt8(bitPattern: power)]
    }

    /// The advertising structure, 27 bytes.
    public var structure: AdvertisingStructure {
        AdvertisingStructure(.manufacturerData, short: CompanyID.apple.rawValue.littleEndianBytes + manufacturerData)
    }

    /// Apple's message type and the length of the rest.
    static let code: UInt16 = 0x0215
    /// Bytes after the company ID.
    static let length = 23

    /// Reads ``length`` bytes that begin with ``code``.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        uuid = ProximityUUID(bytes, at: offset + 2)
        major = bytes.bigEndian(at: offset + 18)
        minor = bytes.bigEndian(at: offset + 20)
        power = Int8(bitPattern: bytes[offset + 22])
    }
}

extension ProximityUUID {
    /// Reads 16 bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        self.init(high: bytes.bigEndian(at: offset), low: bytes.bigEndian(at: offset + 8))
    }
}
