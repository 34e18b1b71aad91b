/// An error as shown to the user: inline, with what to do next (W6, W7).
public struct ConnectButtonFailure: Sendable, Hashable, Codable {
    /// What happened.
    public let kind: Kind
    /// A message for developers, such as IFTTT's error code. It reaches the page's script and is never shown.
    public let detail: String?

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - detail: A message for developers.
    public init(_ kind: Kind, detail: String? = nil) {
        self.kind = kind
        self.detail = detail
    }

    /// What happened.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The device has no network.
        case offline
        /// IFTTT, or the app's server, is unreachable or failed.
        case unavailable
        /// Too many requests to IFTTT or the app's server. The web component derives it from its server's 429.
        case tooMany = "too_many"
        /// The connection does not exist or is not published.
        case unknownConnection = "unknown_connection"
        /// The connection is not available to this user.
        case notAllowed = "not_allowed"
        /// The text in the field is not a valid email address.
        case invalidEmail = "invalid_email"
        /// The user's session at IFTTT has ended; signing in again helps (W10).
        case signInExpired = "sign_in_expired"
        /// IFTTT could not create an account.
        case accountNotCreated = "account_not_created"
        /// The system refused to open the IFTTT app.
        case appNotOpened = "app_not_opened"
        /// The connection is still on.
        case notDisconnected = "not_disconnected"
        /// The response is invalid; nothing was changed.
        case interrupted
        /// The user cancelled. Shown, but not as an error.
        case cancelled

        /// Whether retrying can help.
        public var isRetryable: Bool {
            switch self {
            case .offline, .unavailable, .tooMany, .signInExpired, .accountNotCreated, .appNotOpened, .notDisconnected,
                .interrupted:
                true
            case .unknownConnection, .notAllowed, .invalidEmail, .cancelled: false
            }
        }

        /// Whether it is shown as an error, in the error's colour. What the user did deliberately is none.
        public var isError: Bool { self != .cancelled }
    }
}
