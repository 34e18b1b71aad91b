import OAuth

/// A refresh that happens once, and whose every outcome is stored before it is seen.
///
/// ```
/// hold the record ── newer grant there? ──────────────────────────────► take it over, no call
///        │
///        ├─ journal “refreshing” ─► call ─┬─ new tokens ───► store ──► hand out
///        │                                ├─ with ID token ► store unchecked ─► check ─┬─► store ──► hand out
///        │                                │                        no keys: stays ◄────┤
///        │                                │         remove, error “refused” ◄──────────┘
///        │                                ├─ invalid_grant ► store “ended” ─► sign in again
///        │                                ├─ another error, or never sent ─► journal cleared, error
///        │                                └─ no answer ────► journal stays, error “uncertain”
/// ```
///
/// The call, its request and what a failure of it means are in `RefreshExchange.swift`; the check of the ID token is in
/// `UncheckedGrant.swift`.
///
/// A journal entry that is found says that an earlier answer was lost or refused. The old refresh token is then tried
/// again: a service that did not process the first request, or forgives a repeat, goes on; any other answers
/// `invalid_grant`, which ends the session with the reason ``HandshakeError/SignInReason/answerLost``. Neither repeats
/// without end. A client that does not send such a token again (``Client/Options/retriesLostRefreshes``) waits for the answer instead, which
/// the process that asked may still store, and then ends the session. An answer that the vault cannot take, also `invalid_grant`, is kept and stored by the next attempt of this
/// process, which does not ask the service; without one, soon after the vault can take it (``Environment/storeRetained()``).
///
/// A grant whose ID token is refused is neither kept nor used: it may be another user's. A grant whose ID token cannot
/// be checked now, because the keys are out of reach or not published yet, stays in the vault without being used, and is
/// checked by the next attempt of any process.
extension Account {
    /// Gets another access token than `refused`, or an unexpired one when nothing was refused.
    func refresh(replacing refused: Secret?) async throws -> AccessCredential {
        try await environment.retryingRotatedSecret(of: client) { try await credential(replacing: refused) }
    }

