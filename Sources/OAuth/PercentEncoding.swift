/// Percent-encoding of RFC 3986 and the form encoding that RFC 6749, appendix B builds on it.
package enum PercentEncoding {
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// `ALPHA / DIGIT / "-" / "." / "_" / "~"` (RFC 3986, section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// For a query: all but the unreserved characters is encoded, a space as `%20`, which every decoder reads.
    package static func query(_ text: String) -> String {
        encode(text, keeping: isUnreserved, space: nil)
    }

    /// `application/x-www-form-urlencoded`: a space is `+`, and `*` stays (RFC 6749, appendix B).
    package static func form(_ text: String) -> String {
        encode(text, keeping: { $0 == 0x2A || ($0 != 0x7E && isUnreserved($0)) }, space: 0x2B)
    }

    private static func encode(_ text: String, keeping keep: (UInt8) -> Bool, space: UInt8?) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if keep(byte) {
                output.append(byte)
            } else if byte == 0x20, let space {
                output.append(space)
            } else {
                output += [0x25, hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 0xF)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes one name or value of a form or query: `+` is a space, every `%` must have two hexadecimal digits.
    ///
    /// - Returns: nil when an escape is broken, the bytes are not UTF-8, or a control character comes out.
    package static func decodeForm(_ bytes: some Collection<UInt8>) -> String? {
        // Most values are as they are: tokens, words and numbers.
        if bytes.allSatisfy({ $0 > 0x2B && $0 < 0x7F }) { return String(decoding: bytes, as: UTF8.self) }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while var byte = iterator.next() {
            if byte == 0x2B {
                byte = 0x20
            } else if byte == 0x25 {
                guard let high = iterator.next().flatMap(hexadecimalValue),
                    let low = iterator.next().flatMap(hexadecimalValue)
                else { return nil }
                byte = high << 4 | low
            }
            guard byte >= 0x20, byte != 0x7F else { return nil }
            output.append(byte)
        }
        return String(validating: output, as: UTF8.self)
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
