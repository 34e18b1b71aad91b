/// Reads the elements of a DER structure one after the other (X.690).
///
/// Enough to tell what kind of key a file holds. The keys themselves are read by swift-crypto where it has a reader.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    /// The tags of the elements that keys are made of.
    enum Tag: UInt8 {
        case integer = 0x02
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
        /// The first optional element of an EC key (RFC 5915, section 3).
        case parameters = 0xA0
    }

    init(_ bytes: some Sequence<UInt8>) {
        rest = Array(bytes)[...]
    }

    /// The content of the next element, which has to be of this kind; nil for another one, a broken one or none.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag.rawValue, let length = length(), length <= rest.count else { return nil }
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return content
    }

    /// A length in its short form, or in up to three bytes.
    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...3).contains(count), rest.count >= count else { return nil }
        let digits = rest.prefix(count)
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }
}
