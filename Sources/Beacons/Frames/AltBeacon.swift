/// An AltBeacon 1.0 (dossier 3). Its 20-byte identifier is split as is customary: 16 + 2 + 2.
public struct AltBeacon: Sendable, Hashable {
    /// The manufacturer.
    public let company: CompanyID
    /// The fleet.
    public let uuid: ProximityUUID
    public let major: UInt16
    public let minor: UInt16
    /// The reference byte as sent: dBm at 1 m.
    public let power: Int8
    /// The manufacturer's reserved byte.
    public let reserved: UInt8

    public init(
        company: CompanyID, identifiedBy identifiers: (uuid: ProximityUUID, major: UInt16, minor: UInt16),
        power: Int8 = -59, reserved: UInt8 = 0
    ) {
        self.company = company
        (uuid, major, minor) = identifiers
        self.power = power
        self.reserved = reserved
    }

    /// The identity of the beacon.
    public var identity: BeaconIdentity { .proximity(uuid: uuid, major: major, minor: minor) }

    /// The expected signal strength at 1 m; nil outside -127 to -1.
    public var powerAtOneMetre: RSSI? { RSSI(Int(power)) }

    /// The 24 bytes after the company ID: `BE AC …`.
    public var manufacturerData: [UInt8] {
        Self.code.bigEndianBytes + uuid.bytes + major.bigEndianBytes + minor.bigEndianBytes
            + [UInt8(bitPattern: power), reserved]
    }

    /// The advertising structure, 28 bytes.
    public var structure: AdvertisingStructure {
        AdvertisingStructure(.manufacturerData, short: company.rawValue.littleEndianBytes + manufacturerData)
    }

    /// The first bytes of every AltBeacon.
    static let code: UInt16 = 0xBEAC
    /// Bytes after the company ID.
    static let length = 24

    /// Reads ``length`` bytes that begin with ``code``.
    init(_ bytes: Span<UInt8>, at offset: Int, company: CompanyID) {
        self.company = company
        uuid = ProximityUUID(bytes, at: offset + 2)
        major = bytes.bigEndian(at: offset + 18)
        minor = bytes.bigEndian(at: offset + 20)
        power = Int8(bitPattern: bytes[offset + 22])
        reserved = bytes[offset + 23]
    }
}
