#if Sandbox
/// Unguessable text for codes, tokens and session ids, from the system's secure generator.
package enum RandomText {
    /// Lower-case hexadecimal digits, two a byte.
    static func hex(bytes count: Int) -> String {
        (0..<count).map { _ in
            let digits = String(UInt8.random(in: .min ... .max), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Base64 with the URL alphabet and no padding (RFC 4648 section 5).
    package static func base64URL(bytes count: Int) -> String {
        URLSafeBase64.encoded((0..<count).map { _ in UInt8.random(in: .min ... .max) })
    }
}
#endif
