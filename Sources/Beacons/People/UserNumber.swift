/// A person's number in a directory (dossier 2.4). It is sent as a beacon's major and minor.
public struct UserNumber: Sendable, Hashable, Comparable {
    /// From 1 to 2³¹ − 1.
    public let value: Int

    /// Creates a user number.
    ///
    /// - Throws: ``BeaconsError/userNumber(_:maximum:)`` for 0, negative numbers and those beyond 31 bits.
    public init(_ value: Int) throws(BeaconsError) {
        guard (1...Scheme.wide.maximum).contains(value) else { throw .userNumber(value, maximum: Scheme.wide.maximum) }
        self.value = value
    }

    /// How numbers map to major and minor.
    public enum Scheme: String, Sendable, Hashable, Codable, CaseIterable {
        /// SecretHandshake's scheme: major 1 and the number as minor. Encodes 1 to 65535.
        case secretHandshake = "v0"
        /// The highest bit of the major is set, and the other 31 bits are the number. Also reads the other scheme.
        case wide = "v1"

        /// The largest number of the scheme.
        public var maximum: Int { self == .secretHandshake ? 0xFFFF : 0x7FFF_FFFF }
    }

    /// Decodes a number; nil for 0, which is no user's number.
    ///
    /// - Parameters:
    ///   - major: ignored by the scheme of SecretHandshake.
    ///   - minor: the number, or its lower half.
    ///   - scheme: how they are encoded.
    public init?(major: UInt16, minor: UInt16, scheme: Scheme) {
        let isWide = scheme == .wide && major & 0x8000 != 0
        value = isWide ? Int(major & 0x7FFF) << 16 | Int(minor) : Int(minor)
        guard value > 0 else { return nil }
    }

    /// The major and minor of this number.
    ///
    /// - Throws: ``BeaconsError/userNumber(_:maximum:)`` when the scheme cannot encode it; truncated, it would be another user's.
    public func identifiers(_ scheme: Scheme) throws(BeaconsError) -> (major: UInt16, minor: UInt16) {
        guard value <= scheme.maximum else { throw .userNumber(value, maximum: scheme.maximum) }
        let minor = UInt16(truncatingIfNeeded: value)
        return (scheme == .wide ? 0x8000 | UInt16(truncatingIfNeeded: value >> 16) : 1, minor)
    }

    public static func < (left: UserNumber, right: UserNumber) -> Bool { left.value < right.value }
}

extension UserNumber: Codable {
    /// Decodes an integer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(Int.self))
        } catch let error as BeaconsError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes an integer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension UserNumber: CustomStringConvertible {
    public var description: String { "\(value)" }
}
