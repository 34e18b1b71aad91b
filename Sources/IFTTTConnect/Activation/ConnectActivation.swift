/// Turns a connection on and off: a pure state machine (dossier 3).
///
/// `handle(_:)` takes an event and returns the effects to perform. It has no timer, view or network; ``ConnectController``
/// performs its effects, but any other performer can. It is `Codable`, because the app may be killed while the browser is
/// open; send ``Event/restored`` to the decoded machine of the next process.
///
/// ```swift
/// var activation = ConnectActivation(configuration)
/// perform(activation.handle(.appeared))
/// perform(activation.handle(.connect(AttemptState(), at: now)))
/// perform(activation.open(url, at: now))
/// ```
///
/// ## Checking redirects
///
/// Each attempt has its own 256-bit state in its callback URL. A redirect counts once, if it matches the configured
/// callback, carries the state of the newest attempt, and the user of that attempt is at the service. One that says that the
/// user has finished a cancelled attempt counts too, so that what is on is shown. Everything else changes nothing and returns
/// ``Effect/refused(_:)``.
///
/// This rejects injected tokens: an attacker who leads the user to `gardenapp://…?next_step=complete&user_token=THEIRS`, so
/// that the user's actions run in the attacker's account, does not know the state. It cannot help when the redirect itself
/// is delivered to another app, which private-use schemes allow on iOS and Android; a claimed `https` URL prevents that. Nor
/// can it hide the token from programs that read the browser's history: with ``ConnectEnvironment/tokenDelivery`` as
/// ``TokenDelivery/partnerServer(_:)``, the token of the redirect is ignored.
public struct ConnectActivation: Sendable, Hashable, Codable {
    public private(set) var configuration: Configuration

    /// The state for a view.
    public internal(set) var state = State.idle

    /// The last failure; nil once the user continues. A view shows it beside the state; the way to retry depends on the
    /// state (``Event/connect(_:at:)``, ``Event/retryLoading`` …).
    public internal(set) var failure: Failure?

    /// The connection as last fetched; nil until it has been loaded.
    public internal(set) var connection: Connection?

    /// Whether the connection is on but not configured (dossier 1.3; 10.2, W15). It has no effect yet.
    public internal(set) var isPendingConfiguration = false

    /// The number of refused addresses. With it a view notices a second refusal of the same address.
    public internal(set) var refusals = 0

    /// The current attempt: from the user's action until its redirect, or until another attempt replaces it.
    var attempt: Attempt?
    /// The answer that is awaited; others are outdated.
    var awaited: Awaited?
    /// The newest requests to turn on whose attempts have ended; their answers still count. Nil before the first one.
    var cancelledEnablings: [Ticket]?
    /// The newest attempts whose users were at the service and cancelled here: they may finish there all the same. Nil before the
    /// first one.
    var cancelledAttempts: [Attempt]?
    /// The running deadline.
    var deadline: Deadline?
    /// Whether the service has rejected a token and has returned nothing about its user since: then only a fetch without a
    /// token remains, and a service that rejects everything is not asked endlessly.
    var hasDroppedToken = false
    /// The capabilities as of the last check; nil before it.
    var capabilities: Capabilities?
    /// Whether the IFTTT app is installed but could not be opened: the next attempt uses the browser.
    var hasAppFailed = false
    private var lastNumber: UInt64 = 0

