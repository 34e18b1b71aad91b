/// The two parts of an Eddystone UID.
public struct EddystoneUID: Sendable, Hashable, Codable {
    /// Ten bytes that identify a fleet.
    public let namespace: Namespace
    /// Six bytes that identify a beacon in it, in the lowest 48 bits.
    public let instance: UInt64

    /// Takes the lowest 48 bits of `instance`.
    public init(namespace: Namespace, truncatingInstance instance: UInt64) {
        self.namespace = namespace
        self.instance = instance & 0xFFFF_FFFF_FFFF
    }

    /// Ten bytes that identify a fleet.
    public struct Namespace: Sendable, Hashable, Codable {
        /// The first eight bytes.
        public let high: UInt64
        /// The last two.
        public let low: UInt16

        public init(high: UInt64, low: UInt16) {
            self.high = high
            self.low = low
        }

        /// A UUID without its bytes 5 to 10, counted from 1 (dossier 4).
        public init(shortening uuid: ProximityUUID) {
            high = uuid.high & 0xFFFF_FFFF_0000_0000 | (uuid.low >> 16) & 0xFFFF_FFFF
            low = UInt16(truncatingIfNeeded: uuid.low)
        }

        /// The ten bytes.
        public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
    }

    /// Reads 16 bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        namespace = Namespace(high: bytes.bigEndian(at: offset), low: bytes.bigEndian(at: offset + 8))
        instance = bytes.bigEndian(at: offset + 10, count: 6)
    }

    /// The advertising structures: the service list and the service data. The service data ends with two reserved
    /// bytes.
    ///
    /// - Parameter power: dBm at 0 m.
    public func structures(power: Int8) -> [AdvertisingStructure] {
        let body = [0x00, UInt8(bitPattern: power)] + namespace.bytes + instance.bigEndianBytes.dropFirst(2) + [0, 0]
        return AdvertisingStructure.eddystone(body)
    }
}
