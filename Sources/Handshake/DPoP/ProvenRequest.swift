import HTTPTypes
import OAuth

/// Which requests of a caller's chain of redirects were sent twice because an API wanted another nonce: each may be, once.
struct ProofAttempts {
    private var repeated: Set<Int> = []
    /// How many redirects lead to the request that is sent now.
    var hop = 0

    fileprivate var mayRepeat: Bool { !repeated.contains(hop) }

    fileprivate mutating func noteRepeat() { repeated.insert(hop) }
}

extension Environment {
    /// Sends a request whose token is bound to a key to an API, with a proof (RFC 9449, section 7).
    ///
    /// When the API wants a nonce, the request is sent again, with a new proof. Content that exists only once is not: the
    /// challenge is then the answer, and its nonce serves the next request.
    ///
    /// - Parameters:
    ///   - request: what to send, with its `Authorization` field.
    ///   - token: what that field has.
    ///   - attempts: what the caller's request may still cost.
    ///   - transmit: sends once.
    /// - Throws: `OAuthError` with `use_dpop_nonce` when a second answer wants a nonce, or the first one brings none; what
    ///   `transmit` throws.
    // Not inlined, so that a request without a proof holds no memory for one.
    @inline(never)
    func transmit(
        _ request: RequestMessage, with token: Secret, provenBy key: DPoPKey, counting attempts: inout ProofAttempts,
        by transmit: (RequestMessage) async throws -> ResponseMessage
    ) async throws -> ResponseMessage {
        while true {
            var proven = request
            let used = try sign(&proven, by: key, accessToken: token, as: .resource)
            let response = try await observed(proven, by: transmit)
            learn(from: response, to: proven, provenBy: key, as: .resource)
            guard DPoPNonce.isDemanded(by: response, as: .resource) else { return response }
            let isUseful = wantsAnotherProof(response, than: used, as: .resource)
            guard attempts.mayRepeat, isUseful else {
                throw OAuthError.server(
                    ServerError(step: .resource, code: DPoPNonce.code, status: response.head.status.code))
            }
            guard request.content.isReplayable else { return response }
            attempts.noteRepeat()
        }
    }
}
