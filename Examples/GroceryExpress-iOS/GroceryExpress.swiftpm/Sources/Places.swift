import CoreLocation
import Foundation
import Geofences
import IFTTTConnect
import Observation
import Positions
import SwiftUI

/// The areas of the customer's connections: monitored by the system, recorded and uploaded. As in the article *Regions in the background*.
@MainActor @Observable final class Places: NSObject, CLLocationManagerDelegate {
    private(set) var step = LocationPermission.Step.wait
    private let synchronizer: PlacesSynchronizer
    private let manager = CLLocationManager()
    private var hasAreas = false

    init(_ synchronizer: PlacesSynchronizer) {
        self.synchronizer = synchronizer
        super.init()
        manager.delegate = self
    }

    /// Runs as long as the app.
    func run() async {
        let coordinator = RegionCoordinator(
            await RegionRegistration(), positions: CoreLocationSource(), isOwned: { $0.hasPrefix("ifttt_") })
        async let crossings: Void = record(coordinator)
        async let visits: Void = follow(VisitSource(), coordinator)
        await monitor(coordinator)
        for await event in synchronizer.events {
            if case .regionsChanged = event { await monitor(coordinator) }
        }
        _ = await (crossings, visits)
    }

    private func monitor(_ coordinator: RegionCoordinator) async {
        guard let regions = try? await synchronizer.regions else { return }
        if !regions.isEmpty { hasAreas = true }
        permissionChanged()
        await coordinator.monitor(regions)
    }

    private func record(_ coordinator: RegionCoordinator) async {
        do {
            try await coordinator.run { [synchronizer] crossing in
                try await synchronizer.record(crossing)
                Task { await synchronizer.synchronize(.crossing) }
            }
        } catch {
            print("Crossings are not recorded until the next launch: \(error)")
        }
    }

    private func follow(_ visits: VisitSource, _ coordinator: RegionCoordinator) async {
        do {
            for try await fix in visits.fixes() { await coordinator.receive(fix) }
        } catch {
            print("Visits are not followed until the next launch: \(error)")
        }
    }

    /// Core Location calls it on the main thread, also once at the start.
    nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        MainActor.assumeIsolated { permissionChanged() }
    }

    private func permissionChanged() {
        let permission = LocationPermission(manager.authorizationStatus)
        step = permission.nextStep(
            needsRegions: hasAreas, hasRequestedAlways: UserDefaults.standard.bool(forKey: "hasRequestedAlways"))
        let canMonitor = permission.canMonitorRegions
        Task { [synchronizer] in try? await synchronizer.permissionChanged(canMonitorRegions: canMonitor) }
    }

    /// After the app's own explanation.
    func request() {
        switch step {
        case .explainAndRequestWhenInUse: manager.requestWhenInUseAuthorization()
        case .explainAndRequestAlways:
            UserDefaults.standard.set(true, forKey: "hasRequestedAlways")
            manager.requestAlwaysAuthorization()
        default: break
        }
        permissionChanged()
    }
}

extension Places {
    /// Follows a connection from now on.
    func activate(_ connection: ConnectionID) async {
        _ = try? await synchronizer.activate([connection])
    }

    /// Forgets the customer's areas and crossings.
    func deactivate() async throws { try await synchronizer.deactivate() }

    func synchronize() async -> PlacesSynchronizer.Outcome { await synchronizer.synchronize() }

    func areasEnabled(for connection: ConnectionID) async -> Bool {
        (try? await synchronizer.areasEnabled(for: connection)) ?? true
    }

    func setAreasEnabled(_ isEnabled: Bool, for connection: ConnectionID) async {
        try? await synchronizer.setAreasEnabled(isEnabled, for: connection)
    }
}

/// What the system still has to allow, explained before it is asked for.
struct PlacesPermission: View {
    let places: Places
    @Environment(\.openURL) private var openURL

    var body: some View {
        VStack {
            switch places.step {
            case .none, .wait: EmptyView()
            case .explainAndRequestWhenInUse:
                Text("Your connections act when you arrive or leave. For that the app needs your position.")
                Button("Continue") { places.request() }
            case .explainAndRequestAlways:
                Text("To notice that you arrive while the app is closed, it needs your position always.")
                Button("Continue") { places.request() }
            case .openSettings:
                Text("Your areas are not monitored. Allow the position “Always” in Settings.")
                Button("Open Settings") {
                    if let url = URL(string: UIApplication.openSettingsURLString) { openURL(url) }
                }
            case .explainRestriction:
                Text("Your areas are not monitored: this device does not allow apps to use the position.")
            }
        }
    }
}
