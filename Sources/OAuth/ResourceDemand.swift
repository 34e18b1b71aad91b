import HTTPTypes

/// What an API demands when it refuses a request (RFC 6750, section 3.1). It is read from its status and
/// `WWW-Authenticate`.
public enum ResourceDemand: Sendable, Hashable {
    /// The token is expired, revoked or unknown: another one is needed.
    case freshToken
    /// The token is good, but not for this: the user has to grant more.
    case scopes([String])
    /// The user has to authenticate again or better (RFC 9470, section 3). `maximumAge` is in seconds.
    case stepUp(acrValues: [String], maximumAge: Int?)

    /// Reads the demand.
    ///
    /// - Returns: nil when the response is no refusal of the token. A 401 without a readable Bearer challenge asks for
    ///   a fresh token.
    public init?(_ response: ResponseMessage) {
        let status = response.head.status.code
        guard status == 401 || status == 403 else { return nil }
        let bearer = AuthenticationChallenge.challenges(in: response.head.headerFields)?.first { $0.scheme == "bearer" }
        switch bearer?.parameters["error"] {
        case "insufficient_scope":
            let scopes = bearer?.parameters["scope"]?.split(separator: " ").map(String.init) ?? []
            self = .scopes(scopes.map { quoted($0, limit: 200) })
        case "insufficient_user_authentication":
            self = .stepUp(
                acrValues: bearer?.parameters["acr_values"]?.split(separator: " ").map {
                    quoted(String($0), limit: 200)
                } ?? [],
                maximumAge: bearer?.parameters["max_age"].flatMap(wholeNumber))
        case "invalid_token":
            self = .freshToken
        case "invalid_request":
            return nil
        default:
            guard status == 401 else { return nil }
            self = .freshToken
        }
    }
}
