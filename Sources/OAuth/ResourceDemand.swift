import HTTPTypes

/// What an API demands when it refuses a request (RFC 6750, section 3.1). It is read from its status and
/// `WWW-Authenticate`.
public enum ResourceDemand: Sendable, Hashable {
    /// The token is expired, revoked or unknown: another one is needed.
    case freshToken
    /// The token is good, but not for this: the user has to grant more.
    case scopes([String])
    /// The user has to authenticate again or better (RFC 9470, section 3). `maximumAge` is in seconds; `scopes` are demanded
    /// beside it.
    case stepUp(acrValues: [String], maximumAge: Int?, scopes: [String] = [])
    /// The API takes only tokens that are bound to a key (RFC 9449, section 7.1). This one is not.
    case boundToken

    /// Reads the demand.
    ///
    /// - Parameters:
    ///   - response: the API's answer.
    ///   - isBound: whether the token that was sent is bound to a key (RFC 9449). Its challenge is a DPoP challenge.
    ///   - secrets: what the demand may not show.
    /// - Returns: nil when the response is no refusal of the token, such as one of a proof. A 401 without a readable
    ///   challenge asks for a fresh token.
    public init?(_ response: ResponseMessage, isBound: Bool = false, hiding secrets: [Secret] = []) {
        let status = response.head.status.code
        guard status == 401 || status == 403 else { return nil }
        let challenges = AuthenticationChallenge.challenges(in: response.head.headerFields) ?? []
        let (bearer, dpop) = (challenges.filter { $0.scheme == "bearer" }, challenges.filter { $0.scheme == "dpop" })
        if !isBound, bearer.isEmpty, !dpop.isEmpty, status == 401 {
            self = .boundToken
            return
        }
        // Of several, the others only announce something, such as the API's document.
        let own = isBound && !dpop.isEmpty ? dpop : bearer
        let challenge = own.first { $0.parameters["error"] != nil } ?? own.first
        switch challenge?.parameters["error"] {
        case "insufficient_scope":
            self = .scopes(Self.words("scope", of: challenge, hiding: secrets))
        case "insufficient_user_authentication":
            self = .stepUp(
                acrValues: Array(
                    Self.words("acr_values", of: challenge, hiding: secrets).prefix(Self.maximumContexts)),
                maximumAge: challenge?.parameters["max_age"].flatMap(wholeNumber),
                scopes: Self.words("scope", of: challenge, hiding: secrets))
        case "invalid_token":
            self = .freshToken
        case "invalid_request", DPoPNonce.code, "invalid_dpop_proof":
            return nil
        default:
            guard status == 401 else { return nil }
            self = .freshToken
        }
    }

    /// The most that is taken of `acr_values`, and their longest (`any-server.md` 2).
    private static let maximumContexts = 10
    private static let maximumContextLength = 255

    /// The parameters of an authorization request that satisfies it, besides the scopes (RFC 9470, section 4). A demand that
    /// names neither class nor age is for a new authentication.
    package var parameters: [String: String] {
        guard case .stepUp(let contexts, let maximumAge, _) = self else { return [:] }
        let named = contexts.prefix(Self.maximumContexts).filter { $0.utf8.count <= Self.maximumContextLength }
        var parameters = named.isEmpty ? [:] : ["acr_values": named.joined(separator: " ")]
        if let age = maximumAge ?? (named.isEmpty ? 0 : nil) { parameters["max_age"] = "\(age)" }
        return parameters
    }

    /// The scopes that are demanded.
    package var demandedScopes: [String] {
        switch self {
        case .scopes(let scopes), .stepUp(_, _, let scopes): scopes
        case .freshToken, .boundToken: []
        }
    }

    /// The words of a parameter (RFC 6749, section 3.3). One that repeats a secret or looks like an option is left out: it is neither printed nor asked for.
    private static func words(
        _ name: String, of challenge: AuthenticationChallenge?, hiding secrets: [Secret]
    ) -> [String] {
        let redaction = Redaction(secrets)
        return (challenge?.parameters[name] ?? "").split(separator: " ").map(String.init)
            .filter { $0.utf8.count <= Redaction.maximumLength && redaction.hidingSecrets(in: $0).isIdentical(to: $0) }
            .filter { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } && $0.first != "-" }
    }
}
