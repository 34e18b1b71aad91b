public import Handshake
public import OAuth
import Synchronization

/// Performs what a ``ConnectActivation`` asks for: calls IFTTT, opens the browser, keeps the token, waits.
///
/// ```swift
/// let controller = ConnectController(activation, tokens: tokens, environment: environment)
/// let updates = controller.updates()
/// async let running: Void = controller.run()
/// controller.send(.appeared)
/// for await update in updates { … }
/// ```
///
/// One controller owns one activation, and takes its events in the order in which they are sent. Any number of controllers
/// live beside each other: a redirect counts for the one whose attempt it carries.
public final class ConnectController: Sendable {
    /// What becomes known while a controller runs.
    public enum Update: Sendable {
        /// The activation as it stands now. It may be stored, and given to a controller of the next process.
        case activation(ConnectActivation)
        /// Something ended; the token is the one that came with it.
        case outcome(ConnectActivation.Outcome, UserToken?)
        /// A URL was not taken, and why.
        case refused(RedirectRefusal)
        /// The token could not be kept or removed; it is used from memory meanwhile.
        case problem(ConnectError)
    }

    /// The calls, in the name of the user whose token is known.
    public let api: ConnectAPI

    let environment: ConnectEnvironment
    let analytics: Analytics?
    let keeper: TokenKeeper
    let connections: Connections
    private let state: Mutex<State>

    var time: TimeSource { connections.time }

    /// What comes in, in one row, so that what is counted is counted in the order in which it happened.
    enum Input: Sendable {
        case event(ConnectActivation.Event)
        /// The answer to an effect, and the token that was used for it.
        case answer(ConnectActivation.Answer, askedWith: UserToken? = nil)
        /// Something to be counted that the activation knows nothing of.
        case report(AnalyticsEvent)
    }

