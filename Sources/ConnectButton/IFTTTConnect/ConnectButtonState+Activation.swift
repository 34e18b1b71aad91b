public import IFTTTConnect

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ConnectButtonState {
    /// The state of a button for an activation.
    ///
    /// - Parameters:
    ///   - activation: The state machine.
    ///   - isOffline: Whether this device has no network. Only then a failed connection is shown as offline (W6).
    ///   - undoRemaining: Seconds in which a disconnection can still be undone, from the timer of the deadline; `nil` is the
    ///     full time.
    ///   - isPageOpen: Whether the service's page is open while the user is there. From then on nothing is shown of what IFTTT does
    ///     (F032), as the user sees it, or has left the page.
    public init(
        _ activation: ConnectActivation, isOffline: Bool = false, undoRemaining: Double? = nil, isPageOpen: Bool = false
    ) {
        self.init(Step(activation.state), connection: activation.connection.map(ConnectButtonConnection.init))
        failure = activation.failure.map { ConnectButtonFailure($0, isOffline: isOffline, step: step) }
        manageURL = activation.manageURL
        storeURL = activation.storeURL
        termsURL = URL(string: activation.configuration.addresses.terms)
        refusals = activation.refusals
        isCancellable = activation.isCancellable
        switch activation.state {
        case .enteringEmail(let entry):
            email = entry.text
            if entry.isInvalid { failure = ConnectButtonFailure(.invalidEmail) }
        case .verifying: progress = .indeterminate
        case .creatingAccount(let address):
            email = address.rawValue
            progress = .indeterminate
        case .goingToService:
            email = isPageOpen ? nil : activation.newAccount?.rawValue
            progress = .indeterminate
        case .undoableDisconnection(let seconds):
            undo = ConnectButtonUndo(remaining: undoRemaining ?? seconds, total: seconds)
        case .connecting, .disconnecting: progress = .indeterminate
        case .connected, .pendingConfiguration:
            next = activation.configuration.disconnection == .confirmed ? .confirmDisconnect : .disconnecting
        case .initial: next = activation.asksForEmail ? .email : nil
        case .disconnected: progress = .fraction(1)
        case .idle, .loading, .loadingFailed, .confirmingDisconnection, .unavailable: break
        }
    }
}

extension ConnectActivation {
    /// The page that manages the connection: in the IFTTT app where that is installed, otherwise on the web.
    fileprivate var manageURL: URL? {
        if let app = appEditURL { return URL(string: app) }
        guard var page = connection.flatMap({ URLComponents(string: $0.url.rawValue) }) else { return nil }
        page.path += page.path.hasSuffix("/") ? "edit" : "/edit"
        return page.url
    }

    /// The App Store page: only on iOS, and when the app is known to be missing.
    fileprivate var storeURL: URL? {
        guard isAppInstalled == false, configuration.identity.platform == .ios else { return nil }
        return URL(string: "https://apps.apple.com/app/id660944635")
    }
}

extension ConnectButtonState.Step {
    init(_ state: ConnectActivation.State) {
        self =
            switch state {
            case .idle, .loading: .loading
            case .loadingFailed: .loadingFailed
            case .initial: .connect
            case .enteringEmail: .email
            case .verifying: .verifying
            case .creatingAccount: .creatingAccount
            case .goingToService: .goingToService
            case .connecting: .connecting
            case .connected: .connected
            case .pendingConfiguration: .pending
            case .confirmingDisconnection: .confirmDisconnect
            case .undoableDisconnection, .disconnecting: .disconnecting
            case .disconnected: .disconnected
            case .unavailable: .hidden
            }
    }
}

extension ConnectButtonConnection {
    init(_ connection: Connection) {
        self.init(
            id: connection.id.rawValue, url: URL(string: connection.url.rawValue),
            primary: ConnectButtonService(connection.primaryService),
            connecting: ConnectButtonService(connection.connectingService))
    }
}

extension ConnectButtonService {
    init(_ service: Connection.Service) {
        self.init(
            name: service.name, shortName: service.shortName, icon: URL(string: service.monochromeIconURL.rawValue),
            brand: ConnectButtonColor(service.brandColor.description), url: URL(string: service.url.rawValue))
    }
}

extension ConnectButtonFailure {
    /// The failure as shown to the user. The kit's own message, which is for developers, is the detail.
    init(_ failure: ConnectActivation.Failure, isOffline: Bool, step: ConnectButtonState.Step) {
        let kind: Kind =
            switch failure {
            case .unreachable: isOffline ? .offline : .unavailable
            case .unauthorized: .signInExpired
            case .notFound: .unknownConnection
            case .service(status: 403, _, _): .notAllowed
            case .service(status: 429, _, _): .tooMany
            case .service: .unavailable
            case .accountCreationFailed: .accountNotCreated
            case .configurationCancelled: .cancelled
            case .appNotOpened: .appNotOpened
            case .notConfirmed(.enabled): .notDisconnected
            case .unreadableAnswer, .credentials, .refusedByService, .unknownRedirect, .attemptExpired,
                .browserNotOpened,
                .notConfirmed:
                .interrupted
            }
        // Beside "connected", turning off has failed: tell the user that the connection is still on.
        let isStillOn = step == .connected || step == .pending
        self.init(isStillOn ? .notDisconnected : kind, detail: "\(failure.code): \(failure)")
    }
}

extension ConnectButtonEvent {
    /// The state machine's event. `nil` when the event has no meaning in its present state.
    ///
    /// Analytics events are always `nil`; ``analyticsEvent(for:)`` reads them.
    ///
    /// - Parameters:
    ///   - activation: The state machine.
    ///   - time: Now, in seconds since 1970.
    ///   - attempt: Creates the state of a new attempt.
    public func activationEvent(
        for activation: ConnectActivation, at time: Double, attempt: () -> AttemptState
    ) -> ConnectActivation.Event? {
        switch self {
        case .turnOn: .connect(attempt(), at: time)
        case .turnOff: .disconnect
        case .email(let text): .confirmEmail(text)
        case .proceed: .reopen
        case .returned: .leftService
        case .setUp, .shown, .footerTapped, .aboutShown, .aboutTapped: nil
        case .cancel: .cancel
        // Below a pending connection the action stands for the switch, which asks first.
        case .disconnect: activation.state == .pendingConfiguration ? .disconnect : .confirmDisconnection
        case .keep, .undo: .keepConnection
        case .retry:
            switch activation.state {
            case .loadingFailed: .retryLoading
            case .initial: .connect(attempt(), at: time)
            case .connected, .pendingConfiguration: .disconnect
            case .enteringEmail(let entry): .confirmEmail(entry.text)
            case .goingToService: .reopen
            default: nil
            }
        }
    }
}
