public import Geofences
import Handshake

/// Recording crossings, which needs neither network nor token.
extension PlacesSynchronizer {
    /// Records crossings durably. Regions of the host app and dwelling are left out.
    ///
    /// - Returns: what was recorded. Call ``synchronize(_:)`` next.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written: then nothing is said to be recorded.
    @discardableResult
    public func record(_ events: [GeofenceEvent]) async throws -> [AreaCrossing] {
        try await record(crossings: crossings(of: events))
    }

    /// Records a crossing that the system reports, which tells a region and a time.
    ///
    /// - Throws: as ``record(_:)``; ``ConnectError/input(member:problem:)`` for a time that is not a number.
    @discardableResult
    public func record(_ kind: AreaCrossing.Kind, of region: String, at occurredAt: Double) async throws
        -> [AreaCrossing]
    {
        guard occurredAt.isFinite else {
            throw ConnectError.input(member: "occurredAt", problem: "a time in seconds is expected")
        }
        let installation = try await store.connections().installation
        let crossing = AreaCrossing(
            kind, of: region, occurredAt: occurredAt, at: time.now(), installation: installation)
        return try await record(crossings: crossing.map { [$0] } ?? [])
    }

    /// The crossings of this kit's areas among events.
    func crossings(of events: [GeofenceEvent]) async throws -> [AreaCrossing] {
        guard !events.isEmpty else { return [] }
        let installation = try await store.connections().installation
        let now = time.now()
        return events.compactMap { AreaCrossing($0, at: now, installation: installation) }
    }

    /// What waits for its upload, oldest first.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be used.
    public func waiting() async throws -> [AreaCrossing] {
        try await queueFoundCrossings()
        return try await queue.crossings()
    }

    @discardableResult
    func record(crossings: [AreaCrossing]) async throws -> [AreaCrossing] {
        try await queue.append(crossings)
        for crossing in crossings { report(.recorded(crossing, delay: crossing.recordedAt - crossing.occurredAt)) }
        return crossings
    }
}
