/// The text of a pairing code (circles dossier 5): `HANDSHAKE:PAIR1/…`.
///
/// A QR code holds it in its alphanumeric mode.
public struct PairingCode: Sendable, Hashable {
    /// Where the device that shows the code listens, for as long as it is shown.
    public enum Address: Sendable, Hashable {
        case ipv4([UInt8], port: UInt16)
        case ipv6([UInt8], port: UInt16)
    }

    /// The message M1, 49 bytes.
    public let offer: [UInt8]
    public let address: Address?

    private static let prefix = "HANDSHAKE:PAIR1/"
    private static let offerLength = 49

    init(offer: [UInt8], address: Address? = nil) {
        self.offer = offer
        self.address = address
    }

    /// The same code with the address to connect to.
    public func at(_ address: Address) -> PairingCode { PairingCode(offer: offer, address: address) }

    /// The text.
    public var text: String {
        Self.prefix + Base32.encode(offer) + (address.map { "." + Base32.encode(Self.bytes($0)) } ?? "")
    }

    /// Parses a text, in either case, with spaces around it.
    ///
    /// - Throws: ``CircleError/malformed(_:)``.
    public init(_ text: String) throws(CircleError) {
        let trimmed = text.utf8.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        guard trimmed.count <= 200 else { throw .malformed(.pairingCode) }
        let plain = String(decoding: trimmed, as: UTF8.self).uppercased()
        guard plain.hasPrefix(Self.prefix) else { throw .malformed(.pairingCode) }
        let parts = plain.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let offer = Base32.decode(parts[0]), offer.count == Self.offerLength, offer[0] == 1
        else { throw .malformed(.pairingCode) }
        self.offer = offer
        guard parts.count == 2 else {
            address = nil
            return
        }
        guard let bytes = Base32.decode(parts[1]), let address = Self.address(bytes) else {
            throw .malformed(.pairingCode)
        }
        self.address = address
    }

    private static func bytes(_ address: Address) -> [UInt8] {
        switch address {
        case .ipv4(let bytes, let port): [1] + bytes + port.bytes
        case .ipv6(let bytes, let port): [2] + bytes + port.bytes
        }
    }

    private static func address(_ bytes: [UInt8]) -> Address? {
        var reader = ByteReader(bytes)
        let kind = reader.number(UInt8.self)
        guard kind == 1 || kind == 2, let host = reader.bytes(kind == 1 ? 4 : 16),
            let port = reader.number(UInt16.self), port != 0, reader.rest == 0
        else { return nil }
        return kind == 1 ? .ipv4(host, port: port) : .ipv6(host, port: port)
    }
}

/// Base 32 without padding (RFC 4648, section 6).
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(buffer >> UInt32(bits) & 31)])
            }
            buffer &= 1 << UInt32(bits) - 1
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt32(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for other characters, and for bits left over that are not zero.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
            default: return nil
            }
            buffer = buffer << 5 | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
                buffer &= 1 << UInt32(bits) - 1
            }
        }
        return bits < 5 && buffer == 0 ? bytes : nil
    }
}