    private func credential(replacing refused: Secret?) async throws -> AccessCredential {
        do {
            let next = try await refreshStored(replacing: refused)
            return AccessCredential(next, of: client, margin: refreshMargin)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Refreshes; retries once if the record can then be stored.
    private func refreshStored(replacing refused: Secret?) async throws -> AccountRecord {
        do {
            return try await updateStored(replacing: refused)
        } catch let error as VaultError {
            switch error {
            case .damaged: guard (try? await storeAgain()) == true else { throw error }
            // Another process had the record when the answer came, and has left it to this one.
            case .unavailable where unstored != nil && !client.options.retriesLostRefreshes: break
            default: throw error
            }
            return try await updateStored(replacing: refused)
        }
    }

    private func updateStored(replacing refused: Secret?) async throws -> AccountRecord {
        try await environment.vault.update(id.vaultKey) { locked in
            try await self.refresh(replacing: refused, in: locked)
        }
    }

    /// Stores the record of this process in place of an older one: after a failover that lost commits the vault has one.
    ///
    /// - Returns: whether the vault had one that this process's record follows, or is.
    private func storeAgain() async throws -> Bool {
        guard let vault = environment.vault as? any RestoringVault, let version = storedVersion else { return false }
        let known = record
        return try await vault.restore(id.vaultKey, from: version) { bytes in
            guard known.isNewer(than: try AccountRecord(stored: bytes, expected: self.id)) else { return nil }
            return try known.stored()
        }
    }

    private func refresh(replacing refused: Secret?, in locked: any LockedRecord) async throws -> AccountRecord {
        guard let bytes = await locked.contents else { throw end(with: .absent) }
        var stored = try AccountRecord(stored: bytes, expected: id)
        let known = record.generation
        if let unstored { stored = try await store(unstored, over: stored, in: locked) }
        switch stored.state {
        case .ended(let reason): throw end(stored, with: reason)
        case .signingOut: throw end(stored, with: .signingOut)
        case .signedIn, .refreshing: break
        }
        guard client.allowsRefresh(of: stored) else { throw HandshakeError.signInRequired(id, .notBound) }
        // It announces itself.
        let isSettled = stored.unchecked != nil
        if isSettled { stored = try await settle(stored, in: locked) }
        if isNewEnough(stored, after: refused) {
            let isNews = stored.generation != known && !isSettled
            adopt(stored, at: await locked.storedVersion)
            if isNews { announce(.adopted) }
            return stored
        }
        return try await performRefresh(stored, in: locked)
    }

    /// Whether a stored record needs no call: its token lives, and is not the one that was refused.
    private func isNewEnough(_ stored: AccountRecord, after refused: Secret?) -> Bool {
        guard !stored.hasLostKey, !stored.hasOtherCertificate(than: client.certificate),
            client.allowsTokens(of: stored)
        else { return false }
        let now = environment.time.now()
        guard let refused else { return stored.grant.isFresh(at: now, margin: refreshMargin) }
        return !stored.grant.accessToken.matches(refused) && stored.grant.isFresh(at: now, margin: 0)
    }

    /// Stores what the vault could not take earlier, unless the record has changed since.
    func store(
        _ unstored: Unstored, over stored: AccountRecord, in locked: any LockedRecord
    ) async throws -> AccountRecord {
        // A generation alone does not tell: another sign-in after a sign-out counts from the beginning.
        guard unstored.follows(stored) else {
            adopt(stored)
            return stored
        }
        let kept = try await keep(unstored.record, replacing: stored, in: locked)
        if case .ended(let reason) = kept.state { announce(.ended(reason)) }
        return kept
    }

    /// Stores what the vault could not take earlier, unless the record has changed since, and asks no service.
    ///
    /// - Throws: `VaultError` when the vault still cannot take it.
    func storeUnstored() async throws {
        guard unstored != nil else { return }
        do {
            try await updateUnstored()
        } catch let error as VaultError {
            guard case .damaged = error, (try? await storeAgain()) == true else { throw error }
            try await updateUnstored()
        }
    }

    private func updateUnstored() async throws {
        try await environment.vault.update(id.vaultKey) { locked in
            // A refresh may have stored it meanwhile.
            guard let unstored = self.unstored else { return }
            guard let bytes = await locked.contents else {
                _ = self.end(with: .absent)
                return
            }
            let known = self.record.generation
            let stored = try await self.store(
                unstored, over: AccountRecord(stored: bytes, expected: self.id), in: locked)
            // One whose ID token is to be checked announces itself when it was.
            if stored.isUsable, stored.unchecked == nil, stored.generation != known { self.announce(.adopted) }
        }
    }

    private func performRefresh(_ stored: AccountRecord, in locked: any LockedRecord) async throws -> AccountRecord {
        if case .refreshing(let since) = stored.state, stored.refreshMethod == .refreshToken,
            !client.options.retriesLostRefreshes
        {
            throw try await awaitAnswer(to: stored, since: since, in: locked)
        }
        let stored = try await withCurrentServer(stored)
        let key = try await proofKey(for: stored)
        let certificate = try await boundCertificate(for: stored, provingBy: key)
        guard client.allowsTokens(of: stored.bound(to: certificate)) else {
            throw HandshakeError.signInRequired(id, .notBound)
        }
        guard let request = try await refreshRequest(for: stored, provingBy: key) else {
            // A token that lives may do elsewhere, or to its last second: only its expiry ends such a session.
            guard stored.grant.isExpired(at: environment.time.now()) else {
                let hasOther = stored.hasOtherCertificate(than: client.certificate)
                throw HandshakeError.signInRequired(id, hasOther ? .certificateChanged : .notRefreshable)
            }
            try await replace(locked, with: stored.ended(.notRefreshable))
            throw end(stored, with: .notRefreshable)
        }
        let answerWasLost = if case .refreshing = stored.state { true } else { false }
        if stored.refreshMethod == .refreshToken {
            try await locked.journal(stored.entering(.refreshing(since: environment.time.now())).stored())
        }
        do {
            try await locked.confirm(for: environment.limits.timeout)
        } catch {
            // Nothing was sent. A journal entry that stays costs a repeat that may be refused.
            try? await putBack(stored, in: locked)
            throw error
        }
        do {
            let now = environment.time.now()
            let response = try await exchange(request, provingBy: key, in: locked, now: now)
            let grant = stored.grant.refreshed(by: response, now: now)
            let binding = TokenBinding(key, response)
            // A session that has no verified identity believes no ID token.
            guard let idToken = response.idToken, grant.identity != nil else {
                return try await keepRefreshed(
                    stored.bound(to: certificate).refreshed(grant, binding), replacing: stored, in: locked,
                    isLast: true)
            }
            let unchecked = stored.keeping(
                unchecked: .init(
                    grant: grant.with(idToken, grant.identity), binding: binding, certificate: certificate,
                    receivedAt: environment.time.now()),
                since: now)
            return try await settle(keep(unchecked, replacing: stored, in: locked), in: locked, isLast: true)
        } catch let failure as RefreshFailure {
            throw try await conclude(failure, of: stored, answerWasLost: answerWasLost, in: locked)
        }
    }

    /// How long the process that sent a refresh token may take to store the answer, in seconds, before the session counts as lost.
    static let lateAnswer = 600.0

    /// What a refresh means whose token was sent and must not be sent again.
    private func awaitAnswer(
        to stored: AccountRecord, since: Double, in locked: any LockedRecord
    ) async throws -> HandshakeError {
        let now = environment.time.now()
        guard since + Self.lateAnswer <= now else {
            var waiting = stored
            // The clock that it was sent by was ahead, or was set back since: the wait begins here.
            if since > now + Self.lateAnswer {
                waiting = stored.entering(.refreshing(since: now))
                try await locked.journal(waiting.stored())
            }
            adopt(waiting)
            return .refreshUncertain(id, nil)
        }
        return try await conclude(
            .rejected(isRepeat: true), of: stored, answerWasLost: true, in: locked)
    }

    /// Makes a record durable, and only then visible.
    ///
    /// - Parameter isLast: whether the body does nothing with the record afterwards. Then other processes may have it while the body returns;
    ///   in this one the next refresh waits for its end, so that nothing newer is undone here.
    private func keep(
        _ next: AccountRecord, replacing stored: AccountRecord, in locked: any LockedRecord, isLast: Bool = false
    ) async throws -> AccountRecord {
        do {
            let bytes = try next.stored()
            if isLast { try await locked.conclude(with: bytes) } else { try await locked.replace(with: bytes) }
        } catch {
            // A last write may have been stored, and followed by another holder's, before it was known to be. `Unstored.follows` then finds
            // another generation or access token, and the next attempt takes over what is there.
            keepUnstored(Unstored(record: next, replaced: stored.grant.accessToken))
            throw error
        }
        adopt(next, at: await locked.storedVersion)
        return next
    }

    /// Stores the record of a new grant in place of the one before, and announces it.
    ///
    /// - Parameter isLast: whether the body does nothing with the record afterwards.
    func keepRefreshed(
        _ next: AccountRecord, replacing stored: AccountRecord, in locked: any LockedRecord, isLast: Bool
    ) async throws -> AccountRecord {
        let kept = try await keep(next, replacing: stored, in: locked, isLast: isLast)
        let before = stored.grant.refreshToken
        announce(.refreshed(rotated: before.map { kept.grant.refreshToken?.matches($0) == false } ?? false))
        return kept
    }

    private func conclude(
        _ failure: RefreshFailure, of stored: AccountRecord, answerWasLost: Bool, in locked: any LockedRecord
    ) async throws -> HandshakeError {
        switch failure {
        case .rejected(let isRepeat):
            let reason: HandshakeError.SignInReason = answerWasLost || isRepeat ? .answerLost : .refreshRejected
            let wasUsable = record.isUsable
            let ended = try await keep(stored.ended(reason), replacing: stored, in: locked, isLast: true)
            if wasUsable { announce(.ended(reason)) }
            return .signInRequired(ended.id, reason)
        case .unprocessed(let error):
            try await putBack(stored, in: locked)
            announce(.refreshFailed(code: error.code))
            return error
        case .uncertain(let error):
            adopt(stored.entering(.refreshing(since: environment.time.now())), at: await locked.storedVersion)
            announce(.refreshUncertain)
            return error
        }
    }

    /// Stores a record as it was. One whose earlier answer was lost stays unfinished.
    private func putBack(_ stored: AccountRecord, in locked: any LockedRecord) async throws {
        guard stored.isUnfinished else { return try await replace(locked, with: stored) }
        try await locked.journal(stored.stored())
    }

    /// Replaces the stored record alone: what this process knows of the account stays as it is.
    func replace(_ locked: any LockedRecord, with record: AccountRecord) async throws {
        try await locked.replace(with: record.stored())
    }

    /// Marks the session as ended in this process too, and announces it.
    private func end(
        _ stored: AccountRecord? = nil, with reason: HandshakeError.SignInReason
    ) -> HandshakeError {
        // A sign-out that another process has completed took the last tokens away.
        let isNews = record.isUsable || (reason == .absent && status.state == .signingOut)
        adopt((stored ?? record).ended(reason))
        if isNews { announce(.ended(reason)) }
        return .signInRequired(id, reason)
    }
}
