/// What can go wrong in an exchange, and who can fix it.
///
/// No case carries a secret: text from a server is cut, and secrets, tokens and control characters are removed.
public enum OAuthError: Error, Sendable, Hashable {
    /// The app's registration or call is wrong. Nothing was sent.
    ///
    /// A `problem` of whole sentences is the error's whole text.
    case configuration(member: String, problem: String)

    /// A redirect that belongs to no pending request (`oauth-security.md` B5). It changes nothing.
    case unmatchedRedirect(problem: String)

    /// A security check failed and stopped the exchange. Nothing was stored.
    case refused(Refusal)

    /// The server returned an error (RFC 6749, sections 4.1.2.1 and 5.2).
    case server(ServerError)

    /// The server's response does not have the form that the standard requires.
    case malformed(step: Step, member: String, expected: String, found: String)

    /// The server answered with a redirect (`oauth-security.md` C8). It is never followed.
    case redirected(step: Step, status: Int, target: String? = nil)

    /// The exchange that failed.
    public enum Step: String, Sendable, Hashable, Codable {
        /// Reading server metadata (RFC 8414).
        case metadata
        /// Reading what an API says about signing in to it (RFC 9728).
        case resourceMetadata = "resource_metadata"
        /// Registering a client (RFC 7591).
        case registration
        /// The response to an authorization request (RFC 6749, section 4.1.2).
        case authorization
        /// Handing an authorization request to the server (RFC 9126).
        case pushedAuthorization = "pushed_authorization"
        /// The token endpoint (RFC 6749, section 3.2).
        case token
        /// The device authorization endpoint (RFC 8628, section 3.1).
        case deviceAuthorization = "device_authorization"
        /// The revocation endpoint (RFC 7009).
        case revocation
        /// The introspection endpoint (RFC 7662).
        case introspection
        /// The backchannel authentication endpoint (CIBA Core, section 7).
        case backchannelAuthentication = "backchannel_authentication"
        /// The UserInfo endpoint (OpenID Connect Core, section 5.3).
        case userInfo = "userinfo"
        /// The server's key set (RFC 7517, section 5).
        case keys
        /// Validating an ID token (OpenID Connect Core, section 3.1.3.7).
        case idToken = "id_token"
        /// An API called with an access token (RFC 6750).
        case resource

        /// The exchange in words.
        var words: String {
            switch self {
            case .resource: "API"
            case .idToken: "ID token"
            default: rawValue.replacing("_", with: " ")
            }
        }

        /// What to do about a response that does not have the form of the standard.
        fileprivate var cureOfMalformedResponse: String {
            switch self {
            case .resource: "Check the address and the type that the response is decoded into."
            case .idToken, .authorization: "Sign in again. If it happens again, report it to the service."
            default: "Check the URLs of the service. If they are right, report it to the service."
            }
        }
    }
}

