import AsyncSupport
import Logging
public import OAuth

/// What a sign-out did, and what is left.
public struct SignOutReport: Sendable, Hashable {
    /// The tokens that the service has revoked.
    public var revoked: [RevocationRequest.TokenKind] = []
    /// The tokens that the service will not revoke. It offers no revocation, or not to this client or for this kind.
    /// They may be valid at the service until they expire.
    public var notRevocable: [RevocationRequest.TokenKind] = []
    /// The tokens that may still be valid. The service or the vault could not be asked. Sign out again to continue.
    public var remaining: [RevocationRequest.TokenKind] = []
    /// Why something remains.
    public var failure: HandshakeError?
    /// What became of the user's session at the server. Nil when it was not to end.
    public var serverSession: ServerSession?

    /// What became of the user's session at the server, which is in their browser.
    public enum ServerSession: Sendable, Hashable {
        /// The server has no page at which a session ends. The user stays signed in there.
        case unsupported
        /// The page was shown; what the user did there is not known.
        case shown
        /// The page could not be shown.
        case notShown(HandshakeError)
        /// The server has ended the session. The browser came back with the request's own state.
        case ended
        /// The browser did not come back in time, or without the request's own state.
        case unconfirmed
    }

    package init() {}

    /// Whether the account is gone from the vault.
    public var isForgotten: Bool { remaining.isEmpty }
}

