/// What arrived at the redirect URI (RFC 6749, sections 4.1.2 and 4.1.2.1). It is read once, and not trusted before
/// ``AuthorizationRequest/code(from:now:)`` has checked it.
///
/// Unknown parameters are ignored. A known parameter that occurs twice, or is not clean UTF-8, is recorded as a defect
/// instead of an error, because the state decides first whether the response belongs to a request at all.
public struct AuthorizationResponse: Sendable {
    /// The redirect URL as it was received.
    private let url: String
    private var values: [Parameter: String] = [:]
    private var seen: Set<Parameter> = []
    /// The first known parameter that occurs twice or cannot be decoded.
    private(set) var defect: Defect?

    enum Defect: Sendable, Hashable {
        case repeated(String)
        case undecodable(String)
    }

    private enum Parameter: String {
        case state, code, error
        case issuer = "iss"
        case errorDescription = "error_description"
        case errorURI = "error_uri"

        /// The longest spelling of a known name, each byte as an escape.
        static let maximumLength = 3 * "error_description".utf8.count
    }

    /// The longest redirect URL that is read, in bytes.
    public static let maximumLength = 16_384

    /// Reads a redirect URL as it was received. A fragment is ignored.
    ///
    /// - Throws: ``OAuthError/unmatchedRedirect(problem:)`` when there is no query, or the URL is too long.
    public init(redirectURL: String) throws(OAuthError) {
        guard redirectURL.utf8.count <= Self.maximumLength else {
            throw .unmatchedRedirect(problem: "it is longer than \(Self.maximumLength) bytes")
        }
        url = redirectURL
        let address = redirectURL.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = address.firstIndex(of: UInt8(ascii: "?")) else {
            throw .unmatchedRedirect(problem: "it has no parameters")
        }
        for pair in address[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard name.count <= Parameter.maximumLength,
                let parameter = PercentEncoding.decodeForm(name).flatMap(Parameter.init)
            else { continue }
            read(pair.dropFirst(name.count + 1), as: parameter)
        }
    }

    /// Stores the value of a known parameter. An empty value counts as absent (RFC 6749, section 3.1), but not when the
    /// parameter is repeated.
    private mutating func read(_ value: Substring.UTF8View, as parameter: Parameter) {
        guard seen.insert(parameter).inserted else {
            defect = defect ?? .repeated(parameter.rawValue)
            return
        }
        guard !value.isEmpty else { return }
        guard let text = PercentEncoding.decodeForm(value) else {
            defect = defect ?? .undecodable(parameter.rawValue)
            return
        }
        values[parameter] = text
    }

    var state: String? { values[.state] }
    var code: String? { values[.code] }
    var issuer: String? { values[.issuer] }
    var error: String? { values[.error] }
    var errorDescription: String? { values[.errorDescription] }
    var errorURI: String? { values[.errorURI] }

    /// The state, for finding the pending request that it belongs to. It proves nothing before that request's own state
    /// is found equal.
    package var returnedState: Secret? {
        state.map(Secret.init)
    }

    /// Whether the response was sent to exactly this redirect URI, which may have a query of its own.
    func wasSent(to uri: RedirectURI) -> Bool {
        let separator = uri.string.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return url.utf8.starts(with: (uri.string + separator).utf8)
    }
}

extension AuthorizationResponse: CustomStringConvertible, CustomReflectable {
    /// Names which of state, code and error are present, without their values.
    public var description: String {
        let present = [("state", state), ("code", code), ("error", error)].filter { $0.1 != nil }.map(\.0)
        return "redirect with " + (present.isEmpty ? "nothing" : present.joined(separator: ", "))
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
