#if Sandbox
extension String {
    /// Text from outside in Stream-Safe Text Format (Unicode Standard Annex #15, section 13).
    ///
    /// A run of more than 30 combining marks is broken up by U+034F, because comparing and hashing text takes quadratic
    /// time in such a run. All other text stays as it is; bytes that are not UTF-8 become U+FFFD.
    package init(streamSafe bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            self = text
            return
        }
        var safe = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isMark ? marks + 1 : 0
            if marks > Self.maximumRunLength {
                safe.append(Self.joiner)
                marks = 1
            }
            safe.append(scalar)
        }
        self = String(safe)
    }

    private static let maximumRunLength = 30
    /// The combining grapheme joiner, which has combining class 0 and is not shown.
    private static let joiner: Unicode.Scalar = "\u{34F}"
}
#endif
