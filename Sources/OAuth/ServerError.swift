import HTTPTypes

/// An error that the authorization server or the API returned. Source: RFC 6749, sections 4.1.2.1 and 5.2.
public struct ServerError: Error, Sendable, Hashable {
    /// The exchange that failed.
    public let step: OAuthError.Step

    /// The `error` code, such as `invalid_grant`; nil when the response has none.
    public let code: String?

    /// The server's explanation: at most 500 characters, without control characters. Never interpreted.
    public let text: String?

    /// The `error_uri`, as text. It is not opened.
    public let uri: String?

    /// The HTTP status; nil for an error in a redirect.
    public let status: Int?

    /// How many seconds the server asks to wait (RFC 9110, section 10.2.3). It comes from `Retry-After` in its seconds
    /// form.
    public let retryAfter: Int?

    /// What the request asked for, where the user has to compare it with the server's text: at a registration.
    var sent: String?

    /// Whether the request had an assertion that the client itself makes: another one is wrong in the same way.
    var isOfOwnAssertion = false

    /// States an error. Its texts are cut, and `secrets` and words that look like a token are removed from them.
    ///
    /// Some servers quote in their explanations what they received or what they meant to send.
    public init(
        step: OAuthError.Step, code: String?, text: String? = nil, uri: String? = nil, status: Int? = nil,
        retryAfter: Int? = nil, hiding secrets: [Secret] = []
    ) {
        let redaction = Redaction(secrets)
        self.step = step
        self.code = code.flatMap {
            $0.isEmpty ? nil : Self.registeredCodes.contains($0) ? $0 : redaction($0, limit: 100)
        }
        self.text = text.map { redaction($0) }
        self.uri = uri.map { redaction($0) }
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Reads the error in a response, whatever its status and content. A content that is no JSON object leaves only the
    /// status.
    ///
    /// - Parameters:
    ///   - step: the exchange that failed.
    ///   - response: the server's answer.
    ///   - secrets: what the exchange sent; removed from the texts, as are the tokens in the content.
    public init(step: OAuthError.Step, _ response: ResponseMessage, hiding secrets: [Secret] = []) {
        // Where a document is asked for, another network's page may answer: its text is quoted nowhere (`any-server.md` 9).
        let members = step.isDocument ? [:] : (try? JSONValue(parsing: response.content))?.object ?? [:]
        self.init(
            step: step,
            code: members["error"]?.string,
            text: members["error_description"]?.string ?? members["message"]?.string,
            uri: members["error_uri"]?.string,
            status: response.head.status.code,
            retryAfter: response.head.headerFields[.retryAfter].flatMap(wholeNumber),
            hiding: secrets + members.tokens)
    }

    /// Codes of the standards. They decide what happens next, so they stay even where a secret is a part of one.
    package static let registeredCodes: Set<String> = [
        // RFC 6749, sections 4.1.2.1 and 5.2
        "invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
        "server_error", "temporarily_unavailable", "invalid_client", "invalid_grant", "unsupported_grant_type",
        // RFC 7009, section 2.2.1; RFC 7591, section 3.2.2; RFC 8628, section 3.5; RFC 8707, section 2; RFC 9101,
        // section 7
        "unsupported_token_type", "authorization_pending", "slow_down", "expired_token", "invalid_target",
        "invalid_redirect_uri", "invalid_client_metadata", "invalid_software_statement",
        "unapproved_software_statement",
        "invalid_request_uri", "invalid_request_object", "request_not_supported", "request_uri_not_supported",
        // OpenID Connect Core, section 3.1.2.6; RFC 6750, section 3.1; RFC 9470, section 3
        "interaction_required", "login_required", "account_selection_required", "consent_required",
        "registration_not_supported", "invalid_token", "insufficient_scope", "insufficient_user_authentication",
        "authorization_declined", "unmet_authentication_requirements",
        // RFC 9396, section 5
        "invalid_authorization_details",
        // RFC 9449, section 12.2
        "use_dpop_nonce", "invalid_dpop_proof",
        // CIBA Core, section 13
        "unknown_user_id", "missing_user_code", "invalid_user_code", "invalid_binding_message",
        "expired_login_hint_token",
    ]

    /// Whether the server rejects the refresh token or code for good. It is the only response that ends a session
    /// (`oauth-security.md` E4). Some servers send it with status 200. With a status of 500 or more the server failed.
    public var isInvalidGrant: Bool {
        code == "invalid_grant" && (status ?? 400) < 500
    }

    /// Whether the server does not take the client for one of its own. One that failed or is busy says nothing of the client.
    package var isUnknownClient: Bool {
        code == "invalid_client" && (status ?? 400) < 500 && status != 429
    }
}

extension OAuthError.Step {
    /// Whether a public document is asked for, at an address that another document may have named.
    fileprivate var isDocument: Bool {
        switch self {
        case .metadata, .resourceMetadata, .keys: true
        default: false
        }
    }
}

extension ServerError {
    /// What the user has to do before a request with `prompt=none` can succeed. Source: OpenID Connect Core, section
    /// 3.1.2.6.
    public enum Interaction: String, Sendable, Hashable, CaseIterable {
        /// To sign in at the service.
        case login = "login_required"
        /// To choose one of several accounts.
        case accountSelection = "account_selection_required"
        /// To agree to what the app asks for.
        case consent = "consent_required"
        /// Something else on a page of the service.
        case interaction = "interaction_required"

