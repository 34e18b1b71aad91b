import OAuth

/// The encoding of queries at IFTTT (dossier 3.4 and 12).
///
/// What RFC 3986 allows in a query stays as it is, also `:`, `/`, `@` and `?`; what divides items (`&`, `=`, `;`) and what a
/// reader may take for a space (`+`) is encoded, and so is all the rest.
enum QueryEncoding {
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// One byte of each that stays as it is.
    private static let isKept: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for byte in UInt8.min...UInt8.max where PercentEncoding.isUnreserved(byte) { table[Int(byte)] = true }
        for byte in "!$'()*,:@/?".utf8 { table[Int(byte)] = true }
        return table
    }()

    /// Appends a name or a value.
    static func append(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            if isKept[Int(byte)] {
                output.append(byte)
            } else {
                output.append(0x25)
                output.append(hexadecimal[Int(byte >> 4)])
                output.append(hexadecimal[Int(byte & 0xF)])
            }
        }
    }

    /// An address with items behind it, in this order; behind its own query when it has one.
    static func address(_ base: String, items: [(name: String, value: String)]) -> String {
        guard !items.isEmpty else { return base }
        var output = Array(base.utf8)
        var separator = output.contains(0x3F) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        if let last = output.last, last == 0x3F || last == 0x26 { separator = 0 }
        for (name, value) in items {
            if separator != 0 { output.append(separator) }
            append(name, to: &output)
            output.append(UInt8(ascii: "="))
            append(value, to: &output)
            separator = UInt8(ascii: "&")
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// A name or value as it was before it was encoded; nil when an escape is broken, the bytes are not UTF-8, or a
    /// control character comes out.
    ///
    /// A `+` stays one: no value that IFTTT sends has a space, and a token may have a plus.
    static func decode(_ bytes: Substring.UTF8View) -> String? {
        guard bytes.contains(0x2B) else { return PercentEncoding.decodeForm(bytes) }
        return PercentEncoding.decodeForm(bytes.flatMap { $0 == 0x2B ? Array("%2B".utf8) : [$0] })
    }

    /// A text with its bytes outside ASCII percent-encoded.
    static func encodingNonASCII(_ text: String) -> String {
        var output: [UInt8] = []
        for byte in text.utf8 {
            if byte < 0x80 {
                output.append(byte)
            } else {
                output += [0x25, hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 0xF)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
