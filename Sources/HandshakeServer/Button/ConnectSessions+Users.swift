import Handshake
import IFTTTConnect

/// What is kept of a user.
extension ConnectSessions {
    /// Where a user's token rests.
    func tokens(of user: ConnectButtonUser) -> UserTokens {
        UserTokens(in: accounts, as: user.id, time: settings.time)
    }

    /// The user's token: the one that rests in the vault, else the app's, unless IFTTT has refused it.
    func token(of place: Place) async throws -> UserToken? {
        if let stored = try await tokens(of: place.user).token() { return stored }
        guard let token = try await settings.partnerToken(place.user.id) else { return nil }
        let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
        return session?.hasRefused(token) ?? false ? nil : token
    }

    /// Removes what is kept of a user: the sessions first, since only those of a session store a token.
    ///
    /// It goes on to the end also when whoever asked does not wait, and past what cannot be removed.
    func forget(_ user: ConnectButtonUser) async throws {
        try await Task {
            var failure: (any Error)?
            for key in try await keys(of: user) {
                do {
                    try await vault.update(key) { try await $0.remove() }
                } catch {
                    failure = failure ?? error
                }
            }
            try await tokens(of: user).forget()
            try await settings.analytics?.refuse(for: user.id)
            if let failure { throw failure }
        }.value
    }

    /// The records of a user: of the connections that are offered and of those that once were, and what was counted, also
    /// where nobody counts any more.
    private func keys(of user: ConnectButtonUser) async throws -> Set<VaultKey> {
        let digest = Place.digest(of: user)
        let kept = try await vault.keys(of: .activation).keys.filter { $0.components.last == digest }
        return Set(kept + settings.offers.map { Place.key(of: user, $0.connection) } + [CountedUser.key(user.id)])
    }
}
