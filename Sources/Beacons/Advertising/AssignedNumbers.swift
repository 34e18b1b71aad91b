/// A company identifier in manufacturer data (dossier 1).
public struct CompanyID: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Apple, whose messages include iBeacon.
    public static let apple = CompanyID(rawValue: 0x004C)
    /// Reserved for tests.
    public static let test = CompanyID(rawValue: 0xFFFF)
}

/// A 16-bit service UUID in service data (dossier 1).
public struct ServiceUUID: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Parses the 128-bit form of a 16-bit UUID, as BlueZ writes it. An example is
    /// `0000feaa-0000-1000-8000-00805f9b34fb`. Nil for any other UUID.
    public init?(bluetoothUUID text: String) {
        guard let uuid = ProximityUUID(text), uuid.low == 0x8000_0080_5f9b_34fb,
            uuid.high & 0xFFFF_0000_FFFF_FFFF == 0x0000_0000_0000_1000
        else { return nil }
        self.init(rawValue: UInt16(truncatingIfNeeded: uuid.high >> 32))
    }

    /// The 128-bit form, as BlueZ expects it.
    public var bluetoothUUID: String {
        "0000" + Hexadecimal.encode(rawValue.bigEndianBytes) + "-0000-1000-8000-00805f9b34fb"
    }

    /// Eddystone.
    public static let eddystone = ServiceUUID(rawValue: 0xFEAA)
    /// Exposure Notification.
    public static let exposureNotification = ServiceUUID(rawValue: 0xFD6F)
}

/// The type of an advertising-data structure (dossier 1).
public struct StructureType: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The sender's capabilities.
    public static let flags = StructureType(rawValue: 0x01)
    /// Some of the 16-bit service UUIDs.
    public static let incompleteServices = StructureType(rawValue: 0x02)
    /// All of the 16-bit service UUIDs.
    public static let completeServices = StructureType(rawValue: 0x03)
    /// Some of the 128-bit service UUIDs.
    public static let incompleteServices128 = StructureType(rawValue: 0x06)
    /// All of the 128-bit service UUIDs.
    public static let completeServices128 = StructureType(rawValue: 0x07)
    /// The sender's name.
    public static let completeName = StructureType(rawValue: 0x09)
    /// The power at which the packet was sent, in dBm.
    public static let transmitPower = StructureType(rawValue: 0x0A)
    /// Data of a service with a 16-bit UUID.
    public static let serviceData = StructureType(rawValue: 0x16)
    /// Data of a service with a 128-bit UUID.
    public static let serviceData128 = StructureType(rawValue: 0x21)
    /// Manufacturer-specific data.
    public static let manufacturerData = StructureType(rawValue: 0xFF)
}
