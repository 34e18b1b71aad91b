extension ConnectActivation {
    /// Where an activation stands: enough for a button to draw itself (dossier 4.4). Progress is what is really under
    /// way; nothing waits for show (dossier 10.2, W4 and W5).
    public enum State: Sendable, Hashable, Codable {
        /// Not shown yet.
        case idle
        case loading
        /// The connection could not be loaded; ``ConnectActivation/failure`` says why.
        case loadingFailed
        /// Off: the user may turn it on. A failure beside it is to be shown with it.
        case initial
        /// The user is asked for an address.
        case enteringEmail(EmailEntry)
        /// IFTTT is being asked who the user is.
        case verifying
        /// There is no IFTTT account for this address: the page that opens next will make it.
        case creatingAccount(EmailAddress)
        /// The user has been sent to the service, and is waited for.
        case goingToService(Destination.Kind)
        /// The service is being asked to turn it on, or whether it is.
        case connecting
        case connected
        /// On, but not configured yet: it does nothing until the app has configured it.
        case pendingConfiguration
        /// The user is asked whether it shall really be turned off.
        case confirmingDisconnection
        /// It will be turned off when so many seconds have passed, unless the user takes it back.
        case undoableDisconnection(seconds: Double)
        case disconnecting
        /// It is off now; becomes ``initial`` after two seconds, or immediately when the user turns it on again.
        case disconnected
        /// It cannot be turned on here: there is neither a browser nor the IFTTT app. A view hides the button, and it is
        /// there again as soon as a look (``Event/refresh``) finds a way.
        case unavailable
    }

    /// The email field.
    public struct EmailEntry: Sendable, Hashable, Codable {
        /// What stood in it when it was shown or confirmed last; at most 320 characters. What is being typed is the view's.
        public let text: String
        /// Whether it was confirmed and is no address; for two seconds.
        public let isInvalid: Bool

        public init(_ text: String, isInvalid: Bool = false) {
            self.text = String(text.prefix(320))
            self.isInvalid = isInvalid
        }
    }

    /// Why something did not come about; each case says whose turn it is.
    public enum Failure: Error, Sendable, Hashable, Codable {
        /// The service cannot be reached from here: the user's connection, or the service's. Try again.
        case unreachable
        /// The service does not accept the user token, and nothing else can be done without one.
        case unauthorized
        /// The service knows no such connection, or does not show it: an unpublished one needs its invite code.
        case notFound
        /// Another error status, with the service's own words, made harmless.
        case service(status: Int, code: String?, message: String?)
        /// An answer that cannot be understood: what it was, for developers.
        case unreadableAnswer(String)
        /// The app's own credential provider failed, or its set-up is wrong: what it was, for developers.
        case credentials(String)
        /// The service could not make an account.
        case accountCreationFailed
        /// The user cancelled on the service's configuration page.
        case configurationCancelled
        /// The service sent the user back with an error: its own word, such as `auth_error`; nil when it gave none.
        case refusedByService(type: String?)
        /// The redirect says something that is not known.
        case unknownRedirect
        /// The redirect came after the attempt's lifetime.
        case attemptExpired
        /// The IFTTT app could not be opened.
        case appNotOpened
        /// The browser could not be opened.
        case browserNotOpened
        /// The service says otherwise: it was turned on and is not on, or the other way round.
        case notConfirmed(Connection.Status)
    }

    /// How something ended, for the app.
    public enum Outcome: Sendable, Hashable {
        /// The connection is on. `isConfirmed` is false when the redirect said so and the service could not be asked.
        case connected(Connection, isConfirmed: Bool, isPending: Bool)
        case disconnected(Connection)
        /// The user went back.
        case cancelled
        case failed(Failure)
    }
}

extension ConnectActivation.Failure: CustomStringConvertible {
    /// What a failed call means to an activation.
    public init(_ error: ConnectError) {
        switch error {
        case .network: self = .unreachable
        case .account, .input: self = .credentials("\(error)")
        case .malformed: self = .unreadableAnswer("\(error)")
        case .service(let problem):
            self =
                switch problem.kind {
                case .unauthorized: .unauthorized
                case .notFound: .notFound
                default: .service(status: problem.status, code: problem.code, message: problem.message)
                }
        }
    }

    /// A stable word for programs.
    public var code: String {
        switch self {
        case .unreachable: "unreachable"
        case .unauthorized: "unauthorized"
        case .notFound: "not_found"
        case .service(_, let code, _): code ?? "service_error"
        case .unreadableAnswer: "malformed_answer"
        case .credentials: "credentials_unavailable"
        case .accountCreationFailed: "account_creation_failed"
        case .configurationCancelled: "configuration_cancelled"
        case .refusedByService(let type): type ?? "refused_by_service"
        case .unknownRedirect: "unknown_redirect"
        case .attemptExpired: "attempt_expired"
        case .appNotOpened: "app_not_opened"
        case .browserNotOpened: "browser_not_opened"
        case .notConfirmed: "not_confirmed"
        }
    }

    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .unreachable: "IFTTT cannot be reached. Check the network and try again."
        case .unauthorized: "IFTTT rejected the user token. Connect again."
        case .notFound:
            "IFTTT shows no such connection. Check its identifier, and the invite code of an unpublished one."
        case .service(let status, let code, let message):
            "IFTTT answered with status \(status)"
                + [code, message].compactMap(\.self).map { ", \($0)" }.joined() + "; try again later"
        case .unreadableAnswer(let what): what
        case .credentials(let what): "The app's credentials are not available: \(what)"
        case .accountCreationFailed: "IFTTT could not create an account. Try another address."
        case .configurationCancelled: "The configuration was cancelled at IFTTT."
        case .refusedByService(let type):
            "IFTTT ended the connection's set-up" + (type.map { " with \($0)" } ?? "") + "; try again"
        case .unknownRedirect: "IFTTT sent the user back without a result. Try again."
        case .attemptExpired: "IFTTT's answer came too late. Try again."
        case .appNotOpened: "The IFTTT app could not be opened. The next try uses the browser."
        case .browserNotOpened: "No browser could be opened."
        case .notConfirmed(let status): "IFTTT says that the connection is \(status.rawValue); try again"
        }
    }
}
