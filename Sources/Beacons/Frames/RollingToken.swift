/// A rolling identifier as it is on the air: 16 bytes that mean something to whoever has the day's key, and nothing to
/// anybody else (dossier 8.4).
public struct RollingToken: Sendable, Hashable, Codable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The 16 bytes.
    public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// The first four bytes, for an iBeacon's major and minor; nil when its minor would be 0, which means "nobody":
    /// nothing is sent in such a window.
    public var short: ShortRollingToken? {
        ShortRollingToken(major: UInt16(truncatingIfNeeded: high >> 48), minor: UInt16(truncatingIfNeeded: high >> 32))
    }

    /// The service data that is sent, 20 bytes.
    public func structure(for service: ServiceUUID) -> AdvertisingStructure {
        AdvertisingStructure(.serviceData, short: service.rawValue.littleEndianBytes + bytes)
    }

    /// Bytes behind the service's UUID.
    static let length = 16

    /// Reads ``length`` bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        self.init(high: bytes.bigEndian(at: offset), low: bytes.bigEndian(at: offset + 8))
    }
}

extension RollingToken: CustomStringConvertible {
    public var description: String { Hexadecimal.encode(bytes) }
}