    /// Creates an activation without a connection.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        connection = nil
    }

    /// Creates an activation with a prefetched connection (dossier 3.1). Loading is skipped.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when it is not the configuration's connection.
    public init(_ configuration: Configuration, prefetched: Connection) throws(ConnectError) {
        guard prefetched.id == configuration.connection else {
            throw .input(
                member: "connection",
                problem: "the configuration is for \(configuration.connection), not for \(prefetched.id)")
        }
        self.configuration = configuration
        connection = prefetched
    }

    /// The same activation, restarted with other settings. It ignores answers to questions of this one.
    ///
    /// - Parameters:
    ///   - configuration: the settings, of the same connection.
    ///   - isLoaded: whether the connection stays loaded.
    package func restarted(_ configuration: Configuration, isLoaded: Bool) -> ConnectActivation {
        var restarted = ConnectActivation(configuration)
        restarted.lastNumber = lastNumber
        restarted.refusals = refusals
        restarted.capabilities = capabilities
        // Earlier requests still get their answers.
        restarted.cancelledEnablings = cancelledEnablings
        restarted.cancelledAttempts = cancelledAttempts
        guard isLoaded, let connection, connection.id == configuration.connection else { return restarted }
        restarted.connection = connection
        restarted.isPendingConfiguration = isPendingConfiguration
        restarted.hasDroppedToken = hasDroppedToken
        if let attempt, attempt.isAway { restarted.attempt = attempt }
        restarted.state = restarted.restingState
        return restarted
    }

    /// The same activation, for a performer with this token delivery.
    package func taking(_ tokens: TokenDelivery) -> ConnectActivation {
        var activation = self
        activation.configuration.takesTokenFromRedirect = tokens.isFromRedirect
        return activation
    }

    /// Applies an event, and returns the effects to perform, in order.
    ///
    /// An event that does not fit the state, such as a second tap, changes nothing.
    public mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .appeared: appear()
        case .retryLoading: retryLoading()
        case .refresh: refresh()
        case .connectivityReturned: connectivityReturned()
        case .connect(let state, let time): connect(state, at: time)
        case .confirmEmail(let text): confirmEmail(text)
        case .reopen: reopen()
        case .cancel: cancel()
        case .leftService: leaveService()
        case .disconnect: disconnect()
        case .confirmDisconnection: confirmDisconnection()
        case .keepConnection: keepConnection()
        case .configurationSaved: configurationSaved()
        case .redirected(let redirect, let time):
            finishedAfterCancel(redirect, at: time) ?? redirected(redirect, at: time)
        case .enteredBackground: enteredBackground()
        case .signedOut: signOut()
        case .restored: restore()
        }
    }

    /// Applies the answer to an effect, and returns the effects to perform, in order.
    public mutating func handle(_ answer: Answer) -> [Effect] {
        switch answer {
        case .gathered(let ticket, let context): gathered(ticket, context)
        case .fetched(let ticket, let result): fetched(ticket, result)
        case .userLookedUp(let ticket, let answer): userLookedUp(ticket, answer)
        case .accountLookedUp(let ticket, let answer): accountLookedUp(ticket, answer)
        case .enabled(let ticket, let result): enabled(ticket, result)
        case .disabled(let ticket, let result): disabled(ticket, result)
        case .browserClosed(let ticket): browserClosed(ticket)
        case .openingFailed(let ticket): openingFailed(ticket)
        case .deadlinePassed(let passed): deadlinePassed(passed)
        }
    }

    /// The awaited answer and its purpose.
    struct Awaited: Sendable, Hashable, Codable {
        let ticket: Ticket
        let purpose: Purpose

        enum Purpose: String, Sendable, Hashable, Codable {
            /// The connection, to show it.
            case load
            /// The connection, to see whether it changed.
            case refresh
            /// The connection, after a redirect reported that it is on.
            case confirm
            /// The connection, after the answer to turning off contradicted it.
            case confirmOff
            /// The capabilities, to decide what to show.
            case prepare
            /// The same, to identify the user.
            case choose
            /// The context, to send the user to the service.
            case leave
            /// The same, for a user who is sent again.
            case reopen
            case user, account, enable, disable
            /// The answer to turning off, which the user has undone meanwhile.
            case keep
            /// The connection, after turning off was undone and its answer was lost.
            case confirmKept
            /// Turning on again what was turned off before the user undid it.
            case enableKept
            /// The user at the service.
            case comingBack
        }
    }

    /// An attempt to turn the connection on.
    struct Attempt: Sendable, Hashable, Codable {
        let state: AttemptState
        /// When the user started it, in seconds since 1970.
        let startedAt: Double
        /// The user, if known.
        var user: ActivationUser?
        /// Whether the user has been sent to the service.
        var isAway = false
    }

    /// The capabilities of the app and the device.
    struct Capabilities: Sendable, Hashable, Codable {
        var hasUserToken: Bool
        let isAppInstalled: Bool?
        let canOpenPages: Bool

        init(_ context: AttemptContext) {
            hasUserToken = context.hasUserToken
            isAppInstalled = context.isAppInstalled
            canOpenPages = context.canOpenPages
        }

        /// Whether the user can be sent to the service.
        var hasWay: Bool { canOpenPages || isAppInstalled == true }
    }

    // MARK: Shared by the extensions

    /// Creates the ticket of the next question, which its answer must have.
    mutating func ask(_ purpose: Awaited.Purpose) -> Ticket {
        // A stored machine can have any number; pending tickets are never equal.
        lastNumber &+= 1
        let ticket = Ticket(number: lastNumber)
        awaited = Awaited(ticket: ticket, purpose: purpose)
        return ticket
    }

    /// Returns the purpose of an answer and stops waiting for it; nil when it is not awaited, or has another purpose.
    mutating func take(_ ticket: Ticket, for purposes: Awaited.Purpose...) -> Awaited.Purpose? {
        guard let awaited, awaited.ticket == ticket, purposes.contains(awaited.purpose) else { return nil }
        self.awaited = nil
        return awaited.purpose
    }

    /// Deletes the token that a question used and the service rejected.
    mutating func drop(_ ticket: Ticket) -> Effect {
        hasDroppedToken = true
        capabilities?.hasUserToken = false
        return .dropToken(ticket)
    }

    mutating func start(_ name: Deadline.Name, seconds: Double) -> Effect {
        lastNumber &+= 1
        let deadline = Deadline(name: name, number: lastNumber)
        self.deadline = deadline
        return .start(deadline, seconds: seconds)
    }

    /// Cancels the running deadline.
    mutating func endDeadline() -> [Effect] {
        guard let deadline else { return [] }
        self.deadline = nil
        return [.cancel(deadline)]
    }

    /// Changes to a state with a failure for the user, and tells the app.
    mutating func fail(_ failure: Failure, to state: State) -> [Effect] {
        self.state = state
        self.failure = failure
        return [.deliver(.failed(failure))]
    }

    /// The state without work in progress: on, pending, or off.
    var restingState: State {
        guard connection?.status == .enabled else { return .initial }
        return isPendingConfiguration ? .pendingConfiguration : .connected
    }
}

