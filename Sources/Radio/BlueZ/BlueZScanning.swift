#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus

/// Scanning with one adapter: tries the methods in order until one works (dossier 7.3).
struct BlueZScanning: Sendable {
    let interest: ScanInterest
    let options: BlueZRadio.Options
    let status: StatusReport

    /// How often discovery is retried while BlueZ is busy for another program.
    private static let busyTries = 4
    private static let busyPause = Duration.milliseconds(250)

    /// Scans until the task is cancelled.
    ///
    /// - Throws: ``RadioError/noWayToScan(_:)``, or why a working scan ended.
    func run(_ adapter: ReadyAdapter) async throws {
        var attempts: [ScanAttempt] = []
        for method in options.methods {
            do {
                try await hold(method, adapter)
                return
            } catch let failure as StartFailure {
                // A missing adapter will not be there for the next method.
                if failure.error.isTransient { throw failure.error }
                attempts.append(ScanAttempt(method, failure.error))
            }
        }
        throw RadioError.noWayToScan(attempts)
    }

    /// A scan did not start, so that the next method is tried. What ends a scan later is thrown unchanged.
    private struct StartFailure: Error {
        let error: RadioError
    }

    private func hold(_ method: ScanMethod, _ adapter: ReadyAdapter) async throws {
        switch method {
        case .monitor:
            let monitor = AdvertisementMonitor(adapter: adapter, interest: interest, clock: options.time.clock)
            defer { monitor.stop() }
            try await starting(adapter, "starting the advertisement monitor") { try await monitor.start() }
            isListening(method, adapter)
            try await monitor.waitForRelease()
        case .filteredDiscovery, .plainDiscovery:
            defer { adapter.order("StopDiscovery", in: .adapter) }
            try await starting(adapter, "starting discovery") {
                try await discover(adapter, withFilter: method == .filteredDiscovery)
            }
            isListening(method, adapter)
            try await suspendUntilCancelled()
        case .ranging, .coreBluetooth, .recording:
            throw StartFailure(error: .notSupported(feature: "\(method.rawValue) on Linux"))
        }
    }

    private func isListening(_ method: ScanMethod, _ adapter: ReadyAdapter) {
        adapter.progress.worked()
        status(.listening(method))
    }

    private func starting(
        _ adapter: ReadyAdapter, _ operation: String, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as RadioError {
            throw StartFailure(error: error)
        } catch {
            try Task.checkCancellation()
            guard let failure = RadioError(error, operation: operation, adapter: adapter.name) else { throw error }
            throw StartFailure(error: failure)
        }
    }

    /// Starts discovery. With the filter, BlueZ reports every packet and every change of the signal; without it, only changes
    /// of 8 dB or more (dossier 7.2).
    private func discover(_ adapter: ReadyAdapter, withFilter: Bool) async throws {
        let filter: [String: Value] = withFilter ? ["Transport": "le", "DuplicateData": true] : [:]
        do {
            try await adapter.call("SetDiscoveryFilter", in: .adapter, [.properties(filter)])
        } catch let error as DBusError {
            // Without a filter, an old BlueZ that does not support filters has none to reset.
            if withFilter || RadioError(error, operation: "", adapter: adapter.name)?.isTransient == true {
                throw error
            }
        }
        for attempt in 1... {
            do {
                return try await adapter.call("StartDiscovery", in: .adapter)
            } catch {
                guard BlueZErrorName(error) == .inProgress, attempt < Self.busyTries else { throw error }
            }
            try await options.time.clock.sleep(for: Self.busyPause)
        }
    }
}
#endif
