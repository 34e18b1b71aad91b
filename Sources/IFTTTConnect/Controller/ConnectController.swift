import AsyncSupport
package import Handshake
public import Logging
import OAuth
import Synchronization

/// Performs the effects of a ``ConnectActivation``. It calls IFTTT, opens the browser, stores the token, and runs
/// timers.
///
/// ```swift
/// let controller = ConnectController(activation, tokens: tokens, environment: environment)
/// let updates = controller.updates()
/// async let running: Void = controller.run()
/// controller.send(.appeared)
/// for await update in updates { show(update) }
/// ```
///
/// A controller owns one activation, and applies its events in order. Controllers can run concurrently: a redirect counts
/// for the one whose attempt it belongs to.
public final class ConnectController: Sendable {
    /// The API client, for the user of the known token.
    public let api: ConnectAPI

    let environment: ConnectEnvironment
    let analytics: Analytics?
    let keeper: TokenKeeper
    let connections: Connections
    let log: Logger
    private let state: Mutex<State>
    private let turns = RunTurns()

    package var time: TimeSource { connections.time }

    /// The inputs in one queue, so that events are counted in the order in which they happened.
    enum Input: Sendable {
        case event(ConnectActivation.Event)
        /// The user has logged out. ``signOut()`` deletes the token itself, because the next user may have stored another one when
        /// this is applied.
        case signOut
        /// The answer to an effect, and the token of its request.
        case answer(ConnectActivation.Answer, askedWith: UserToken? = nil)
        /// An analytics event that the activation does not know.
        case report(AnalyticsEvent)
    }

    /// What an input has caused.
    private struct Step {
        let effects: [ConnectActivation.Effect]
        /// The token of the request whose answer it was.
        var token: UserToken?
        /// The number of log-outs before it.
        let signOuts: Int
    }

    private struct State {
        var activation: ConnectActivation
        /// Inputs that were not applied yet, in order.
        var inputs: [Input]
        /// Wakes ``run()``; nil while it does not run.
        var signal: AsyncStream<Void>.Continuation?
        let listeners = Broadcaster<Update>(capacity: 100)
        /// Updates that no listener has received yet.
        var untold: [Update] = []
        /// The token of the last redirect, until its outcome is delivered.
        var delivered: UserToken?
        /// The number of calls of ``signOut()``.
        var signOuts = 0
        var isWatchingConnectivity = false

        mutating func advancing(
            _ body: (inout ConnectActivation) -> [ConnectActivation.Effect]
        ) -> [ConnectActivation.Effect] {
            let before = activation
            let effects = body(&activation)
            if activation != before { tell(.activation(activation)) }
            return effects
        }

        mutating func tell(_ update: Update) {
            if listeners.send(update) { return }
            // A new listener gets the activation anyway.
            if case .activation = update { return }
            untold = untold.suffix(99) + [update]
        }
    }

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - activation: a new one, or one that an earlier process has stored.
    ///   - tokens: stores the user token; nil keeps it in memory only.
    ///   - environment: the app and the device.
    ///   - analytics: counts events with the user's consent, and sends them while the app runs ``Analytics/run()``; nil counts
    ///     nothing.
    ///   - connections: hosts, transport, clock and randomness.
    ///   - log: receives each state, outcome, refusal and problem; never a secret, an address or a URL. By default a logger of
    ///     the connection's own, with the label `handshake.connect.CONNECTION`; the app's `LoggingSystem` decides what becomes
    ///     of it.
    public init(
        _ activation: ConnectActivation, tokens: UserTokens?, environment: ConnectEnvironment,
        analytics: Analytics? = nil, through connections: Connections = Connections(), log: Logger? = nil
    ) {
        self.log = log ?? Logger(label: "handshake.connect.\(activation.configuration.connection)")
        self.environment = environment
        self.analytics = analytics
        self.connections = connections
        let keeper = TokenKeeper(tokens, partnerToken: environment.tokenDelivery.partnerToken)
        self.keeper = keeper
        api = connections.api(
            ConnectAPI.Caller(
                userToken: { try await keeper.token() }, inviteCode: environment.inviteCode,
                anonymousID: { await analytics?.anonymousID }, identity: activation.configuration.identity))
        state = Mutex(State(activation: activation.taking(environment.tokenDelivery), inputs: []))
    }

