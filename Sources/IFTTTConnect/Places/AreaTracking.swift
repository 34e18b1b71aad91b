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
    var stored: PlaceStore.Progress
}

extension PlacesSynchronizer {
    /// Takes a position that the app reports (dossier 6.6, Android): evaluates the areas and records crossings durably.
    ///
    /// - Parameters:
    ///   - fix: the position.
    ///   - now: the present, for the check of the fix's age; nil for a recording.
    /// - Returns: what the areas' monitor made of the fix, and the crossings that were recorded.
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be used. The fix does not count then.
    @discardableResult
    public func receive(_ fix: Fix, now: Date?) async throws -> (outcome: FixOutcome, crossings: [AreaCrossing]) {
        var tracking = try await currentTracking()
        let outcome = tracking.monitor.receive(fix, now: now)
        let recordedAt = time.now()
        let crossings = outcome.events.compactMap { AreaCrossing($0, at: recordedAt, random: random) }
        let state = tracking.monitor.state
        // The state and its crossings are one record: after a crash both happened, or neither.
        if !crossings.isEmpty || !outcome.events.isEmpty || !state.hasSameVisits(as: tracking.stored.state) {
            tracking.stored = PlaceStore.Progress(state: state, crossings: crossings)
            try await store.save(tracking.stored)
        }
        self.tracking = tracking
        return (outcome, try await record(crossings: crossings))
    }

    /// The monitor of the present areas, restored after a launch. Crossings that a crash kept out of the queue are added to it.
    private func currentTracking() async throws -> AreaTracking {
        let regions = try await self.regions
        if var tracking {
            if tracking.monitor.index.geofences != regions { try? tracking.monitor.replaceRegions(regions) }
            return tracking
        }
        let stored = try await store.progress()
        try await queue.append(stored.crossings)
        do {
            let monitor = try GeofenceMonitor(regions, restoring: stored.state)
            return AreaTracking(monitor: monitor, stored: stored)
        } catch {
            // The regions of a registry have different names.
            throw ConnectError.input(member: "regions", problem: error.description)
        }
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

    func connections() async throws -> WatchedConnections {
        do {
            if let bytes = try await vault.record(connectionsKey) { return try Self.decode(bytes) }
        } catch { throw ConnectError.placingVault(error) }
        return try await change { _ in }
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

    func save(_ progress: Progress) async throws {
        do {
            let bytes = Array(try JSONEncoder().encode(progress))
            try await vault.update(progressKey) { try await $0.replace(with: bytes) }
        } catch { throw ConnectError.placingVault(error) }
    }

    func removeAll() async throws {
        do {
            try await vault.remove(connectionsKey)
            try await vault.remove(progressKey)
        } catch { throw ConnectError.placingVault(error) }
    }

    private static func decode<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(bytes)) } catch {
            throw VaultError.damaged(what: "the record of places", reason: "it cannot be read")
        }
    }
}
