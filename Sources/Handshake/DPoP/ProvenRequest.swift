import HTTPTypes
import OAuth

/// How often one request of a caller may still be sent because an API wants another nonce: once.
struct ProofAttempts {
    fileprivate(set) var mayRepeat = true
}

extension Environment {
    /// Sends a request to an API, with a proof where its token is bound to a key (RFC 9449, section 7).
    ///
    /// When the API wants a nonce, the request is sent once more, with a new proof. Content that exists only once is not: the
    /// challenge is then the answer, and its nonce serves the next request.
    ///
    /// - Parameters:
    ///   - request: what to send, with its `Authorization` field.
    ///   - credential: what that field has; nil for a request without the token, which gets no proof.
    ///   - attempts: what the caller's request may still cost.
    ///   - transmit: sends once.
    /// - Throws: ``HandshakeError/exchange(_:)`` with `use_dpop_nonce` when a second answer wants a nonce, or the first one
    ///   brings none; ``HandshakeError/network(_:)``; what `transmit` throws.
    func transmit(
        _ request: RequestMessage, with credential: AccessCredential?, counting attempts: inout ProofAttempts,
        by transmit: Account.Transmission
    ) async throws -> ResponseMessage {
        do {
            guard let credential, let key = credential.key else { return try await transmit(request) }
            while true {
                var proven = request
                let used = try sign(&proven, by: key, accessToken: credential.token, as: .resource)
                let response = try await observed(proven, by: transmit)
                learn(from: response, to: proven, provenBy: key, as: .resource)
                guard DPoPNonce.isDemanded(by: response, as: .resource) else { return response }
                let isUseful = wantsAnotherProof(response, than: used, as: .resource)
                guard attempts.mayRepeat, isUseful else {
                    throw OAuthError.server(
                        ServerError(step: .resource, code: DPoPNonce.code, status: response.head.status.code))
                }
                guard request.content.isReplayable else { return response }
                attempts.mayRepeat = false
            }
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }
}
