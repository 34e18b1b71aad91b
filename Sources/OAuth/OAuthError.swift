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
        case metadata, authorization, token, revocation, introspection
        case userInfo = "userinfo"
        case keys
        case idToken = "id_token"
        case resource
    }
}

/// Why an exchange was stopped for safety: what was expected and what came.
public struct Refusal: Error, Sendable, Hashable {
    /// The check that failed. The raw value is a stable code for programs.
    public enum Check: String, Sendable, Hashable {
        case state = "state_mismatch"
        case issuer = "issuer_mismatch"
        case issuerMissing = "issuer_missing"
        case redirect = "redirect_mismatch"
        case repeatedParameter = "parameter_repeated"
        case expired = "request_expired"
        case insecureTransport = "insecure_transport"
        case foreignOrigin = "foreign_origin"
        case challengeMethod = "pkce_unsupported"
        case sharedRedirect = "redirect_shared"
        case nonce = "nonce_mismatch"
        case signature = "signature_invalid"
        case algorithm = "algorithm_refused"
        case audience = "audience_mismatch"
        case authorizedParty = "authorized_party_mismatch"
        case subject = "subject_mismatch"
        case tokenTime = "id_token_time"
        case tokenHash = "at_hash_mismatch"
        case tokenForm = "id_token_malformed"
        case key = "key_not_found"
    }

    public let check: Check
    public let expected: String
    public let found: String

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
