public import Beacons

/// A filter for the advertisements of a scan.
///
/// BlueZ's monitor needs patterns in advance (dossier 7.2); the same patterns filter what other methods receive, so that the
/// method does not change the result.
public struct ScanInterest: Sendable, Hashable {
    /// Bytes at an offset in the value of a structure.
    public struct Pattern: Sendable, Hashable {
        public let type: StructureType
        /// The offset in the value, from 0.
        public let offset: UInt8
        /// The expected bytes, 1 to 31.
        public let bytes: [UInt8]

        /// Creates a pattern for the values of structures of a type.
        ///
        /// - Throws: ``RadioError/input(member:problem:)`` when the bytes are empty or do not fit into an
        ///   advertisement.
        public init(_ type: StructureType, offset: UInt8 = 0, bytes: [UInt8]) throws(RadioError) {
            guard !bytes.isEmpty, Int(offset) + bytes.count <= 31 else {
                throw .input(member: "pattern", problem: "it must have 1 to 31 bytes within the first 31 of a value")
            }
            self.init(checked: type, offset: offset, bytes: bytes)
        }

        init(checked type: StructureType, offset: UInt8 = 0, bytes: [UInt8]) {
            self.type = type
            self.offset = offset
            self.bytes = bytes
        }

        func matches(_ structure: AdvertisingStructure) -> Bool {
            structure.type == type && structure.value.dropFirst(Int(offset)).starts(with: bytes)
        }
    }

    /// The patterns of the advertisements to report. An advertisement that matches any of them is reported; an empty
    /// list matches all.
    public let patterns: [Pattern]

    /// The maximum number of patterns: four of a kernel's monitors (circles dossier 2).
    public static let maximum = 64

    /// The maximum number of patterns of one of the kernel's monitors.
    static let maximumOfMonitor = 16

    /// Creates a filter from its patterns.
    ///
    /// - Throws: ``RadioError/input(member:problem:)`` for more than ``maximum`` patterns.
    public init(_ patterns: [Pattern]) throws(RadioError) {
        guard patterns.count <= Self.maximum else {
            throw .input(member: "patterns", problem: "there are more than \(Self.maximum)")
        }
        self.patterns = patterns
    }

    private init(checked patterns: [Pattern]) {
        self.patterns = patterns
    }

    /// Every advertisement of every device. BlueZ has no monitor for this.
    public static let everything = ScanInterest(checked: [])

    /// Every beacon format of the module Beacons.
    ///
    /// iBeacon, AltBeacon, Eddystone, Exposure Notification, and service UUIDs that can be rolling identifiers.
    public static let beacons = ScanInterest(
        checked: [
            Pattern(checked: .manufacturerData, bytes: [0x4C, 0x00, 0x02, 0x15]),
            Pattern(checked: .manufacturerData, offset: 2, bytes: [0xBE, 0xAC]),
            Pattern(checked: .serviceData, bytes: [0xAA, 0xFE]),
            Pattern(checked: .serviceData, bytes: [0x6F, 0xFD]),
        ] + rollingServices)

    /// The high half of byte 6 is the version, 4: in the order of sending it is byte 9 of the list.
    private static let rollingServices = [StructureType.completeServices128, .incompleteServices128].flatMap { type in
        (UInt8(0x40)...0x4F).map { Pattern(checked: type, offset: 9, bytes: [$0]) }
    }

    /// iBeacons of one UUID.
    public static func iBeacons(_ uuid: ProximityUUID) -> ScanInterest {
        ScanInterest(checked: [
            Pattern(checked: .manufacturerData, bytes: [0x4C, 0x00, 0x02, 0x15] + uuid.bytes)
        ])
    }

    /// Adds the data of a service (dossier 8.4). An example is that of a community's rolling identifiers.
    ///
    /// - Throws: ``RadioError/input(member:problem:)`` for more than ``maximum`` patterns.
    public func adding(_ service: ServiceUUID) throws(RadioError) -> ScanInterest {
        guard !patterns.isEmpty else { return self }
        let number = service.rawValue
        let bytes = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        return try ScanInterest(patterns + [Pattern(checked: .serviceData, bytes: bytes)])
    }

    /// Whether an advertisement matches.
    public func wants(_ data: AdvertisingData) -> Bool {
        patterns.isEmpty || data.structures.contains { structure in patterns.contains { $0.matches(structure) } }
    }
}
