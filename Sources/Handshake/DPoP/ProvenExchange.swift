import HTTPTypes
import OAuth

extension Environment {
    /// Sends a request to an authorization server, with a proof where there is a key.
    ///
    /// When the server wants a nonce, the request is built and sent again: it was not processed (RFC 9449, section 8), so
    /// this is no second use of a code or a refresh token. The second answer is final.
    ///
    /// - Parameters:
    ///   - key: what the proof is signed with; nil for a request without one.
    ///   - certificate: what the connection presents; nil for nothing.
    ///   - timeout: how long the server may take, where that is longer than usual.
    ///   - confirm: called before the second sending, which must not happen when it throws.
    ///   - build: makes the request. Called for each sending, so that each has an assertion of its own.
    /// - Throws: `OAuthError`, `TransportError`, `CancellationError`, what `confirm` throws.
    func transmit(
        provingBy key: DPoPKey?, presenting certificate: ClientCertificate? = nil, timeout: Duration? = nil,
        confirm: () async throws -> Void = {}, _ build: () throws -> RequestMessage
    ) async throws -> ResponseMessage {
        let transport = try transport(presenting: certificate)
        var request = try build()
        var limits = limits
        limits.timeout = max(limits.timeout, timeout ?? limits.timeout)
        guard let key else {
            return try await observed(request) { try await transport.send($0, limits: limits) }
        }
        let used = try sign(&request, by: key, as: .authorizationServer)
        let response = try await transmit(request, provenBy: key, over: transport, limits)
        guard wantsAnotherProof(response, than: used, as: .authorizationServer) else { return response }
        try await confirm()
        request = try build()
        _ = try sign(&request, by: key, as: .authorizationServer)
        return try await transmit(request, provenBy: key, over: transport, limits)
    }

    private func transmit(
        _ request: RequestMessage, provenBy key: DPoPKey, over transport: any Transport, _ limits: TransferLimits
    ) async throws -> ResponseMessage {
        let response = try await observed(request) { try await transport.send($0, limits: limits) }
        learn(from: response, to: request, provenBy: key, as: .authorizationServer)
        return response
    }

    /// Adds a new proof with the newest nonce.
    ///
    /// - Parameter accessToken: the token that is sent too; nil at an authorization server.
    /// - Returns: the nonce; nil when none is known.
    func sign(
        _ request: inout RequestMessage, by key: DPoPKey, accessToken: Secret? = nil, as role: DPoPNonce.Role
    ) throws(OAuthError) -> DPoPNonce? {
        let origin = request.origin
        let nonce = origin.flatMap { proofs.nonce(for: key, at: $0, as: role) }
        let now = origin.map { proofs.time(at: $0, now: time.now()) } ?? time.now()
        try key.sign(&request, accessToken: accessToken, nonce: nonce, now: now, random: random)
        return nonce
    }

    /// Remembers the nonce of an answer.
    func learn(
        from response: ResponseMessage, to request: RequestMessage, provenBy key: DPoPKey, as role: DPoPNonce.Role
    ) {
        guard let origin = request.origin, let nonce = DPoPNonce(in: response.head.headerFields) else { return }
        proofs.note(nonce, for: key, at: origin, as: role)
    }

    /// Whether a server wants the request again, with another nonce than the one just used (RFC 9449, section 8).
    func wantsAnotherProof(_ response: ResponseMessage, than used: DPoPNonce?, as role: DPoPNonce.Role) -> Bool {
        guard DPoPNonce.isDemanded(by: response, as: role), let next = DPoPNonce(in: response.head.headerFields) else {
            return false
        }
        return next != used
    }

    /// Sends a request and learns from the answer how the server's clock differs.
    func observed(
        _ request: RequestMessage, by transmit: (RequestMessage) async throws -> ResponseMessage
    ) async throws -> ResponseMessage {
        let sent = time.now()
        let response = try await transmit(request)
        if let origin = request.origin {
            proofs.noteTime(in: response.head, of: origin, sent: sent, received: time.now())
        }
        return response
    }
}

extension RequestMessage {
    /// Whom the request goes to.
    fileprivate var origin: Origin? {
        Origin(of: head)
    }
}
