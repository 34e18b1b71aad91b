/// The number of a person in a directory, as it is sent in a beacon's major and minor (dossier 2.4).
public struct UserNumber: Sendable, Hashable, Comparable {
    /// From 1 to 2³¹ − 1.
    public let value: Int

    /// - Throws: ``BeaconsError/userNumber(_:most:)`` for 0, negative numbers and those beyond 31 bits.
    public init(_ value: Int) throws(BeaconsError) {
        guard (1...Scheme.wide.most).contains(value) else { throw .userNumber(value, most: Scheme.wide.most) }
        self.value = value
    }

    /// How numbers become major and minor.
    public enum Scheme: String, Sendable, Hashable, Codable, CaseIterable {
        /// SecretHandshake's own: major 1 and the number as minor. Carries 1 to 65535.
        case secretHandshake = "v0"
        /// The highest bit of the major is set, and the rest of both is the number. Reads the other scheme as well.
        case wide = "v1"

        /// The largest number that the scheme carries.
        public var most: Int { self == .secretHandshake ? 0xFFFF : 0x7FFF_FFFF }
    }

    /// Reads a number; nil for the number 0, which names nobody.
    ///
    /// - Parameters:
    ///   - major: ignored by the scheme of SecretHandshake.
    ///   - minor: the number, or its lower half.
    ///   - scheme: how to read them.
    public init?(major: UInt16, minor: UInt16, scheme: Scheme) {
        let isWide = scheme == .wide && major & 0x8000 != 0
        value = isWide ? Int(major & 0x7FFF) << 16 | Int(minor) : Int(minor)
        guard value > 0 else { return nil }
    }

    /// The identifiers that say this number.
    ///
    /// - Throws: ``BeaconsError/userNumber(_:most:)`` when the scheme cannot carry it; cut off, it would point at somebody else.
    public func identifiers(_ scheme: Scheme) throws(BeaconsError) -> (major: UInt16, minor: UInt16) {
        guard value <= scheme.most else { throw .userNumber(value, most: scheme.most) }
        let minor = UInt16(truncatingIfNeeded: value)
        return (scheme == .wide ? 0x8000 | UInt16(truncatingIfNeeded: value >> 16) : 1, minor)
    }

    public static func < (left: UserNumber, right: UserNumber) -> Bool { left.value < right.value }
}

extension UserNumber: Codable {
    /// Reads the plain number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(Int.self))
        } catch let error as BeaconsError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes the plain number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension UserNumber: CustomStringConvertible {
    public var description: String { "\(value)" }
}
