import CoreMetrics
import OAuth
import Synchronization
import Tracing

/// The figures and traces of an app: what it has chosen with swift-metrics and swift-distributed-tracing.
///
/// Labels and attributes are the service's name and words of this package: an outcome, a reason, a status. None names a user, an account, an
/// address or a secret, and none is a text that a server sent.
///
/// A class, because handlers are made once and shared.
package final class Telemetry: Sendable {
    private struct Key: Hashable {
        let name: String
        let labels: [String]
    }

    private struct Handlers {
        var counters: [Key: Counter] = [:]
        var timers: [Key: CoreMetrics.Timer] = [:]
        var gauges: [Key: Gauge] = [:]
        var services: Set<String> = []
    }

    /// A figure's labels, as names and values.
    package typealias Labels = KeyValuePairs<String, String>

    /// Further and longer names are one label, “other”: a backend keeps each label forever.
    private static let maximumServices = 100
    private static let maximumNameLength = 64

    private let factory: (any MetricsFactory)?
    private let tracer: (any Tracer)?
    private let handlers = Mutex(Handlers())

    private init(_ factory: (any MetricsFactory)?, _ tracer: (any Tracer)?) {
        self.factory = factory
        self.tracer = tracer
    }

    /// What the app has chosen so far, or the innermost `withMetricsFactory` and `withTracer`; nil when that is nothing.
    package static func chosen() -> Telemetry? {
        let factory = MetricsSystem.factory
        let tracer = InstrumentationSystem.tracer
        let (counts, traces) = (!(factory is NOOPMetricsHandler), !(tracer is NoOpTracer))
        return counts || traces ? Telemetry(counts ? factory : nil, traces ? tracer : nil) : nil
    }

    // MARK: Figures

    /// Adds a number to a counter.
    ///
    /// Adding 0 lets the counter begin. Otherwise it appears with its first event, which is no rise to a backend that reads values from time
    /// to time, so that no rule sees it.
    package func count(_ name: String, by number: Int64 = 1, at service: String? = nil, _ labels: Labels = [:]) {
        guard let factory else { return }
        let (key, dimensions) = describe(name, service, labels)
        let counter = handlers.withLock { handlers in
            if let known = handlers.counters[key] { return known }
            let new = Counter(label: name, dimensions: dimensions, factory: factory)
            handlers.counters[key] = new
            return new
        }
        counter.increment(by: number)
    }

    /// Records how long something took that began at an instant.
    package func time(
        _ name: String, since start: ContinuousClock.Instant, at service: String? = nil, _ labels: Labels = [:]
    ) {
        record(name, start.duration(to: .now), at: service, labels)
    }

    /// Records how long something took.
    package func record(_ name: String, _ duration: Duration, at service: String? = nil, _ labels: Labels = [:]) {
        guard let factory else { return }
        let (key, dimensions) = describe(name, service, labels)
        let timer = handlers.withLock { handlers in
            if let known = handlers.timers[key] { return known }
            let new = CoreMetrics.Timer(label: name, dimensions: dimensions, factory: factory)
            handlers.timers[key] = new
            return new
        }
        timer.recordNanoseconds(Int64(clamping: Int128(duration.attoseconds / 1_000_000_000)))
    }

    /// Says how many there are of something.
    package func gauge(_ name: String, _ value: Int, at service: String? = nil, _ labels: Labels = [:]) {
        guard let factory else { return }
        let (key, dimensions) = describe(name, service, labels)
        let gauge = handlers.withLock { handlers in
            if let known = handlers.gauges[key] { return known }
            let new = Gauge(label: name, dimensions: dimensions, factory: factory)
            handlers.gauges[key] = new
            return new
        }
        gauge.record(value)
    }

    private func describe(_ name: String, _ service: String?, _ labels: Labels) -> (Key, [(String, String)]) {
        var dimensions: [(String, String)] = labels.map { ($0.key, $0.value) }
        if let service { dimensions.insert(("service", bounded(service)), at: 0) }
        return (Key(name: name, labels: dimensions.map(\.1)), dimensions)
    }

    /// A service's name as a label. Apps that find services from addresses may have any number of them.
    private func bounded(_ service: String) -> String {
        guard service.utf8.count <= Self.maximumNameLength else { return "other" }
        return handlers.withLock { handlers in
            if handlers.services.contains(service) { return service }
            guard handlers.services.count < Self.maximumServices else { return "other" }
            handlers.services.insert(service)
            return service
        }
    }

    // MARK: Traces

    /// Runs a body within a span, which ends with it. The span has only the kind of an error: its text may name a user.
    ///
    /// - Parameters:
    ///   - name: the operation, such as `handshake.refresh`.
    ///   - attribute: what the result adds to the span; nil for nothing.
    package func span<Value>(
        _ name: String, at service: String, attribute: (Value) -> (String, Int)? = { _ in nil },
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard let tracer else { return try await body() }
        let label = bounded(service)
        // The error is not thrown through the tracer, which would store its text.
        let result: Result<Value, any Error> = await tracer.withSpan(name, ofKind: .client) { span in
            span.attributes["handshake.service"] = label
            do {
                let value = try await body()
                if let (name, number) = attribute(value) { span.attributes[name] = number }
                return .success(value)
            } catch {
                span.attributes["error.type"] = Telemetry.kind(of: error)
                span.setStatus(SpanStatus(code: .error))
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// A word of this package for an error. A service's own code is none: a server chooses it.
    package static func kind(of error: any Error) -> String {
        switch error {
        case is CancellationError: return "cancelled"
        case let error as VaultError: return error.code
        case let error as HandshakeError:
            switch error {
            case .signInRequired, .resourceMoved: return "sign_in_required"
            case .signInAbandoned: return "abandoned"
            case .network, .undiscovered: return "network"
            case .refreshUncertain: return "uncertain"
            case .vault(let error): return error.code
            case .exchange(let error): return error.isAnswer ? "server" : "refused"
            case .clientForgotten: return "server"
            default: return "other"
            }
        default: return "other"
        }
    }
}

extension Telemetry {
    /// The case of a change, without its values.
    fileprivate enum ChangeKind: CaseIterable {
        case signedIn, refreshed, adopted, refreshUncertain, refreshFailed, ended, signedOut
    }

    /// Lets an app's counters begin whose labels are known when it is made.
    func begin(at services: [String]) {
        for kind in VaultError.Kind.allCases {
            count("handshake_vault_failures_total", by: 0, ["code": kind.rawValue])
        }
        for service in services {
            count("handshake_refresh_joins_total", by: 0, at: service)
            for kind in ChangeKind.allCases {
                count(kind, by: 0, reasons: HandshakeError.SignInReason.allCases, at: service)
            }
        }
    }

    /// Counts what happened to an account's tokens.
    func count(_ change: AccountEvent.Change, at service: String) {
        let reasons: [HandshakeError.SignInReason] = if case .ended(let reason) = change { [reason] } else { [] }
        count(change.kind, by: 1, reasons: reasons, at: service)
    }

    /// Adds a number to the counter of a kind of change; for the end of a session, to that of each reason.
    private func count(
        _ kind: ChangeKind, by number: Int64, reasons: [HandshakeError.SignInReason], at service: String
    ) {
        func add(_ name: String, _ labels: Labels) { count(name, by: number, at: service, labels) }
        switch kind {
        case .signedIn: add("handshake_sign_ins_total", ["outcome": "signed_in"])
        case .refreshed: add("handshake_refreshes_total", ["outcome": "refreshed"])
        case .adopted: add("handshake_refreshes_total", ["outcome": "adopted"])
        case .refreshUncertain: add("handshake_refreshes_total", ["outcome": "uncertain"])
        case .refreshFailed: add("handshake_refreshes_total", ["outcome": "failed"])
        case .ended: for reason in reasons { add("handshake_sessions_ended_total", ["reason": reason.rawValue]) }
        case .signedOut: add("handshake_sessions_ended_total", ["reason": "signed_out"])
        }
    }
}

extension AccountEvent.Change {
    fileprivate var kind: Telemetry.ChangeKind {
        switch self {
        case .signedIn: .signedIn
        case .refreshed: .refreshed
        case .adopted: .adopted
        case .refreshUncertain: .refreshUncertain
        case .refreshFailed: .refreshFailed
        case .ended: .ended
        case .signedOut: .signedOut
        }
    }
}

extension OAuthError {
    /// Whether the server answered with an error.
    fileprivate var isAnswer: Bool {
        switch self {
        case .server: true
        default: false
        }
    }
}
