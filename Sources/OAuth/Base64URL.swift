/// The URL- and filename-safe Base64 alphabet without padding. Source: RFC 4648, section 5; RFC 7515, section 2.
public enum Base64URL {
    private static let alphabet = ContiguousArray(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// By a character's code its six bits; 0xFF for every other character.
    private static let values: ContiguousArray<UInt8> = {
        var table = ContiguousArray<UInt8>(repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    /// Encodes bytes without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        append(Array(bytes), to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Adds the characters of bytes.
    static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        let end = output.count
        output.append(contentsOf: repeatElement(0, count: (bytes.count * 8 + 5) / 6))
        let slice = bytes[...]
        output.withUnsafeMutableBufferPointer { write(slice.span, to: $0.mutableSpan, from: end) }
    }

    private static func write(_ bytes: Span<UInt8>, to output: consuming MutableSpan<UInt8>, from first: Int) {
        let characters = alphabet
        let alphabet = characters.span
        var (start, end) = (0, first)
        while start + 3 <= bytes.count {
            let (a, b, c) = (bytes[start], bytes[start + 1], bytes[start + 2])
            output[end] = alphabet[Int(a >> 2)]
            output[end + 1] = alphabet[Int((a << 4 | b >> 4) & 0x3F)]
            output[end + 2] = alphabet[Int((b << 2 | c >> 6) & 0x3F)]
            output[end + 3] = alphabet[Int(c & 0x3F)]
            start += 3
            end += 4
        }
        let rest = bytes.count - start
        guard rest > 0 else { return }
        let (a, b) = (bytes[start], rest == 2 ? bytes[start + 1] : 0)
        output[end] = alphabet[Int(a >> 2)]
        output[end + 1] = alphabet[Int((a << 4 | b >> 4) & 0x3F)]
        if rest == 2 { output[end + 2] = alphabet[Int(b << 2 & 0x3F)] }
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
        let rest = text.count % 4
        // No character stands alone.
        guard rest != 1 else { return nil }
        let count = text.count / 4 * 3 + max(0, rest - 1)
        var isEncoding = false
        let output = [UInt8](unsafeUninitializedCapacity: count) { output, length in
            isEncoding = text.withUnsafeBufferPointer { text in
                values.withUnsafeBufferPointer { read(text, by: $0, to: output) }
            }
            length = isEncoding ? count : 0
        }
        return isEncoding ? output : nil
    }

    /// Decodes a text, and returns whether it is the only encoding of its bytes; otherwise the output means nothing.
    ///
    /// Indices are not checked: `values` has one value for each byte, `text` is read below its count, and `output` has room for
    /// three bytes of every four characters, one of two that are left over, and two of three.
    private static func read(
        _ text: UnsafeBufferPointer<UInt8>, by values: UnsafeBufferPointer<UInt8>,
        to output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard let base = output.baseAddress else { return true }
        func value(_ index: Int) -> UInt8 { values[Int(text[index])] }
        var all: UInt8 = 0
        var (start, end) = (0, 0)
        // Eight characters are six bytes, which are written with two more that the next ones replace.
        while start + 8 <= text.count, end + 8 <= output.count {
            var bits: UInt64 = 0
            for index in start..<(start + 8) {
                all |= value(index)
                bits = bits << 6 | UInt64(value(index))
            }
            UnsafeMutableRawPointer(base + end).storeBytes(of: (bits << 16).bigEndian, as: UInt64.self)
            start += 8
            end += 6
        }
        while start + 4 <= text.count {
            let (a, b, c, d) = (value(start), value(start + 1), value(start + 2), value(start + 3))
            all |= a | b | c | d
            output[end] = a << 2 | b >> 4
            output[end + 1] = b << 4 | c >> 2
            output[end + 2] = c << 6 | d
            start += 4
            end += 3
        }
        let rest = text.count - start
        guard rest > 0 else { return all < 64 }
        let (a, b, c) = (value(start), value(start + 1), rest == 3 ? value(start + 2) : 0)
        output[end] = a << 2 | b >> 4
        if rest == 3 { output[end + 1] = b << 4 | c >> 2 }
        // The last character's other bits are 0.
        return all | a | b | c < 64 && (rest == 3 ? c & 0x03 : b & 0x0F) == 0
    }
}
