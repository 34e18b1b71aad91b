public import OAuth

extension ConnectActivation {
    /// What is to be done.
    public enum Effect: Sendable, Equatable {
        /// Fetch the connection, with the user token where there is one; answer with ``Answer/fetched(_:_:)``.
        case fetch(Ticket)
        /// Ask the app's providers for what is needed now, and look what the device has; answer with
        /// ``Answer/gathered(_:_:)``.
        case gather(Ticket, Need)
        /// Ask who the user of the token is; answer with ``Answer/userLookedUp(_:_:)``.
        case lookUpUser(Ticket)
        /// Ask whether there is an account for an address; answer with ``Answer/accountLookedUp(_:_:)``.
        case lookUpAccount(Ticket, EmailAddress)
        /// Turn on again what was on before; answer with ``Answer/enabled(_:_:)``.
        case enable(Ticket)
        /// Turn off; answer with ``Answer/disabled(_:_:)``.
        case disable(Ticket)
        /// Send the user away; a failure is answered with ``Answer/openingFailed(_:)``, a browser that was closed with
        /// ``Answer/browserClosed(_:)``, and the redirect with ``Event/redirected(_:at:)``.
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
        /// Answer with ``Answer/deadlinePassed(_:)`` after so many seconds.
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
        case capabilities
        /// All that the user is sent away with: also the codes, which may be made for one use.
        case handoff
    }

    /// Where the user is sent.
    public struct Destination: Sendable, Hashable {
        public let kind: Kind
        /// The address; it carries the attempt's state and may carry a code. Show it to the user alone.
        public let url: String
        /// Where the user comes back.
        public let redirect: CallbackURL

        let state: AttemptState

        /// Whether a URL is the answer to this: for a listener that catches redirects and has to show a page immediately. The machine
        /// looks at everything again.
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
    public struct AttemptContext: Sendable {
        /// Whether there is a user token to look the user up with.
        public var hasUserToken: Bool
        /// The partner's one-time OAuth code; nil connects by the partner's log-in page.
        public var oauthCode: Secret?
        public var inviteCode: Secret?
        /// Whether the IFTTT app is installed; nil where it cannot be known, as on a server.
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
}

extension ConnectActivation.Destination: CustomStringConvertible, CustomReflectable {
    /// The kind and the address without its query.
    public var description: String { "\(kind.rawValue) \(url.prefix { $0 != "?" })" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
