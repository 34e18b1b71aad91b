#if Server
public import Handshake
public import IFTTTConnect
public import Logging
import OAuth
public import ServiceLifecycle
import Synchronization

/// Counts what consenting users do with Connect Buttons (dossier 7; 10.2, W24). It counts nothing of the others.
///
/// ```swift
/// let analytics = ConnectAnalytics(in: vault, appName: "Grocery Express")
/// settings.analytics = analytics  // connects it to the buttons
/// try await analytics.allow(for: userID)  // after the user agreed
/// application.addServices(analytics)  // sends events in the background
/// ```
///
/// **Consent** is stored per user, under the app's own identifier of the user. It is a record in the vault, so all processes
/// agree on it. Without consent there is no anonymous ID in any header or URL, nothing is stored or sent, and the button's
/// component reports nothing. Withdrawing consent deletes ID and events in one step; only a request in flight still
/// arrives. Consenting again creates a new ID.
///
/// **Events** are stored in that record, so they survive the process: at most 100 per user, the oldest dropped first. They
/// are sent while a process runs this service: a user's when five are pending, all users' every 30 seconds, and all
/// that this process knows of at graceful shutdown. A request carries at most ten events of one user, and each process
/// sends one request at a time. Rejected or lost events stay; after a failure, nothing is sent until the next interval.
/// An event is sent once, unless the response is lost or the vault cannot be written afterwards: then it is
/// sent again.
///
/// **Memory**: this process remembers at most 4096 users with pending events, and holds the events of one request.
/// Events of other users, and of processes that died, are found by listing the vault's keys: when the service starts, and
/// after the list was full.
///
/// No action of a user fails because of analytics: errors are logged, and the event is dropped.
///
/// A class, because all routes that count share the list of pending users.
public final class ConnectAnalytics: ServiceLifecycle.Service {
    /// The longest time that events wait while ``run()`` runs and IFTTT accepts them.
    public static let interval = Duration.seconds(30)

    /// The app's name in events.
    public let appName: String?

    /// The hosts that receive events.
    let hosts: Hosts
    private let users: CountedUsers
    private let api: ConnectAPI
    private let random: RandomSource
    private let log: Logger
    /// Limits events per user, far above what a person can do.
    private let pace = RateLimit(Rate(30, oneEach: .seconds(2)))
    private let state = Mutex(State())

    private struct State {
        var due = DueUsers()
        /// Whether the interval has passed, so that every user's events are due.
        var isTime = true
        /// Whether a request failed since the last interval began.
        var isResting = false
        /// Ends a pause; set while the service runs.
        var wakeUp: AsyncStream<Void>.Continuation?
    }

    /// The result of sending one user's events.
    private enum Turn {
        /// A request was accepted; these events are still pending.
        case sent(remaining: AnalyticsQueue)
        /// Another process is sending.
        case busy
        case nothing
        /// IFTTT is unreachable or rejects the events.
        case failed
        /// The user's record cannot be read or written.
        case unreadable
    }

    /// Creates the service. It counts no user before ``allow(for:)``, in this process or another one.
    ///
    /// - Parameters:
    ///   - vault: stores consents and events; shared by all processes.
    ///   - appName: the app's name.
    ///   - connections: the connection to IFTTT; events carry no token.
    ///   - log: receives warnings; never an event or an ID.
    public init(
        in vault: any Vault, appName: String? = nil, through connections: ConnectController.Connections = .init(),
        log: Logger = Logger(label: "handshake.server")
    ) {
        users = CountedUsers(vault: vault, time: connections.time)
        self.appName = appName
        hosts = connections.hosts
        self.log = log
        random = connections.random
        api = ConnectAPI(at: connections.hosts, transport: connections.transport, time: connections.time)
    }

    // MARK: Consent

    /// Records the user's consent.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``, and `CancellationError`; the consent is then not stored.
    public func allow(for user: String) async throws {
        try await consenting { try await users.add(CountedUser.key(user), random: random) }
    }

    /// Withdraws the user's consent: deletes ID and events.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``, and `CancellationError`; the consent then stays.
    public func refuse(for user: String) async throws {
        _ = try await consenting { _ = try await users.vault.remove(CountedUser.key(user)) }
        state.withLock { $0.due.forget(CountedUser.key(user)) }
    }

    /// Whether the user consented.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``.
    public func isAllowed(for user: String) async throws -> Bool {
        try await consenting { try await users[CountedUser.key(user)] != nil }
    }

    /// The anonymous ID of a user; nil without consent, and while the vault cannot be read.
    func anonymousID(of user: String) async -> AnonymousID? {
        do {
            return try await users[CountedUser.key(user)]?.queue.anonymousID
        } catch {
            log.warning("the consent of a user could not be read", metadata: ["reason": "\(type(of: error))"])
            return nil
        }
    }

