/// A rolling identifier as a 128-bit service UUID (circles dossier 2).
///
/// Every platform can send and receive it. Its version and variant bits are those of a random UUID (RFC 9562, version 4), so that it does not stand out. 122 bits of
/// the identifier remain.
public struct RollingUUID: Sendable, Hashable, Codable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// The service UUID of an identifier.
    public init(_ token: RollingToken) {
        high = token.high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = token.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Takes a UUID; nil unless its version is 4 and its variant that of RFC 9562.
    public init?(high: UInt64, low: UInt64) {
        guard high & 0xF000 == 0x4000, low >> 62 == 0b10 else { return nil }
        self.high = high
        self.low = low
    }

    /// The 16 bytes as sent: least significant first.
    package var sentBytes: [UInt8] { low.littleEndianBytes + high.littleEndianBytes }

    /// The length in bytes.
    static let length = 16

    /// Reads the 16 bytes as sent.
    init?(sent bytes: Span<UInt8>, at offset: Int) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            low |= UInt64(bytes[offset + index]) << UInt64(8 * index)
            high |= UInt64(bytes[offset + 8 + index]) << UInt64(8 * index)
        }
        self.init(high: high, low: low)
    }
}

extension RollingUUID: LosslessStringConvertible {
    /// Parses a UUID in either case, as BlueZ and Core Bluetooth print it. Nil for one that no rolling identifier has.
    public init?(_ text: String) {
        guard let uuid = ProximityUUID(text) else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }

    /// As RFC 9562 prints it: lower case, with hyphens.
    public var description: String { ProximityUUID(high: high, low: low).description }
}