/// The failed security check that stopped an exchange. It says what was expected and what was found.
public struct Refusal: Error, Sendable, Hashable {
    /// The check that failed. The raw value is a stable code for programs.
    public enum Check: String, Sendable, Hashable {
        /// The state is not the one sent (RFC 6749, section 10.12).
        case state = "state_mismatch"
        /// The document is another API's (RFC 9728, section 3.3).
        case resource = "resource_mismatch"
        /// The issuer is not the expected one. Source: RFC 9207, section 2.4; RFC 8414, section 3.3.
        case issuer = "issuer_mismatch"
        /// The server announces `iss` and did not send it (RFC 9207, section 2.4).
        case issuerMissing = "issuer_missing"
        /// The redirect arrived at another address (RFC 9700, section 4.4.2.2).
        case redirect = "redirect_mismatch"
        /// A known parameter occurs twice (RFC 6749, section 3.1).
        case repeatedParameter = "parameter_repeated"
        /// The response arrived after the request's lifetime.
        case expired = "request_expired"
        /// An address is not `https:` (RFC 6749, section 3.1.2.1).
        case insecureTransport = "insecure_transport"
        /// A request would send a token to a foreign origin (RFC 6750, section 5.2). The token is not meant for that
        /// origin.
        case foreignOrigin = "foreign_origin"
        /// The server has moved an endpoint to another host since the sign-in.
        case movedEndpoint = "endpoint_moved"
        /// The server does not support PKCE by S256 (RFC 7636, section 7.2).
        case challengeMethod = "pkce_unsupported"
        /// Two servers share a redirect URI (RFC 9700, section 4.4.2.2).
        case sharedRedirect = "redirect_shared"
        /// A key file names a token endpoint that is not its service's. Nothing was signed.
        case foreignTokenEndpoint = "token_endpoint_foreign"
        /// The ID token's nonce is not the one sent. Source: OpenID Connect Core, section 3.1.3.7, as for all below.
        case nonce = "nonce_mismatch"
        /// The signature does not verify.
        case signature = "signature_invalid"
        /// The signature's algorithm is not among those allowed.
        case algorithm = "algorithm_refused"
        /// The signed text is for another client, or for untrusted audiences too.
        case audience = "audience_mismatch"
        /// The ID token was issued to another client.
        case authorizedParty = "authorized_party_mismatch"
        /// The logout token was used before. Source: OpenID Connect Back-Channel Logout, section 2.6.
        case replay = "token_replayed"
        /// The ID token is about another user than before.
        case subject = "subject_mismatch"
        /// The ID token is expired, or from the future.
        case tokenTime = "id_token_time"
        /// The ID token belongs to another access token.
        case tokenHash = "at_hash_mismatch"
        case codeHash = "c_hash_mismatch"
        /// The ID token lacks a claim, or has one of the wrong type.
        case tokenForm = "id_token_malformed"
        /// The text is encrypted (RFC 7516, section 7.1), and cannot be read.
        case encrypted = "token_encrypted"
        /// A response is not signed and has to be. Source: JARM, section 2.3; OpenID Connect Core, section 5.3.2.
        case unsignedResponse = "response_unsigned"
        /// The user authenticated too long ago or in another way (RFC 9470, section 5).
        case authentication = "authentication_insufficient"
        /// The server publishes no key that fits the signature's algorithm.
        case key = "key_not_found"
        /// The signed text names a key (`kid`) that the key set does not have.
        case unknownKey = "key_unknown"
        /// More than 16 keys fit the signature, and it is by none of the first 16.
        case tooManyKeys = "too_many_keys"

        /// Whether the server may have published new keys since (`oauth-security.md` D6). If so, fetch the key set
        /// again and validate again.
        public var mayNeedNewKeys: Bool { self == .key || self == .unknownKey }
    }

    /// The check that failed.
    public let check: Check
    /// What would have been right.
    public let expected: String
    /// What was found instead: text from outside, cut and redacted.
    public let found: String
    /// Which signed text a check of a signed text is about.
    public var signedText = SignedText.idToken

    /// The signed texts of a server that have checks in common.
    public enum SignedText: String, Sendable, Hashable {
        /// OpenID Connect Core, section 2.
        case idToken = "id_token"
        /// OpenID Connect Back-Channel Logout, section 2.4.
        case logoutToken = "logout_token"
        /// RFC 9701, section 5.
        case introspection = "introspection_response"
        /// JARM, section 2.1.
        case authorizationResponse = "authorization_response"
        /// OpenID Connect Core, section 5.3.2.
        case userInfo = "userinfo_response"

        /// The text in words.
        var words: String {
            switch self {
            case .idToken: "ID token"
            case .logoutToken: "logout token"
            case .introspection: "introspection response"
            case .authorizationResponse: "signed response"
            case .userInfo: "signed user information"
            }
        }

        /// How a new one is got.
        var retry: String {
            switch self {
            case .idToken, .authorizationResponse: "sign in again"
            case .logoutToken, .introspection, .userInfo: "try again"
            }
        }
    }