    private struct State {
        var activation: ConnectActivation
        /// What happened and has not been taken in yet, in the order in which it was sent.
        var inputs: [Input]
        /// Wakes the run; nil while there is none.
        var signal: AsyncStream<Void>.Continuation?
        var listeners: [UInt64: AsyncStream<Update>.Continuation] = [:]
        var nextListener: UInt64 = 0
        /// What no listener has been told yet.
        var untold: [Update] = []
        /// The token that came with the last redirect, until the outcome is told.
        var delivered: UserToken?
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
            for listener in listeners.values { listener.yield(update) }
            guard listeners.isEmpty else { return }
            // How the activation stands, a new listener is told anyway.
            if case .activation = update { return }
            untold = untold.suffix(99) + [update]
        }
    }

    /// What a controller reaches the world through.
    public struct Connections: Sendable {
        /// Where the service is.
        public var hosts: Hosts
        public var transport: any Transport
        public var time: TimeSource
        public var random: RandomSource

        public init(
            hosts: Hosts = .production, transport: any Transport = .platform, time: TimeSource = .system,
            random: RandomSource = .system
        ) {
            self.hosts = hosts
            self.transport = transport
            self.time = time
            self.random = random
        }

        func api(_ caller: ConnectAPI.Caller) -> ConnectAPI {
            ConnectAPI(caller, at: hosts, transport: transport, time: time)
        }
    }

    /// Prepares a controller.
    ///
    /// - Parameters:
    ///   - activation: a new one, or one that an earlier process has stored.
    ///   - tokens: where the user token rests; nil keeps it in memory alone.
    ///   - environment: what the app and the device have.
    ///   - analytics: what counts, if the user agreed; nil counts nothing.
    ///   - connections: what the world is reached through.
    public init(
        _ activation: ConnectActivation, tokens: UserTokens?, environment: ConnectEnvironment,
        analytics: Analytics? = nil, through connections: Connections = Connections()
    ) {
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

    /// The activation as it stands now.
    public var activation: ConnectActivation { state.withLock { $0.activation } }

    /// What becomes known from now on, the activation as it stands first, until the run that goes on or comes next ends. One that
    /// falls 100 behind loses the oldest.
    ///
    /// What has become known while there was no listener, such as how an attempt ended, is told to the first listener; of that,
    /// too, the newest 100.
    public func updates() -> AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(100))
        let id = state.withLock { state in
            defer { state.nextListener += 1 }
            state.listeners[state.nextListener] = continuation
            continuation.yield(.activation(state.activation))
            for update in state.untold { continuation.yield(update) }
            state.untold = []
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Sends an event of the user, the app or the system to the activation.
    public func send(_ event: ConnectActivation.Event) {
        send(Input.event(event))
    }

    /// Counts what concerns the view alone, such as ``AnalyticsEvent/footerClicked``; nothing without the user's consent.
    ///
    /// It returns immediately: nothing that the user does waits for it. What the activation itself brings about, such as
    /// ``AnalyticsEvent/connectionShown(_:appName:)``, the controller counts by itself.
    public func report(_ event: AnalyticsEvent) {
        send(Input.report(event))
    }

    func send(_ input: Input) {
        state.withLock { state in
            state.inputs.append(input)
            state.signal?.yield()
        }
    }

    /// The user wants it on.
    public func connect() {
        send(.connect(AttemptState(random: connections.random), at: time.now()))
    }

    /// The user, who is waited for, wants to be sent to the service again: the page or the app opens once more, with a fresh
    /// one-time code. Otherwise without effect.
    public func reopen() {
        send(.reopen)
    }

    /// The app was opened with a URL.
    ///
    /// - Returns: whether it comes to this activation's return address; when not, the app handles it itself.
    @discardableResult
    public func open(_ url: String) -> Bool {
        guard activation.configuration.redirect.recognizes(url) else { return false }
        send(.redirected(url, at: time.now()))
        return true
    }

    /// Forgets the user's token, and what was known in that user's name: the app's own log-out. Nothing is turned off.
    ///
    /// The button shows it as soon as the controller runs, before anything that was sent and not taken in yet: a redirect
    /// that comes late stores no token for who comes next.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func signOut() async throws {
        state.withLock { state in
            state.inputs.insert(.event(.signedOut), at: 0)
            state.signal?.yield()
        }
        try await keeper.forget()
    }

    /// Performs effects until the task is cancelled. Runs once at a time; a second run returns immediately.
    ///
    /// After one that was cancelled and has returned, such as that of a view that went away, another run goes on as the
    /// next process would (``ConnectActivation/Event/restored``); what was sent in between is taken in then.
    public func run() async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let mayRun = state.withLock { state in
            guard state.signal == nil else { return false }
            state.signal = signal
            // What an earlier run or process has asked has no answer here.
            if state.activation.state != .idle { state.inputs.insert(.event(.restored), at: 0) }
            return true
        }
        guard mayRun else { return }
        signal.yield()
        await withDiscardingTaskGroup { group in
            if let backgroundEntries = environment.backgroundEntries {
                group.addTask { for await _ in backgroundEntries() { self.send(.enteredBackground) } }
            }
            for await _ in signals {
                while !Task.isCancelled, let (effects, token) = handleNext() {
                    for effect in effects {
                        if let work = await begin(effect, token) { group.addTask { await work() } }
                    }
                }
            }
            group.cancelAll()
        }
        let listeners = state.withLock { state in
            state.signal = nil
            state.isWatchingConnectivity = false
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }

    /// Takes the next event in, and tells all listeners where the activation stands then.
    private func handleNext() -> (effects: [ConnectActivation.Effect], token: UserToken?)? {
        state.withLock { state in
            guard !state.inputs.isEmpty else { return nil }
            switch state.inputs.removeFirst() {
            case .report(let event): return ([.report(event)], nil)
            case .event(let event): return (state.advancing { $0.handle(event) }, nil)
            case .answer(let answer, let askedWith): return (state.advancing { $0.handle(answer) }, askedWith)
            }
        }
    }

    func tell(_ update: Update) {
        state.withLock { $0.tell(update) }
    }

    /// Does what has to be done before the next effect, and hands back what may take its time.
    ///
    /// - Parameters:
    ///   - effect: what is to be done.
    ///   - token: what the question was asked with whose answer has led to this.
    private func begin(
        _ effect: ConnectActivation.Effect, _ token: UserToken?
    ) async -> (@Sendable () async -> Void)? {
        switch effect {
        case .storeToken(let token):
            state.withLock { $0.delivered = token }
            await keeping { try await self.keeper.store(token) }
        case .dropToken:
            guard let token else { return nil }
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
        // A deadline that passes late, and a network that comes back late, change nothing.
        case .cancel, .stopWatchingConnectivity: break
        case .fetch, .gather, .lookUpUser, .lookUpAccount, .enable, .disable, .open:
            return { await self.answer(effect) }
        }
        return nil
    }

    /// How long the network is left alone after it was found missing.
    private static let connectivityPause = Duration.seconds(2)

    /// One watch, however often the network is found missing.
    private func watchConnectivity() -> (@Sendable () async -> Void)? {
        guard let connectivity = environment.connectivity else { return nil }
        let mayWatch = state.withLock { state in
            defer { state.isWatchingConnectivity = true }
            return !state.isWatchingConnectivity
        }
        guard mayWatch else { return nil }
        return { [clock = time.clock] in
            // Between two looks there is a pause, whatever the app's closure thinks of the network.
            guard (try? await clock.sleep(for: Self.connectivityPause)) != nil else { return }
            await connectivity()
            self.state.withLock { $0.isWatchingConnectivity = false }
            if !Task.isCancelled { self.send(.connectivityReturned) }
        }
    }

    /// Changes what is kept. The keeper does it to the end also when the run is cancelled: the activation has gone on already.
    private func keeping(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let error as ConnectError {
            tell(.problem(error))
        } catch {
            // Only a cancellation is left, and this is not cancelled.
        }
    }

    private func wait(for deadline: ConnectActivation.Deadline, _ seconds: Double) async {
        // The app's own number may be none; a duration has to be one.
        let seconds = seconds.isFinite ? min(max(seconds, 0), 86_400) : 0
        guard (try? await time.clock.sleep(for: .seconds(seconds))) != nil else { return }
        send(Input.answer(.deadlinePassed(deadline)))
    }
}
