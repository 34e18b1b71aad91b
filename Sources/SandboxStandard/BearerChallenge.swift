#if Sandbox
import HTTPTypes
import SandboxCore

/// A refusal of a protected resource, as `WWW-Authenticate` says it (RFC 6750 section 3, RFC 9470 section 3).
struct BearerChallenge: Error, Sendable {
    let status: Int
    let parameters: [(name: String, value: String)]
    /// The scheme: `DPoP` for a token that is bound to a key (RFC 9449 section 7.1).
    var scheme = "Bearer"

    /// No token came: the challenge carries no error code (RFC 6750 section 3.1).
    static let tokenMissing = BearerChallenge(status: 401, parameters: [])

    static let invalidToken = BearerChallenge(
        status: 401,
        parameters: [
            ("error", "invalid_token"), ("error_description", "The access token is unknown, expired or revoked."),
        ])

    /// RFC 6750 section 5.3 and RFC 9700 section 4.3.2: no tokens in queries.
    static let tokenInQuery = BearerChallenge(
        status: 400,
        parameters: [
            ("error", "invalid_request"), ("error_description", "An access token does not belong in a query."),
        ])

    /// RFC 9449 sections 7.1 and 9.
    static func proof(_ failure: ProofFailure) -> BearerChallenge {
        BearerChallenge(
            status: 401,
            parameters: [
                ("error", failure.code), ("error_description", failure.detail),
                ("algs", ProofVerifier.algorithms.joined(separator: " ")),
            ], scheme: "DPoP")
    }

    /// The same refusal of a token that is bound to a key.
    var ofBoundToken: BearerChallenge {
        var challenge = self
        challenge.scheme = "DPoP"
        return challenge
    }

    static func insufficientScope(_ scope: String) -> BearerChallenge {
        BearerChallenge(
            status: 403,
            parameters: [
                ("error", "insufficient_scope"), ("error_description", "The access token lacks a scope."),
                ("scope", scope),
            ])
    }

    static let insufficientAuthentication = BearerChallenge(
        status: 401,
        parameters: [
            ("error", "insufficient_user_authentication"),
            ("error_description", "A stronger authentication is needed."),
            ("acr_values", PendingAuthorization.strongContextClass),
        ])

    var answer: Answer {
        let challenge = (["realm=\"sandbox\""] + parameters.map { "\($0.name)=\"\($0.value)\"" }).joined(
            separator: ", ")
        let body = JSON.object(
            parameters.filter { $0.name.hasPrefix("error") }.map {
                JSON.Member(name: $0.name, value: .string($0.value))
            })
        return .uncachedJSON(body, status: status).adding(.wwwAuthenticate, "\(scheme) \(challenge)")
    }
}
#endif
