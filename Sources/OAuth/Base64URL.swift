/// The URL- and filename-safe Base64 alphabet without padding. Source: RFC 4648, section 5; RFC 7515, section 2.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    /// Encodes bytes without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        var pending: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                output.append(alphabet[Int(pending >> UInt32(bits) & 0x3F)])
            }
        }
        if bits > 0 { output.append(alphabet[Int(pending << UInt32(6 - bits) & 0x3F)]) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes strictly. It accepts no padding, no white space, no other alphabet, and no stray bits behind the last
    /// byte.
    ///
    /// - Returns: the bytes, or nil when `text` is not the one encoding of any byte string.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for character in text.utf8 {
            let value = values[Int(character)]
            guard value != 0xFF else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
                pending &= (1 << UInt32(bits)) - 1
            }
        }
        guard bits < 6, pending == 0 else { return nil }
        return output
    }
}
