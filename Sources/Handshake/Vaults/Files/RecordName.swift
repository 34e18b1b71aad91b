/// The name of a record's file: the keyed digest of its ``VaultKey``.
///
/// Without the vault's master key it tells nothing about the record.
package struct RecordName: Hashable, Sendable {
    /// 64 hexadecimal digits, lower case.
    package let text: String

    /// Makes a name from a digest of 32 bytes.
    package init(digest: some Sequence<UInt8>) {
        text = Hexadecimal.text(of: digest)
    }

    /// Reads a file's name; nil when it is not a record's.
    init?(_ text: String) {
        guard text.utf8.count == 64, Hexadecimal.bytes(of: text) != nil else { return nil }
        self.text = text
    }

    /// How many bytes of the digest a short name has.
    package static let shortLength = 16

    /// Whether this is a name, or its first 16 bytes.
    func matches(_ name: RecordName) -> Bool {
        self == name || text.utf8.count == 2 * Self.shortLength && name.text.hasPrefix(text)
    }

    /// The digest's bytes.
    package var bytes: [UInt8] { Hexadecimal.bytes(of: text) ?? [] }

    /// The folder that the record lies in, one of 256.
    var shard: String { String(text.prefix(2)) }

    /// The byte of the lock file that stands for the record: the digest's first 62 bits.
    ///
    /// Two records with the same bits, one pair in four billion billion, only wait for each other.
    package var lock: Int64 {
        text.utf8.prefix(16).reduce(0) { $0 << 4 | Int64(Hexadecimal.value(of: $1) ?? 0) & 0xF } >> 2 & (1 << 62 - 1)
    }
}
