#if canImport(Network)
import Dispatch
import Network
#endif

/// Whether this device has a network: only then a failed connection is IFTTT's affair (W6).
enum NetworkPath {
    /// Returns a closure that says whether the device is offline.
    static func offline() -> @Sendable () -> Bool {
        #if canImport(Network)
        let monitor = NWPathMonitor()
        monitor.start(queue: DispatchQueue(label: "handshake.connect-button.network"))
        return { monitor.currentPath.status == .unsatisfied }
        #else
        // Elsewhere no framework reports it.
        return { false }
        #endif
    }
}
