extension ConnectActivation {
    /// The state of an activation, with everything that a button draws (dossier 4.4). It reflects work in progress; there are
    /// no waits for show (dossier 10.2, W4 and W5).
    public enum State: Sendable, Hashable, Codable {
        /// Not shown yet.
        case idle
        case loading
        /// The connection could not be loaded; ``ConnectActivation/failure`` says why.
        case loadingFailed
        /// Off: the user may turn it on. A failure is shown beside it.
        case initial
        /// The user enters an address.
        case enteringEmail(EmailEntry)
        /// IFTTT is asked for the user.
        case verifying
        /// The address has no IFTTT account: the next page creates one.
        case creatingAccount(EmailAddress)
        /// The user is at the service.
        case goingToService(Destination.Kind)
        /// The service is asked to turn it on, or whether it is on.
        case connecting
        case connected
        /// On, but without effect until the app has configured it.
        case pendingConfiguration
        /// The user is asked to confirm turning it off.
        case confirmingDisconnection
        /// It will be turned off after this time, unless the user undoes it.
        case undoableDisconnection(seconds: Double)
        case disconnecting
        /// It is off. It becomes ``initial`` after two seconds; the user can turn it on again immediately.
        case disconnected
        /// It cannot be turned on here: there is neither a browser nor the IFTTT app. A view hides the button until
        /// ``Event/refresh`` finds one.
        case unavailable
    }

    /// The email field.
    public struct EmailEntry: Sendable, Hashable, Codable {
        /// The text when it was last shown or confirmed; at most 320 characters. The view keeps what the user types.
        public let text: String
        /// Whether a confirmed text is not a valid address; for two seconds.
        public let isInvalid: Bool

        public init(_ text: String, isInvalid: Bool = false) {
            self.text = String(text.prefix(320))
            self.isInvalid = isInvalid
        }
    }

    /// Why an operation failed.
    public enum Failure: Error, Sendable, Hashable, Codable {
        /// The service cannot be reached: the network failed, or the service did. Retry.
        case unreachable
        /// The service rejects the user token.
        case unauthorized
        /// The connection does not exist, or is not visible. An unpublished one needs its invite code.
        case notFound
        /// Another error status, with the service's sanitised message.
        case service(status: Int, code: String?, message: String?)
        /// A malformed answer: details for developers.
        case unreadableAnswer(String)
        /// The app's credential provider failed or is misconfigured. The text has details for developers.
        case credentials(String)
        /// The service could not create an account.
        case accountCreationFailed
        /// The user cancelled on the service's configuration page.
        case configurationCancelled
        /// The service returned an error. It comes with its error type if there is one, such as `auth_error`.
        case refusedByService(type: String?)
        /// The redirect has an unknown step.
        case unknownRedirect
        /// The redirect came after the attempt's lifetime.
        case attemptExpired
        /// The IFTTT app could not be opened.
        case appNotOpened
        /// The browser could not be opened.
        case browserNotOpened
        /// The service disagrees. The connection was turned on and is not on, or the other way round.
        case notConfirmed(Connection.Status)
    }

    /// The outcome of an attempt, for the app.
    public enum Outcome: Sendable, Hashable {
        /// The connection is on. `isConfirmed` is false when the redirect said so but the service could not be asked.
        case connected(Connection, isConfirmed: Bool, isPending: Bool)
        case disconnected(Connection)
        /// The user cancelled.
        case cancelled
        case failed(Failure)
    }
}

extension ConnectActivation.State {
    /// The state's name, for logs: without the address that a state can have.
    var code: String {
        switch self {
        case .idle: "idle"
        case .loading: "loading"
        case .loadingFailed: "loading_failed"
        case .initial: "initial"
        case .enteringEmail: "entering_email"
        case .verifying: "verifying"
        case .creatingAccount: "creating_account"
        case .goingToService(let kind): "going_to_service_\(kind.rawValue)"
        case .connecting: "connecting"
        case .connected: "connected"
        case .pendingConfiguration: "pending_configuration"
        case .confirmingDisconnection: "confirming_disconnection"
        case .undoableDisconnection: "undoable_disconnection"
        case .disconnecting: "disconnecting"
        case .disconnected: "disconnected"
        case .unavailable: "unavailable"
        }
    }
}

extension ConnectActivation.Outcome {
    /// The outcome's name, for logs.
    var code: String {
        switch self {
        case .connected(_, _, let isPending): isPending ? "pending" : "connected"
        case .disconnected: "disconnected"
        case .cancelled: "cancelled"
        case .failed(let failure): failure.code
        }
    }
}

extension ConnectActivation.Failure: CustomStringConvertible {
    /// The failure of a call, from an activation's view.
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

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .unreachable: "IFTTT cannot be reached. Check the network and try again."
        case .unauthorized: "IFTTT rejected the user token. Connect again."
        case .notFound:
            "IFTTT has no such connection. Check its identifier and, if it is unpublished, the invite code."
        case .service(let status, let code, let message):
            "IFTTT answered with status \(status)"
                + [code, message].compactMap(\.self).map { ", \($0)" }.joined() + ". Try again later."
        case .unreadableAnswer(let what): what
        case .credentials(let what): "The app's credentials are not available: \(what)"
        case .accountCreationFailed: "IFTTT could not create an account. Try another address."
        case .configurationCancelled: "The configuration was cancelled at IFTTT."
        case .refusedByService(let type):
            "IFTTT ended the set-up of the connection" + (type.map { " with \($0)" } ?? "") + ". Try again."
        case .unknownRedirect: "IFTTT sent the user back without a result. Try again."
        case .attemptExpired: "The attempt has expired. Try again."
        case .appNotOpened: "The IFTTT app could not be opened. The next try uses the browser."
        case .browserNotOpened: "No browser could be opened."
        case .notConfirmed(.enabled): "IFTTT did not turn the connection off. It is still on. Try again."
        case .notConfirmed: "IFTTT did not turn the connection on. It is off. Try again."
        }
    }
}
