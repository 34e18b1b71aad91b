/// The 16 bytes that identify a fleet of beacons (dossier 2.1). They are sent in printed order.
public struct ProximityUUID: Sendable, Hashable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// SecretHandshake's UUID (dossier 2.2).
    public static let secretHandshake = ProximityUUID(high: 0x3ee7_61a0_f737_11e3, low: 0xa3ac_0800_200c_9a66)

    /// The 16 bytes in printed order.
    public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

extension ProximityUUID: LosslessStringConvertible {
    /// Parses 32 hexadecimal digits with or without hyphens, in either case. Nil for anything else.
    ///
    /// Hyphens are accepted only at a UUID's positions (RFC 9562, section 4).
    public init?(_ text: String) {
        var characters = Array(text.utf8.prefix(37))
        if characters.count == 36 {
            let places = [8, 13, 18, 23]
            guard places.allSatisfy({ characters[$0] == UInt8(ascii: "-") }) else { return nil }
            for place in places.reversed() { characters.remove(at: place) }
        }
        guard characters.count == 32, let bytes = Hexadecimal.decode(characters) else { return nil }
        self.init(high: UInt64(bigEndianBytes: bytes[..<8]), low: UInt64(bigEndianBytes: bytes[8...]))
    }

    /// As RFC 9562 prints it: lower case, with hyphens.
    public var description: String {
        let digits = Array(Hexadecimal.encode(bytes))
        return [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }
}

extension ProximityUUID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let uuid = ProximityUUID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = uuid
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
