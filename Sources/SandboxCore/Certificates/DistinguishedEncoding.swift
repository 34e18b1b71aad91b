#if Sandbox
/// As much of DER (X.690) as certificates need.
enum DistinguishedEncoding {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8 & 0xFF), UInt8(content.count & 0xFF)]
            }
        return [tag] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }
    static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + content) }
    static func identifier(_ content: [UInt8]) -> [UInt8] { value(0x06, content) }

    /// A name of one common name (RFC 5280 section 4.1.2.4).
    static func name(_ commonName: String) -> [UInt8] {
        sequence(value(0x31, sequence(identifier([0x55, 0x04, 0x03]), value(0x0C, Array(commonName.utf8)))))
    }

    /// Reads one value.
    ///
    /// - Returns: its tag, its content and all its bytes; nil at the end, or where there is none in the definite form.
    static func read(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>, whole: [UInt8])? {
        let (all, begin) = (bytes, bytes.startIndex)
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            length = 0
            guard (0x81...0x83).contains(first) else { return nil }
            for _ in 0..<(first - 0x80) {
                guard let byte = bytes.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard bytes.count >= length else { return nil }
        let content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return (tag, content, Array(all[begin..<content.endIndex]))
    }
}
#endif
