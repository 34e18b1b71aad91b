import Synchronization

/// A change of an account's tokens: which account, what happened, when. Never the tokens (`oauth-security.md` E10).
public struct AccountEvent: Sendable, Hashable {
    public let account: AccountID
    public let change: Change
    /// Seconds since 1970.
    public let time: Double

    /// What happened, and why.
    public enum Change: Sendable, Hashable {
        /// The user signed in; `scopes` is what was granted, and `asked` what was asked for.
        case signedIn(scopes: [String], asked: [String])
        /// A new access token was got; `rotated` says whether the refresh token was replaced too.
        case refreshed(rotated: Bool)
        /// Another task or process had refreshed already, and its grant was taken over.
        case adopted
        /// A refresh was sent, and no answer came back.
        case refreshUncertain
        /// A refresh could not be sent, or was refused for a reason that does not end the session; the code says which.
        case refreshFailed(code: String)
        /// The session is over.
        case ended(HandshakeError.SignInReason)
        /// The account was signed out and forgotten; `revoked` says whether the service voided its tokens.
        case signedOut(revoked: Bool)
    }
}

/// Hands each event to everyone who listens.
final class EventHub: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<AccountEvent>.Continuation] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    /// A stream of the events from now on. A listener that falls 1,000 behind loses the oldest.
    func listen() -> AsyncStream<AccountEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AccountEvent.self, bufferingPolicy: .bufferingNewest(1_000))
        let id = state.withLock { state in
            defer { state.next += 1 }
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    func send(_ event: AccountEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }
}