    /// The current activation.
    public var activation: ConnectActivation { state.withLock { $0.activation } }

    /// Updates from now on, beginning with the current activation. They end with the current or next run. A listener
    /// that is 100 updates behind loses the oldest.
    ///
    /// Updates without a listener, such as the outcome of an attempt, are delivered to the first listener; at most the
    /// newest 100.
    public func updates() -> AsyncStream<Update> {
        state.withLock { state in
            defer { state.untold = [] }
            return state.listeners.values(beginningWith: [.activation(state.activation)] + state.untold)
        }
    }

    /// Sends an event of the user, the app or the system to the activation.
    public func send(_ event: ConnectActivation.Event) {
        send(Input.event(event))
    }

    /// Counts an event of the view, such as ``AnalyticsEvent/footerClicked``. It counts nothing without the user's
    /// consent.
    ///
    /// Returns immediately, so that the user never waits for it. The controller itself counts what the activation causes,
    /// such as ``AnalyticsEvent/connectionShown(_:appName:)``.
    public func report(_ event: AnalyticsEvent) {
        send(Input.report(event))
    }

    func send(_ input: Input) {
        state.withLock { state in
            state.inputs.append(input)
            state.signal?.yield()
        }
    }

    /// Turns the connection on for the user.
    public func connect() {
        send(.connect(newAttempt(), at: time.now()))
    }

    /// The state of a new attempt.
    package func newAttempt() -> AttemptState { AttemptState(random: connections.random) }

    /// Opens the service's page or app again, with a new one-time code.
    ///
    /// Has an effect only while the user is there.
    public func reopen() {
        send(.reopen)
    }

    /// Handles a URL that the app was opened with.
    ///
    /// - Returns: whether it matches this activation's callback; if not, the app handles it.
    @discardableResult
    public func open(_ url: String) -> Bool {
        do {
            send(.redirected(try activation.configuration.redirect.redirect(from: url), at: time.now()))
        } catch {
            guard error != .foreign else { return false }
            tell(.refused(error))
        }
        return true
    }

