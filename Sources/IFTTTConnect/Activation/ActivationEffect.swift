public import OAuth

extension ConnectActivation {
    /// An effect that the performer has to carry out.
    public enum Effect: Sendable, Equatable {
        /// Fetch the connection, with the user token if there is one. Answer with ``Answer/fetched(_:_:)``.
        case fetch(Ticket)
        /// Ask the app's providers for what is needed now. Check the device's capabilities too, and answer with
        /// ``Answer/gathered(_:_:)``.
        case gather(Ticket, Need)
        /// Look up the token's user; answer with ``Answer/userLookedUp(_:_:)``.
        case lookUpUser(Ticket)
        /// Look up whether an address has an account. Answer with ``Answer/accountLookedUp(_:_:)``.
        case lookUpAccount(Ticket, EmailAddress)
        /// Turn a disabled connection on again; answer with ``Answer/enabled(_:_:)``.
        case enable(Ticket)
        /// Turn off; answer with ``Answer/disabled(_:_:)``.
        case disable(Ticket)
        /// Open the service's page or app.
        ///
        /// Answer a failure with ``Answer/openingFailed(_:)``, a closed browser with ``Answer/browserClosed(_:)``, and the redirect
        /// with ``Event/redirected(_:at:)``.
        case open(Ticket, Destination)
        /// Close the browser if it is open.
        case closeBrowser
        /// Store a token in the vault, before any further effect.
        case storeToken(UserToken)
        /// Delete the token that this ticket's request used: the service rejected it. A token that was stored since stays, and
        /// so does everything when the request had no token.
        case dropToken(Ticket)
        /// Delete the token: the user has logged out.
        case forgetToken
        /// Answer with ``Answer/deadlinePassed(_:)`` after this time.
        case start(Deadline, seconds: Double)
        case cancel(Deadline)
        /// Watch the network, and send ``Event/connectivityReturned`` once.
        case watchConnectivity
        case stopWatchingConnectivity
        /// Record an analytics event, if the user consented.
        case report(AnalyticsEvent)
        /// Send recorded events now: the app may be suspended.
        case flushReports
        /// Tell the app the outcome.
        case deliver(Outcome)
        /// A URL was rejected. For logs; with ``RedirectRefusal/foreign``, the app handles the URL itself.
        case refused(RedirectRefusal)
    }

    /// What is needed from the app and the device.
    public enum Need: Sendable, Hashable {
        /// Whether there is a user token, the IFTTT app, a browser. Creates nothing.
        case capabilities
        /// Everything for the service's URL, including single-use codes.
        case handoff
    }

    /// The URL that the user is sent to.
    public struct Destination: Sendable, Hashable {
        public let kind: Kind
        /// The URL; it contains the attempt's state and may contain a code. Show it to the user only.
        public let url: String
        /// The callback of the attempt.
        public let redirect: CallbackURL

        let state: AttemptState

        /// Whether a URL is the redirect of this attempt. For a listener that has to show a page immediately. The state
        /// machine parses the URL itself.
        public func isAnswered(by url: String) -> Bool {
            guard let found = try? redirect.redirect(from: url).state else { return false }
            return state.matches(found)
        }

        public enum Kind: String, Sendable, Hashable, Codable {
            /// The web flow, in the system browser.
            case web
            /// The IFTTT app.
            case app
        }
    }

    /// The context of an attempt (dossier 10.2, W13). It is read when it is needed, because codes expire.
    public struct AttemptContext: Sendable {
        /// Whether there is a user token to look the user up with.
        public var hasUserToken: Bool
        /// The partner's one-time OAuth code; nil shows the partner's log-in page.
        public var oauthCode: Secret?
        public var inviteCode: Secret?
        /// Whether the IFTTT app is installed; nil when unknown, as on a server.
        public var isAppInstalled: Bool?
        /// Whether web pages can be opened here.
        public var canOpenPages: Bool
        public var mailClients: [MailClient]
        /// The installation's anonymous ID; nil without the user's consent.
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
}

extension ConnectActivation.Destination: CustomStringConvertible, CustomReflectable {
    /// The kind, and the URL without its query.
    public var description: String { "\(kind.rawValue) \(url.prefix { $0 != "?" })" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
