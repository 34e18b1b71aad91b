import AsyncSupport
public import Geofences
import Handshake
import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where the user is with regard to the areas, when the app itself reports positions.
struct AreaTracking: Sendable {
    var monitor: GeofenceMonitor
    /// What the vault holds.
    var stored: PlaceStore.Progress
    /// The last fix that an earlier launch took; recordings are taken up after it.
    let resumed: Date?
    /// To whom it belongs: a deactivation or a sign-in in any process ends that.
    let owner: WatchedConnections.Owner?
}

extension PlacesSynchronizer {
    /// Takes a position that the app reports (dossier 6.6, Android). It evaluates the areas and records crossings
    /// durably.
    ///
    /// Positions are taken one after another, in the order of the calls.
    ///
    /// - Parameters:
    ///   - fix: the position.
    ///   - now: the present, for the check of the fix's age; nil for a recording, which after a launch may be read from its
    ///     start: fixes that were taken before are ignored as `IgnoredFix.outOfOrder`.
    /// - Returns: what the areas' monitor made of the fix, and the crossings that were recorded.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be used. Report the fix again: it counts once.
    @discardableResult
    public func receive(_ fix: Fix, now: Date?) async throws -> (outcome: FixOutcome, crossings: [AreaCrossing]) {
        try await inTurn { try await $0.take(fix, now: now) }
    }

    /// Confirms what only waits for time to pass. For sources that fall silent when the user stands still. Call it
    /// about once a second; the last fix holds for `GeofenceMonitor.Configuration.maximumAge`.
    ///
    /// - Parameter now: the present.
    /// - Returns: what happened, and the crossings that were recorded.
    /// - Throws: as ``receive(_:now:)``.
    @discardableResult
    public func advance(to now: Date) async throws -> (events: [GeofenceEvent], crossings: [AreaCrossing]) {
        try await inTurn { synchronizer in
            var tracking = try await synchronizer.currentTracking()
            let events = tracking.monitor.advance(to: now)
            return (events, try await synchronizer.keep(tracking, after: events))
        }
    }

    /// Where the user was at the record's last change, as far as any process knows.
    public struct Whereabouts: Sendable, Hashable {
        /// The last fix of the record; nil without any.
        public let lastFix: Fix?
        /// The areas that the user is in.
        public let inside: Set<String>
    }

    /// What the vault says about where the user is.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public var whereabouts: Whereabouts {
        get async throws {
            try await inTurn { synchronizer in
                let monitor = try await synchronizer.currentTracking().monitor
                return Whereabouts(lastFix: monitor.lastFix, inside: Set(monitor.inside.map(\.id)))
            }
        }
    }

    /// Runs a body when the positions that came before have been taken.
    func inTurn<Result: Sendable>(
        _ body: @escaping @Sendable (isolated PlacesSynchronizer) async throws -> Result
    ) async throws -> Result {
        try await turns.add { try await body(self) }.value
    }

    private func take(_ fix: Fix, now: Date?) async throws -> (outcome: FixOutcome, crossings: [AreaCrossing]) {
        var tracking = try await currentTracking()
        if now == nil {
            // A recording may be old, but not of the future: everything real would come before it from then on.
            guard !isOfTheFuture(fix, tracking.monitor) else { return (.ignored(.future), []) }
            if let resumed = tracking.resumed, fix.time <= resumed { return (.ignored(.outOfOrder), []) }
        }
        let outcome = tracking.monitor.receive(fix, now: now)
        return (outcome, try await keep(tracking, after: outcome.events))
    }

    private func isOfTheFuture(_ fix: Fix, _ monitor: GeofenceMonitor) -> Bool {
        fix.time.timeIntervalSince1970 > time.now() + monitor.configuration.maximumAge
    }

    /// Makes what a monitor found durable.
    ///
    /// - Returns: the crossings that were recorded.
    private func keep(_ tracking: AreaTracking, after events: [GeofenceEvent]) async throws -> [AreaCrossing] {
        var tracking = tracking
        let crossings = crossings(of: events, by: tracking.owner?.installation)
        let state = tracking.monitor.state
        if events.isEmpty, state.hasSameVisits(as: tracking.stored.state) {
            self.tracking = tracking
            return []
        }
        // The state and its crossings are one record: after a crash both happened, or neither.
        tracking.stored = PlaceStore.Progress(state: state, crossings: crossings)
        // Whether a write that failed took effect is unknown: the next fix reads the record.
        self.tracking = nil
        guard try await store.save(tracking.stored, of: tracking.owner) else { return [] }
        self.tracking = tracking
        try await queueCrossings(of: tracking.stored)
        return crossings
    }

    /// The monitor of the present areas, restored after a launch or a failure.
    private func currentTracking() async throws -> AreaTracking {
        let connections = try await store.storedConnections()
        let regions = hasPermission ? connections?.regions ?? [] : []
        if let tracking, tracking.owner != connections?.owner {
            // Another process has deactivated or signed in: where its user was is forgotten here too.
            self.tracking = nil
            if let connections { await publish(connections) } else { publishNoConnections() }
        }
        if var tracking {
            // Left here by a queue that could not be written.
            try await queueCrossings(of: tracking.stored)
            tracking.stored.crossings = []
            if tracking.monitor.index.geofences != regions { try? tracking.monitor.replaceRegions(regions) }
            return tracking
        }
        var stored = try await store.progress()
        try await queueCrossings(of: stored)
        stored.crossings = []
        do {
            let monitor = try GeofenceMonitor(regions, restoring: stored.state)
            // What an earlier version took of the future holds up nothing.
            let resumed = monitor.lastFix.flatMap { isOfTheFuture($0, monitor) ? nil : $0.time }
            return AreaTracking(
                monitor: monitor, stored: stored, resumed: resumed, owner: connections?.owner)
        } catch {
            // The regions of a registry have different names.
            throw ConnectError.input(member: "regions", problem: error.description)
        }
    }

    /// Moves crossings that a crash kept out of the queue there.
    func queueFoundCrossings() async throws { try await queueCrossings(of: store.progress()) }

    private func queueCrossings(of progress: PlaceStore.Progress) async throws {
        guard !progress.crossings.isEmpty else { return }
        try await record(crossings: progress.crossings)
        try await store.removeFound(progress.crossings)
        tracking?.stored.crossings = []
    }
}

