import OAuth

extension Account {
    /// Checks the ID token of the unchecked grant, which then takes the place of the session's grant, or is removed.
    func settle(
        _ stored: AccountRecord, in locked: any LockedRecord, isLast: Bool = false
    ) async throws -> AccountRecord {
        guard let unchecked = stored.unchecked else { return stored }
        let grant = unchecked.grant
        adopt(stored)
        do {
            let identity = try await verifiedIdentity(of: unchecked, in: stored)
            let next = stored.bound(to: unchecked.certificate)
                .refreshed(grant.with(grant.idToken, identity), unchecked.binding)
            return try await keepRefreshed(next, replacing: stored, in: locked, isLast: isLast)
        } catch let error as HandshakeError {
            // A clock that was set back by more ends the wait too.
            let wait = abs(environment.time.now() - unchecked.receivedAt)
            let isGivenUp = error.mayNeedNewKeys && wait >= Self.keyPublicationTimeout
            guard error.isRefusal || isGivenUp else {
                announce(.refreshFailed(code: error.code))
                throw error
            }
            let refused = stored.refusingUnchecked()
            try await replace(locked, with: refused)
            adopt(refused)
            announce(.refreshFailed(code: error.code))
            throw error
        }
    }

    /// How long the server may take to publish a key, in seconds. After that the grant counts as refused, and the session ends.
    private static let keyPublicationTimeout = 86_400.0

    private func verifiedIdentity(
        of unchecked: AccountRecord.Unchecked, in stored: AccountRecord
    ) async throws -> IDTokenClaims? {
        let grant = unchecked.grant
        guard let token = grant.idToken, let previous = stored.grant.identity else { return stored.grant.identity }
        let server = try await environment.server(of: client, known: stored.server)
        return try await environment.identity(
            ofRefreshed: token, receivedAt: unchecked.receivedAt, previous: previous, accessToken: grant.accessToken,
            hiding: stored.secrets + [client.credential?.secret].compactMap(\.self), at: server, client: client)
    }
}
