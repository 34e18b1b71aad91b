#if Sandbox
import HTTPTypes
import SandboxCore

/// How a client says who it is, and proves a key.
extension StandardStandIn {
    /// One method a request (RFC 6749 section 2.3): Basic with form-encoded parts (section 2.3.1), secret in the body,
    /// or, for public clients, `client_id` alone.
    func authenticated(_ request: IncomingRequest) throws(OAuthFailure) -> SandboxClient {
        guard request.mediaType == "application/x-www-form-urlencoded" else {
            throw .invalidRequest("The body must be application/x-www-form-urlencoded.")
        }
        if let name = request.form.doubledName { throw .invalidRequest("The parameter \(name) came twice.") }
        if request.form["client_assertion"] != nil || request.form["client_assertion_type"] != nil {
            guard request.headers[.authorization] == nil, request.form["client_secret"] == nil else {
                throw .invalidRequest("The client used two authentication methods in one request.")
            }
            return try assertions.client(of: request.form, to: request.path, at: server)
        }
        guard request.headers[.authorization] != nil else {
            // The assertion says who asks (RFC 7521 section 4.1).
            if request.form["client_id"] == nil, request.form["grant_type"] == AssertionGrants.grantType,
                let speaker = assertionGrants.speaker(of: request.form)
            {
                return speaker
            }
            guard let id = request.form["client_id"] else { throw .invalidClient("The client identifier is missing.") }
            if let client = try certified(request, as: id) { return client }
            return try showing(id: id, secret: request.form["client_secret"])
        }
        guard let credentials = request.basicCredentials else {
            throw .invalidClient("Authorization is not well-formed Basic.")
        }
        guard request.form["client_secret"] == nil else {
            throw .invalidRequest("The client used two authentication methods in one request.")
        }
        let id = PercentCoding.formDecoded(credentials.id)
        if let other = request.form["client_id"], other != id {
            throw .invalidRequest("client_id is not the client of Authorization.")
        }
        return try showing(id: id, secret: PercentCoding.formDecoded(credentials.secret))
    }

    /// A client that shows its secret, or has none.
    private func showing(id: String, secret: String?) throws(OAuthFailure) -> SandboxClient {
        guard server.client(id)?.certificateRule == nil else {
            throw .invalidClient("The client authenticates by its certificate, and has no secret.")
        }
        guard id != AssertingClients.hashed else {
            throw .invalidClient("The client has to sign with its secret instead of showing it.")
        }
        guard !registrations.hasExpired(id) else { throw .invalidClient("The client's secret has expired.") }
        return try server.client(id: id, secret: secret)
    }

    /// The key of a request's proof; nil without a proof.
    private func keyThumbprint(of request: IncomingRequest, by client: SandboxClient) throws(OAuthFailure) -> String? {
        do {
            let thumbprint = try proofs.thumbprint(ofProofIn: request, client.proofs, at: server)
            try proofs.checkBinding(of: request.form, by: client, to: thumbprint, at: server)
            return thumbprint
        } catch {
            throw OAuthFailure(code: error.code, detail: error.detail)
        }
    }

    /// Answers a request of an authenticated client whose proof is in order (RFC 9449 section 5).
    ///
    /// - Parameter body: takes the client and the thumbprint of the proof's key, nil without a proof.
    func proven(
        _ request: IncomingRequest, _ body: (SandboxClient, String?) throws(OAuthFailure) -> Answer
    ) -> Answer {
        var rule = SandboxClient.ProofRule.optional
        let answer: Answer
        do throws(OAuthFailure) {
            let client = try authenticated(request)
            rule = client.proofs
            answer = try body(client, try keyThumbprint(of: request, by: client))
        } catch {
            answer = error.challengingAnswer
        }
        return proofs.withNonce(answer, rule, as: .authorizationServer, at: server)
    }
}
#endif