/// What a view can show in advance.
extension ConnectActivation {
    /// Whether the IFTTT app is installed, as of the last check; nil when unknown.
    public var isAppInstalled: Bool? { capabilities?.isAppInstalled }

    /// Whether turning on asks for an address first (dossier 3.3). As of the last check, it does when there is no user
    /// token and no app, and pages can be opened.
    public var asksForEmail: Bool {
        guard let capabilities else { return false }
        return !capabilities.hasUserToken && !goesByApp && capabilities.canOpenPages
    }

    /// Whether the user can cancel what is in progress. While the service turns on or off, the change is undone after
    /// its answer.
    public var isCancellable: Bool {
        switch state {
        case .enteringEmail, .verifying, .creatingAccount, .goingToService: true
        case .connecting: awaited?.purpose == .enable
        case .disconnecting: awaited?.purpose == .disable
        default: false
        }
    }

    /// The address for which the service's page creates an account. Nil when it creates none.
    public var newAccount: EmailAddress? {
        if case .new(let email) = attempt?.user { email } else { nil }
    }

    /// Whether the redirect of an attempt is awaited: the user is at the service, or may return through a link in a mail.
    package var awaitsRedirect: Bool { attempt?.isAway ?? false }

    /// Whether the user is sent to the IFTTT app rather than to its pages.
    var goesByApp: Bool {
        guard let capabilities, capabilities.isAppInstalled == true else { return false }
        return !(hasAppFailed && capabilities.canOpenPages)
    }
}
