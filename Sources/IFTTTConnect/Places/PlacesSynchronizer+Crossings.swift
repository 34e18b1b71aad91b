public import Geofences
public import Handshake

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Recording crossings, which needs neither network nor token.
extension PlacesSynchronizer {
    /// Records crossings durably. Ignores the app's own regions and dwell events.
    ///
    /// - Returns: what was recorded. Call ``synchronize(_:)`` next.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written: none of them is then recorded.
    @discardableResult
    public func record(_ events: [GeofenceEvent]) async throws -> [AreaCrossing] {
        guard !events.isEmpty else { return [] }
        let installation = try await store.connections().installation
        return try await record(crossings: crossings(of: events, by: installation))
    }

    /// Records a crossing that the system reports.
    ///
    /// - Returns: what was recorded; nil for a region of the host app. Call ``synchronize(_:)`` next.
    /// - Throws: as ``record(_:)-([GeofenceEvent])``; ``ConnectError/input(member:problem:)`` for a date that is not finite.
    @discardableResult
    public func record(_ crossing: RegionCrossing) async throws -> AreaCrossing? {
        guard crossing.date.timeIntervalSince1970.isFinite else {
            throw ConnectError.input(member: "date", problem: "a finite date is expected")
        }
        let installation = try await store.connections().installation
        let crossing = AreaCrossing(crossing, at: time.now(), installation: installation)
        return try await record(crossings: crossing.map { [$0] } ?? []).first
    }

    /// The crossings of this kit's areas among events.
    func crossings(of events: [GeofenceEvent], by installation: String?) -> [AreaCrossing] {
        guard let installation else { return [] }
        let now = time.now()
        return events.compactMap { event in
            RegionCrossing(event).flatMap { AreaCrossing($0, at: now, installation: installation) }
        }
    }

    /// What waits for its upload, oldest first. Damaged records are left out; ``damagedRecords`` lists them.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be used.
    public func waiting() async throws -> [AreaCrossing] {
        try await queueFoundCrossings()
        return try await queue.crossings()
    }

    /// The records of the queue that cannot be read. Each had up to 50 crossings.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be used.
    public var damagedRecords: [VaultError] { get async throws { try await queue.contents().damaged } }

    /// Removes the records of the queue that cannot be read. Their crossings are removed with them.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written.
    @discardableResult
    public func removeDamagedRecords() async throws -> Int { try await queue.removeDamaged() }

    /// Why crossings wait.
    public enum WaitingReason: Sendable, Hashable {
        case notUploadedYet
        /// There is no token, or the service refused it.
        case signInRequired
        /// The last synchronization failed: ``ConnectError/code`` and seconds since 1970.
        case failed(code: String, at: Double)
    }

    /// Why crossings wait, whichever process tried to upload them last.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public var waitingReason: WaitingReason {
        get async throws {
            let connections = try await store.connections()
            guard try await isSignedIn(connections) else { return .signInRequired }
            return connections.failure.map { .failed(code: $0.code, at: $0.time) } ?? .notUploadedYet
        }
    }

    @discardableResult
    func record(crossings: [AreaCrossing]) async throws -> [AreaCrossing] {
        try await queue.append(crossings)
        for crossing in crossings { report(.recorded(crossing, delay: crossing.recordedAt - crossing.occurredAt)) }
        return crossings
    }
}
