public import OAuth

extension ConnectActivation {
    /// What can happen.
    public enum Event: Sendable {
        // From the view.

        /// The button is shown.
        case appeared
        /// The user asks to load again.
        case retryLoading
        /// The app asks to look whether the connection changed; without effect while something is under way.
        case refresh
        /// The user wants it on. The state is new for every wish; the time is in seconds since 1970.
        case connect(AttemptState, at: Double)
        /// The user confirms the address.
        case confirmEmail(String)
        /// The user, who is waited for, wants to be sent to the service again: with what is fresh now, and the same state.
        case reopen
        /// The user goes back, from wherever one can. A redirect that comes later is refused.
        case cancel
        /// The user wants it off.
        case disconnect
        /// The user really wants it off.
        case confirmDisconnection
        /// The user wants it to stay: declines the confirmation, or takes turning off back.
        case keepConnection
        /// The app has configured a pending connection.
        case configurationSaved

        // From the system.

        /// The app was opened with a URL, or a browser caught a redirect, or a server's route was asked for it: the URL
        /// whole, the time in seconds since 1970.
        case redirected(String, at: Double)
        /// The app has gone to the background, perhaps because the IFTTT app came up.
        case enteredBackground
        /// There is a network again.
        case connectivityReturned
        /// The user has logged out of the app: what was known in the user's name is not known any more, and nobody who is on
        /// the way is waited for.
        case signedOut
        /// This machine was stored by a process that is gone.
        case restored
        case deadlinePassed(Deadline)

        // Answers to effects. Each bears the effect's ticket.

        case gathered(Ticket, Result<Circumstances, Failure>)
        case fetched(Ticket, Result<Connection, Failure>)
        case userLookedUp(Ticket, UserLookUp)
        case accountLookedUp(Ticket, AccountLookUp)
        case enabled(Ticket, Result<Connection, Failure>)
        case disabled(Ticket, Result<Connection, Failure>)
        /// The user closed the browser.
        case browserClosed(Ticket)
        /// The browser or the app could not be opened.
        case openingFailed(Ticket)
    }

    /// What is to be done.
    public enum Effect: Sendable, Equatable {
        /// Fetch the connection, with the user token where there is one; answer with ``Event/fetched(_:_:)``.
        case fetch(Ticket)
        /// Ask the app's providers for what is needed now, and look what the device has; answer with
        /// ``Event/gathered(_:_:)``.
        case gather(Ticket, Need)
        /// Ask who the user of the token is; answer with ``Event/userLookedUp(_:_:)``.
        case lookUpUser(Ticket)
        /// Ask whether there is an account for an address; answer with ``Event/accountLookedUp(_:_:)``.
        case lookUpAccount(Ticket, EmailAddress)
        /// Turn on again what was on before; answer with ``Event/enabled(_:_:)``.
        case enable(Ticket)
        /// Turn off; answer with ``Event/disabled(_:_:)``.
        case disable(Ticket)
        /// Send the user away; a failure is answered with ``Event/openingFailed(_:)``, a browser that was closed with
        /// ``Event/browserClosed(_:)``, and the redirect with ``Event/redirected(_:at:)``.
        case open(Ticket, Destination)
        /// Close the browser that is still open.
        case closeBrowser
        /// Seal a token into the vault, before anything that follows.
        case storeToken(UserToken)
        /// Forget the token that the question with this ticket was asked with: the service does not accept it. One that
        /// has been stored since stays, and a question that was asked without a token leaves everything as it is.
        case dropToken(Ticket)
        /// Forget whatever token there is: the user has logged out.
        case forgetToken
        /// Answer with ``Event/deadlinePassed(_:)`` after so many seconds.
        case start(Deadline, seconds: Double)
        case cancel(Deadline)
        /// Watch the network, and say ``Event/connectivityReturned`` once.
        case watchConnectivity
        case stopWatchingConnectivity
        /// Count, if the user agreed to be counted.
        case report(AnalyticsEvent)
        /// Send what was counted now: the app may get no other turn.
        case flushReports
        /// Tell the app how it ended.
        case deliver(Outcome)
        /// A URL was not taken, and why. For logs; with ``RedirectRefusal/foreign`` the app handles the URL itself.
        case refused(RedirectRefusal)
    }

    /// What is needed of the app and the device.
    public enum Need: Sendable, Hashable {
        /// Whether there is a user token, the IFTTT app, a browser. Nothing is made for it.
        case means
        /// All that the user is sent away with: also the codes, which may be made for one use.
        case departure
    }

    /// Marks a question, so that its answer is told from others.
    public struct Ticket: Sendable, Hashable, Codable {
        let number: UInt64
    }

    /// Something that ends a state by itself.
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

    /// Where the user is sent.
    public struct Destination: Sendable, Hashable {
        public let kind: Kind
        /// The address; it carries the attempt's state and may carry a code. Show it to the user alone.
        public let url: String
        /// Where the user comes back.
        public let redirect: ReturnAddress

        let state: AttemptState

        /// Whether a URL is the answer to this: for whoever catches redirects and has to show a page at once. The machine
        /// looks at everything anew.
        public func isAnswered(by url: String) -> Bool {
            guard let found = try? redirect.redirect(url).state else { return false }
            return state.matches(found)
        }

        public enum Kind: String, Sendable, Hashable, Codable {
            /// The web flow, in the user's own browser.
            case web
            /// The IFTTT app.
            case app
        }
    }

    /// What an attempt is made with: read when it is needed, because codes grow stale (dossier 10.2, W13).
    public struct Circumstances: Sendable {
        /// Whether there is a user token to look the user up with.
        public var hasUserToken: Bool
        /// The partner's one-time OAuth code; nil connects by the partner's log-in page.
        public var oauthCode: Secret?
        public var inviteCode: Secret?
        /// Whether the IFTTT app is installed; nil where nobody can know, as on a server.
        public var isAppInstalled: Bool?
        /// Whether web pages can be opened here.
        public var canOpenPages: Bool
        public var mailClients: [MailClient]
        /// The installation's identifier; nil unless the user agreed to be counted.
        public var anonymousID: AnonymousID?

        public init(
            hasUserToken: Bool = false, oauthCode: Secret? = nil, inviteCode: Secret? = nil,
            isAppInstalled: Bool? = nil, canOpenPages: Bool = true
        ) {
            self.hasUserToken = hasUserToken
            self.oauthCode = oauthCode
            self.inviteCode = inviteCode
            self.isAppInstalled = isAppInstalled
            self.canOpenPages = canOpenPages
            mailClients = []
        }
    }

    /// Who the user of a token is (dossier 2.7).
    public enum UserLookUp: Sendable, Hashable {
        /// A user with this login.
        case login(String)
        /// Nobody: the token is expired, revoked, or no user's.
        case nobody
        case couldNotAsk(Failure)
    }

    /// Whether there is an IFTTT account for an address (dossier 2.7; 10.2, W5).
    public enum AccountLookUp: Sendable, Hashable {
        case exists
        case doesNotExist
        /// Nobody knows: an error is no answer, and never means that there is none.
        case couldNotAsk(Failure)
    }
}

extension ConnectActivation.Destination: CustomStringConvertible, CustomReflectable {
    /// The kind and the address without its query.
    public var description: String { "\(kind.rawValue) \(url.prefix { $0 != "?" })" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
