#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS) || CHECK_APPLE_ADAPTERS)
public import Beacons
import CoreLocation
import Foundation

/// Wakes an app when a beacon of a fleet comes near or leaves, also in the background (dossier 6 and 7.1).
///
/// The system keeps the state of a watch by its name, also while the app does not run: make it anew at every launch, with the same
/// name, and range with ``AppleRadio`` for the seconds that the app is given. It needs the permission to use the location
/// always. An app may watch for 20 things; an exit comes about 30 seconds after the last packet.
public struct BeaconWatch: Sendable {
    private let name: String
    private let uuids: [ProximityUUID]

    /// What happened.
    public enum Event: Sendable, Hashable {
        case entered(ProximityUUID)
        case left(ProximityUUID)
        /// The system does not say any more, for want of permission for instance.
        case unknown(ProximityUUID)
    }

    /// How many things an app may watch for (dossier 6).
    public static let most = 20

    /// - Throws: ``RadioError/input(member:problem:)`` for more UUIDs than the system takes.
    public init(name: String = "handshake", uuids: [ProximityUUID]) throws(RadioError) {
        guard uuids.count <= Self.most else {
            throw .input(member: "uuids", problem: "at most \(Self.most) can be watched for")
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
}
#endif
