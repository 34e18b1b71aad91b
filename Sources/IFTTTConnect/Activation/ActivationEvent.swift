/// The inputs of an activation: events of the user, the app or the system, and answers to its effects.
extension ConnectActivation {
    /// An event of the user, the app or the system.
    public enum Event: Sendable {
        // From the view.

        /// The button is shown.
        case appeared
        /// The user retries loading.
        case retryLoading
        /// The app asks whether the connection changed. Ignored while something is in progress.
        case refresh
        /// The user turns it on. The state is new for each attempt; the time is in seconds since 1970.
        case connect(AttemptState, at: Double)
        /// The user confirms the address.
        case confirmEmail(String)
        /// The user asks to go to the service again: with fresh codes and the same state.
        case reopen
        /// The user cancels. If the user finishes at the service all the same, the connection is fetched and shown; any other
        /// redirect that comes later is refused.
        case cancel
        /// The user returned from the service's page without finishing. A later redirect, for example through a link in a mail,
        /// still counts.
        case leftService
        /// The user turns it off.
        case disconnect
        /// The user confirms turning it off.
        case confirmDisconnection
        /// The user keeps it on: declines the confirmation, or undoes turning off.
        case keepConnection
        /// The app has configured a pending connection.
        case configurationSaved

        // From the system.

        /// A redirect arrived, at a time in seconds since 1970. The app was opened with it, a browser caught it, or a
        /// server's route received it. ``ConnectActivation/open(_:at:)`` takes a URL.
        case redirected(ActivationRedirect, at: Double)
        /// The app entered the background, perhaps because the IFTTT app opened.
        case enteredBackground
        /// The network is available again.
        case connectivityReturned
        /// The user has logged out of the app. Everything known about the user is deleted, and pending attempts are
        /// cancelled.
        case signedOut
        /// This machine was stored by a process that has ended.
        case restored
    }

    /// The answer to an effect. An outdated answer changes nothing.
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

    /// Identifies a question, so that its answer can be matched.
    public struct Ticket: Sendable, Hashable, Codable {
        let number: UInt64
    }

    /// A deadline of a temporary state.
    public struct Deadline: Sendable, Hashable, Codable {
        package let name: Name
        let number: UInt64

        package enum Name: String, Sendable, Hashable, Codable {
            /// The notice about an invalid address ends.
            case invalidEmailNotice = "invalid_email_notice"
            /// Turning off can no longer be undone.
            case undo
            /// The notice that it is off ends.
            case disconnectedNotice = "disconnected_notice"
        }
    }

    /// The user of a token (dossier 2.7).
    public enum UserLookUp: Sendable, Hashable {
        /// A user with this login.
        case login(String)
        /// None: the token is expired or revoked, or belongs to no user.
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
