#if Sandbox
import Synchronization

/// The clock, the faults and the request log, shared by all services of a sandbox.
///
/// A class, since the services and the sandbox steer by the same one.
package final class ControlPanel: Sendable {
    package let clock = SandboxClock()
    /// The names that fault rules may use.
    let services: [SandboxService.Name]
    private let faults: Mutex<[FaultRule]>
    private let log = Mutex<[LoggedRequest]>([])
    private let sandboxDescription = Mutex<String?>(nil)

    /// Whether the log keeps requests with headers and bodies.
    let logsWholeRequests: Bool

    /// The maximum number of log entries; when it is full, the older half is dropped.
    private var logLimit: Int { logsWholeRequests ? 2_000 : 100_000 }

    init(services: [SandboxService.Name], faults: [FaultRule], logsWholeRequests: Bool) {
        self.services = services
        self.faults = Mutex(faults)
        self.logsWholeRequests = logsWholeRequests
    }

    /// The JSON description of the whole sandbox; nil until all services listen.
    var description: String? {
        get { sandboxDescription.withLock { $0 } }
        set { sandboxDescription.withLock { $0 = newValue } }
    }

    func inject(_ rules: [FaultRule]) {
        faults.withLock { $0 += rules }
    }

    func clearFaults() {
        faults.withLock { $0 = [] }
    }

    /// The faults for this request; it counts towards the limited ones.
    func takeFaults(for request: IncomingRequest, at service: SandboxService.Name) -> FaultPlan {
        faults.withLock { FaultPlan(taking: &$0, for: request, at: service) }
    }

    /// The faults of the signed texts that a control route makes.
    package func takeSignedTextFaults(for request: IncomingRequest, at service: SandboxService.Name) -> FaultPlan {
        faults.withLock { FaultPlan(taking: &$0, for: request, at: service, signedTextsOnly: true) }
    }

    func record(_ entry: LoggedRequest) {
        log.withLock { entries in
            if entries.count >= logLimit { entries.removeFirst(logLimit / 2) }
            entries.append(entry)
        }
    }

    func requests(_ service: SandboxService.Name?) -> [LoggedRequest] {
        log.withLock { entries in entries.filter { service == nil || $0.service == service } }
    }

    func clearRequests() {
        log.withLock { $0 = [] }
    }

    /// Clears the requests of a service and the faults that name it.
    package func forget(_ service: SandboxService.Name) {
        log.withLock { $0.removeAll { $0.service == service } }
        faults.withLock { $0.removeAll { $0.service == service } }
    }
}
#endif
