/// An AltBeacon 1.0, with its 20-byte identifier split as is customary: 16 + 2 + 2 (dossier 3).
public struct AltBeacon: Sendable, Hashable {
    /// Who made it.
    public let company: CompanyID
    /// The fleet.
    public let uuid: ProximityUUID
    public let major: UInt16
    public let minor: UInt16
    /// The reference byte as it is on the air: dBm at 1 m.
    public let power: Int8
    /// The maker's own byte.
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

    /// What makes two packets the same beacon.
    public var identity: BeaconIdentity { .proximity(uuid: uuid, major: major, minor: minor) }

    /// The signal strength to expect at 1 m; nil outside -127 to -1.
    public var powerAtOneMetre: RSSI? { RSSI(Int(power)) }

    /// The 24 bytes behind the company's number: `BE AC …`.
    public var manufacturerData: [UInt8] {
        Self.code.bigEndianBytes + uuid.bytes + major.bigEndianBytes + minor.bigEndianBytes
            + [UInt8(bitPattern: power), reserved]
    }

    /// The structure that is sent, 28 bytes.
    public var structure: AdvertisingStructure {
        AdvertisingStructure(.manufacturerData, short: company.rawValue.littleEndianBytes + manufacturerData)
    }

    /// What every AltBeacon begins with.
    static let code: UInt16 = 0xBEAC
    /// Bytes behind the company's number.
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
