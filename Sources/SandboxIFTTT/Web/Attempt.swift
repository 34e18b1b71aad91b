#if Sandbox
import SandboxCore

/// One attempt in the web flow or the app, from its first address to its redirect (IFTTT Connect dossier, sections 11.3
/// and 11.4).
struct Attempt: Sendable {
    /// Where the user is.
    enum Surface: Sendable {
        case web
        case app
    }

    /// What the user came to do; only the app knows `view`.
    enum Action: String, Sendable {
        case activation, edit, view
    }

    /// Who the app says the user is.
    enum Hint: Sendable {
        case username(String)
        case email(String)

        var text: String {
            switch self {
            case .username(let text), .email(let text): text
            }
        }
    }

    /// The next page.
    enum Step: Sendable, Equatable {
        case signIn
        case checkMail
        case identify
        case partner
        case service(String)
        case configure
        case review
        case view
        case failed(String)
        case done
    }

    let id: String
    let connection: Connection
    let surface: Surface
    let action: Action
    let returnURL: ReturnURL?
    let skipsConfiguration: Bool
    /// Whether the redirect carries the user token. The public Connect URL's does not: it is opened from mails and pages in any
    /// browser, its address has no state that the partner could check, and the partner's server, whose it is, gets the token
    /// by its service key (section 2.8).
    let deliversToken: Bool
    let createsAccount: Bool
    let hint: Hint?
    let mailSchemes: [String]
    let createdAt: Double

    /// The browser that may go on with it.
    var sessionID: String
    /// The partner's code, until it is tried.
    var code: String?
    var login: String?
    /// Whether the user confirmed this identity; a cookie alone is not enough to change anything.
    var isIdentityConfirmed = false
    var wantsPassword = false
    /// `state` of the authorization request at the partner, while one is under way.
    var partnerState: String?
    /// The services whose consent page was answered.
    var consents: Set<String> = []
    var failure: String?
    var isDone = false

    /// One hour.
    static let lifetime: Double = 3600

    func step(in state: State) -> Step {
        if isDone { return .done }
        if let failure { return .failed(failure) }
        guard let login else {
            if !wantsPassword, case .email(let email)? = hint, state.account(email: email) != nil { return .checkMail }
            return .signIn
        }
        if !isIdentityConfirmed { return .identify }
        if action != .activation {
            guard state.userConnection(login, connection)?.isEnabled == true else {
                return .failed("\(login) has not enabled this connection, so there is nothing to see or change.")
            }
            return action == .view ? .view : .configure
        }
        if state.link(serviceID: connection.ownerID, login: login) == nil { return .partner }
        let known = state.account(login: login)?.connectedServices ?? []
        if let next = connection.serviceIDs.dropFirst().first(where: { !known.contains($0) && !consents.contains($0) })
        {
            return .service(next)
        }
        return skipsConfiguration ? .review : .configure
    }
}
#endif
