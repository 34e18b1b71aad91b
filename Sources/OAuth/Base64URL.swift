/// The URL- and filename-safe Base64 alphabet without padding. Source: RFC 4648, section 5; RFC 7515, section 2.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// By a character's code its six bits; 0xFF for every other character.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    /// Encodes bytes without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let (bytes, alphabet) = (Array(bytes), alphabet)
        var output = [UInt8](repeating: 0, count: (bytes.count * 8 + 5) / 6)
        var (pending, bits, end) = (UInt32(0), UInt32(0), 0)
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                output[end] = alphabet[Int(pending >> bits & 0x3F)]
                end += 1
            }
        }
        if bits > 0 { output[end] = alphabet[Int(pending << (6 - bits) & 0x3F)] }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes strictly. It accepts no padding, no white space, no other alphabet, and no stray bits behind the last
    /// byte.
    ///
    /// - Returns: the bytes, or nil when `text` is not the one encoding of any byte string.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    /// Decodes strictly, from the characters' codes.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        // No character stands alone.
        guard text.count % 4 != 1 else { return nil }
        let values = values
        let rest = text.count % 4
        var output = [UInt8](repeating: 0, count: text.count / 4 * 3 + max(0, rest - 1))
        var (start, end) = (text.startIndex, 0)
        while start + 4 <= text.endIndex {
            let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
            let (c, d) = (values[Int(text[start + 2])], values[Int(text[start + 3])])
            guard a | b | c | d < 64 else { return nil }
            output[end] = a << 2 | b >> 4
            output[end + 1] = b << 4 | c >> 2
            output[end + 2] = c << 6 | d
            start += 4
            end += 3
        }
        guard rest > 0 else { return output }
        let last = text[start...].map { values[Int($0)] } + [0]
        let (a, b, c) = (last[0], last[1], last[2])
        guard a | b | c < 64 else { return nil }
        output[end] = a << 2 | b >> 4
        if rest == 3 { output[end + 1] = b << 4 | c >> 2 }
        // The last character's other bits are 0.
        return (rest == 3 ? c & 0x03 : b & 0x0F) == 0 ? output : nil
    }
}