    /// A stable code for programs.
    public var code: String { check.rawValue.replacing("id_token", with: signedText.rawValue) }

    /// States a refusal.
    public init(_ check: Check, expected: String, found: String) {
        self.check = check
        self.expected = expected
        self.found = found
    }
}

extension OAuthError: CustomStringConvertible {
    /// A stable code for programs.
    public var code: String {
        switch self {
        case .configuration: "invalid_configuration"
        case .unmatchedRedirect: Refusal.Check.state.rawValue
        case .refused(let refusal): refusal.code
        case .server(let error): error.code ?? "http_\(error.status ?? 0)"
        case .malformed: "malformed_response"
        case .redirected: "unexpected_redirect"
        }
    }

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .configuration(let member, let problem):
            problem.isSentence ? problem : "The configuration of “\(member)” is wrong: \(problem)."
        case .unmatchedRedirect(let problem):
            "The callback belongs to no sign-in in progress: \(problem). Sign in again."
        case .refused(let refusal):
            refusal.description
        case .server(let error):
            error.description
        case .malformed(.resource, "Location", _, _):
            "The API redirected the request to an address that is not allowed, so nothing was sent there. Check the address."
        case .malformed(let step, "content", "a JSON object", let found):
            "The service answered the \(step.words) request with \(found) instead of a JSON object. \(step.cureOfMalformedResponse)"
        case .malformed(let step, let member, let expected, let found):
            "The service's \(step.words) response is not valid: expected \(member) to be \(expected), found \(found). "
                + step.cureOfMalformedResponse
        case .redirected(let step, let status, let target):
            "The service answered the \(step.words) request with a redirect\(target.map { " to \($0)" } ?? "") (status \(status)), "
                + "which is never followed. Check the endpoint's URL."
        }
    }
}

extension OAuthError {
    /// The member of the configuration that is wrong; nil for other errors.
    package var configurationMember: String? {
        if case .configuration(let member, _) = self { member } else { nil }
    }
}

extension OAuthError {
    /// Refuses a time, in seconds since 1970, that would be a number which no server reads: before 1970, or beyond twelve digits.
    static func checkClock(_ now: Double) throws(OAuthError) {
        guard now >= 0, now < 1e12 else {
            throw .configuration(
                member: "clock", problem: "This machine's clock shows an impossible time. Set it, and try again.")
        }
    }
}

extension String {
    /// Whether the text is made of whole sentences: it begins with a capital letter or a digit, and ends with a full stop.
    package var isSentence: Bool { first.map { $0.isUppercase || $0.isNumber } == true && hasSuffix(".") }
}

extension Refusal: CustomStringConvertible {
    /// What was found, what was expected instead, and what to do.
    public var description: String {
        switch check {
        case .insecureTransport:
            "\(found) is not encrypted, so nothing was sent to it. Use \(expected)"
                + (isOnThisMachine
                    ? "; for a server on this machine, allow it with security: .allowingInsecureLoopback." : ".")
        case .foreignOrigin:
            "The token was not sent to \(found), because "
                + (expected.isEmpty ? "the service has no API address." : "it is for \(expected) alone.")
        case .authentication where found == Self.noIDToken:
            "There is no ID token that can be checked, and nothing else says how the user was authenticated "
                + "(\(expected)). Ask for the scope openid. If that changes nothing, demand neither max_age nor one of "
                + "acr_values."
        default:
            "\(check.problem(of: signedText)) Expected \(expected), found \(found). \(cure)"
        }
    }

    /// What is found where a demanded authentication cannot be checked.
    static let noIDToken = "no ID token"

    /// What to do about it. A slash at the end is the commonest mistake in an issuer.
    private var cure: String {
        guard check == .issuer, signedText == .idToken,
            found == expected + "/" || found + "/" == expected
        else { return check.cure(of: signedText) }
        let word = found.hasSuffix("/") ? "with" : "without"
        return "If you wrote the URL, write it \(word) the slash at its end: \(found). "
            + "Otherwise report it to the service."
    }

