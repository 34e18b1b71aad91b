import HTTPTypes

/// How a service's token endpoint departs from RFC 6749, as data. None of it weakens a check.
///
/// A value made by ``init()`` is the standard's behavior.
public struct TokenDeviations: Sendable, Hashable {
    /// Whether the parameters of a token request are written as JSON. By RFC 6749, section 4.1.3, they are a form.
    public var sendsJSON = false
    /// Whether a token response may be form-encoded, as drafts before RFC 6749 had it. JSON is read too.
    public var readsForm = false
    /// The JSON Pointer of the access token; the other members are beside it.
    public var tokenPlace = "/access_token"
    /// The member that says when the access token expires.
    public var expiryMember = "expires_in"
    /// What ``expiryMember`` holds.
    public var expiryUnit = ExpiryUnit.seconds
    /// Whether an expiry of 0 means that the access token does not expire.
    public var zeroExpiryIsNever = false
    /// The lifetime of an access token whose response states none, in seconds. Nil means unknown.
    public var absentLifetime: Int?
    /// Values of `token_type` that mean a bearer token, besides `Bearer`. The empty text stands for an absent one.
    public var tokenTypes: [String] = []
    /// Whether `scope` is a list of strings instead of one string.
    public var listsScopes = false
    /// The JSON Pointer of an error's code. A text that is not empty, or a number other than 0, is an error, whatever
    /// the status. The empty text says that errors have no code; then the status tells them.
    public var errorCode: String?
    /// The JSON Pointer of an error's explanation.
    public var errorText: String?
    /// The JSON Pointer of the service's own code, which says more than the error's. It is shown with the explanation.
    public var errorDetail: String?
    /// Codes of errors that mean `invalid_grant`. With them the service refuses a refresh token or code for good.
    public var invalidGrantCodes: Set<String> = []
    /// Whether ID tokens are neither asked for nor read. For services whose ID tokens cannot be checked.
    public var ignoresIDToken = false

    /// What the expiry of an access token is given in.
    public enum ExpiryUnit: String, Sendable, Hashable, Codable, CaseIterable {
        /// Seconds from the response on, as a number or as digits (RFC 6749, section 5.1).
        case seconds
        /// Milliseconds since 1970.
        case millisecondsSince1970 = "milliseconds_since_1970"
        /// A date and time of RFC 3339.
        case dateTime = "date_time"
    }

    /// The standard's behavior.
    public init() {}
}

extension TokenDeviations: Codable {
    /// Decodes the deviations. A member that is absent, as in records from before it existed, means the standard's
    /// behavior.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        sendsJSON = try values.decodeIfPresent(Bool.self, forKey: .sendsJSON) ?? sendsJSON
        readsForm = try values.decodeIfPresent(Bool.self, forKey: .readsForm) ?? readsForm
        tokenPlace = try values.decodeIfPresent(String.self, forKey: .tokenPlace) ?? tokenPlace
        expiryMember = try values.decodeIfPresent(String.self, forKey: .expiryMember) ?? expiryMember
        expiryUnit = try values.decodeIfPresent(ExpiryUnit.self, forKey: .expiryUnit) ?? expiryUnit
        zeroExpiryIsNever = try values.decodeIfPresent(Bool.self, forKey: .zeroExpiryIsNever) ?? zeroExpiryIsNever
        absentLifetime = try values.decodeIfPresent(Int.self, forKey: .absentLifetime)
        tokenTypes = try values.decodeIfPresent([String].self, forKey: .tokenTypes) ?? tokenTypes
        listsScopes = try values.decodeIfPresent(Bool.self, forKey: .listsScopes) ?? listsScopes
        errorCode = try values.decodeIfPresent(String.self, forKey: .errorCode)
        errorText = try values.decodeIfPresent(String.self, forKey: .errorText)
        errorDetail = try values.decodeIfPresent(String.self, forKey: .errorDetail)
        invalidGrantCodes =
            try values.decodeIfPresent(Set<String>.self, forKey: .invalidGrantCodes) ?? invalidGrantCodes
        ignoresIDToken = try values.decodeIfPresent(Bool.self, forKey: .ignoresIDToken) ?? ignoresIDToken
    }
}

extension TokenDeviations {
    /// The members of a response's content, which is JSON or, where that is allowed, a form.
    ///
    /// - Throws: ``JSONValue/SyntaxError`` when it is neither. A name that occurs twice is an error in a form too.
    func members(of content: [UInt8]) throws(JSONValue.SyntaxError) -> JSONValue {
        guard readsForm, let first = content.first(where: { $0 > 0x20 }),
            ![UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<")].contains(first)
        else { return try JSONValue(parsing: content) }
        var members = JSONObject()
        for pair in content.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard name.count <= JSONObject.maximumNameLength, let text = PercentEncoding.decodeForm(name),
                let value = PercentEncoding.decodeForm(pair.dropFirst(name.count + 1)),
                members.insert(.string(value.streamSafe), for: text)
            else {
                throw JSONValue.SyntaxError(
                    offset: pair.startIndex, problem: "a form field appears twice, or a percent escape is invalid")
            }
        }
        return .object(members)
    }

    /// The error that a response states where the service has it, or in a form; nil when it states none there.
    func serverError(in response: ResponseMessage, hiding secrets: [Secret]) -> OAuthError? {
        let isOfItsOwn = errorCode != nil || errorText != nil || errorDetail != nil || readsForm
        guard isOfItsOwn || !invalidGrantCodes.isEmpty, let content = try? members(of: response.content)
        else { return nil }
        let hasNoCodes = errorCode?.isEmpty == true
        let code = hasNoCodes ? nil : Self.code(content.value(at: errorCode ?? "/error"))
        guard code != nil || (hasNoCodes && response.head.status.code >= 400) else { return nil }
        let isInvalidGrant = code.map(invalidGrantCodes.contains) ?? false
        // Such codes alone change nothing else: every other error is read as the standard has it.
        guard isOfItsOwn || isInvalidGrant else { return nil }
        let tokens = (content.object?.tokens ?? []) + (container(in: content)?.tokens ?? [])
        return .server(
            ServerError(
                step: .token, code: isInvalidGrant ? "invalid_grant" : code,
                text: errorText(in: content) ?? (isInvalidGrant ? code : nil),
                uri: content.value(at: "/error_uri")?.string, status: response.head.status.code,
                retryAfter: response.head.headerFields[.retryAfter].flatMap(wholeNumber), hiding: secrets + tokens))
    }

    /// An error's explanation, with the service's own code behind it.
    private func errorText(in content: JSONValue) -> String? {
        let text = content.value(at: errorText ?? "/error_description")?.string
        guard let detail = errorDetail.flatMap({ Self.code(content.value(at: $0)) }) else { return text }
        return text.map { "\($0) (\(detail))" } ?? detail
    }

    private static func code(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let spelling): value?.integer == 0 ? nil : spelling
        default: nil
        }
    }

    /// The object that the access token is a member of.
    func container(in content: JSONValue) -> JSONObject? {
        let slash = tokenPlace.utf8.lastIndex(of: UInt8(ascii: "/")) ?? tokenPlace.startIndex
        return content.value(at: String(tokenPlace[..<slash]))?.object
    }

    /// The name of the access token's member.
    var tokenMember: String {
        String(tokenPlace.split(separator: "/").last ?? "access_token")
    }
}
