public import OAuth

/// What a sign-out did, and what is left.
public struct SignOutReport: Sendable, Hashable {
    /// The tokens that the service has voided.
    public var revoked: [RevocationRequest.TokenKind] = []
    /// The tokens that the service cannot void, because it offers no revocation or not for this kind: they live until
    /// they expire.
    public var notRevocable: [RevocationRequest.TokenKind] = []
    /// The tokens that may still live because the service could not be asked. Sign out again to go on.
    public var remaining: [RevocationRequest.TokenKind] = []
    /// Why something remains.
    public var failure: HandshakeError?

    package init() {}

    /// Whether the account is gone from the vault.
    public var isForgotten: Bool { remaining.isEmpty }
}

extension Account {
    /// Voids the tokens at the service, then forgets the account.
    ///
    /// From the first moment no token is handed out any more, here and in every other process. A token that the service
    /// could not be asked about stays in the vault, and the next sign-out goes on where this one stopped; nothing is
    /// reported as done before it is (RFC 7009, section 2.2.1; `oauth-security.md` C15, K3).
    ///
    /// - Parameter revoking: false forgets at once, also an account whose record is damaged, and leaves the tokens to expire.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    public func signOut(revoking: Bool = true) async throws -> SignOutReport {
        do {
            let report = try await environment.vault.update(id.vaultKey) { locked in
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
                if let kept = unstored { stored = try await store(kept, over: stored, in: locked) }
                guard stored.isUsable, stored.grant.accessToken.matches(refused) else {
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
        if let kept = unstored { stored = try await store(kept, over: stored, in: locked) }
        let server = try await environment.server(of: client.service, known: stored.server)
        var remaining = Self.revocable(in: stored)
        // A brought token was not issued to this client, which could not void it: its maker does, where it was made.
        guard server.revocationEndpoint != nil, stored.renewal != .never else {
            report.notRevocable = remaining
            try await locked.remove()
            return report
        }
        while let kind = remaining.first {
            stored.state = .signingOut(remaining: remaining)
            try await locked.replace(with: stored.stored())
            adopt(stored.ended(.signingOut))
            do {
                if try await revoke(kind, of: stored.grant, at: server) {
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

    /// The refresh token first: voiding it voids its access tokens at most servers (RFC 7009, section 2.1).
    private static func revocable(in stored: AccountRecord) -> [RevocationRequest.TokenKind] {
        if case .signingOut(let remaining) = stored.state { return remaining }
        guard stored.isUsable else { return [] }
        return stored.grant.refreshToken == nil ? [.accessToken] : [.refreshToken, .accessToken]
    }

    /// Asks the service to void a token; false when it does not do that for tokens of this kind (RFC 7009, section
    /// 2.2.1).
    private func revoke(
        _ kind: RevocationRequest.TokenKind, of grant: Grant, at server: AuthorizationServerMetadata
    ) async throws -> Bool {
        let token = kind == .refreshToken ? grant.refreshToken : grant.accessToken
        guard let token, !token.isEmpty else { return true }
        do {
            let request = RevocationRequest(
                token, kind: kind, at: server, clientID: client.id,
                authentication: try client.authentication(at: server))
            try await environment.exchange({ try request.message }, request.confirm)
            return true
        } catch HandshakeError.exchange(.server(let error)) where error.code == "unsupported_token_type" {
            return false
        } catch HandshakeError.exchange(.server(let error))
            where [404, 405, 501].contains(error.status) && error.code == nil
        {
            // A built-in service's revocation address is taken from its dossier; the service may not have one.
            return false
        }
    }
}
