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
/// This refuses tokens that somebody else injects: an attacker who leads the user to
/// `gardenapp://…?next_step=complete&user_token=THEIRS`, so that the user's things are from then on done in the
/// attacker's name, does not know the state. It cannot help when the redirect itself is delivered to another app, which a
/// private scheme allows on iOS and on Android alike (Android even lets the user be asked which app shall have it); an
/// `https` address that the app has claimed can. Nor can it hide the token from whoever reads the browser's
/// history: set ``Configuration/tokenDelivery`` to ``TokenDelivery/partnerServer`` and the token of the redirect is
/// not even looked at.
public struct ConnectActivation: Sendable, Hashable, Codable {
    public let configuration: Configuration

    /// What a view shows.
    public internal(set) var state = State.idle

    /// What went wrong last; nil as soon as the user goes on. The state says where one stands now: a view shows both,
    /// and the way to try again is the state's own (``Event/connect(_:at:)``, ``Event/retryLoading`` …).
    public internal(set) var failure: Failure?

    /// The connection as it was last seen; nil until it has been loaded.
    public internal(set) var connection: Connection?

    /// Whether the connection was turned on without being configured: it does nothing yet (dossier 1.3; 10.2, W15).
    public internal(set) var isPendingConfiguration = false

    /// The attempt under way: from the user's wish until its redirect, or until another takes its place.
    var attempt: Attempt?
    /// The answer that is waited for; every other one is too late.
    var awaited: Awaited?
    /// The deadline that runs.
    var deadline: Deadline?
    /// Whether the service has refused a token and has told nothing of its user since: then nobody knows more than a look
    /// without a token, and a service that refuses everything is not asked for ever.
    var hasDroppedToken = false
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

    /// Takes in what happened, and says what is to be done, in this order.
    ///
    /// An event that does not fit the state changes nothing: a second tap, an answer to an earlier question, a deadline that
    /// was called off.
    public mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .appeared: appear()
        case .retryLoading: retryLoading()
        case .refresh: refresh()
        case .connectivityReturned: connectivityReturned()
        case .connect(let state, let time): connect(state, at: time)
        case .editEmail(let text): editEmail(text)
        case .confirmEmail(let text): confirmEmail(text)
        case .cancel: cancel()
        case .disconnect: disconnect()
        case .confirmDisconnection: confirmDisconnection()
        case .keepConnection: keepConnection()
        case .configurationSaved: configurationSaved()
        case .redirected(let url, let time): redirected(url, at: time)
        case .enteredBackground: enteredBackground()
        case .signedOut: signOut()
        case .restored: restore()
        case .deadlinePassed(let passed): deadlinePassed(passed)
        case .gathered(let ticket, let circumstances): gathered(ticket, circumstances)
        case .fetched(let ticket, let result): fetched(ticket, result)
        case .userLookedUp(let ticket, let answer): userLookedUp(ticket, answer)
        case .accountLookedUp(let ticket, let answer): accountLookedUp(ticket, answer)
        case .enabled(let ticket, let result): enabled(ticket, result)
        case .disabled(let ticket, let result): disabled(ticket, result)
        case .browserClosed(let ticket): browserClosed(ticket)
        case .openingFailed(let ticket): openingFailed(ticket)
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
            /// What the user has and where the app runs, to find out who the user is.
            case choose
            /// The same, to send the user away.
            case leave
            case user, account, enable, disable
            /// The user, at the service.
            case comingBack
        }
    }

    /// One wish to turn the connection on.
    struct Attempt: Sendable, Hashable, Codable {
        let state: AttemptState
        /// Seconds since 1970 at which the user wished it.
        let begunAt: Double
        /// Who the user is, as far as it is known.
        var user: ActivationUser?
        /// Whether the user has been sent to the service.
        var isAway = false
        /// Whether there is another way than the browser or the app, as of the last look.
        var isAppInstalled = false
        var canOpenPages = true
        /// Whether the app could not be opened, so that this attempt does without it. Nil is no, as in what was stored before.
        var cannotOpenApp: Bool?
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
