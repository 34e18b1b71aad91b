import Synchronization

/// The token that a question was asked with: it, and no newer one, is to be forgotten when the answer refuses it.
///
/// A class, since the call fills it in while whoever asked waits.
package final class UsedToken: Sendable {
    private let token = Mutex<UserToken?>(nil)

    package init() {}

    /// The token; nil before the question has asked for one, and when it was asked without.
    package var value: UserToken? { token.withLock { $0 } }

    /// A source of tokens for one question, which is remembered here.
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
