/// The data of one advertisement: structures of length, type and value (dossier 1).
///
/// Reading is tolerant: a structure that runs past the end makes the rest invalid and leaves those before it.
public struct AdvertisingData: Sendable, Hashable {
    /// The bytes as they were received, or as they are to be sent.
    public let bytes: [UInt8]

    /// How much fits into one advertisement, in bytes.
    public struct Limit: Sendable, Hashable {
        public let count: Int

        /// Legacy advertising, which every beacon uses: 31 bytes.
        public static let legacy = Limit(count: 31)
        /// Extended advertising over all fragments: 1650 bytes.
        public static let extended = Limit(count: 1_650)
    }

    /// A structure whose length runs past the end of the data.
    public struct Damage: Sendable, Hashable {
        /// Where its length byte is.
        public let offset: Int
        /// How many bytes it says follow.
        public let length: Int
        /// How many do.
        public let available: Int
    }

    /// Takes what was received.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than any advertisement can carry.
    public init(received bytes: [UInt8]) throws(BeaconsError) {
        guard bytes.count <= Limit.extended.count else {
            throw .advertisingDataTooLong(count: bytes.count, limit: Limit.extended.count)
        }
        self.bytes = bytes
    }

    /// Puts structures together.
    ///
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` when they do not fit.
    public init(_ structures: [AdvertisingStructure], limit: Limit = .legacy) throws(BeaconsError) {
        bytes = structures.flatMap(\.bytes)
        guard bytes.count <= limit.count else {
            throw .advertisingDataTooLong(count: bytes.count, limit: limit.count)
        }
    }

    /// Puts together what a receiver hands over in parts, as BlueZ does (dossier 2.1, 7.2).
    ///
    /// The result is read exactly as the data that was on the air; the order of its structures is by number.
    ///
    /// - Parameters:
    ///   - manufacturerData: by company, without the company's number.
    ///   - serviceData: by service, without the service's UUID.
    /// - Throws: ``BeaconsError/advertisingDataTooLong(count:limit:)`` for more than any advertisement can carry.
    public init(
        manufacturerData: [CompanyID: [UInt8]], serviceData: [ServiceUUID: [UInt8]] = [:]
    ) throws(BeaconsError) {
        var structures: [AdvertisingStructure] = []
        for (company, value) in manufacturerData.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            structures.append(try .manufacturerData(company, value))
        }
        for (service, value) in serviceData.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            structures.append(try .serviceData(service, value))
        }
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

    /// The structure that runs past the end; nil when none does.
    public var damage: Damage? {
        withSpan { bytes in
            var cursor = StructureCursor()
            while cursor.next(in: bytes) != nil {}
            return cursor.damage
        }
    }

    /// Lends the bytes as a span. `Array.span` would need macOS 26.
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(Span(_unsafeElements: $0)) }
    }
}
