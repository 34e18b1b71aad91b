/// What can happen to an activation: events that users, apps and systems send, and answers to what it has asked.
extension ConnectActivation {
    /// What a user, the app or the system may send.
    public enum Event: Sendable {
        // From the view.

        /// The button is shown.
        case appeared
        /// The user retries loading.
        case retryLoading
        /// The app asks whether the connection changed; ignored while something is under way.
        case refresh
        /// The user turns it on. The state is new for each attempt; the time is in seconds since 1970.
        case connect(AttemptState, at: Double)
        /// The user confirms the address.
        case confirmEmail(String)
        /// The user asks to be sent to the service again: with fresh codes, and the same state.
        case reopen
        /// The user cancels. A redirect that comes later is refused.
        case cancel
        /// The user is back from the service's page without having finished. A redirect that comes later, such as by the link in a
        /// mail, still counts.
        case leftService
        /// The user turns it off.
        case disconnect
        /// The user confirms that it is to be turned off.
        case confirmDisconnection
        /// The user keeps it on: declines the confirmation, or takes turning off back.
        case keepConnection
        /// The app has configured a pending connection.
        case configurationSaved

        // From the system.

        /// The app was opened with a URL, a browser caught a redirect, or a server's route received it: the whole URL and the
        /// time in seconds since 1970.
        case redirected(String, at: Double)
        /// The app has gone to the background, perhaps because the IFTTT app came up.
        case enteredBackground
        /// The network is back.
        case connectivityReturned
        /// The user has logged out of the app: everything known in the user's name is forgotten, and pending attempts are
        /// cancelled.
        case signedOut
        /// This machine was stored by a process that has ended.
        case restored
    }

    /// What an effect is answered with. An answer that is no longer waited for changes nothing.
    public enum Answer: Sendable {
        case gathered(Ticket, Result<AttemptContext, Failure>)
        case fetched(Ticket, Result<Connection, Failure>)
        case userLookedUp(Ticket, UserLookUp)
        case accountLookedUp(Ticket, AccountLookUp)
        case enabled(Ticket, Result<Connection, Failure>)
        case disabled(Ticket, Result<Connection, Failure>)
        /// The user closed the browser.
        case browserClosed(Ticket)
        /// The browser or the app could not be opened.
        case openingFailed(Ticket)
        case deadlinePassed(Deadline)
    }

    /// Identifies a question, so that its answer is told from others.
    public struct Ticket: Sendable, Hashable, Codable {
        let number: UInt64
    }

    /// The end of a state that passes by itself.
    public struct Deadline: Sendable, Hashable, Codable {
        public let name: Name
        let number: UInt64

        public enum Name: String, Sendable, Hashable, Codable {
            /// The notice that an address is none has been seen.
            case invalidEmailNotice = "invalid_email_notice"
            /// Turning off can no longer be taken back.
            case undo
            /// The notice that it is off has been seen.
            case disconnectedNotice = "disconnected_notice"
        }
    }

    /// Who the user of a token is (dossier 2.7).
    public enum UserLookUp: Sendable, Hashable {
        /// A user with this login.
        case login(String)
        /// None: the token is expired, revoked, or belongs to no user.
        case noUser
        case couldNotAsk(Failure)
    }

    /// Whether there is an IFTTT account for an address (dossier 2.7; 10.2, W5).
    public enum AccountLookUp: Sendable, Hashable {
        case exists
        case doesNotExist
        /// Unknown: an error never means that there is no account.
        case couldNotAsk(Failure)
    }
}