    private func consenting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as VaultError {
            throw HandshakeServerError.vault(error)
        }
    }

    // MARK: Events

    /// Counts an event if the user consented.
    ///
    /// - Returns: whether it was counted.
    @discardableResult
    func record(_ event: AnalyticsEvent, for user: String) async -> Bool {
        // Without consent this costs one look-up and delays no request.
        guard await anonymousID(of: user) != nil else { return false }
        let key = CountedUser.key(user)
        do {
            guard let queue = try await users.append(event, to: key) else { return false }
            note(key, queue)
            return true
        } catch {
            log.warning("an event could not be stored", metadata: ["reason": "\(type(of: error))"])
            return false
        }
    }

    /// Whether the rate limit allows another event of a user.
    func mayCount(_ user: String) -> Bool {
        pace.take(user, now: users.time.now()) == nil
    }

    private func note(_ key: VaultKey, _ queue: AnalyticsQueue) {
        state.withLock { state in
            state.due.note(key, isReady: queue.isReady)
            if queue.isReady { state.wakeUp?.yield() }
        }
    }

    // MARK: Sending

    /// Sends events until the task is cancelled or its service group shuts down. At a graceful shutdown it first sends
    /// the pending events, until a request fails.
    ///
    /// Only one run is active; a second one does nothing until it ends.
    public func run() async throws {
        let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let isFirst = state.withLock { state in
            guard state.wakeUp == nil else { return false }
            state.wakeUp = wakeUp
            state.isTime = true
            return true
        }
        guard isFirst else { return try await gracefulShutdown() }
        defer { state.withLock { $0.wakeUp = nil } }
        await withGracefulShutdownHandler {
            // Finds events of earlier processes.
            await self.round()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.tick() }
                for await _ in wakeUps { await self.round() }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            wakeUp.finish()
        }
        await finish()
    }

    private func tick() async {
        while (try? await users.time.clock.sleep(for: Self.interval)) != nil {
            state.withLock { state in
                state.isTime = true
                state.wakeUp?.yield()
            }
        }
    }

    /// Sends everything that this process knows of, until a request fails.
    private func finish() async {
        while !Task.isCancelled {
            state.withLock { $0.isTime = true }
            guard await round(), !state.withLock({ $0.due.isEmpty }) else { return }
        }
    }

    /// Sends one request for each due user, one after the other, until one fails.
    ///
    /// - Returns: whether something was sent and nothing failed.
    @discardableResult
    private func round() async -> Bool {
        var (keys, isTime, isIncomplete) = state.withLock { state -> ([VaultKey], Bool, Bool) in
            let isTime = state.isTime
            state.isTime = false
            if isTime { state.isResting = false }
            guard !state.isResting else { return ([], false, false) }
            return (state.due.take(all: isTime), isTime, state.due.isIncomplete)
        }
        if isTime, isIncomplete { keys = await allUsers(keys) }
        var isAnySent = false
        for (index, key) in keys.enumerated() {
            switch await send(key) {
            case .sent(let queue):
                isAnySent = true
                if queue.count > 0 { note(key, queue) }
            case .busy: state.withLock { $0.due.note(key, isReady: false) }
            case .nothing: break
            // Other users' events are not affected. The next listing has the record again, unless it is damaged.
            case .unreadable: state.withLock { $0.due.isIncomplete = true }
            case .failed:
                // The failed user goes last, because it may be the only one that fails.
                state.withLock { state in
                    state.isResting = true
                    for key in keys[(index + 1)...] + [key] { state.due.note(key, isReady: false) }
                }
                return false
            }
        }
        return isAnySent
    }

    /// The known users, and all others in the vault.
    private func allUsers(_ known: [VaultKey]) async -> [VaultKey] {
        // Cleared before listing: what is added during it makes the list incomplete again.
        state.withLock { $0.due.isIncomplete = false }
        do {
            return known + Set(try await users.vault.keys(of: .analytics).keys).subtracting(known)
        } catch {
            state.withLock { $0.due.isIncomplete = true }
            log.warning("pending events cannot be listed", metadata: ["reason": "\(type(of: error))"])
            return known
        }
    }

    /// Sends a user's oldest events.
    private func send(_ key: VaultKey) async -> Turn {
        do {
            switch try await users.claim(key) {
            case .nothing: return .nothing
            case .busy: return .busy
            case .taken(let batch):
                let isSent = await isAccepted(batch)
                let queue = try await users.settle(batch, of: key, isSent: isSent)
                guard isSent else { return .failed }
                return queue.map { .sent(remaining: $0) } ?? .nothing
            }
        } catch {
            log.warning("a user's events cannot be read", metadata: ["reason": "\(type(of: error))"])
            return .unreadable
        }
    }

    private func isAccepted(_ batch: AnalyticsQueue.Batch) async -> Bool {
        do {
            try await api.report(batch)
            return true
        } catch {
            log.notice("IFTTT rejected events", metadata: ["reason": "\(type(of: error))"])
            return false
        }
    }
}
#endif
