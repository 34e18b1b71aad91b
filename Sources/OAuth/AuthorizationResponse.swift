/// What came back to the redirect URI: read, but not yet believed (RFC 6749, sections 4.1.2 and 4.1.2.1).
///
/// Names that this protocol does not know are skipped. A known name that comes twice, or has a value that is not clean
/// UTF-8, is remembered as a defect, because the state decides first whether the response belongs to anyone at all.
public struct AuthorizationResponse: Sendable {
    /// The redirect URL as it was received.
    private let url: String
    private(set) var state: String?
    private(set) var code: String?
    private(set) var issuer: String?
    private(set) var error: String?
    private(set) var errorDescription: String?
    private(set) var errorURI: String?
    private var seen: Field = []
    /// The first known name that came twice or could not be decoded.
    private(set) var defect: Defect?

    enum Defect: Sendable, Hashable {
        case repeated(String)
        case undecodable(String)
    }

    /// The longest redirect that is read, in bytes.
    public static let maximumLength = 16_384

    /// Reads a redirect URL as it was received. A fragment is left aside.
    ///
    /// - Throws: ``OAuthError/unmatchedRedirect(problem:)`` when there is no query to read, or it is too long.
    public init(redirectURL: String) throws(OAuthError) {
        guard redirectURL.utf8.count <= Self.maximumLength else {
            throw .unmatchedRedirect(problem: "it is longer than \(Self.maximumLength) bytes")
        }
        var contiguous = redirectURL
        contiguous.makeContiguousUTF8()
        url = contiguous
        guard contiguous.withUTF8({ readQuery(of: $0) }) else {
            throw .unmatchedRedirect(problem: "it has no parameters")
        }
    }

    /// The state that came back, for finding the pending request it belongs to; believed only when that request's own
    /// is equal.
    package var returnedState: Secret? {
        state.map(Secret.init)
    }

    /// Whether the response was sent to exactly this redirect URI, which may have a query of its own.
    func wasSent(to uri: RedirectURI) -> Bool {
        let isSent = url.utf8.withContiguousStorageIfAvailable { url in
            uri.string.utf8.withContiguousStorageIfAvailable { uri in
                guard url.count > uri.count, url.prefix(uri.count).elementsEqual(uri) else { return false }
                return url[uri.count] == UInt8(ascii: uri.contains(UInt8(ascii: "?")) ? "&" : "?")
            }
        }
        return isSent == .some(.some(true))
    }

    /// Reads the pairs between the question mark and the fragment; false when there is no question mark.
    private mutating func readQuery(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let end = Self.index(of: UInt8(ascii: "#"), in: bytes, from: 0, to: bytes.count)
        let mark = Self.index(of: UInt8(ascii: "?"), in: bytes, from: 0, to: end)
        guard mark < end else { return false }
        var start = mark + 1
        while start <= end {
            let pairEnd = Self.index(of: UInt8(ascii: "&"), in: bytes, from: start, to: end)
            let nameEnd = Self.index(of: UInt8(ascii: "="), in: bytes, from: start, to: pairEnd)
            if let field = Field(UnsafeBufferPointer(rebasing: bytes[start..<nameEnd])) {
                keep(UnsafeBufferPointer(rebasing: bytes[min(nameEnd + 1, pairEnd)..<pairEnd]), as: field)
            }
            start = pairEnd + 1
        }
        return true
    }

    /// Where a byte stands first; `end` when it does not.
    private static func index(
        of byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int {
        var index = start
        while index < end, bytes[index] != byte { index += 1 }
        return index
    }

    /// Keeps the value of a known name. An empty value is as good as none (RFC 6749, section 3.1), but counts as once.
    private mutating func keep(_ value: UnsafeBufferPointer<UInt8>, as field: Field) {
        guard seen.insert(field).inserted else {
            defect = defect ?? .repeated(field.name)
            return
        }
        guard !value.isEmpty else { return }
        guard let text = Self.decode(value) else {
            defect = defect ?? .undecodable(field.name)
            return
        }
        switch field {
        case .state: state = text
        case .code: code = text
        case .issuer: issuer = text
        case .error: error = text
        case .errorDescription: errorDescription = text
        default: errorURI = text
        }
    }

    /// Most values need no decoding and become a string at once.
    private static func decode(_ value: UnsafeBufferPointer<UInt8>) -> String? {
        let isPlain = value.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x25 && $0 != 0x2B }
        return isPlain ? String(decoding: value, as: UTF8.self) : PercentEncoding.decodeForm(value)
    }
}

/// The names that this protocol knows in a response, as a set of those that came.
private struct Field: OptionSet {
    let rawValue: UInt8

    static let state = Field(rawValue: 1)
    static let code = Field(rawValue: 2)
    static let issuer = Field(rawValue: 4)
    static let error = Field(rawValue: 8)
    static let errorDescription = Field(rawValue: 16)
    static let errorURI = Field(rawValue: 32)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The field of this name; nil for a name that is not known. An escaped spelling is the same name.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        if let field = Self.spelled(name) {
            self = field
        } else if name.contains(UInt8(ascii: "%")), let decoded = PercentEncoding.decodeForm(name),
            let field = Array(decoded.utf8).withUnsafeBufferPointer(Self.spelled)
        {
            self = field
        } else {
            return nil
        }
    }

    private static func spelled(_ name: UnsafeBufferPointer<UInt8>) -> Field? {
        func isName(_ known: StaticString) -> Bool {
            known.withUTF8Buffer { $0.elementsEqual(name) }
        }
        return switch name.count {
        case 5 where isName("state"): .state
        case 4 where isName("code"): .code
        case 3 where isName("iss"): .issuer
        case 5 where isName("error"): .error
        case 17 where isName("error_description"): .errorDescription
        case 9 where isName("error_uri"): .errorURI
        default: nil
        }
    }

    var name: String {
        switch self {
        case .state: "state"
        case .code: "code"
        case .issuer: "iss"
        case .error: "error"
        case .errorDescription: "error_description"
        default: "error_uri"
        }
    }
}

extension AuthorizationResponse: CustomStringConvertible, CustomReflectable {
    /// Says which of state, code and error came, and never their values.
    public var description: String {
        let came = [("state", state), ("code", code), ("error", error)].filter { $0.1 != nil }.map(\.0)
        return "redirect with " + (came.isEmpty ? "nothing" : came.joined(separator: ", "))
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
