#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
public import Beacons
import CoreLocation
import Foundation

/// Wakes an app when a beacon of a fleet comes near or leaves (dossier 6 and 7.1). It does so even in the background.
///
/// The system stores the state of a watch by its name, even while the app does not run: create it at every launch with the same
/// name, and range with ``AppleRadio`` for the seconds that the app gets. It needs the permission to always use the
/// location. An app can monitor 20 conditions; an exit is reported about 30 seconds after the last packet.
public struct BeaconWatch: Sendable {
    private let name: String
    private let uuids: [ProximityUUID]

    /// An event of a watch.
    public enum Event: Sendable, Hashable {
        case entered(ProximityUUID)
        case left(ProximityUUID)
        /// The state is unknown, for example without permission.
        case unknown(ProximityUUID)
    }

    /// How many conditions an app can monitor (dossier 6).
    public static let maximum = 20

    /// Creates a watch for the beacons of these fleets.
    ///
    /// - Throws: ``RadioError/input(member:problem:)`` for more UUIDs than the system supports.
    public init(name: String = "handshake", uuids: [ProximityUUID]) throws(RadioError) {
        guard uuids.count <= Self.maximum else {
            throw .input(member: "uuids", problem: "at most \(Self.maximum) can be monitored")
        }
        self.name = name
        self.uuids = uuids
    }

    /// Watches until the task is cancelled, and calls `body` for each event, in order.
    ///
    /// - Throws: What the system or `body` throws; `CancellationError`.
    public func run(_ body: @Sendable (Event) async throws -> Void) async throws {
        let monitor = await CLMonitor(name)
        for uuid in uuids {
            guard let value = UUID(uuidString: uuid.description) else { continue }
            await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: value), identifier: uuid.description)
        }
        for try await event in await monitor.events {
            guard let uuid = ProximityUUID(event.identifier) else { continue }
            switch event.state {
            case .satisfied: try await body(.entered(uuid))
            case .unsatisfied: try await body(.left(uuid))
            default: try await body(.unknown(uuid))
            }
        }
        try Task.checkCancellation()
    }

    /// Ends the watch for good. The system monitors for it otherwise, also while the app does not run.
    ///
    /// Call it when ``run(_:)`` has returned: there must be one monitor of a name at a time.
    public func end() async {
        let monitor = await CLMonitor(name)
        for identifier in await monitor.identifiers { await monitor.remove(identifier) }
    }
}
#endif