    private var isOnThisMachine: Bool {
        (try? EndpointURL(found, security: .allowingInsecureLoopback))?.origin.isLoopback ?? false
    }
}

extension Refusal.Check {
    /// What is wrong, as a sentence.
    fileprivate func problem(of text: Refusal.SignedText) -> String {
        switch self {
        case .state: "The response belongs to another sign-in."
        case .resource: "The document is about another API."
        case .issuer: "The issuer is not the expected one."
        case .issuerMissing: "The response does not name its issuer."
        case .redirect: "The response arrived at another redirect URI."
        case .repeatedParameter: "The response repeats a parameter."
        case .expired: "The sign-in has expired."
        case .insecureTransport: "The connection would not be secure."
        case .foreignOrigin: "The token must not be sent to this origin."
        case .movedEndpoint: "The server has moved an endpoint at which this client authenticates."
        case .challengeMethod: "The server does not support PKCE."
        case .sharedRedirect: "Two servers share a redirect URI."
        case .foreignTokenEndpoint: "The key file names a foreign token endpoint. Nothing was signed."
        case .nonce: "The \(text.words) belongs to another sign-in."
        case .signature: "The signature of the \(text.words) is not valid."
        case .algorithm: "The signature algorithm of the \(text.words) is not allowed."
        case .audience: "The \(text.words) is for another client."
        case .authorizedParty: "The \(text.words) was issued to another client."
        case .replay: "The \(text.words) was used before."
        case .subject: "The service returned another user."
        case .tokenTime: "The time of the \(text.words) is not valid."
        case .tokenHash: "The \(text.words) belongs to another access token."
        case .codeHash: "The \(text.words) belongs to another authorization code."
        case .tokenForm: "The \(text.words) is not valid."
        case .encrypted: "The service encrypts what it signs, which is not supported."
        case .unsignedResponse: "The response is not signed."
        case .authentication: "The user's authentication is not the one that was asked for."
        case .key: "The server publishes no key for the \(text.words)."
        case .unknownKey: "The server does not publish the key of the \(text.words)."
        case .tooManyKeys: "The server publishes too many keys that may have signed the \(text.words)."
        }
    }

    /// What to do about it.
    fileprivate func cure(of text: Refusal.SignedText) -> String {
        switch self {
        case .state, .nonce, .expired, .authentication: "Sign in again."
        case .subject: "Sign in again as the same user, or sign out first."
        case .issuer, .resource:
            "Check that the URL is written exactly as the service states it. If it is, report it to the service."
        case .redirect: "Check that the app passes the callback on unchanged."
        case .insecureTransport: "Use https."
        case .foreignOrigin: "Check the address."
        case .movedEndpoint: "If you trust the new host, sign in again."
        case .challengeMethod: "Ask the service to support PKCE with S256."
        case .replay: "Send a new one."
        case .foreignTokenEndpoint: "Check where the file comes from, and make a new one at the service."
        case .sharedRedirect: "Give each server a redirect URI of its own."
        case .algorithm: "Ask the service to sign with an expected algorithm for this client."
        case .audience, .authorizedParty: "Check the client ID. If it is right, report it to the service."
        case .tokenTime: "Check the clock of this machine, and \(text.retry)."
        case .tooManyKeys: "Ask the service to name the key in what it signs (kid)."
        case .encrypted: "Register the client without a member that ends in _encrypted_response_alg."
        case .key, .unknownKey: "Try again in a few minutes. If it happens again, report it to the service."
        case .issuerMissing, .repeatedParameter, .unsignedResponse:
            "Sign in again. If it happens again, report it to the service."
        case .signature, .tokenHash, .codeHash, .tokenForm:
            "\(text.retry.prefix(1).uppercased())\(text.retry.dropFirst()). If it happens again, report it to the service."
        }
    }
}
