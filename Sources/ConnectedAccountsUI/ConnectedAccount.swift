public import Handshake
import OAuth

/// One service in a list of connected accounts.
///
/// It has the account's state, whose account it is, and when it was last used.
public struct ConnectedAccount: Sendable, Hashable, Identifiable {
    /// The service's name, such as `recurse-center`.
    public let service: String
    /// The service's name as people read it.
    public let displayName: String
    public private(set) var state: State
    /// Who the account belongs to, as the service says; nil while that is not known.
    public private(set) var userName: String?
    /// Whether the service has an API that says who the account belongs to.
    public let isNameAvailable: Bool
    /// When the account was last used, in seconds since 1970; nil when there is none.
    public let lastUse: Double?

    public var id: String { service }

    /// Where the account stands. The raw values are those of `SignInRoutes`.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The user has not connected this service.
        case absent
        /// The account can be used.
        case signedIn = "signed_in"
        /// The account can be used. The next request finds out whether its last refresh arrived.
        case refreshUncertain = "refresh_uncertain"
        /// The service accepts the account no longer. The user has to connect again.
        case signInRequired = "sign_in_required"
        /// A disconnection has begun, and the service has not confirmed it.
        case signingOut = "signing_out"
    }

    /// What the user can do with an account.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        case connect
        case reconnect
        case disconnect
    }

    /// Describes an account as it stands in the vault. Nothing is sent.
    ///
    /// - Parameters:
    ///   - service: the service.
    ///   - status: the account's status; nil when there is no account.
    ///   - userName: who the service's API says it is; by default a name in the ID token.
    ///   - lastUse: when the app last used the account, in seconds since 1970. A later token request counts too.
    public init(_ service: Service, status: AccountStatus?, userName: String? = nil, lastUse: Double? = nil) {
        let state: State =
            switch status?.state {
            case nil: .absent
            case .signedIn: .signedIn
            case .refreshUncertain: .refreshUncertain
            case .ended: .signInRequired
            case .signingOut: .signingOut
            }
        let name = state == .absent ? nil : userName ?? status?.identity.flatMap(Self.name)
        self.init(
            service: service.name, displayName: service.displayName, state: state, userName: name,
            isNameAvailable: service.identityEndpoint != nil || status?.server?.userInfoEndpoint != nil,
            // A token is asked for when a user signs in or sends a request.
            lastUse: status.map { max($0.issuedAt, lastUse ?? 0) })
    }

    /// Describes an account whose record cannot be read: the user has to connect again.
    public init(damaged service: Service) {
        self.init(
            service: service.name, displayName: service.displayName, state: .signInRequired, userName: nil,
            isNameAvailable: false, lastUse: nil)
    }

    /// An account as somewhere else described it. Names are bounded here.
    init(
        service: String, displayName: String, state: State, userName: String?, isNameAvailable: Bool, lastUse: Double?
    ) {
        self.service = service
        self.displayName = Self.bounded(displayName) ?? service
        self.state = state
        self.userName = userName.flatMap(Self.bounded)
        self.isNameAvailable = isNameAvailable
        self.lastUse = lastUse
    }

    /// The same account after its session has ended: the user has to connect again.
    public var ended: ConnectedAccount {
        var account = self
        account.state = .signInRequired
        return account
    }

    /// The same account with the name that the service's API gave.
    ///
    /// Nil and an empty name change nothing.
    public func named(_ name: String?) -> ConnectedAccount {
        var account = self
        account.userName = name.flatMap(Self.bounded) ?? userName
        return account
    }

    private static func name(in identity: IDTokenClaims) -> String? {
        ["name", "preferred_username", "email"].lazy.compactMap { identity.claims[$0]?.string }
            .first { !$0.allSatisfy(\.isWhitespace) }
    }

    /// A name from outside: one line of at most 100 characters, without characters that change the direction.
    private static func bounded(_ name: String) -> String? {
        let breaks: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars.prefix(1_000)
        where !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value) {
            text.append(breaks.contains(scalar.properties.generalCategory) ? " " : scalar)
        }
        let line = String(text).split(separator: " ").joined(separator: " ").prefix(100)
        return line.isEmpty ? nil : String(line)
    }
}

extension ConnectedAccount.State {
    /// Whether the app can use the account.
    public var isConnected: Bool { self == .signedIn || self == .refreshUncertain }

    /// Whether the user has to do something before the app can use the account.
    public var needsAttention: Bool { self == .signInRequired || self == .signingOut }

    /// What the user can do, the first thing first.
    public var actions: [ConnectedAccount.Action] {
        switch self {
        case .absent: [.connect]
        case .signedIn, .refreshUncertain: [.disconnect]
        case .signInRequired: [.reconnect, .disconnect]
        case .signingOut: [.disconnect]
        }
    }

    /// The text that says it to the user.
    var words: ConnectedAccountsWords {
        switch self {
        case .absent: .notConnected
        case .signedIn, .refreshUncertain: .connected
        case .signInRequired: .signInAgain
        case .signingOut: .unfinished
        }
    }
}
