/// What went wrong, as the user is told it: inline, with what to do next (W6, W7).
public struct ConnectButtonFailure: Sendable, Hashable, Codable {
    /// What happened.
    public let kind: Kind
    /// Words for the developer, such as IFTTT's error code. They reach the page's script and are never shown.
    public let detail: String?

    /// Something that went wrong.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - detail: Words for the developer.
    public init(_ kind: Kind, detail: String? = nil) {
        self.kind = kind
        self.detail = detail
    }

    /// What happened.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no way to the network.
        case offline
        /// IFTTT, or the app's server, does not answer or says that it cannot.
        case unavailable
        /// IFTTT, or the app's server, has been asked too often. The web component says it of its server by itself.
        case tooMany = "too_many"
        /// There is no such connection, or it is not published.
        case unknownConnection = "unknown_connection"
        /// The connection is there, and not for this user.
        case notAllowed = "not_allowed"
        /// The text in the field is no email address.
        case invalidEmail = "invalid_email"
        /// IFTTT no longer knows the user; signing in again helps (W10).
        case signInExpired = "sign_in_expired"
        /// IFTTT could not make an account.
        case accountNotCreated = "account_not_created"
        /// The system refused to open the IFTTT app.
        case appNotOpened = "app_not_opened"
        /// The connection is still on.
        case notDisconnected = "not_disconnected"
        /// An answer that cannot be read; nothing was changed.
        case interrupted
        /// The user ended it. Said, and not as an error.
        case cancelled

        /// Whether doing the same again can help.
        public var isRetryable: Bool {
            switch self {
            case .offline, .unavailable, .tooMany, .signInExpired, .accountNotCreated, .appNotOpened, .notDisconnected,
                .interrupted:
                true
            case .unknownConnection, .notAllowed, .invalidEmail, .cancelled: false
            }
        }

        /// Whether it is said as an error, in the error's colour. What the user did on purpose is none.
        public var isError: Bool { self != .cancelled }
    }
}
