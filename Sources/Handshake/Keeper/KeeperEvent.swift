/// What a keeper did or found: for which account or service, when.
public struct KeeperEvent: Sendable, Hashable {
    /// The service's name.
    public let service: String
    /// The account; nil for what concerns the service as a whole.
    public let account: AccountID?
    /// What happened.
    public let change: Change
    /// Seconds since 1970.
    public let time: Double

    /// What happened, and why.
    public enum Change: Sendable, Hashable {
        /// The account was refreshed, by this keeper or at the same moment by another. The next refresh is due then, in seconds
        /// since 1970.
        case refreshed(nextAt: Double?)
        /// The session has ended: the user has to sign in again. Each keeper reports it, also where another process or a logout ended it.
        case ended(HandshakeError.SignInReason)
        /// The account could not be refreshed. It is tried again then, in seconds since 1970.
        case failed(HandshakeError, retryAt: Double)
        /// The service fails, and is left alone until then, in seconds since 1970.
        case paused(HandshakeError, until: Double)
        /// The service works again.
        case resumed
    }
}

/// What a keeper has done, in numbers.
public struct KeeperReport: Sendable, Hashable {
    /// How many accounts are in the queue.
    public internal(set) var kept = 0
    /// How many accounts were refreshed. Those that another process refreshed at the same moment count too.
    public internal(set) var refreshed = 0
    /// How many accounts came due that another process or task had refreshed.
    public internal(set) var current = 0
    /// How many sessions were found to have ended.
    public internal(set) var ended = 0
    /// How many attempts failed and left the session.
    public internal(set) var failed = 0
    /// How many accounts were left for later, because their service fails.
    public internal(set) var postponed = 0
    /// How many accounts of the last listing are not kept.
    ///
    /// They ended, or have no refresh token.
    public internal(set) var left = 0
    /// How many records of the last listing could not be read.
    public internal(set) var damaged = 0
}
