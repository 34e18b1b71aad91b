/// What arrived at the redirect URI (RFC 6749, sections 4.1.2 and 4.1.2.1). It is read once, and not trusted before
/// ``AuthorizationRequest/code(from:now:)`` has checked it, and a signed one not before
/// ``AuthorizationRequest/verified(_:with:allowing:leeway:now:)`` has verified it.
///
/// Unknown parameters are ignored. A known parameter that occurs twice, or is not clean UTF-8, is recorded as a defect
/// instead of an error, because the state decides first whether the response belongs to a request at all.
public struct AuthorizationResponse: Sendable {
    /// The redirect URL as it was received.
    private let url: String
    private var values: [Parameter: String]
    /// The state inside ``signed``, of which nothing was verified.
    let signedState: String?
    /// Whether the values are those of a signed text that was verified.
    let isVerified: Bool
    /// The first known parameter that occurs twice or cannot be decoded.
    private(set) var defect: Defect?

    enum Defect: Sendable, Hashable {
        case repeated(String)
        case undecodable(String)
    }

    private enum Parameter: String {
        case state, code, error, response
        case issuer = "iss"
        case errorDescription = "error_description"
        case errorURI = "error_uri"

        /// The longest spelling of a known name, each byte as an escape.
        static let maximumLength = 3 * "error_description".utf8.count

        /// The known name that these bytes spell; nil for another name.
        init?(spelled name: some Collection<UInt8>) {
            guard name.count <= Self.maximumLength, let text = PercentEncoding.decodeForm(name) else { return nil }
            self.init(rawValue: text)
        }
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
        isVerified = false
        var values: [Parameter: String] = [:]
        var seen: Set<Parameter> = []
        guard let query = Self.query(of: redirectURL) else {
            throw .unmatchedRedirect(problem: "it has no parameters")
        }
        for pair in Self.pairs(in: query) {
            guard let parameter = Parameter(spelled: pair.name) else { continue }
            // An empty value counts as absent (RFC 6749, section 3.1), but not when the parameter is repeated.
            guard seen.insert(parameter).inserted else {
                defect = defect ?? .repeated(parameter.rawValue)
                continue
            }
            guard !pair.value.isEmpty else { continue }
            guard let text = PercentEncoding.decodeForm(pair.value) else {
                defect = defect ?? .undecodable(parameter.rawValue)
                continue
            }
            values[parameter] = text
        }
        self.values = values
        signedState = values[.response].flatMap(Self.state(in:))
    }

    /// The pairs of a posted form that a response may have, as they were spelled, for the query of a redirect URL.
    ///
    /// Others are left out: some servers post the user's name and address beside the response, which do not belong in a URL.
    ///
    /// - Returns: nil when the form is longer than a redirect URL may be, or has a byte that no form has (`a-z A-Z 0-9 * - .
    ///   _ % + & =` and `~`).
    /// Source: OAuth 2.0 Form Post Response Mode.
    package static func query(ofForm content: some Collection<UInt8>) -> String? {
        let isFormByte = { (byte: UInt8) in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "*-._%+&=~".utf8.contains(byte)
            }
        }
        guard content.count <= maximumLength, content.allSatisfy(isFormByte) else { return nil }
        let known = pairs(in: content).filter { Parameter(spelled: $0.name) != nil }.map { $0.whole }
        return String(decoding: Array(known.joined(separator: [UInt8(ascii: "&")])), as: UTF8.self)
    }

    /// The query of a redirect URL; nil when it has none. A fragment is ignored.
    private static func query(of url: String) -> Substring.UTF8View? {
        let address = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = address.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return address[mark...].dropFirst()
    }

    /// The pairs of a query or a form, and the name and the value of each, as they were spelled.
    private static func pairs<Bytes: Collection<UInt8>>(
        in query: Bytes
    ) -> [(whole: Bytes.SubSequence, name: Bytes.SubSequence, value: Bytes.SubSequence)] {
        query.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (whole: pair, name: name, value: pair.dropFirst(name.count + 1))
        }
    }

    /// The response whose parameters are the claims of a signed text (JARM, section 2.3).
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/tokenForm`` for a claim that is no string.
    init(verified claims: JSONObject, of response: AuthorizationResponse) throws(OAuthError) {
        url = response.url
        defect = nil
        isVerified = true
        signedState = nil
        var values: [Parameter: String] = [:]
        for parameter in [Parameter.state, .code, .error, .issuer, .errorDescription, .errorURI] {
            guard let value = claims[parameter.rawValue] else { continue }
            guard let text = value.string else {
                throw .refused(
                    Refusal(.tokenForm, expected: "\(parameter.rawValue): a string", found: value.kind))
            }
            values[parameter] = text.isEmpty ? nil : text
        }
        self.values = values
    }

    /// The state in a signed text that nothing has verified yet: it serves to find a request, and is believed for nothing
    /// else.
    private static func state(in text: String) -> String? {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
        return (try? JSONValue(parsing: payload))?.object?["state"]?.string
    }

    var state: String? { values[.state] }
    var code: String? { values[.code] }
    var issuer: String? { values[.issuer] }
    var error: String? { values[.error] }
    var errorDescription: String? { values[.errorDescription] }
    var errorURI: String? { values[.errorURI] }

    /// `response`: the signed text that holds all parameters (JARM, section 2.3). Nil in a plain response.
    var signed: Secret? { values[.response].map(Secret.init) }

    /// Whether parameters stand beside the signed text, or in its place.
    var hasPlainParameters: Bool { values.keys.contains { $0 != .response } }

    /// The state, for finding the pending request that it belongs to. It proves nothing before that request's own state
    /// is found equal.
    package var returnedState: Secret? {
        (state ?? signedState).map(Secret.init)
    }

    /// The response with the error `access_denied` where a service says in words of its own that the user declined.
    ///
    /// - Parameters:
    ///   - codes: the values of `error` that say so.
    ///   - parameter: the parameter that says so in a response without code and error; nil for none.
    package func reading(denials codes: Set<String>, parameter: String?) -> AuthorizationResponse {
        var response = self
        if let error {
            if codes.contains(error) { response.values[.error] = Self.denial }
        } else if let parameter, code == nil, signed == nil, !isVerified, has(parameter) {
            response.values[.error] = Self.denial
        }
        return response
    }

    /// The code that a declined request has (RFC 6749, section 4.1.2.1).
    private static let denial = "access_denied"

    /// Whether the redirect URL has a parameter of this name with a value.
    private func has(_ parameter: String) -> Bool {
        guard let query = Self.query(of: url) else { return false }
        return Self.pairs(in: query).contains { pair in
            pair.name.count <= 3 * parameter.utf8.count && !pair.value.isEmpty
                && PercentEncoding.decodeForm(pair.name) == parameter
        }
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
        let present = [("state", state), ("code", code), ("error", error), ("response", values[.response])].filter {
            $0.1 != nil
        }.map(\.0)
        return "redirect with " + (present.isEmpty ? "nothing" : present.joined(separator: ", "))
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
