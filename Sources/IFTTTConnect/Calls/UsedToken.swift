import Synchronization

/// The token of a request: if the service rejects it, this token is deleted and no newer one.
///
/// A class, because the call sets it while its caller waits.
package final class UsedToken: Sendable {
    private let token = Mutex<UserToken?>(nil)

    package init() {}

    /// The token; nil before the request asked for one, and when it had none.
    package var value: UserToken? { token.withLock { $0 } }

    /// A token source for one request, which remembers the token here.
    package func remembering(
        _ source: @escaping @Sendable () async throws -> UserToken?
    ) -> @Sendable () async throws -> UserToken? {
        {
            let token = try await source()
            self.token.withLock { $0 = token }
            return token
        }
    }
}