        /// What to do now.
        var cure: String {
            let act =
                switch self {
                case .login: "sign in"
                case .accountSelection: "choose an account"
                case .consent: "agree"
                case .interaction: "act"
                }
            return "Sign in again without prompt=none, so that the service can show the page on which to \(act)."
        }
    }

    /// What the user has to do at the service. Nil when that is not why it refused.
    public var requiredInteraction: Interaction? {
        step == .authorization ? code.flatMap(Interaction.init) : nil
    }
}

extension ServerError: CustomStringConvertible {
    public var description: String {
        let failed = status.map { $0 >= 500 } ?? false
        var words =
            failed
            ? "The service failed to answer the \(step.words) request"
            : "The service rejected the \(step.words) request"
        switch (code, status) {
        case (let code?, let status?): words += " with \(code) (status \(status))"
        case (let code?, nil): words += " with \(code)"
        case (nil, let status?): words += " with status \(status)"
        case (nil, nil): break
        }
        // A sentence of the service's keeps its full stop; a second one would follow.
        if let text, !text.isEmpty { words += ": “\(text.hasSuffix(".") ? String(text.dropLast()) : text)”" }
        if let sent, !failed { words += ". What was sent: \(sent)" }
        if let cure = requiredInteraction?.cure { return words + ". " + cure }
        if let retryAfter { return words + ". Retry in \(retryAfter) seconds." }
        return words + "." + ((failed ? "Try again in a few minutes." : cure).map { " \($0)" } ?? "")
    }

    /// What to do about an error that the server did not cause; nil where only its own text can say that.
    private var cure: String? {
        switch code {
        // Servers built on Authlib answer access_denied with status 400.
        case _ where step == .registration && ([401, 403].contains(status) || code == "access_denied"):
            "The service may demand a token of those who register apps, and may accept each only once: ask its administrator for one."
        case "invalid_client":
            "Check the client ID, the secret or key, and how the client authenticates."
        case "unauthorized_client", "unsupported_grant_type", "unsupported_response_type":
            "Check that the client's registration at the service allows this kind of sign-in."
        case "invalid_scope": "Request only scopes that the client's registration at the service allows."
        case "invalid_target": "Check the address of the API that the token is for."
        case "invalid_redirect_uri", "invalid_client_metadata": "Check the redirect URI and the name of the client."
        case "invalid_grant" where isOfOwnAssertion:
            "Check the client ID, the issuer, audience and subject of the assertion, the key, and the clock of this machine."
        case "invalid_grant", "invalid_token", "expired_token", "login_required", "interaction_required",
            "consent_required", "account_selection_required", "insufficient_user_authentication":
            "Sign in again."
        case "insufficient_scope": "Sign in again with the scope that the API requires."
        case "unmet_authentication_requirements":
            "Your account there lacks the sign-in method that the app requires. Set it up, such as a second factor, and sign in again."
        case "temporarily_unavailable", "server_error", "slow_down": "Try again in a few minutes."
        case "invalid_dpop_proof": "Check the clock of this machine."
        default: cureByStep
        }
    }

    /// What to do about an error without a code that says it.
    private var cureByStep: String? {
        switch (step, status) {
        case (.pushedAuthorization, _):
            "Check the client ID, the redirect URI and the scopes against the client's registration at the service."
        case (.authorization, _) where code == "invalid_request":
            "Check the redirect URI, the scopes and the parameters of the request."
        case (.resource, 404), (.resource, 405): "Check the address and the method."
        case (.resource, _): nil
        case (_, 404), (_, 405): "Check the endpoint's URL."
        case (_, 429): "Try again in a few minutes."
        default: nil
        }
    }
}

/// A number of digits and nothing else, at most 2³¹ − 1, as `delta-seconds` and `max_age` are written (RFC 9110, section 10.2.3).
func wholeNumber(_ text: String) -> Int? {
    text.utf8.count <= 19 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        ? Int(text).map { min($0, Int(Int32.max)) } : nil
}

extension JSONObject {
    /// The tokens among the members of a token response (RFC 6749, section 5.1).
    var tokens: [Secret] {
        ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"]
            .compactMap { self[$0]?.string.map(Secret.init) }
    }
}
