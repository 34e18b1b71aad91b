import OAuth

/// IFTTT's query encoding (dossier 3.4 and 12).
///
/// Characters that RFC 3986 allows in a query stay unencoded, including `:`, `/`, `@` and `?`; separators (`&`, `=`, `;`), `+`,
/// which some readers decode as a space, and all others are encoded.
enum QueryEncoding {
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// For each byte, whether it stays unencoded.
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

    /// Appends items in order to a URL, after its own query if it has one.
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

    /// Decodes a name or value; nil when an escape is broken, the bytes are not UTF-8, or the result has a control
    /// character.
    ///
    /// A `+` stays: no value of IFTTT has a space, and a token may have a plus.
    static func decode(_ bytes: Substring.UTF8View) -> String? {
        guard bytes.contains(0x2B) else { return PercentEncoding.decodeForm(bytes) }
        return PercentEncoding.decodeForm(bytes.flatMap { $0 == 0x2B ? Array("%2B".utf8) : [$0] })
    }

    /// A text with non-ASCII bytes percent-encoded.
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
