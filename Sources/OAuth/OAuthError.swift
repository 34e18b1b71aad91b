/// What can go wrong in an exchange, and whose fault it is.
///
/// No case carries a secret. Text from a server is quoted, shortened and stripped of control characters.
public enum OAuthError: Error, Sendable, Hashable {
    /// The app's registration or call cannot be right: the app's fault. Nothing was sent.
    case configuration(member: String, problem: String)

    /// A redirect that answers none of the pending authorizations; it changes nothing (`oauth-security.md` B5).
    case unmatchedRedirect(problem: String)

    /// The exchange was stopped because going on would not be safe. Nothing was stored.
    case refused(Refusal)

    /// The server answered with an error of its own: RFC 6749, sections 4.1.2.1 and 5.2.
    case server(ServerError)

    /// The server's answer does not have the form the standard demands: the service's fault.
    case malformed(step: Step, member: String, expected: String, found: String)

    /// The server tried to send this exchange somewhere else, which is never followed (`oauth-security.md` C8).
    case redirected(step: Step, status: Int)

    /// The exchange in which it happened.
    public enum Step: String, Sendable, Hashable, Codable {
        /// Reading server metadata (RFC 8414).
        case metadata
        /// The redirect that answers an authorization request (RFC 6749, section 4.1.2).
        case authorization
        /// The token endpoint (RFC 6749, section 3.2).
        case token
        /// The revocation endpoint (RFC 7009).
        case revocation
        /// The introspection endpoint (RFC 7662).
        case introspection
        /// The UserInfo endpoint (OpenID Connect Core, section 5.3).
        case userInfo = "userinfo"
        /// The server's key set (RFC 7517, section 5).
        case keys
        /// Checking an ID token (OpenID Connect Core, section 3.1.3.7).
        case idToken = "id_token"
        /// An API that is asked with an access token (RFC 6750).
        case resource
    }
}

/// Why an exchange was stopped for safety: what was expected and what came.
public struct Refusal: Error, Sendable, Hashable {
    /// The check that failed. The raw value is a stable code for programs.
    public enum Check: String, Sendable, Hashable {
        /// The state is another one (RFC 6749, section 10.12).
        case state = "state_mismatch"
        /// The issuer is another one (RFC 9207, section 2.4; RFC 8414, section 3.3).
        case issuer = "issuer_mismatch"
        /// The server announces `iss` and did not send it (RFC 9207, section 2.4).
        case issuerMissing = "issuer_missing"
        /// The redirect arrived at another address (RFC 9700, section 4.4.2.2).
        case redirect = "redirect_mismatch"
        /// A known parameter came twice (RFC 6749, section 3.1).
        case repeatedParameter = "parameter_repeated"
        /// The answer came after the request's lifetime.
        case expired = "request_expired"
        /// An address is not `https:` (RFC 6749, section 3.1.2.1).
        case insecureTransport = "insecure_transport"
        /// A request would take a token to an origin it is not meant for (RFC 6750, section 5.2).
        case foreignOrigin = "foreign_origin"
        /// The server does not take PKCE by S256 (RFC 7636, section 7.2).
        case challengeMethod = "pkce_unsupported"
        /// Two servers would answer at one redirect URI (RFC 9700, section 4.4.2.2).
        case sharedRedirect = "redirect_shared"
        /// The ID token's nonce is another one (OpenID Connect Core, section 3.1.3.7, as all below).
        case nonce = "nonce_mismatch"
        /// The ID token's signature does not verify.
        case signature = "signature_invalid"
        /// The ID token's algorithm is not among those allowed.
        case algorithm = "algorithm_refused"
        /// The ID token is for somebody else, or for others too.
        case audience = "audience_mismatch"
        /// The ID token was issued to another client.
        case authorizedParty = "authorized_party_mismatch"
        /// The ID token speaks of another user than before.
        case subject = "subject_mismatch"
        /// The ID token is expired, or from the future.
        case tokenTime = "id_token_time"
        /// The ID token belongs to another access token.
        case tokenHash = "at_hash_mismatch"
        /// The ID token lacks a claim, or has one of the wrong type.
        case tokenForm = "id_token_malformed"
        /// The server publishes no key that could have signed the ID token; new keys may help.
        case key = "key_not_found"
    }

    /// The check that failed.
    public let check: Check
    /// What would have been right.
    public let expected: String
    /// What came instead: from outside, quoted and shortened; never a secret.
    public let found: String

    /// States a refusal.
    public init(_ check: Check, expected: String, found: String) {
        self.check = check
        self.expected = expected
        self.found = found
    }
}

extension OAuthError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .configuration: "invalid_configuration"
        case .unmatchedRedirect: Refusal.Check.state.rawValue
        case .refused(let refusal): refusal.check.rawValue
        case .server(let error): error.code ?? "http_\(error.status ?? 0)"
        case .malformed: "malformed_response"
        case .redirected: "unexpected_redirect"
        }
    }

    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .configuration(let member, let problem):
            "\(member): \(problem) (the app's configuration)"
        case .unmatchedRedirect(let problem):
            "a redirect arrived that answers no sign-in in progress: \(problem); it was ignored"
        case .refused(let refusal):
            "stopped for safety (\(refusal.check.rawValue)): expected \(refusal.expected), found \(refusal.found)"
        case .server(let error):
            error.description
        case .malformed(let step, let member, let expected, let found):
            "the service's \(step.rawValue) answer is not valid: \(member) should be \(expected), found \(found)"
        case .redirected(let step, let status):
            "the service answered the \(step.rawValue) request with a redirect (status \(status)), which is never followed; "
                + "the endpoint's address is probably wrong"
        }
    }
}
