import Logging
import OAuth

extension Environment {
    /// Verifies a signed response with the server's keys, and returns the parameters inside (JARM, section 2.4).
    ///
    /// No key is fetched for a redirect that belongs to no attempt, or is plain.
    ///
    /// - Throws: `OAuthError/unmatchedRedirect(problem:)`; ``HandshakeError/exchange(_:)`` for a text that does not verify;
    ///   ``HandshakeError/network(_:)`` when the keys cannot be fetched.
    func verified(
        _ response: AuthorizationResponse, for request: AuthorizationRequest, of client: Client
    ) async throws -> AuthorizationResponse {
        let now = time.now()
        try request.check(response, now: now)
        guard let endpoint = request.server.keysEndpoint else { throw request.server.lacks("jwks_uri") }
        let algorithms = client.algorithms(
            client.options.responseAlgorithm, published: request.server.authorizationSigningAlgorithms)
        let verified = try await verified(withKeysAt: endpoint) { keys throws(OAuthError) in
            try request.verified(response, with: keys, allowing: algorithms, now: now)
        }
        if let lifetime = request.excessiveLifetime(of: response, now: now) {
            log.warning(
                "the server's signed responses count for more than ten minutes",
                metadata: ["issuer": "\(request.server.issuer)", "seconds": "\(Int(min(lifetime, 1e12)))"])
        }
        return verified
    }
}
