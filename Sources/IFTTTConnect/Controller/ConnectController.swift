public import Handshake
public import OAuth
import Synchronization

/// Performs what a ``ConnectActivation`` asks for: calls IFTTT, opens the browser, keeps the token, waits.
///
/// ```swift
/// let controller = ConnectController(activation, tokens: tokens, surroundings: surroundings)
/// async let running: Void = controller.run()
/// controller.send(.appeared)
/// for await update in controller.updates() { … }
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

    private let surroundings: ConnectSurroundings
    private let analytics: Analytics?
    private let keeper: TokenKeeper
    private let time: TimeSource
    private let random: RandomSource
    private let inputs: AsyncStream<Input>
    private let input: AsyncStream<Input>.Continuation
    private let state: Mutex<State>

    private struct State {
        var activation: ConnectActivation
        var listeners: [UInt64: AsyncStream<Update>.Continuation] = [:]
        var nextListener: UInt64 = 0
        /// The token that came with the last redirect, until the outcome is told.
        var delivered: UserToken?
        var isRunning = false
    }

    /// What comes in, in one row, so that what is counted is counted in the order in which it happened.
    private enum Input {
        case event(ConnectActivation.Event)
        case report(AnalyticsEvent)
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
    }

    /// Prepares a controller.
    ///
    /// - Parameters:
    ///   - activation: a new one, or one that an earlier process has stored.
    ///   - tokens: where the user token rests; nil keeps it in memory alone.
    ///   - surroundings: what the app and the device have.
    ///   - analytics: what counts, if the user agreed; nil counts nothing.
    ///   - connections: what the world is reached through.
    public init(
        _ activation: ConnectActivation, tokens: UserTokens?, surroundings: ConnectSurroundings,
        analytics: Analytics? = nil, through connections: Connections = Connections()
    ) {
        self.surroundings = surroundings
        self.analytics = analytics
        time = connections.time
        random = connections.random
        let keeper = TokenKeeper(tokens, partnerToken: surroundings.partnerToken)
        self.keeper = keeper
        api = ConnectAPI(
            ConnectAPI.Caller(
                userToken: { try await keeper.token() }, inviteCode: surroundings.inviteCode,
                anonymousID: { await analytics?.anonymousID }, identity: activation.configuration.identity),
            at: connections.hosts, transport: connections.transport, clock: connections.time.clock)
        (inputs, input) = AsyncStream.makeStream()
        state = Mutex(State(activation: activation))
        if activation.state != .idle { input.yield(.event(.restored)) }
    }

    /// The activation as it stands now.
    public var activation: ConnectActivation { state.withLock { $0.activation } }

    /// What becomes known from now on, the activation as it stands first. One that falls 100 behind loses the oldest.
    public func updates() -> AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(100))
        let id = state.withLock { state in
            defer { state.nextListener += 1 }
            state.listeners[state.nextListener] = continuation
            continuation.yield(.activation(state.activation))
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Tells the activation what happened. Answers to effects are the controller's own affair.
    public func send(_ event: ConnectActivation.Event) {
        input.yield(.event(event))
    }

    /// Counts what concerns the view alone, such as ``AnalyticsEvent/footerClicked``; nothing without the user's consent.
    ///
    /// It returns at once: nothing that the user does waits for it. What the activation itself brings about, such as
    /// ``AnalyticsEvent/connectionShown(_:appName:)``, the controller counts by itself.
    public func report(_ event: AnalyticsEvent) {
        input.yield(.report(event))
    }

    /// The user wants it on.
    public func connect() {
        send(.connect(AttemptState(random: random), at: time.now()))
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

    /// Forgets the user's token: the app's own log-out. Nothing is turned off.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func signOut() async throws {
        try await keeper.forget()
    }

    /// Performs effects until the task is cancelled. Runs once at a time; a second run returns at once.
    public func run() async {
        let mayRun = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mayRun else { return }
        await withDiscardingTaskGroup { group in
            for await input in inputs {
                for effect in effects(of: input) {
                    if let work = await begin(effect) { group.addTask { await work() } }
                }
            }
            group.cancelAll()
        }
        state.withLock { $0.isRunning = false }
    }

    private func effects(of input: Input) -> [ConnectActivation.Effect] {
        switch input {
        case .event(let event): handle(event)
        case .report(let event): [.report(event)]
        }
    }

    /// Takes an event in, and tells everybody where the activation stands then.
    private func handle(_ event: ConnectActivation.Event) -> [ConnectActivation.Effect] {
        state.withLock { state in
            let before = state.activation
            let effects = state.activation.handle(event)
            if state.activation != before { Self.tell(.activation(state.activation), state.listeners) }
            return effects
        }
    }

    private func tell(_ update: Update) {
        state.withLock { Self.tell(update, $0.listeners) }
    }

    private static func tell(_ update: Update, _ listeners: [UInt64: AsyncStream<Update>.Continuation]) {
        for listener in listeners.values { listener.yield(update) }
    }

    /// Does what has to be done before the next effect, and hands back what may take its time.
    private func begin(_ effect: ConnectActivation.Effect) async -> (@Sendable () async -> Void)? {
        switch effect {
        case .storeToken(let token):
            state.withLock { $0.delivered = token }
            await keeping { try await self.keeper.store(token) }
        case .dropToken: await keeping { try await self.keeper.drop() }
        case .deliver(let outcome):
            let token = state.withLock { state in
                defer { state.delivered = nil }
                return state.delivered
            }
            tell(.outcome(outcome, token))
        case .refused(let refusal): tell(.refused(refusal))
        case .report(let event): await analytics?.record(event)
        case .closeBrowser: return { await self.surroundings.browser.close() }
        case .start(let deadline, let seconds): return { await self.wait(for: deadline, seconds) }
        case .watchConnectivity:
            guard let connectivity = surroundings.connectivity else { return nil }
            return {
                await connectivity()
                self.send(.connectivityReturned)
            }
        // A deadline that passes late, and a network that comes back late, change nothing.
        case .cancel, .stopWatchingConnectivity: break
        case .fetch, .gather, .lookUpUser, .lookUpAccount, .enable, .disable, .open:
            return { await self.answer(effect) }
        }
        return nil
    }

    private func keeping(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let error as ConnectError {
            tell(.problem(error))
        } catch {
            // Only a cancellation is left: the controller ends anyway.
        }
    }

    private func wait(for deadline: ConnectActivation.Deadline, _ seconds: Double) async {
        // The app's own number may be none; a duration has to be one.
        let seconds = seconds.isFinite ? min(max(seconds, 0), 86_400) : 0
        guard (try? await time.clock.sleep(for: .seconds(seconds))) != nil else { return }
        send(.deadlinePassed(deadline))
    }

    /// Asks what an effect asks, and says the answer.
    private func answer(_ effect: ConnectActivation.Effect) async {
        let id = activation.configuration.connection
        switch effect {
        case .fetch(let ticket): await settle({ try await self.api.connection(id) }, as: { .fetched(ticket, $0) })
        case .enable(let ticket): await settle({ try await self.api.enable(id) }, as: { .enabled(ticket, $0) })
        case .disable(let ticket): await settle({ try await self.api.disable(id) }, as: { .disabled(ticket, $0) })
        case .gather(let ticket): await settle({ try await self.circumstances() }, as: { .gathered(ticket, $0) })
        case .lookUpUser(let ticket):
            await settle({ try await self.api.me() }, as: { .userLookedUp(ticket, .init($0)) })
        case .lookUpAccount(let ticket, let email):
            await settle({ try await self.api.account(for: email) }, as: { .accountLookedUp(ticket, .init($0)) })
        case .open(let ticket, let destination): await open(destination, ticket)
        default: break
        }
    }

    /// Runs a call and sends its result; a cancelled one has none.
    private func settle<Answer: Sendable>(
        _ call: () async throws -> Answer,
        as event: (Result<Answer, ConnectActivation.Failure>) -> ConnectActivation.Event
    ) async {
        do {
            send(event(.success(try await call())))
        } catch let error as ConnectError {
            send(event(.failure(.init(error))))
        } catch is CancellationError {
            return
        } catch {
            // The app's own providers throw what they like; for developers it is told by its type alone.
            send(event(.failure(.credentials("\(type(of: error))"))))
        }
    }

    private func circumstances() async throws -> ConnectActivation.Circumstances {
        var circumstances = ConnectActivation.Circumstances(
            hasUserToken: try await keeper.token() != nil, oauthCode: try await surroundings.oauthCode(),
            inviteCode: try await surroundings.inviteCode(), isAppInstalled: await surroundings.isAppInstalled(),
            canOpenPages: await surroundings.canOpenPages())
        circumstances.mailClients = await surroundings.mailClients()
        circumstances.anonymousID = await analytics?.anonymousID
        return circumstances
    }

    private func open(_ destination: ConnectActivation.Destination, _ ticket: ConnectActivation.Ticket) async {
        do {
            guard let url = try await surroundings.browser.open(destination) else { return }
            send(.redirected(url, at: time.now()))
        } catch HandshakeError.signInAbandoned {
            send(.browserClosed(ticket))
        } catch is CancellationError {
            return
        } catch {
            send(.openingFailed(ticket))
        }
    }
}

extension ConnectActivation.UserLookUp {
    /// What `me` says of a token's user. A service that names nobody, or refuses the token, knows nobody.
    init(_ answer: Result<Me, ConnectActivation.Failure>) {
        switch answer {
        case .success(let me): self = me.login.map { .login($0) } ?? .nobody
        case .failure(.unauthorized): self = .nobody
        case .failure(let reason): self = .couldNotAsk(reason)
        }
    }
}

extension ConnectActivation.AccountLookUp {
    init(_ answer: Result<ConnectAPI.AccountLookUp, ConnectActivation.Failure>) {
        switch answer {
        case .success(.exists): self = .exists
        case .success(.doesNotExist): self = .doesNotExist
        case .success(.couldNotAsk(let error)): self = .couldNotAsk(.init(error))
        case .failure(let reason): self = .couldNotAsk(reason)
        }
    }
}