/// The records of an account in the vault besides the queue.
struct PlaceStore: Sendable {
    let vault: any Vault
    let account: String
    let random: RandomSource

    /// Where the user was, with the crossings found by that, which may not be in the queue yet.
    struct Progress: Sendable, Hashable, Codable {
        var state: GeofenceMonitor.State?
        var crossings: [AreaCrossing] = []
    }

    private var connectionsKey: VaultKey { VaultKey(.places, [account, "connections"]) }
    private var progressKey: VaultKey { VaultKey(.places, [account, "progress"]) }

    /// The connections, with an installation that is drawn if there is none yet.
    func connections() async throws -> WatchedConnections {
        if let stored = try await storedConnections() { return stored }
        return try await change { _ in }
    }

    /// The connections; nil before the first activation and after a deactivation.
    func storedConnections() async throws -> WatchedConnections? {
        do { return try await vault.record(connectionsKey).map { try Self.decode($0) } } catch {
            throw ConnectError.placingVault(error)
        }
    }

    /// Changes the connections against every task and process.
    ///
    /// - Returns: the connections as they are now.
    @discardableResult
    func change(_ body: @escaping @Sendable (inout WatchedConnections) -> Void) async throws -> WatchedConnections {
        guard let installation = AnonymousID(random: random)?.rawValue else {
            throw ConnectError.input(member: "random", problem: "the source of random numbers gave too few")
        }
        do {
            return try await vault.update(connectionsKey) { record in
                let bytes = await record.contents
                let stored: WatchedConnections? = try bytes.map { try Self.decode($0) }
                var connections = stored ?? WatchedConnections(installation: installation)
                body(&connections)
                if connections != stored { try await record.replace(with: Array(JSONEncoder().encode(connections))) }
                return connections
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    func progress() async throws -> Progress {
        do {
            return try await vault.record(progressKey).map { try Self.decode($0) } ?? Progress()
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Stores where a user is, unless the user was forgotten or is another one now.
    ///
    /// ``removeAll()`` removes the connections first, so what is stored before that, it still removes.
    ///
    /// - Returns: whether it was stored.
    func save(_ progress: Progress, of owner: WatchedConnections.Owner?) async throws -> Bool {
        do {
            let bytes = Array(try JSONEncoder().encode(progress))
            return try await vault.update(progressKey) { record in
                guard let owner, try await storedConnections()?.owner == owner else { return false }
                try await record.replace(with: bytes)
                return true
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Forgets crossings that are in the queue now.
    func removeFound(_ crossings: [AreaCrossing]) async throws {
        let queued = Set(crossings.map(\.id))
        do {
            try await vault.update(progressKey) { record in
                guard let bytes = await record.contents else { return }
                var progress: Progress = try Self.decode(bytes)
                progress.crossings.removeAll { queued.contains($0.id) }
                try await record.replace(with: Array(JSONEncoder().encode(progress)))
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    func removeAll() async throws {
        do { try await vault.remove(connectionsKey) } catch { throw ConnectError.placingVault(error) }
        try await removeProgress()
    }

    func removeProgress() async throws {
        do { try await vault.remove(progressKey) } catch { throw ConnectError.placingVault(error) }
    }

    /// Makes the next synchronization ask whose the token is. Without a record it does so anyway.
    ///
    /// - Returns: whether there is a record.
    @discardableResult
    func noteSignIn() async throws -> Bool {
        do {
            guard try await vault.record(connectionsKey) != nil else { return false }
        } catch { throw ConnectError.placingVault(error) }
        try await change { $0.forgetToken() }
        return true
    }

    private static func decode<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(bytes)) } catch {
            throw VaultError.damaged(what: "the record of places", reason: "it cannot be read")
        }
    }
}
