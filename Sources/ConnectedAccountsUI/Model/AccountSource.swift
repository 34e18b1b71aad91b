import Handshake
import OAuth

/// Where the accounts of a list are, and what can be done with them.
protocol AccountSource: Sendable {
    /// Every account as it stands, in the order of the list. No service is asked.
    ///
    /// - Throws: ``ConnectedAccountsError``, or `CancellationError`.
    func accounts() async throws -> [ListedAccount]

    /// The account, after its service has been asked whose it is. Nil while that is not known.
    func named(_ account: ConnectedAccount) async -> ListedAccount?

    /// Connects an account through a browser. Nil when it is not known how that ended.
    func connect(_ service: String, through browser: some Browser) async -> ConnectedAccountsModel.Outcome?

    /// Disconnects an account. Nil when it is not known how that ended.
    func disconnect(_ listed: ListedAccount) async -> ConnectedAccountsModel.Outcome?
}

/// An account, and whose list it is in.
struct ListedAccount: Sendable {
    var account: ConnectedAccount
    /// The server's anti-forgery token of the user and the service; nil in an app's own vault.
    ///
    /// With another token, another user has logged in to the app.
    var token: Secret?

    /// Whether both are of one user.
    func isOfUser(of other: ListedAccount) -> Bool {
        switch (token, other.token) {
        case (nil, nil): true
        case (let one?, let two?): one.matches(two)
        default: false
        }
    }
}

/// Why a list of accounts cannot be shown.
public enum ConnectedAccountsError: Error, Sendable, Hashable {
    /// The app has given an address or a redirect that cannot be used.
    case configuration(member: String, problem: String)
    /// The user's session at the app's server has ended.
    case loggedOut
    /// The server asks for a pause.
    case tooMany
    /// The vault or the server cannot be reached, or cannot answer now.
    case unavailable
    /// The server answered with something else than a list of accounts.
    case unreadable

    /// A stable word for programs.
    public var code: String {
        switch self {
        case .configuration: "invalid_configuration"
        case .loggedOut: "logged_out"
        case .tooMany: "too_many"
        case .unavailable: "unavailable"
        case .unreadable: "unreadable"
        }
    }

    /// The text that says it to the user.
    var words: ConnectedAccountsWords {
        switch self {
        case .loggedOut: .loggedOut
        case .tooMany: .tooMany
        case .configuration, .unavailable, .unreadable: .unavailable
        }
    }
}

extension ConnectedAccountsError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .configuration(let member, let problem):
            "\(HandshakeError.configuration(member: member, problem: problem))"
        case .loggedOut: "The user is not logged in to this app's server. Log in, and load the list again."
        case .tooMany: "The app's server asks for a pause. Wait a moment, and load the list again."
        case .unavailable: "The accounts cannot be read now. Try again in a moment."
        case .unreadable:
            "The app's server answered with something else than a list of accounts. Check the address of the routes."
        }
    }
}
