/// The sender's 48-bit Bluetooth address. Phones change theirs every few minutes, so it identifies no device for long
/// (dossier 2.3).
public struct DeviceAddress: Sendable, Hashable {
    /// How a device came to its address.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Given by the maker, for ever.
        case `public`
        /// Drawn by the device. It can still be the same for years.
        case random
    }

    /// The 48 bits as printed, the first pair most significant.
    public let number: UInt64

    /// Takes the lowest 48 bits.
    public init(truncating number: UInt64) {
        self.number = number & 0xFFFF_FFFF_FFFF
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Parses six pairs of hexadecimal digits separated by colons. Nil for anything else.
    public init?(_ text: String) {
        let characters = Array(text.utf8.prefix(18))
        guard characters.count == 17, stride(from: 2, to: 17, by: 3).allSatisfy({ characters[$0] == UInt8(ascii: ":") })
        else { return nil }
        let digits = characters.indices.filter { $0 % 3 != 2 }.map { characters[$0] }
        guard let bytes = Hexadecimal.decode(digits) else { return nil }
        self.init(truncating: UInt64(bigEndianBytes: bytes))
    }

    /// Six pairs of upper-case digits with colons, as BlueZ prints them.
    public var description: String {
        number.bigEndianBytes.dropFirst(2).map { Hexadecimal.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
