import OAuth

/// The heart: a refresh that happens once, and whose every outcome is stored before it is seen.
///
/// ```
/// hold the record ── newer grant there? ──────────────────────────────► take it over, no call
///        │
///        ├─ journal “refreshing” ─► call ─┬─ new tokens ──► store ─────► hand out
///        │                                ├─ invalid_grant ► store “ended” ─► sign in again
///        │                                ├─ another error, or never sent ─► journal cleared, error
///        │                                └─ no answer ───► journal stays, error “uncertain”
/// ```
///
/// A journal entry that is found says that an earlier answer was lost. The old refresh token is then tried once more: a
/// service that did not process the first request, or forgives a repeat, goes on; any other answers `invalid_grant`,
/// which ends the session with the reason ``HandshakeError/SignInReason/answerLost``. Neither leads back to where it
/// began.
extension Account {
    /// Gets another record than the one with `refused`, or with an access token that is used up when nothing was
    /// refused.
    func refresh(replacing refused: Secret?) async throws -> AccountRecord {
        let next: AccountRecord
        do {
            next = try await environment.vault.update(id.vaultKey) { locked in
                try await self.refresh(replacing: refused, in: locked)
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
        return next
    }

    private func refresh(replacing refused: Secret?, in locked: any LockedRecord) async throws -> AccountRecord {
        guard let bytes = await locked.contents else { throw end(with: .absent) }
        var stored = try AccountRecord(stored: bytes, expected: id)
        if let kept = unstored {
            stored = try await store(kept, over: stored, in: locked)
        }
        switch stored.state {
        case .ended(let reason): throw end(stored, with: reason)
        case .signingOut: throw end(stored, with: .signingOut)
        case .signedIn, .refreshing: break
        }
        if isNewEnough(stored, after: refused) {
            let isNews = stored.generation != record.generation
            adopt(stored)
            if isNews { announce(.adopted) }
            return stored
        }
        return try await renew(stored, in: locked)
    }

    /// Whether a stored record needs no call: its token lives, and is not the one that was refused.
    private func isNewEnough(_ stored: AccountRecord, after refused: Secret?) -> Bool {
        let now = environment.time.now()
        guard let refused else { return stored.grant.isFresh(at: now, margin: refreshMargin) }
        return !stored.grant.accessToken.matches(refused) && stored.grant.isFresh(at: now, margin: 0)
    }

    /// Stores what an earlier refresh got and could not store, unless somebody has gone on since.
    func store(
        _ kept: Unstored, over stored: AccountRecord, in locked: any LockedRecord
    ) async throws -> AccountRecord {
        // A generation alone does not tell: another sign-in after a sign-out counts from the beginning.
        guard stored.isUsable, stored.generation == kept.record.generation - 1,
            stored.grant.accessToken.matches(kept.replaced)
        else {
            adopt(stored)
            return stored
        }
        try await replace(locked, with: kept.record)
        adopt(kept.record)
        return kept.record
    }

    private func renew(_ stored: AccountRecord, in locked: any LockedRecord) async throws -> AccountRecord {
        guard let request = try await renewalRequest(for: stored) else {
            // A token that lives may do elsewhere, or to its last second: only its own end ends such a session.
            guard stored.grant.isExpired(at: environment.time.now()) else {
                throw HandshakeError.signInRequired(id, .notRefreshable)
            }
            try await replace(locked, with: stored.ended(.notRefreshable))
            throw end(stored, with: .notRefreshable)
        }
        let answerWasLost = if case .refreshing = stored.state { true } else { false }
        if stored.renewal == .refreshToken {
            try await replace(locked, with: stored.entering(.refreshing(since: environment.time.now())))
        }
        do {
            let now = environment.time.now()
            let response = try await exchange(request, now: now)
            let next = stored.renewed(stored.grant.refreshed(by: response, now: now))
            try await keep(next, replacing: stored, in: locked)
            announce(.refreshed(rotated: response.refreshToken != nil))
            return next
        } catch let failure as RenewalFailure {
            throw try await conclude(failure, of: stored, answerWasLost: answerWasLost, in: locked)
        }
    }

    /// Makes a new grant durable and only then visible.
    private func keep(
        _ next: AccountRecord, replacing stored: AccountRecord, in locked: any LockedRecord
    ) async throws {
        do {
            try await replace(locked, with: next)
        } catch {
            keepUnstored(next, replacing: stored)
            throw error
        }
        adopt(next)
    }

    private func renewalRequest(for stored: AccountRecord) async throws -> TokenRequest? {
        let server = try await environment.server(of: client.service, known: stored.server)
        let grantType: TokenRequest.GrantType
        switch (stored.renewal, stored.grant.refreshToken) {
        case (.clientCredentials, _): grantType = .clientCredentials(scopes: client.scopes)
        case (.refreshToken, let token?): grantType = .refreshToken(token)
        case (.refreshToken, nil), (.never, _): return nil
        }
        return TokenRequest(
            grantType, at: server, clientID: client.id, authentication: try client.authentication(at: server),
            resources: client.resources.map(\.string), scopeDelimiter: client.service.deviations.scopeDelimiter)
    }

    /// What a failed call means for the session.
    private enum RenewalFailure: Error {
        /// The service will never accept this refresh token again. `isRepeat` says that it may have accepted it just
        /// before.
        case rejected(isRepeat: Bool)
        /// The service was not asked, or said no without having processed the refresh.
        case unprocessed(HandshakeError)
        /// The service may have processed the refresh; its answer did not arrive or cannot be used.
        case uncertain(HandshakeError)
    }

    /// Calls, and once more when the connection was cut: services that forgive a repeated refresh token do so for
    /// seconds only.
    private func exchange(_ request: TokenRequest, now: Double) async throws(RenewalFailure) -> TokenResponse {
        do {
            return try await attempt(request, now: now)
        } catch .uncertain(.refreshUncertain(let id, .cut(let host, let reason)?)) {
            do {
                return try await attempt(request, isRepeat: true, now: now)
            } catch .unprocessed {
                // It says nothing of the first call, which may have been processed.
                throw .uncertain(.refreshUncertain(id, .cut(host: host, reason: reason)))
            }
        }
    }

    private func attempt(
        _ request: TokenRequest, isRepeat: Bool = false, now: Double
    ) async throws(RenewalFailure) -> TokenResponse {
        do {
            let response = try await environment.transport.send(try request.message, limits: environment.limits)
            return try request.response(from: response, now: now)
        } catch let error as TransportError {
            throw error.mayHaveArrived ? .uncertain(.refreshUncertain(id, error)) : .unprocessed(.network(error))
        } catch OAuthError.server(let error) where error.isInvalidGrant {
            throw .rejected(isRepeat: isRepeat)
        } catch OAuthError.server(let error) where (error.status ?? 400) >= 500 && error.status != 503 {
            throw .uncertain(.exchange(.server(error)))
        } catch let error as OAuthError {
            let isAnswer = if case .malformed = error { true } else { false }
            throw isAnswer ? .uncertain(.exchange(error)) : .unprocessed(.exchange(error))
        } catch {
            throw .uncertain(.refreshUncertain(id, nil))
        }
    }

    private func conclude(
        _ failure: RenewalFailure, of stored: AccountRecord, answerWasLost: Bool, in locked: any LockedRecord
    ) async throws -> HandshakeError {
        switch failure {
        case .rejected(let isRepeat):
            let reason: HandshakeError.SignInReason = answerWasLost || isRepeat ? .answerLost : .refreshRejected
            try await replace(locked, with: stored.ended(reason))
            return end(stored, with: reason)
        case .unprocessed(let error):
            try await replace(locked, with: stored)
            announce(.refreshFailed(code: error.code))
            return error
        case .uncertain(let error):
            announce(.refreshUncertain)
            return error
        }
    }

    private func replace(_ locked: any LockedRecord, with record: AccountRecord) async throws {
        try await locked.replace(with: record.stored())
    }

    /// Marks the session as over in this process too, and says so.
    private func end(
        _ stored: AccountRecord? = nil, with reason: HandshakeError.SignInReason
    ) -> HandshakeError {
        let wasUsable = record.isUsable
        adopt((stored ?? record).ended(reason))
        if wasUsable { announce(.ended(reason)) }
        return .signInRequired(id, reason)
    }
}
