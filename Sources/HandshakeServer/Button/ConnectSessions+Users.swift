#if Server
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
        guard let token = try await settings.tokenDelivery(place.user.id).partnerToken() else { return nil }
        let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
        return session?.hasRefused(token) ?? false ? nil : token
    }

    /// Removes what is kept of a user: the sessions first, since only those of a session store a token.
    ///
    /// It goes on to the end also when whoever asked does not wait, and past what cannot be listed or removed. What was
    /// counted goes also where nobody counts any more.
    func forget(_ user: ConnectButtonUser) async throws {
        try await Task {
            var failures: [any Error] = []
            func removing(_ body: () async throws -> Void) async {
                do { try await body() } catch { failures.append(error) }
            }
            var keys = Set(settings.offers.map { Place.key(of: user, $0.connection) } + [CountedUser.key(user.id)])
            await removing { keys.formUnion(try await sessions(of: user)) }
            for key in keys {
                await removing { try await vault.remove(key) }
            }
            await removing { try await tokens(of: user).forget() }
            await removing { try await settings.analytics?.refuse(for: user.id) }
            if let failure = failures.first { throw failure }
        }.value
    }

    /// The records of a user's sessions: of the connections that are offered and of those that once were.
    private func sessions(of user: ConnectButtonUser) async throws -> [VaultKey] {
        let digest = Place.digest(of: user)
        return try await vault.keys(of: .activation).keys.filter { $0.components.last == digest }
    }
}
#endif
