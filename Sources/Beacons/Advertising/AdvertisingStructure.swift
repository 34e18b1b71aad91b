/// One structure of advertising data (dossier 1). It has a type and a value of at most 254 bytes.
public struct AdvertisingStructure: Sendable, Hashable {
    /// The type of the value.
    public let type: StructureType
    /// The value, without length and type.
    public let value: [UInt8]

    /// Creates a structure of this type and value.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` when the length does not fit into its byte.
    public init(type: StructureType, value: [UInt8]) throws(BeaconsError) {
        guard value.count <= 254 else { throw .advertisingDataTooLong(count: value.count + 2, limit: 256) }
        self.init(type, short: value)
    }

    /// For values whose length is known to fit.
    init(_ type: StructureType, short value: [UInt8]) {
        self.type = type
        self.value = value
    }

    /// The structure of flags (dossier 2.2). `06` is for a beacon with Low Energy only, `1A` for a phone or Mac.
    public static func flags(_ flags: UInt8 = 0x06) -> AdvertisingStructure {
        AdvertisingStructure(.flags, short: [flags])
    }

    /// The complete list with one 16-bit service UUID.
    public static func service(_ service: ServiceUUID) -> AdvertisingStructure {
        AdvertisingStructure(.completeServices, short: service.rawValue.littleEndianBytes)
    }

    /// The complete list with one rolling identifier: 18 bytes.
    public static func service(_ uuid: RollingUUID) -> AdvertisingStructure {
        AdvertisingStructure(.completeServices128, short: uuid.sentBytes)
    }

    /// A company's own data.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than 252 bytes.
    public static func manufacturerData(
        _ company: CompanyID, _ value: [UInt8]
    ) throws(BeaconsError) -> AdvertisingStructure {
        try AdvertisingStructure(type: .manufacturerData, value: company.rawValue.littleEndianBytes + value)
    }

    /// A service's data.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than 252 bytes.
    public static func serviceData(
        _ service: ServiceUUID, _ value: [UInt8]
    ) throws(BeaconsError) -> AdvertisingStructure {
        try AdvertisingStructure(type: .serviceData, value: service.rawValue.littleEndianBytes + value)
    }

    /// Length, type and value.
    public var bytes: [UInt8] { [UInt8(value.count + 1), type.rawValue] + value }
}

/// Iterates over structures without allocating memory.
struct StructureCursor {
    /// The offset of the next structure.
    private(set) var offset = 0
    /// The structure that runs past the end, once found; it and the rest are invalid (dossier 1).
    private(set) var damage: AdvertisingData.Damage?

    /// The type of the next structure and the range of its value; nil at the end, at a length of 0 and at damage.
    mutating func next(in bytes: Span<UInt8>) -> (type: UInt8, value: Range<Int>)? {
        guard damage == nil, offset < bytes.count else { return nil }
        let length = Int(bytes[offset])
        guard length > 0 else { return nil }
        let end = offset + 1 + length
        guard end <= bytes.count else {
            damage = AdvertisingData.Damage(offset: offset, length: length, available: bytes.count - offset - 1)
            return nil
        }
        defer { offset = end }
        return (bytes[offset + 1], offset + 2..<end)
    }
}
