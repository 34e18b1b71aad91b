#if Server
public import Handshake
public import IFTTTConnect
public import Logging
import OAuth
public import ServiceLifecycle
import Synchronization

/// Counts what users do to Connect Buttons, for those who agreed, and not a thing of the others (dossier 7; 10.2, W24).
///
/// ```swift
/// let analytics = ConnectAnalytics(in: vault, appName: "Grocery Express")
/// settings.analytics = analytics                    // of the buttons
/// try await analytics.allow(for: userID)            // when the user said yes
/// application.addServices(analytics)                // sends
/// ```
///
/// **Consent** is given and taken back by user, with the app's own identifier of the user. It is a record in the vault,
/// so all processes agree on it. Without it there is no identifier, in no header and no address; nothing is kept, nothing
/// is sent, and the button's component tells nothing. Taking it back removes identifier and events in one step; only a
/// request that is under way still arrives. Giving it again makes a new identifier.
///
/// **Events** rest in that record, too, so they survive the process: at most 100 of a user, then the oldest goes. They
/// are sent while a process runs this as a service: a user's when five wait, everybody's every 30 seconds, and
/// everything that this process knows of when it shuts down gracefully. A request has at most ten events of one user, and
/// each process makes one request at a time. What is refused or lost stays; after a failure nothing is sent until the
/// next 30 seconds are over. An event is sent once, unless the answer to its request is lost, or the vault cannot be
/// written after it: then it is sent again.
///
/// **Memory**: this process remembers of at most 4096 users that something waits, and holds the events of one request. What
/// it has forgotten, and what a process that died has left behind, is found by the keys in the vault, which are then all
/// listed: when the service starts, and whenever there were more.
///
/// Nothing that a user does fails because of counting: what cannot be counted is logged by its reason, and forgotten.
///
/// A class, since all routes that count share what is known to wait.
public final class ConnectAnalytics: ServiceLifecycle.Service {
    /// How long events of a user wait at most while ``run()`` runs and the service answers.
    public static let interval = Duration.seconds(30)

    /// The app's name, as IFTTT is told where a button was shown.
    public let appName: String?

    /// Where the events go.
    let hosts: Hosts
    private let users: CountedUsers
    private let api: ConnectAPI
    private let random: RandomSource
    private let log: Logger
    /// How often one user's page may say something: far more than a person can do.
    private let pace = RateLimit(Rate(30, oneEach: .seconds(2)))
    private let state = Mutex(State())

    private struct State {
        var due = DueUsers()
        /// Whether everybody's turn has come.
        var isTime = true
        /// Whether a request failed since it was everybody's turn.
        var isResting = false
        /// Ends a pause; there while the service runs.
        var wakeUp: AsyncStream<Void>.Continuation?
    }

    /// What came of a turn of one user.
    private enum Turn {
        /// A request was accepted; so many events still wait.
        case sent(remaining: AnalyticsQueue)
        /// Another process is sending.
        case busy
        case nothing
        /// IFTTT cannot be reached, or does not take the events.
        case failed
        /// The user's record cannot be used now.
        case unreadable
    }

    /// Prepares counting. Nobody is counted before ``allow(for:)``, in this process or in another one.
    ///
    /// - Parameters:
    ///   - vault: where consents and events rest; all processes share it.
    ///   - appName: the app's name.
    ///   - connections: what IFTTT is reached through; no token goes with the events.
    ///   - log: where warnings go; no event and no identifier ever does.
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

    /// The user agrees to be counted.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``, and `CancellationError`; the user is then asked again.
    public func allow(for user: String) async throws {
        try await consenting { try await users.add(CountedUser.key(user), random: random) }
    }

    /// The user does not agree, or no longer: identifier and events are removed.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``, and `CancellationError`; the user is then counted as before.
    public func refuse(for user: String) async throws {
        _ = try await consenting { _ = try await users.vault.remove(CountedUser.key(user)) }
        state.withLock { $0.due.forget(CountedUser.key(user)) }
    }

    /// Whether the user agreed.
    ///
    /// - Throws: ``HandshakeServerError/vault(_:)``.
    public func isAllowed(for user: String) async throws -> Bool {
        try await consenting { try await users[CountedUser.key(user)] != nil }
    }

    /// The identifier under which a user is counted; nil without consent, and while that cannot be known.
    func anonymousID(of user: String) async -> AnonymousID? {
        do {
            return try await users[CountedUser.key(user)]?.queue.anonymousID
        } catch {
            log.warning("whether a user is counted cannot be known", metadata: ["reason": "\(type(of: error))"])
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

    /// Counts an event, if the user agreed.
    ///
    /// - Returns: whether it was counted.
    @discardableResult
    func record(_ event: AnalyticsEvent, for user: String) async -> Bool {
        // Who did not agree costs one look, and holds nobody up.
        guard await anonymousID(of: user) != nil else { return false }
        let key = CountedUser.key(user)
        do {
            guard let queue = try await users.append(event, to: key) else { return false }
            note(key, queue)
            return true
        } catch {
            log.warning("an event was not counted", metadata: ["reason": "\(type(of: error))"])
            return false
        }
    }

    /// Whether a user's page may say something now.
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

    /// Sends until the task is cancelled or its service group shuts down gracefully; then once more what waits.
    ///
    /// Runs once at a time; a second run does nothing until it is told to end.
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
            // Whatever earlier processes have left behind.
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

    /// Everything that this process knows of, as long as IFTTT takes it.
    private func finish() async {
        while !Task.isCancelled {
            state.withLock { $0.isTime = true }
            guard await round(), !state.withLock({ $0.due.isEmpty }) else { return }
        }
    }

    /// One request for each user whose turn it is, one after the other, until one fails.
    ///
    /// - Returns: whether something was sent, and nothing failed.
    @discardableResult
    private func round() async -> Bool {
        var (keys, isTime, isIncomplete) = state.withLock { state -> ([VaultKey], Bool, Bool) in
            let isTime = state.isTime
            state.isTime = false
            if isTime { state.isResting = false }
            guard !state.isResting else { return ([], false, false) }
            return (state.due.take(all: isTime), isTime, state.due.isIncomplete)
        }
        if isTime, isIncomplete { keys = await everybody(keys) }
        var isAnySent = false
        for (index, key) in keys.enumerated() {
            switch await send(key) {
            case .sent(let queue):
                isAnySent = true
                if queue.count > 0 { note(key, queue) }
            case .busy: state.withLock { $0.due.note(key, isReady: false) }
            case .nothing: break
            // It is no other user's fault. The next list has the record again, unless it is damaged.
            case .unreadable: state.withLock { $0.due.isIncomplete = true }
            case .failed:
                // The one that failed comes last: it may be the only one that does.
                state.withLock { state in
                    state.isResting = true
                    for key in keys[(index + 1)...] + [key] { state.due.note(key, isReady: false) }
                }
                return false
            }
        }
        return isAnySent
    }

    /// Those on the list, and whoever the vault has besides.
    private func everybody(_ known: [VaultKey]) async -> [VaultKey] {
        // Before the look: what comes too late for it makes the list incomplete again.
        state.withLock { $0.due.isIncomplete = false }
        do {
            return known + Set(try await users.vault.keys(of: .analytics).keys).subtracting(known)
        } catch {
            state.withLock { $0.due.isIncomplete = true }
            log.warning("what waits to be sent cannot be listed", metadata: ["reason": "\(type(of: error))"])
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
            log.notice("events were not accepted", metadata: ["reason": "\(type(of: error))"])
            return false
        }
    }
}
#endif
