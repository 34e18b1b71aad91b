import AsyncSupport
public import Geofences
public import Handshake
public import Logging
public import OAuth

/// Follows a user's connections (dossier 6). It says which areas to monitor, and uploads crossings of them.
///
/// Crossings are given up by age, never by number; after a 401 they wait for the next sign-in (dossier 10.2, W19). Create it as
/// early as possible at launch: recording needs neither network nor token nor an activated connection.
///
/// **Guarantee.** The process may end between any two steps, as by `kill -9`:
///
/// 1. A crossing that `record` or ``receive(_:now:)`` returned reaches the service, or ends with
///    ``PlaceEvent/discarded(_:_:)``. Where the user is and the crossings found by that are one record of the vault, written before
///    the queue; the next launch, or the next synchronization of any process, moves them to the queue.
/// 2. A crossing stays in the queue until the service has answered its upload, so it may be sent again, always under the same
///    ``AreaCrossing/id``. The identifier follows from what happened: also a crossing that is found again, since the fix that
///    showed it is delivered again or a recording is read from its start, is the same crossing for the service.
/// 3. After a launch a recording may be read from its start. Fixes up to the last one that changed the record are skipped, and those
///    behind it give the crossings that they gave before.
///
/// Lost are fixes that nothing delivers again; the next one says where the user is then.
///
/// An actor, because synchronizations, reports and changes of connections meet here; one synchronization runs at a time.
public actor PlacesSynchronizer {
    /// Which moments of the app's life synchronize (dossier 6.7).
    public struct LifeCycle: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let becameActive = LifeCycle(rawValue: 1)
        public static let enteredBackground = LifeCycle(rawValue: 2)
        public static let all: LifeCycle = [.becameActive, .enteredBackground]
    }

    /// Why a synchronization runs.
    public enum Reason: String, Sendable, Hashable {
        case activated, crossing, forced, becameActive, enteredBackground, push, backgroundFetch, backgroundTask,
            periodic
    }

    /// What a synchronization did, as the system's background callbacks want it.
    public enum Outcome: String, Sendable, Hashable {
        case newData, noData, failed
    }

    public struct Configuration: Sendable, Hashable {
        /// After how many seconds a crossing is given up.
        public var maximumAge: Double = 7 * 86_400
        /// When a request is sent again.
        public var retry: ConnectAPI.RetryPolicy = .standard
        public var lifeCycle: LifeCycle = .all
        /// The pause between two periodic synchronizations.
        public var interval: Duration = .seconds(3_600)
        /// The pause after a failed synchronization. It doubles with each that fails, up to ``interval``.
        public var failurePause: Duration = .seconds(60)
        /// How many events wait for a late reader; the oldest are dropped.
        public var maximumEvents = 1_000
        /// How often another token is looked for in the vault while sign-in is required.
        public var signInPause: Duration = .seconds(10)

        public init() {}
    }

    /// What happens, for one reader. A reader that is late by more than ``Configuration/maximumEvents`` misses the
    /// oldest.
    public nonisolated let events: AsyncStream<PlaceEvent>
    package nonisolated let queue: CrossingQueue
    public nonisolated let configuration: Configuration

    let api: ConnectAPI
    let time: TimeSource
    let store: PlaceStore
    private nonisolated let continuation: AsyncStream<PlaceEvent>.Continuation
    private let log: Logger
    var hasPermission = true
    private var lastRegions: [Geofence]?
    private var lastStatus: PlaceEvent.Status?
    private var running: Task<Outcome, Never>?
    /// The refused token that was reported.
    var reportedRefusal: String?
    /// The damages that were reported.
    var reportedDamages: Set<VaultError> = []
    var pace: Pace
    /// Why the last synchronization of this synchronizer failed. Nil when it did not, or was stopped.
    public internal(set) var lastFailure: ConnectError?
    private var next: (reason: Reason, task: Task<Outcome, Never>)?
    var tracking: AreaTracking?
    /// Positions are taken in it.
    var turns = TurnQueue()

    /// - Parameters:
    ///   - account: the name under which connections and crossings are kept in the vault.
    ///   - api: the calls, with the user's token.
    ///   - vault: where everything rests between two runs. It must be readable while the device is locked.
    ///   - configuration: when crossings are sent, retried and given up.
    ///   - time: the clock.
    ///   - random: makes the identifiers of crossings.
    ///   - log: receives each event, without a place and without a token.
    public init(
        of account: String, api: ConnectAPI, vault: any Vault, configuration: Configuration = Configuration(),
        time: TimeSource = .system, random: RandomSource = .system, log: Logger = Logger(label: "handshake.places")
    ) {
        self.log = log
        self.api = api
        self.time = time
        self.configuration = configuration
        pace = Pace(pause: configuration.interval)
        queue = CrossingQueue(in: vault, of: account)
        store = PlaceStore(vault: vault, account: account, random: random)
        (events, continuation) = AsyncStream.makeStream(
            of: PlaceEvent.self, bufferingPolicy: .bufferingNewest(configuration.maximumEvents))
    }

    // MARK: Connections

    /// Watches connections, besides those of earlier calls, and synchronizes. Without any it only synchronizes.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    @discardableResult
    public func activate(_ connections: [ConnectionID] = []) async throws -> Outcome {
        try await store.change { watched in for id in connections { watched[id].isWatched = true } }
        return await synchronize(.activated)
    }

    /// Forgets connections, areas and crossings, and stops. The token is forgotten by `UserTokens.forget()`.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func deactivate() async throws {
        stopSynchronization()
        try await inTurn { synchronizer in
            try await synchronizer.queue.removeAll()
            try await synchronizer.store.removeAll()
            synchronizer.tracking = nil
        }
        publishNoConnections()
    }

    /// Removes what an account has in a vault: connections, areas, the last position and crossings, also what is damaged.
    package static func forget(_ account: String, in vault: any Vault) async throws {
        try await CrossingQueue(in: vault, of: account).removeAll()
        try await PlaceStore(vault: vault, account: account, random: .system).removeAll()
    }

    /// Switches the areas of a connection on or off on this device (W20). It stays so until the next call.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    public func setAreasEnabled(_ isEnabled: Bool, for connection: ConnectionID) async throws {
        await publish(try await store.change { $0[connection].isSwitchedOn = isEnabled })
    }

    /// Whether the areas of a connection are switched on. They are until ``setAreasEnabled(_:for:)`` says otherwise.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public func areasEnabled(for connection: ConnectionID) async throws -> Bool {
        try await store.connections()[connection].isSwitchedOn
    }

    /// The areas to be monitored now. None without the permission.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public var regions: [Geofence] {
        get async throws { hasPermission ? try await store.storedConnections()?.regions ?? [] : [] }
    }

    /// Tells whether the user allows monitoring. Without it there are no regions, and the status says what is missing.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public func permissionChanged(canMonitorRegions: Bool) async throws {
        hasPermission = canMonitorRegions
        await publish(try await store.connections())
    }

    /// Continues after a sign-in immediately: uploads what waits.
    ///
    /// Without it the next synchronization notices another token by itself. Call it when the sign-in may have given the same
    /// token again, which is then tried again.
    @discardableResult
    public func userSignedIn() async -> Outcome {
        // If this fails, so does the synchronization, which reports it.
        _ = try? await store.noteSignIn()
        return await synchronize(.forced)
    }

    /// Notes a sign-in for the synchronizers of all processes: another user's areas and crossings end, and a token that was refused
    /// is tried again.
    ///
    /// It asks the service whose the token is, unless nothing is stored. If it cannot, the next synchronization does.
    package func noteSignIn() async throws {
        guard try await store.noteSignIn(), let token = try await api.caller.userToken() else { return }
        _ = try? await session(token)
    }

    // MARK: Synchronization

    /// A moment of the app's life; synchronizes if ``Configuration/lifeCycle`` has it.
    @discardableResult
    public func lifeCycle(_ moment: LifeCycle) async -> Outcome {
        guard configuration.lifeCycle.contains(moment) else { return .noData }
        return await synchronize(moment == .becameActive ? .becameActive : .enteredBackground)
    }

    /// Fetches the connections and uploads what waits.
    ///
    /// For push, background fetch and background tasks await it within the system's callback. While one runs, one more is
    /// remembered, for the latest reason, and all who ask meanwhile share it. A task that is cancelled begins none.
    @discardableResult
    public func synchronize(_ reason: Reason = .forced) async -> Outcome {
        guard !Task.isCancelled else { return .failed }
        if let waiting = next {
            next = (reason, waiting.task)
            return await waiting.task.value
        }
        guard let running else { return await run(reason) }
        let task = Task {
            _ = await running.value
            return await self.runNext()
        }
        next = (reason, task)
        return await task.value
    }

    private func runNext() async -> Outcome {
        // One that was stopped is remembered no longer; what is, was asked for since.
        guard !Task.isCancelled else { return .failed }
        let reason = next?.reason ?? .forced
        next = nil
        return await run(reason)
    }

    private func run(_ reason: Reason) async -> Outcome {
        let task = Task { await self.attempt(reason) }
        running = task
        // A synchronization that waited for this one may run already.
        defer { if running == task { running = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends the synchronization that runs and the one that is remembered. A background task must do so when it expires.
    /// What waits stays. One that is asked for afterwards runs once these have ended.
    public func stopSynchronization() {
        running?.cancel()
        next?.task.cancel()
        next = nil
    }

    // MARK: Events

    /// Ends ``events`` for its reader once it has read what happened so far.
    public func finishEvents() { continuation.finish() }

    func report(_ event: PlaceEvent) {
        event.write(to: log)
        continuation.yield(event)
    }

    func publishNoConnections() { publish([], .inactive(.connections)) }

    func publish(_ connections: WatchedConnections) async {
        // An unreadable vault is not a missing sign-in.
        let isSignedIn = (try? await isSignedIn(connections)) ?? true
        let status: PlaceEvent.Status =
            if connections.watched.isEmpty {
                .inactive(.connections)
            } else if !isSignedIn {
                .inactive(.signIn)
            } else if connections.regions.isEmpty {
                .inactive(.areas)
            } else {
                hasPermission ? .active(regions: connections.regions.count) : .inactive(.permission)
            }
        publish(hasPermission ? connections.regions : [], status)
    }

    private func publish(_ regions: [Geofence], _ status: PlaceEvent.Status) {
        if regions != lastRegions {
            lastRegions = regions
            report(.regionsChanged(regions))
        }
        if status != lastStatus {
            lastStatus = status
            report(.statusChanged(status))
        }
    }
}
