/// The name of a record's file: the keyed digest of its ``VaultKey``.
///
/// Without the vault's master key it tells nothing about the record.
package struct RecordName: Sendable {
    /// The digest's bytes, or the first ones.
    package let bytes: [UInt8]
    /// The same as hexadecimal digits, lower case: 64 of them, or fewer.
    package let text: String

    /// Makes a name from a digest of 32 bytes, or from its first ones.
    package init(digest: some Sequence<UInt8>) {
        bytes = Array(digest)
        text = Hexadecimal.text(of: bytes)
    }

    /// Reads a file's name; nil when it is not a record's.
    init?(_ text: String) {
        guard text.utf8.count == 2 * Self.length, let bytes = Hexadecimal.bytes(of: text) else { return nil }
        (self.bytes, self.text) = (bytes, text)
    }

    /// How many bytes a name has.
    private static let length = 32
    /// How many bytes of the digest a short name has.
    package static let shortLength = 16

    /// Whether this is the name of a digest, or its first 16 bytes.
    func matches(_ digest: some Sequence<UInt8>) -> Bool {
        [Self.length, Self.shortLength].contains(bytes.count) && digest.starts(with: bytes)
    }

    /// The folder that the record lies in, one of 256.
    var shard: String { String(text.prefix(2)) }

    /// The byte of the lock file that stands for the record: the digest's first 62 bits.
    ///
    /// Two records with the same bits, one pair in four billion billion, only wait for each other.
    package var lock: Int64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) } >> 2 & (1 << 62 - 1)
    }
}

extension RecordName: Hashable {
    package static func == (left: RecordName, right: RecordName) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
