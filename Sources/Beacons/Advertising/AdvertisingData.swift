/// The data of one advertisement: structures of length, type and value (dossier 1).
///
/// Parsing is tolerant: a structure that runs past the end invalidates the rest and keeps those before it.
public struct AdvertisingData: Sendable, Hashable {
    /// The bytes as received, or as they will be sent.
    public let bytes: [UInt8]

    /// The capacity of one advertisement in bytes.
    public struct Limit: Sendable, Hashable {
        public let count: Int

        /// Legacy advertising, which every beacon uses: 31 bytes.
        public static let legacy = Limit(count: 31)
        /// Extended advertising over all fragments: 1650 bytes.
        public static let extended = Limit(count: 1_650)
    }

    /// A structure whose length runs past the end.
    package struct Damage: Sendable, Hashable {
        /// The offset of its length byte.
        package let offset: Int
        /// The length that it claims.
        package let length: Int
        /// The bytes that remain.
        package let available: Int
    }

    /// Takes received bytes.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than an advertisement can carry.
    public init(received bytes: [UInt8]) throws(BeaconsError) {
        guard bytes.count <= Limit.extended.count else {
            throw .advertisingDataTooLong(count: bytes.count, limit: Limit.extended.count)
        }
        self.bytes = bytes
    }

    /// Concatenates structures.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` when they exceed the limit.
    public init(_ structures: [AdvertisingStructure], limit: Limit = .legacy) throws(BeaconsError) {
        bytes = structures.flatMap(\.bytes)
        guard bytes.count <= limit.count else {
            throw .advertisingDataTooLong(count: bytes.count, limit: limit.count)
        }
    }

    /// Assembles data that receivers such as BlueZ report in parts (dossier 2.1, 7.2).
    ///
    /// The result parses exactly as the data that was received; its structures are sorted by number.
    ///
    /// - Parameters:
    ///   - manufacturerData: by company, without the company ID.
    ///   - serviceData: by service, without the service's UUID.
    ///   - services: 128-bit service UUIDs that can be rolling identifiers.
    ///   - name: the sender's name; nil when there is none.
    ///   - power: the power at which the packet was sent, in dBm; nil when there is none.
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than an advertisement can carry.
    public init(
        manufacturerData: [CompanyID: [UInt8]] = [:], serviceData: [ServiceUUID: [UInt8]] = [:],
        services: [RollingUUID] = [], name: String? = nil, power: Int8? = nil
    ) throws(BeaconsError) {
        var structures: [AdvertisingStructure] = []
        for (company, value) in manufacturerData.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            structures.append(try .manufacturerData(company, value))
        }
        for (service, value) in serviceData.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            structures.append(try .serviceData(service, value))
        }
        if !services.isEmpty {
            structures.append(
                try AdvertisingStructure(type: .completeServices128, value: services.flatMap(\.sentBytes)))
        }
        if let name { structures.append(AdvertisingStructure(.completeName, short: Array(name.utf8.prefix(248)))) }
        if let power { structures.append(AdvertisingStructure(.transmitPower, short: [UInt8(bitPattern: power)])) }
        try self.init(structures, limit: .extended)
    }

    /// The structures up to the end, a length of 0 or the first damage.
    public var structures: [AdvertisingStructure] {
        withSpan { bytes in
            var cursor = StructureCursor()
            var structures: [AdvertisingStructure] = []
            while let (type, value) = cursor.next(in: bytes) {
                structures.append(AdvertisingStructure(StructureType(rawValue: type), short: Array(self.bytes[value])))
            }
            return structures
        }
    }

    /// The structure that runs past the end; nil when there is none.
    package var damage: Damage? {
        withSpan { bytes in
            var cursor = StructureCursor()
            while cursor.next(in: bytes) != nil {}
            return cursor.damage
        }
    }

    /// Passes the bytes as a span. `Array.span` would need macOS 26.
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(Span(_unsafeElements: $0)) }
    }
}
