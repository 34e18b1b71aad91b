import HTTPTypes

/// An error that the authorization server or the API stated, as data (RFC 6749, sections 4.1.2.1 and 5.2).
public struct ServerError: Error, Sendable, Hashable {
    /// The exchange that was answered this way.
    public let step: OAuthError.Step

    /// The `error` code, such as `invalid_grant`; nil when the answer named none.
    public let code: String?

    /// The server's explanation: at most 500 characters, without control characters. Never interpreted.
    public let text: String?

    /// The `error_uri`, as text. It is not opened.
    public let uri: String?

    /// The HTTP status; nil for an error that came with the redirect.
    public let status: Int?

    /// How many seconds the server asks to wait, from `Retry-After` in its seconds form (RFC 9110, section 10.2.3).
    public let retryAfter: Int?

    /// States an error.
    public init(
        step: OAuthError.Step, code: String?, text: String? = nil, uri: String? = nil, status: Int? = nil,
        retryAfter: Int? = nil
    ) {
        self.step = step
        self.code = code.map { quoted($0, limit: 100) }
        self.text = text.map { quoted($0) }
        self.uri = uri.map { quoted($0) }
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Reads the error out of an answer that is not a success. Any content will do: a foreign one leaves only the
    /// status.
    ///
    /// Some servers quote what they were sent, or what they meant to send, in their explanations. So `secrets` are
    /// taken out of the texts, and so is every word that could be a token.
    public init(step: OAuthError.Step, _ response: ResponseMessage, hiding secrets: [Secret] = []) {
        let object = try? JSONValue(parsing: response.content).object
        func text(_ name: String) -> String? {
            object?[name]?.string.map { hidingTokens(in: $0, and: secrets) }
        }
        self.init(
            step: step,
            code: text("error"),
            text: text("error_description") ?? text("message"),
            uri: text("error_uri"),
            status: response.head.status.code,
            retryAfter: response.head.headerFields[.retryAfter].flatMap(wholeNumber))
    }

    /// The refresh token or code is void for good: the only answer that ends a session (`oauth-security.md` E4).
    public var isInvalidGrant: Bool {
        code == "invalid_grant" && (400..<500).contains(status ?? 400)
    }
}

extension ServerError: CustomStringConvertible {
    public var description: String {
        var words = "the service refused the \(step.rawValue) request"
        switch (code, status) {
        case (let code?, let status?): words += " with \(code) (status \(status))"
        case (let code?, nil): words += " with \(code)"
        case (nil, let status?): words += " with status \(status)"
        case (nil, nil): break
        }
        if let text, !text.isEmpty { words += ": “\(text)”" }
        if let retryAfter { words += "; it asks to wait \(retryAfter) s" }
        return words
    }
}

/// A number of digits and nothing else, as `delta-seconds` and `max_age` are written (RFC 9110, section 10.2.3).
func wholeNumber(_ text: String) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
}

/// Text from outside, made fit for a message: shortened, without control, format or bidirectional characters.
package func quoted(_ text: String, limit: Int = 500) -> String {
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
        guard count < limit else {
            scalars.append("…")
            break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
            scalars.append("\u{FFFD}")
        default:
            scalars.append(scalar)
        }
        count += 1
    }
    return String(scalars)
}

/// A server's text without the secrets that are known, and without words that look like a token: 20 characters or more
/// of a token's alphabet with a digit among them. Identifiers of the form 8-4-4-4-12, which support teams ask for,
/// stay.
package func hidingTokens(in text: String, and secrets: [Secret] = []) -> String {
    var text = text
    for secret in secrets where secret.reveal().utf8.count >= 4 {
        text = text.split(separator: secret.reveal(), omittingEmptySubsequences: false).joined(separator: "(secret)")
    }
    var output = ""
    var word = ""
    for character in text {
        if character.isASCII, character.isLetter || character.isNumber || "-_~+=".contains(character) {
            word.append(character)
        } else {
            output += looksLikeToken(word) ? "(secret)" : word
            output.append(character)
            word = ""
        }
    }
    return output + (looksLikeToken(word) ? "(secret)" : word)
}

private func looksLikeToken(_ word: String) -> Bool {
    guard word.utf8.count >= 20, word.contains(where: \.isNumber) else { return false }
    return word.split(separator: "-", omittingEmptySubsequences: false).map(\.count) != [8, 4, 4, 4, 12]
}