extension Account {
    /// Revokes the tokens at the service, then forgets the account.
    ///
    /// From the first moment on no token is handed out, here and in every other process. When a revocation may succeed
    /// later (status 429 or 5xx, no connection, a vault that cannot be searched for the client's new secret), the account stays in
    /// the vault, and the next sign-out continues where this one stopped (RFC 7009, section 2.2.1; `oauth-security.md` C15, K3).
    /// When it can never succeed (an OAuth error with 400 or 401, status 403, 404, 405 or 501), the token is reported in
    /// ``SignOutReport/notRevocable`` and forgotten.
    ///
    /// A sign-out that stays incomplete is announced once, by ``AccountEvent/Change/ended(_:)``, and its end by
    /// ``AccountEvent/Change/signedOut(revoked:)`` (`oauth-security.md` E10).
    ///
    /// - Parameter revoking: false forgets immediately, also an account whose record is damaged, and leaves the tokens to
    ///   expire.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    public func signOut(revoking: Bool = true) async throws -> SignOutReport {
        do {
            let report = try await environment.vault.update(id.vaultKey) { locked in
                let hadBegun = status.state == .signingOut
                // Also when this throws: by then no token is handed out, and the next sign-out has the rest to do.
                defer { if !hadBegun, status.state == .signingOut { announce(.ended(.signingOut)) } }
                let report = try await self.signOut(revoking: revoking, in: locked)
                // While the record is still held: what comes after, such as another sign-in, is not undone by this.
                adopt(record.ended(report.isForgotten ? .absent : .signingOut))
                return report
            }
            if report.isForgotten {
                announce(.signedOut(revoked: !report.revoked.isEmpty && report.notRevocable.isEmpty))
            }
            return report
        } catch VaultError.damaged where !revoking {
            try await environment.remove(id)
            adopt(record.ended(.absent))
            announce(.signedOut(revoked: false))
            return SignOutReport()
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Forgets the account if its access token is still this one, and leaves the token to expire.
    ///
    /// A refusal may come late. The token that has taken the refused one's place meanwhile, here or in another process,
    /// stays.
    ///
    /// - Parameter refused: the token that the service does not accept.
    /// - Returns: whether it was still the account's, which is then gone.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    package func forget(ifStill refused: Secret) async throws -> Bool {
        do {
            let isForgotten = try await environment.vault.update(id.vaultKey) { locked in
                guard let bytes = await locked.contents else { return false }
                var stored = try AccountRecord(stored: bytes, expected: self.id)
                if let unstored { stored = try await store(unstored, over: stored, in: locked) }
                guard stored.isUsable, stored.unchecked == nil, stored.grant.accessToken.matches(refused) else {
                    adopt(stored)
                    return false
                }
                try await locked.remove()
                adopt(stored.ended(.absent))
                return true
            }
            if isForgotten { announce(.signedOut(revoked: false)) }
            return isForgotten
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    private func signOut(revoking: Bool, in locked: any LockedRecord) async throws -> SignOutReport {
        var report = SignOutReport()
        guard revoking, let bytes = await locked.contents else {
            try await locked.remove()
            return report
        }
        var stored = try AccountRecord(stored: bytes, expected: id)
        if let unstored, unstored.follows(stored) { stored = unstored.record }
        // Unchecked too: its tokens are revoked and never used.
        stored = stored.withNewestGrant
        let server = try await environment.server(of: client, known: stored.server, isEnding: true)
        var remaining = Self.revocable(in: stored)
        // A token that the user brought was not issued to this client, which cannot revoke it.
        guard server.revocationEndpoint != nil, stored.refreshMethod != .never else {
            report.notRevocable = remaining
            try await locked.remove()
            return report
        }
        while let kind = remaining.first {
            stored.state = .signingOut(remaining: remaining)
            try await locked.replace(with: stored.stored())
            adopt(stored.ended(.signingOut))
            do {
                if try await revoke(kind, of: stored, at: server) {
                    report.revoked.append(kind)
                } else {
                    report.notRevocable.append(kind)
                }
                remaining.removeFirst()
            } catch let error as HandshakeError {
                report.remaining = remaining
                report.failure = error
                return report
            }
        }
        try await locked.remove()
        return report
    }

    /// Revokes the grant that a new sign-in replaced. Best effort: what fails is logged.
    ///
    /// A server may end all tokens of the same authorization with it, the new ones too (RFC 7009, section 2.1). Where a
    /// service is known to, the grant of the same user, or of one who is not known, is left.
    func revoke(replaced: AccountRecord) async {
        let replaced = replaced.withNewestGrant
        let current = record.grant
        let isSameGrant = { (token: Secret?) in
            token.map { $0.matches(current.accessToken) || current.refreshToken?.matches($0) == true } ?? false
        }
        let old = replaced.grant
        guard replaced.refreshMethod != .never, !isSameGrant(old.refreshToken), !isSameGrant(old.accessToken) else {
            return
        }
        guard !client.service.deviations.revokesWholeAuthorization || isOfAnotherUser(old) else { return }
        do {
            let isRevoked = try await within(Self.replacementDeadline, on: environment.time.clock) { [self] in
                let server = try await environment.server(of: client, known: replaced.server, isEnding: true)
                guard server.revocationEndpoint != nil else { return true }
                var isRevoked = true
                for kind in Self.revocable(in: replaced) {
                    if try await !revoke(kind, of: replaced, at: server) { isRevoked = false }
                }
                return isRevoked
            }
            if isRevoked != true { logUnrevoked(reason: isRevoked == nil ? "timeout" : "refused") }
        } catch {
            logUnrevoked(reason: (error as? HandshakeError)?.code ?? "cancelled")
        }
    }

    /// Whether a grant is known to be another user's than the account's.
    private func isOfAnotherUser(_ grant: Grant) -> Bool {
        guard let old = grant.identity, let new = record.grant.identity else { return false }
        return !old.isAbout(new)
    }

    private func logUnrevoked(reason: String) {
        environment.log.notice(
            "the grant of an earlier sign-in could not be revoked",
            metadata: ["account": "\(id)", "reason": "\(reason)"])
    }

    /// How long a new sign-in waits for the revocation of the grant before it.
    private static let replacementDeadline = Duration.seconds(5)

    /// The refresh token first: revoking it revokes its access tokens at most servers (RFC 7009, section 2.1).
    private static func revocable(in stored: AccountRecord) -> [RevocationRequest.TokenKind] {
        if case .signingOut(let remaining) = stored.state { return remaining }
        guard stored.isUsable else { return [] }
        return stored.grant.refreshToken == nil ? [.accessToken] : [.refreshToken, .accessToken]
    }

    /// Asks the service to revoke a token.
    ///
    /// - Returns: false when the service will never do so.
    /// - Throws: ``HandshakeError`` when it may do so later.
    private func revoke(
        _ kind: RevocationRequest.TokenKind, of record: AccountRecord, at server: AuthorizationServerMetadata
    ) async throws -> Bool {
        let token = kind == .refreshToken ? record.grant.refreshToken : record.grant.accessToken
        guard let token, !token.isEmpty else { return true }
        do {
            try await environment.retryingRotatedSecret(of: client) {
                var request = RevocationRequest(
                    token, kind: kind, at: server, clientID: client.id,
                    authentication: try client.authentication(at: server, in: environment))
                request.hidden = record.secrets
                // No standard asks for a proof here; some servers do, and others ignore it.
                try await environment.exchange(
                    provingBy: record.binding?.key, presenting: client.certificate,
                    { [request] in try request.message }, request.confirm)
            }
            return true
        } catch let error as HandshakeError where error.isFinalForRevocation {
            return false
        }
    }
}

extension HandshakeError {
    /// Whether a revocation that failed this way can never succeed (RFC 7009, section 2.2.1).
    fileprivate var isFinalForRevocation: Bool {
        switch self {
        case .exchange(.configuration), .configuration: true
        case .exchange(.server(let error)):
            switch (error.status, error.code) {
            case (_, "temporarily_unavailable"?), (_, "server_error"?), (_, "slow_down"?): false
            // The next proof has the nonce, or the time, that this answer brought.
            case (_, "use_dpop_nonce"?), (_, "invalid_dpop_proof"?): false
            case (400?, let code), (401?, let code): code != nil
            case (403?, _), (404?, _), (405?, _), (501?, _): true
            case (let status?, "unsupported_token_type"?): (200..<500).contains(status) && status != 429
            case (let status?, let code): (200..<300).contains(status) && code != nil
            default: false
            }
        default: false
        }
    }
}
