#if Sandbox
/// Percent-encoding of RFC 3986 and its form variant, in which `+` is a space.
package enum PercentCoding {
    /// Every byte but the unreserved ones becomes `%XX`.
    package static func encoded(_ text: some StringProtocol) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }

    /// `+` becomes a space and `%XX` a byte; a broken escape stays as it is.
    package static func formDecoded(_ text: some StringProtocol) -> String {
        formDecoded(text.utf8)
    }

    /// The same of bytes.
    static func formDecoded(_ bytes: some Sequence<UInt8>) -> String {
        decoded(bytes, plus: UInt8(ascii: " "))
    }

    /// `%XX` becomes a byte, as in a path; a broken escape stays as it is.
    static func pathDecoded(_ text: some StringProtocol) -> String {
        decoded(text.utf8, plus: UInt8(ascii: "+"))
    }

    private static func decoded(_ encoded: some Sequence<UInt8>, plus: UInt8) -> String {
        let source = Array(encoded)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = hexValue(source[index + 1]), let low = hexValue(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index] == UInt8(ascii: "+") ? plus : source[index])
                index += 1
            }
        }
        return String(streamSafe: bytes)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
#endif
