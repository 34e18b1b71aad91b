import Beacons
import CoreLocation
import Foundation
import Observation
import Radio
import SwiftUI

/// Wakes the app at a hub that has a stationary beacon of the fleet, also after the system has ended it.
@MainActor @Observable
final class HubWatch: NSObject, CLLocationManagerDelegate {
    static let shared = HubWatch()

    /// Whether the user wants it.
    var isOn = UserDefaults.standard.bool(forKey: "wakesAtHub") {
        didSet {
            UserDefaults.standard.set(isOn, forKey: "wakesAtHub")
            if isOn { request() }
            start()
        }
    }
    private(set) var isAtHub = false
    private(set) var permission = CLAuthorizationStatus.notDetermined

    @ObservationIgnored private let manager = CLLocationManager()
    @ObservationIgnored private var watching: Task<Void, Never>?

    override private init() {
        super.init()
        manager.delegate = self
    }

    /// Watches where the user wants it, and ends the watch where not. Called at every launch, because the system remembers a watch
    /// and starts the app for it.
    func start() {
        let earlier = watching
        earlier?.cancel()
        watching = Task {
            // There must be one monitor of a name at a time.
            await earlier?.value
            await run()
        }
    }

    private func run() async {
        guard !Task.isCancelled, let watch = try? BeaconWatch(name: "hub", uuids: [.secretHandshake]) else { return }
        guard isOn else {
            isAtHub = false
            return await watch.end()
        }
        // The app gets some seconds at each event, in which it watches for people.
        try? await watch.run { event in
            await MainActor.run { HubWatch.shared.isAtHub = if case .entered = event { true } else { false } }
        }
    }

    /// First while the app is open, then always, as the system wants it.
    private func request() {
        switch permission {
        case .notDetermined: manager.requestWhenInUseAuthorization()
        case .authorizedWhenInUse: manager.requestAlwaysAuthorization()
        default: break
        }
    }

    /// Core Location calls it on the main thread, also once at the start.
    nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        MainActor.assumeIsolated {
            permission = self.manager.authorizationStatus
            if isOn { request() }
        }
    }
}

/// Asks for the position, after saying what for.
struct HubSection: View {
    @Bindable private var hub = HubWatch.shared

    var body: some View {
        Section("Your hub") {
            Toggle("Wake the app when I arrive at a hub with a beacon", isOn: $hub.isOn)
            if hub.isOn, hub.permission != .authorizedAlways {
                Text("Allow the position “Always” in Settings, so that the app is woken while it is closed.")
            }
            if hub.isAtHub { Text("You are at a hub.") }
        }
    }
}
