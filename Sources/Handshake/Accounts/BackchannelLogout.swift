import Logging
public import OAuth

/// What a server's logout token has ended. Source: OpenID Connect Back-Channel Logout, section 2.7.
public struct BackchannelLogout: Sendable, Hashable {
    /// The accounts whose user has signed out at the server. End the app's own sessions of these.
    ///
    /// Those whose grant had ended before are among them: the app's own session may still be there.
    public let accounts: [AccountID]
    /// Those among them whose grant stays. The user gave it for offline use (`offline_access`).
    public let keptGrants: [AccountID]
    /// The session at the server that has ended. Nil means all sessions of the user.
    public let sessionID: String?
}

extension Handshake {
    /// Ends the accounts whose user has signed out at the server. Source: OpenID Connect Back-Channel Logout.
    ///
    /// The token counts once, in all processes with the same vault. With a session in it, the accounts of that session end;
    /// otherwise all accounts of the user. Grants for offline use (`offline_access`) stay. An account that ends loses its
    /// tokens and says ``HandshakeError/SignInReason/loggedOut``. One that had ended before is returned too. Reads every
    /// account of the client, after the token was checked.
    ///
    /// - Parameters:
    ///   - token: the form field `logout_token`.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - body: ends the app's own sessions. When it throws, the token counts as not used yet.
    /// - Returns: what has ended; empty lists for a user without a session, which is no error.
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/refused(_:)` for a token that is not valid, or that was
    ///   used before: answer with status 400. Otherwise ``HandshakeError/vault(_:)``, ``HandshakeError/network(_:)`` or
    ///   `CancellationError`, or what `body` throws: the server may send it again.
    @discardableResult
    public func endSessions(
        logoutToken token: Secret, of service: String? = nil,
        _ body: @escaping @Sendable (BackchannelLogout) async throws -> Void = { _ in }
    ) async throws -> BackchannelLogout {
        let client = try client(of: service)
        let server = try await environment.server(of: client)
        guard let endpoint = server.keysEndpoint else { throw HandshakeError.exchange(server.lacks("jwks_uri")) }
        var validator = LogoutTokenValidator(
            issuer: server.issuer, clientID: client.id, algorithms: client.idTokenAlgorithms(at: server))
        validator.acceptsMissingExpiry = client.service.deviations.acceptsLogoutTokensWithoutExpiry
        validator.issuerTemplate = client.service.deviations.issuerTemplate
        let leeway = validator.leeway
        let now = environment.time.now()
        let logout = try await environment.verified(withKeysAt: endpoint) { [validator] keys throws(OAuthError) in
            try validator.token(token, keys: keys, now: now)
        }
        do {
            return try await environment.vault.update(VaultKey(.logoutToken, [logout.digest])) { locked in
                guard await locked.contents == nil else {
                    throw HandshakeError.exchange(Self.replayed)
                }
                // Before the token is noted as used: after a crash the server's next attempt ends the rest.
                let outcome = try await self.end(logout, of: client)
                try await body(outcome)
                let used = StoredExpiry(expiresAt: logout.expiresAt + leeway)
                try await locked.replace(with: used.stored)
                return outcome
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    private static var replayed: OAuthError {
        var refusal = Refusal(.replay, expected: "a jti that was not used before", found: "one that was")
        refusal.signedText = .logoutToken
        return .refused(refusal)
    }

    private func end(_ logout: LogoutToken, of client: Client) async throws -> BackchannelLogout {
        var ended: [AccountID] = []
        var kept: [AccountID] = []
        for key in try await environment.vault.keys(of: .account).keys {
            guard let id = AccountID(key), AccountID(client, name: id.name) == id,
                let bytes = try await readable(key)
            else { continue }
            guard let record = try? AccountRecord(stored: bytes, expected: id),
                record.grant.identity.map(logout.ends) ?? false
            else { continue }
            // One that has ended too: the app may not have ended its own session yet, as when this token comes again.
            ended.append(id)
            guard record.isUsable else { continue }
            if record.grant.scopes.contains("offline_access") {
                kept.append(id)
            } else {
                try await hold(record, client: client).end(by: logout)
            }
        }
        return BackchannelLogout(accounts: ended, keptGrants: kept, sessionID: logout.sessionID)
    }

    /// A record, or nil where it is damaged or locked: it has no session that could be told to be this one, and keeps no other
    /// user signed in.
    private func readable(_ key: VaultKey) async throws -> [UInt8]? {
        do {
            return try await environment.vault.record(key)
        } catch let error as VaultError {
            switch error {
            case .damaged, .locked:
                environment.log.warning("a logout token passes over a record", metadata: ["reason": "\(error)"])
                return nil
            default: throw error
            }
        }
    }
}

extension Account {
    /// Ends the session if it is still one that the token ends: another sign-in may have come between.
    fileprivate func end(by logout: LogoutToken) async throws {
        let isEnded = try await environment.vault.update(id.vaultKey) { locked in
            guard let bytes = await locked.contents else { return false }
            let stored = try AccountRecord(stored: bytes, expected: self.id)
            guard stored.isUsable, stored.grant.identity.map(logout.ends) ?? false else { return false }
            let ended = stored.ended(.loggedOut)
            try await locked.replace(with: ended.stored())
            self.adopt(ended)
            return true
        }
        if isEnded { announce(.ended(.loggedOut)) }
    }
}

/// Until when a record of a fixed purpose is kept, in seconds since 1970. Other records have such a member too.
struct StoredExpiry: Decodable {
    let expiresAt: Double

    /// The record's bytes. Without Foundation's encoder, because a server stores one for each token that it takes.
    var stored: [UInt8] { Array(JSONValue.object(["expiresAt": .number("\(expiresAt)")]).json.utf8) }

    init(expiresAt: Double) {
        self.expiresAt = expiresAt
    }

    /// The expiry of a record; nil when it has none.
    init?(_ bytes: [UInt8]) {
        guard let stored: StoredExpiry = try? StoredForm.decode(bytes, what: "a record") else { return nil }
        self = stored
    }
}
