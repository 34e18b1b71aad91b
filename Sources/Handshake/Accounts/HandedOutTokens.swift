public import HTTPTypes
public import OAuth

/// Tokens for other programs, which cannot come back for a newer one.
extension Account {
    /// An access token that is valid for at least this many seconds more. It is refreshed when necessary.
    ///
    /// - Returns: nil when even a new token lives shorter. A token of unknown life is returned as it is.
    /// - Throws: what ``accessToken()`` throws; ``HandshakeError/signInRequired(_:_:)`` too when the token is too short-lived
    ///   and cannot be refreshed.
    public func accessToken(validFor seconds: Double) async throws -> Secret? {
        let first = try await credential().record.grant
        if isValid(until: first.expiresAt, for: seconds) { return first.accessToken }
        let next = try await credential(after: first.accessToken).record.grant
        return isValid(until: next.expiresAt, for: seconds) ? next.accessToken : nil
    }

    /// The verified ID token as it came. It is refreshed when it lives shorter than this many seconds.
    ///
    /// It tells another program who signed in at this client. It is no access token: no API takes it as one.
    ///
    /// - Returns: nil when there is none that lives so long.
    /// - Throws: what ``accessToken()`` throws.
    public func idToken(validFor seconds: Double = 0) async throws -> Secret? {
        let first = try await credential().record.grant
        guard let identity = first.identity else { return nil }
        if let token = first.idToken, isValid(until: identity.expiresAt, for: seconds) { return token }
        guard status.isRefreshable else { return nil }
        let next = try await credential(after: first.accessToken).record.grant
        return isValid(until: next.identity?.expiresAt, for: seconds) ? next.idToken : nil
    }

    private func isValid(until end: Double?, for seconds: Double) -> Bool {
        end.map { $0 - environment.time.now() >= seconds } ?? true
    }

    /// The fields that a request of another program needs. They are the access token, and what the service wants beside
    /// it. Where ``AccountStatus/isBoundToCertificate`` says so, its connection has to present the client's certificate too.
    ///
    /// - Parameter address: what the request goes to, absolute or relative to the service's API; nil does not check it.
    /// - Throws: `OAuthError/refused(_:)` inside ``HandshakeError/exchange(_:)`` with `Refusal/Check/foreignOrigin` for an
    ///   address that is none of the service's; ``HandshakeError/configuration(member:problem:)`` for a token that is bound
    ///   to a key, since no field authorizes more than one request with it; what ``accessToken()`` throws.
    public func authorizationFields(for address: String? = nil) async throws -> HTTPFields {
        if let address { try check(RequestMessage(.get, resolve(address))) }
        let credential = try await credential()
        guard credential.key == nil else {
            throw HandshakeError.configuration(
                member: "headers",
                problem:
                    "the token is bound to a key (DPoP), so each request needs a proof of its own; send requests through the account instead"
            )
        }
        var fields = requiredHeaders
        fields[.contentType] = nil
        fields.set(credential.field)
        return fields
    }
}
