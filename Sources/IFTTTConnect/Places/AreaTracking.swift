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
///
/// An *area* is what a trigger of IFTTT watches. Its circle is a region, a `Geofence`. *Places* is the name of the feature, and of its
/// records in the vault.
struct AreaTracking: Sendable {
    var monitor: GeofenceMonitor
    /// What the vault holds.
    var stored: PlaceStore.Progress
    /// The last fix that an earlier launch took; recordings are taken up after it.
    let resumed: Date?
    /// The installation and the user to whom the positions belong. When the vault names another owner, after a deactivation or a sign-in
    /// in any process, they are forgotten.
    let owner: WatchedConnections.Owner?
}

extension PlacesSynchronizer {
    /// Takes a position that the app reports, and records crossings durably.
    ///
    /// IFTTT's SDK for Android offers the same (`Documentation/Protocols/ifttt-connect.md`, section 6.6). Positions are taken one after
    /// another, in the order of the calls.
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

    /// Evaluates the areas again with the last position, at a later time.
    ///
    /// Some crossings count only after the user has stayed for a while. Call it about once a second with a source that reports no
    /// positions while the user stands still. The last fix holds for `GeofenceMonitor.Configuration.maximumAge`.
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
            // An earlier version may have stored a fix dated in the future. Recordings must not be ignored until then.
            let resumed = monitor.lastFix.flatMap { isOfTheFuture($0, monitor) ? nil : $0.time }
            return AreaTracking(
                monitor: monitor, stored: stored, resumed: resumed, owner: connections?.owner)
        } catch {
            // Thrown only for two regions with one identifier, and `WatchedConnections.regions` leaves those out.
            throw ConnectError.input(member: "regions", problem: error.description)
        }
    }

    /// Queues crossings that were stored with the position before a crash.
    func queueFoundCrossings() async throws { try await queueCrossings(of: store.progress()) }

    private func queueCrossings(of progress: PlaceStore.Progress) async throws {
        guard !progress.crossings.isEmpty else { return }
        try await record(crossings: progress.crossings)
        try await store.removeFound(progress.crossings)
        tracking?.stored.crossings = []
    }
}
