/// A URL in Eddystone's compressed form: a scheme and 1 to 17 bytes (dossier 4).
///
/// An untrusted sender chose it. It is printable ASCII, and nothing else is known of it.
public struct EddystoneURL: Sendable, Hashable {
    // The bytes are stored in integers instead of an array, so that parsing allocates no memory.
    private let scheme: UInt8
    private let count: UInt8
    private let words: (UInt64, UInt64, UInt8)

    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    private static let maximumLength = 17
    private static let domains = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]
    private static let expansions = domains.map { $0 + "/" } + domains

    /// Reads a scheme and an encoded URL; nil when the length or a byte is invalid.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        let count = range.count - 1
        guard (1...Self.maximumLength).contains(count), bytes[range.lowerBound] < 4 else { return nil }
        var words: (UInt64, UInt64, UInt8) = (0, 0, 0)
        for place in 0..<count {
            let byte = bytes[range.lowerBound + 1 + place]
            guard byte < 0x0E || (0x21...0x7E).contains(byte) else { return nil }
            switch place {
            case 0..<8: words.0 |= UInt64(byte) << UInt64(8 * place)
            case 8..<16: words.1 |= UInt64(byte) << UInt64(8 * (place - 8))
            default: words.2 = byte
            }
        }
        scheme = bytes[range.lowerBound]
        self.count = UInt8(count)
        self.words = words
    }

    /// Compresses a URL.
    ///
    /// - Throws: ``BeaconsError/input(member:problem:)`` when it does not begin with `http://` or `https://`, contains anything
    ///   but printable ASCII, or takes more than 17 bytes.
    public init(_ address: String) throws(BeaconsError) {
        let candidates = Self.schemes.indices.filter { address.hasPrefix(Self.schemes[$0]) }
        guard let scheme = candidates.max(by: { Self.schemes[$0].utf8.count < Self.schemes[$1].utf8.count }) else {
            throw .input(member: "address", problem: "it must begin with http:// or https://")
        }
        var rest = address.utf8.dropFirst(Self.schemes[scheme].utf8.count)
        var encoded: [UInt8] = []
        while let byte = rest.first {
            // Those with a slash come first and are longer, so the first match is the longest.
            if let code = Self.expansions.firstIndex(where: { rest.starts(with: $0.utf8) }) {
                encoded.append(UInt8(code))
                rest = rest.dropFirst(Self.expansions[code].utf8.count)
            } else {
                guard (0x21...0x7E).contains(byte) else {
                    throw .input(member: "address", problem: "it must be printable ASCII; percent-encode the rest")
                }
                encoded.append(byte)
                rest = rest.dropFirst()
            }
        }
        let bytes = [UInt8(scheme)] + encoded
        guard let url = bytes.withUnsafeBufferPointer({ Self(Span(_unsafeElements: $0), 0..<bytes.count) }) else {
            throw .input(
                member: "address",
                problem:
                    "it takes \(encoded.count) bytes after the scheme, but must take 1 to \(Self.maximumLength). Use a shorter one"
            )
        }
        self = url
    }

    /// The scheme and the encoded URL as sent.
    public var bytes: [UInt8] {
        [scheme] + (0..<Int(count)).map { byte(at: $0) }
    }

    private func byte(at place: Int) -> UInt8 {
        switch place {
        case 0..<8: UInt8(truncatingIfNeeded: words.0 >> UInt64(8 * place))
        case 8..<16: UInt8(truncatingIfNeeded: words.1 >> UInt64(8 * (place - 8)))
        default: words.2
        }
    }

    /// The advertising structures: the service list and the service data.
    ///
    /// - Parameter power: dBm at 0 m.
    public func structures(power: Int8) -> [AdvertisingStructure] {
        AdvertisingStructure.eddystone([0x10, UInt8(bitPattern: power)] + bytes)
    }

    public static func == (left: EddystoneURL, right: EddystoneURL) -> Bool {
        left.scheme == right.scheme && left.count == right.count && left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
    }
}

extension EddystoneURL: CustomStringConvertible {
    /// The full URL.
    public var description: String {
        (0..<Int(count)).reduce(into: Self.schemes[Int(scheme)]) { text, place in
            let byte = byte(at: place)
            text += byte < 0x0E ? Self.expansions[Int(byte)] : String(UnicodeScalar(byte))
        }
    }
}
