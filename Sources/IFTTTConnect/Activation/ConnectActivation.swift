/// How a user turns a connection on and off: a pure state machine (dossier 3).
///
/// It is told what happened by ``handle(_:)`` and answers with what is to be done. It owns no timer, no view and no
/// connection to anything; ``ConnectController`` performs its effects, and anyone else may. All it holds can be stored
/// (`Codable`), because the app may be killed while the browser is open; give the next process's machine the event
/// ``Event/restored``.
///
/// ```swift
/// var activation = ConnectActivation(configuration)
/// perform(activation.handle(.appeared))
/// perform(activation.handle(.connect(AttemptState(), at: now)))
/// perform(activation.handle(.redirected(url, at: now)))
/// ```
///
/// ## Whose redirect it is
///
/// Each attempt goes out with its own 256-bit state inside the return address. A redirect counts when it comes to exactly
/// the configured address, carries the state of the newest attempt, and that attempt's user has been sent away and has not
/// come back yet. It counts once. Everything else leaves the machine as it is and is answered with
/// ``Effect/refused(_:)``.
///
/// This refuses tokens that an attacker injects: one who leads the user to
/// `gardenapp://…?next_step=complete&user_token=THEIRS`, so that the user's things are from then on done in the
/// attacker's name, does not know the state. It cannot help when the redirect itself is delivered to another app, which a
/// private scheme allows on iOS and on Android alike (Android even lets the user be asked which app shall have it); an
/// `https` address that the app has claimed can. Nor can it hide the token from programs that read the browser's
/// history: give ``ConnectEnvironment/tokenDelivery`` as ``TokenDelivery/partnerServer(_:)`` and the token of the redirect
/// is not even looked at.
public struct ConnectActivation: Sendable, Hashable, Codable {
    public private(set) var configuration: Configuration

    /// What a view shows.
    public internal(set) var state = State.idle

    /// What went wrong last; nil as soon as the user goes on. The state says where one stands now: a view shows both,
    /// and the way to try again is the state's own (``Event/connect(_:at:)``, ``Event/retryLoading`` …).
    public internal(set) var failure: Failure?

    /// The connection as it was last seen; nil until it has been loaded.
    public internal(set) var connection: Connection?

    /// Whether the connection is on without being configured: it does nothing yet (dossier 1.3; 10.2, W15).
    public internal(set) var isPendingConfiguration = false

    /// How many addresses were refused so far: a view tells the second refusal of the same address from the first.
    public internal(set) var refusals = 0

    /// The attempt under way: from the user's wish until its redirect, or until another takes its place.
    var attempt: Attempt?
    /// The answer that is waited for; every other one is too late.
    var awaited: Awaited?
    /// The request to turn on that was sent before the user cancelled; its answer is not ignored.
    var cancelledEnabling: Ticket?
    /// The deadline that runs.
    var deadline: Deadline?
    /// Whether the service has refused a token and has told nothing of its user since: then no more is known than a look
    /// without a token, and a service that refuses everything is not asked for ever.
    var hasDroppedToken = false
    /// What there is to go on with, as of the last look; nil until there was one.
    var capabilities: Capabilities?
    /// Whether the IFTTT app is said to be there and could not be opened: the next way is the browser's.
    var hasAppFailed = false
    private var lastNumber: UInt64 = 0

