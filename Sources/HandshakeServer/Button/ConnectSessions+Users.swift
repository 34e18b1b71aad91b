#if Server
import Handshake
import IFTTTConnect

/// The records of a user.
extension ConnectSessions {
    /// The store of a user's token.
    func tokens(of user: ConnectButtonUser) -> UserTokens {
        UserTokens(in: accounts, as: user.id, time: settings.time)
    }

    /// The user's token: the stored one, otherwise the app's, unless IFTTT has rejected it.
    func token(of place: Place) async throws -> UserToken? {
        if let stored = try await tokens(of: place.user).token() { return stored }
        guard let token = try await settings.tokenDelivery(place.user.id).partnerToken() else { return nil }
        let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
        return session?.hasRefused(token) ?? false ? nil : token
    }

    /// Deletes the records of a user: the sessions first, because only a session stores a token.
    ///
    /// Continues after cancellation, and past records that cannot be listed or deleted. Deletes analytics even when the app no
    /// longer counts.
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

    /// The keys of a user's sessions, including connections that are no longer offered.
    private func sessions(of user: ConnectButtonUser) async throws -> [VaultKey] {
        let digest = Place.digest(of: user)
        return try await vault.keys(of: .activation).keys.filter { $0.components.last == digest }
    }
}
#endif
