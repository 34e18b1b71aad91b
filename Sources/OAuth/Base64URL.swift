/// The URL- and filename-safe Base64 alphabet without padding. Source: RFC 4648, section 5; RFC 7515, section 2.
public enum Base64URL {
    private static let alphabet = ContiguousArray(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// What a character adds to the three bytes of its group of four, by its place in the group and its code: 256 codes for each
    /// place. The first byte is the least significant one. The fourth is 0 for a character of the alphabet, and 0xFF for any other.
    private static let values: ContiguousArray<UInt32> = {
        var table = ContiguousArray<UInt32>(repeating: 0xFF00_0000, count: 4 * 256)
        for place in 0..<4 {
            for (value, character) in alphabet.enumerated() {
                table[place * 256 + Int(character)] = (UInt32(value) << UInt32(26 - 6 * place)).byteSwapped
            }
        }
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
    /// Indices are not checked: `values` has four values for each byte, `text` is read below its count, and `output` has room for
    /// three bytes of every four characters, one of two that are left over, and two of three.
    private static func read(
        _ text: UnsafeBufferPointer<UInt8>, by values: UnsafeBufferPointer<UInt32>,
        to output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard let base = output.baseAddress else { return true }
        func bytes(_ index: Int, _ place: Int) -> UInt32 { values[place * 256 + Int(text[index &+ place])] }
        var all: UInt32 = 0
        var (start, end) = (0, 0)
        // Three bytes are written with a fourth, which the next ones replace.
        for _ in 0..<max(0, (output.count - 1) / 3) {
            let three = bytes(start, 0) | bytes(start, 1) | bytes(start, 2) | bytes(start, 3)
            all |= three
            UnsafeMutableRawPointer(base + end).storeBytes(of: three.littleEndian, as: UInt32.self)
            start &+= 4
            end &+= 3
        }
        all >>= 24
        while start < text.count {
            let count = min(4, text.count - start)
            var group = (0..<count).reduce(0) { $0 | bytes(start, $1) }
            for _ in 1..<count {
                output[end] = UInt8(truncatingIfNeeded: group)
                group >>= 8
                end += 1
            }
            // The last character's other bits are 0.
            all |= group
            start += count
        }
        return all == 0
    }
}
