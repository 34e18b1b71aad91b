/// A rolling identifier as sent: 16 bytes (dossier 8.4). Only a holder of the day key can resolve them.
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

    /// The first four bytes, for an iBeacon's major and minor. Nil when the minor would be 0, which identifies no user:
    /// nothing is sent in such a window.
    package var short: ShortRollingToken? {
        ShortRollingToken(major: UInt16(truncatingIfNeeded: high >> 48), minor: UInt16(truncatingIfNeeded: high >> 32))
    }

    /// The service data, 20 bytes.
    public func structure(for service: ServiceUUID) -> AdvertisingStructure {
        AdvertisingStructure(.serviceData, short: service.rawValue.littleEndianBytes + bytes)
    }

    /// Bytes after the service UUID.
    static let length = 16

    /// Reads ``length`` bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        self.init(high: bytes.bigEndian(at: offset), low: bytes.bigEndian(at: offset + 8))
    }
}

extension RollingToken: CustomStringConvertible {
    public var description: String { Hexadecimal.encode(bytes) }
}