    /// Deletes the user's token and what was known about the user. For the app's own log-out. Turns nothing off.
    ///
    /// While the controller runs, it comes before all queued events, so a late redirect stores no token for the next user.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func signOut() async throws {
        let count = state.withLock { state in
            state.inputs.insert(.signOut, at: 0)
            state.signOuts += 1
            state.signal?.yield()
            return state.signOuts
        }
        try await keeper.forget(signOuts: count)
    }

    /// Performs effects until the task is cancelled. Only one run is active; a second one returns immediately.
    ///
    /// After a cancelled run, for example because its view disappeared, another run continues as the next process
    /// would (``ConnectActivation/Event/restored``); events sent in between are applied then. It waits for a cancelled
    /// run that is still ending.
    public func run() async {
        await turns.perform { await runAlone() }
    }

    private func runAlone() async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.signal = signal
            // Questions of an earlier run or process have no answers here.
            guard state.activation.state != .idle else { return }
            // After a log-out: what its user did must not go on for the next one.
            let isSignedOut =
                switch state.inputs.first {
                case .signOut?, .event(.signedOut)?: true
                default: false
                }
            state.inputs.insert(.event(.restored), at: isSignedOut ? 1 : 0)
        }
        signal.yield()
        await withDiscardingTaskGroup { group in
            if let backgroundEntries = environment.backgroundEntries {
                group.addTask { for await _ in backgroundEntries() { self.send(.enteredBackground) } }
            }
            for await _ in signals {
                while !Task.isCancelled, let step = handleNext() {
                    for effect in step.effects {
                        if let work = await begin(effect, of: step) { group.addTask { await work() } }
                    }
                }
            }
            group.cancelAll()
        }
        let listeners = state.withLock { state in
            state.signal = nil
            state.isWatchingConnectivity = false
            return state.listeners
        }
        listeners.finish()
    }

    /// Applies the next input, and sends the activation to all listeners.
    private func handleNext() -> Step? {
        state.withLock { state in
            guard !state.inputs.isEmpty else { return nil }
            let before = state.activation.state.code
            defer {
                let now = state.activation.state.code
                if now != before { log.debug("state", metadata: ["from": "\(before)", "to": "\(now)"]) }
            }
            var token: UserToken?
            let effects: [ConnectActivation.Effect]
            switch state.inputs.removeFirst() {
            case .report(let event): effects = [.report(event)]
            case .event(let event): effects = state.advancing { $0.handle(event) }
            case .signOut:
                state.delivered = nil
                effects = state.advancing { $0.handle(.signedOut) }.filter { $0 != .forgetToken }
            case .answer(let answer, let askedWith):
                token = askedWith
                effects = state.advancing { $0.handle(answer) }
            }
            return Step(effects: effects, token: token, signOuts: state.signOuts)
        }
    }

    func tell(_ update: Update) {
        switch update {
        case .activation: break
        case .outcome(let outcome, _):
            // A failure's text can quote the service or the app.
            if case .failed(let failure) = outcome {
                log.warning("failed", metadata: ["code": "\(quoted(failure.code, limit: 80))"])
            } else {
                log.info("ended", metadata: ["outcome": "\(outcome.code)"])
            }
        case .refused(let refusal): log.notice("a URL was rejected", metadata: ["reason": "\(refusal.rawValue)"])
        case .problem(let error): log.error("the user token was not stored", metadata: ["reason": "\(error.code)"])
        }
        state.withLock { $0.tell(update) }
    }

    /// Performs what has to be done before the next effect, and returns what may take time.
    ///
    /// - Parameters:
    ///   - effect: the effect.
    ///   - step: the step that it belongs to.
    private func begin(_ effect: ConnectActivation.Effect, of step: Step) async -> (@Sendable () async -> Void)? {
        switch effect {
        case .storeToken(let token):
            state.withLock { $0.delivered = token }
            await keeping { try await self.keeper.store(token, after: step.signOuts) }
        case .dropToken:
            guard let token = step.token else { return nil }
            await keeping { try await self.keeper.drop(token) }
        case .forgetToken:
            state.withLock { $0.delivered = nil }
            await keeping { try await self.keeper.forget() }
        case .deliver(let outcome):
            let token = state.withLock { state in
                defer { state.delivered = nil }
                return state.delivered
            }
            tell(.outcome(outcome, token))
        case .refused(let refusal): tell(.refused(refusal))
        case .report(let event): await analytics?.note(event)
        case .flushReports: return { await self.analytics?.flush() }
        case .closeBrowser: return { await self.environment.browser.close() }
        case .start(let deadline, let seconds): return { await self.wait(for: deadline, seconds) }
        case .watchConnectivity: return watchConnectivity()
        // A deadline or a returning network that is late changes nothing.
        case .cancel, .stopWatchingConnectivity: break
        case .fetch, .gather, .lookUpUser, .lookUpAccount, .enable, .disable, .open:
            return { await self.answer(effect) }
        }
        return nil
    }

    /// The pause before the network is checked again after a failure.
    private static let connectivityPause = Duration.seconds(2)

    /// Starts watching the network, once at a time.
    private func watchConnectivity() -> (@Sendable () async -> Void)? {
        guard let connectivity = environment.connectivity else { return nil }
        let mayWatch = state.withLock { state in
            defer { state.isWatchingConnectivity = true }
            return !state.isWatchingConnectivity
        }
        guard mayWatch else { return nil }
        return { [clock = time.clock] in
            // A pause between two checks, in case the app's closure returns immediately.
            guard (try? await clock.sleep(for: Self.connectivityPause)) != nil else { return }
            await connectivity()
            self.state.withLock { $0.isWatchingConnectivity = false }
            if !Task.isCancelled { self.send(.connectivityReturned) }
        }
    }

    /// Changes the stored token. Completes even when the run is cancelled, because the activation has already continued.
    private func keeping(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let error as ConnectError {
            tell(.problem(error))
        } catch {
            // Only a cancellation is left, which cannot happen here.
        }
    }

    private func wait(for deadline: ConnectActivation.Deadline, _ seconds: Double) async {
        // The app's number may be invalid for a duration.
        let seconds = seconds.isFinite ? min(max(seconds, 0), 86_400) : 0
        guard (try? await time.clock.sleep(for: .seconds(seconds))) != nil else { return }
        send(Input.answer(.deadlinePassed(deadline)))
    }
}