    /// Begins with nothing loaded.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        connection = nil
    }

    /// Begins with a connection that was loaded before: loading is skipped (dossier 3.1).
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when it is another one than the configuration's.
    public init(_ configuration: Configuration, prefetched: Connection) throws(ConnectError) {
        guard prefetched.id == configuration.connection else {
            throw .input(
                member: "connection",
                problem: "the configuration is for \(configuration.connection), not for \(prefetched.id)")
        }
        self.configuration = configuration
        connection = prefetched
    }

    /// The same activation, restarted with other settings. Answers to questions of this one are ignored by that one.
    ///
    /// - Parameters:
    ///   - configuration: the settings, of the same connection.
    ///   - isLoaded: whether the connection stays as it was seen last, and is shown so.
    package func restarted(_ configuration: Configuration, isLoaded: Bool) -> ConnectActivation {
        var restarted = ConnectActivation(configuration)
        restarted.lastNumber = lastNumber
        restarted.refusals = refusals
        restarted.capabilities = capabilities
        // What was sent before is still answered.
        restarted.cancelledEnabling = cancelledEnabling
        guard isLoaded, let connection, connection.id == configuration.connection else { return restarted }
        restarted.connection = connection
        restarted.isPendingConfiguration = isPendingConfiguration
        restarted.hasDroppedToken = hasDroppedToken
        if let attempt, attempt.isAway { restarted.attempt = attempt }
        restarted.state = restarted.restingState
        return restarted
    }

    /// The same activation for a performer that has its tokens from there.
    package func taking(_ tokens: TokenDelivery) -> ConnectActivation {
        var activation = self
        activation.configuration.takesTokenFromRedirect = tokens.isFromRedirect
        return activation
    }

    /// Takes in an event, and returns what is to be done, in this order.
    ///
    /// An event that does not fit the state changes nothing, such as a second tap.
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
        case .redirected(let url, let time): redirected(url, at: time)
        case .enteredBackground: enteredBackground()
        case .signedOut: signOut()
        case .restored: restore()
        }
    }

    /// Takes in the answer to an effect, and returns what is to be done, in this order.
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

    /// What is waited for, and from whom.
    struct Awaited: Sendable, Hashable, Codable {
        let ticket: Ticket
        let purpose: Purpose

        enum Purpose: String, Sendable, Hashable, Codable {
            /// The connection, to show it.
            case load
            /// The connection, to see whether it changed.
            case refresh
            /// The connection, after a redirect said that it is on.
            case confirm
            /// The connection, after turning off was answered with something else than how it stands.
            case confirmOff
            /// What there is to go on with, to show what can be done.
            case prepare
            /// The same, to find out who the user is.
            case choose
            /// What the user is sent away with.
            case leave
            /// The same, for a user who has been sent before.
            case reopen
            case user, account, enable, disable
            /// The answer to turning off, which the user has taken back meanwhile.
            case keep
            /// The connection, after turning off was taken back and its answer was lost.
            case confirmKept
            /// Turning on again what was turned off before the user took it back.
            case enableKept
            /// The user, at the service.
            case comingBack
        }
    }

    /// One wish to turn the connection on.
    struct Attempt: Sendable, Hashable, Codable {
        let state: AttemptState
        /// Seconds since 1970 at which the user wished it.
        let startedAt: Double
        /// Who the user is, as far as it is known.
        var user: ActivationUser?
        /// Whether the user has been sent to the service.
        var isAway = false
    }

    /// What there is to go on with.
    struct Capabilities: Sendable, Hashable, Codable {
        var hasUserToken: Bool
        let isAppInstalled: Bool?
        let canOpenPages: Bool

        init(_ context: AttemptContext) {
            hasUserToken = context.hasUserToken
            isAppInstalled = context.isAppInstalled
            canOpenPages = context.canOpenPages
        }

        /// Whether a user can be sent anywhere.
        var hasWay: Bool { canOpenPages || isAppInstalled == true }
    }

    // MARK: What every part uses

    /// A number for the next question; the answer has to bear it.
    mutating func ask(_ purpose: Awaited.Purpose) -> Ticket {
        // What was stored may hold any number; no two that are waited for are the same.
        lastNumber &+= 1
        let ticket = Ticket(number: lastNumber)
        awaited = Awaited(ticket: ticket, purpose: purpose)
        return ticket
    }

    /// What an answer is for; nil when it is not waited for, or answers something else. It is waited for no longer.
    mutating func take(_ ticket: Ticket, for purposes: Awaited.Purpose...) -> Awaited.Purpose? {
        guard let awaited, awaited.ticket == ticket, purposes.contains(awaited.purpose) else { return nil }
        self.awaited = nil
        return awaited.purpose
    }

    /// Lets go of the token that a question was asked with, which the service does not accept.
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

    /// Calls off the deadline that runs.
    mutating func endDeadline() -> [Effect] {
        guard let deadline else { return [] }
        self.deadline = nil
        return [.cancel(deadline)]
    }

    /// Goes to a state with a reason that the user is shown, and tells the app.
    mutating func fail(_ failure: Failure, to state: State) -> [Effect] {
        self.state = state
        self.failure = failure
        return [.deliver(.failed(failure))]
    }

    /// The state in which nothing is under way: on, on and pending, or off.
    var restingState: State {
        guard connection?.status == .enabled else { return .initial }
        return isPendingConfiguration ? .pendingConfiguration : .connected
    }
}

/// What a view may tell of what is to come.
extension ConnectActivation {
    /// Whether the IFTTT app is installed, as of the last look; nil where that is not known.
    public var isAppInstalled: Bool? { capabilities?.isAppInstalled }

    /// Whether turning on asks for an address first, as of the last look: there is no user token and no app (dossier 3.3).
    public var asksForEmail: Bool {
        guard let capabilities else { return false }
        return !capabilities.hasUserToken && !goesByApp && capabilities.canOpenPages
    }

    /// Whether the user can cancel what is under way; while the service turns on or off, that is taken back as soon as it answers.
    public var isCancellable: Bool {
        switch state {
        case .enteringEmail, .verifying, .creatingAccount, .goingToService: true
        case .connecting: awaited?.purpose == .enable
        case .disconnecting: awaited?.purpose == .disable
        default: false
        }
    }

    /// Whose account the service's page makes while the user is there; nil when it makes none.
    public var newAccount: EmailAddress? {
        if case .new(let email) = attempt?.user { email } else { nil }
    }

    /// Whether the user is sent to the IFTTT app rather than to its pages.
    var goesByApp: Bool {
        guard let capabilities, capabilities.isAppInstalled == true else { return false }
        return !(hasAppFailed && capabilities.canOpenPages)
    }
}
