#if Server
import AsyncSupport
import HTTPTypes
public import Handshake
public import Hummingbird
public import ServiceLifecycle
import Synchronization

/// Says whether a process lives and whether it can serve.
///
/// For load balancers and orchestrators.
///
/// ```swift
/// let health = try HealthRoutes<BasicRequestContext>(handshake)
/// health.add(to: router)
/// var app = Application(router: router)
/// app.addServices(HandshakeService(handshake))  // a graceful shutdown finishes refreshes
/// let group = ServiceGroup(
///     services: [app, KeeperService(keeper), health], gracefulShutdownSignals: [.sigterm, .sigint], logger: app.logger
/// )
/// try await group.run()
/// ```
///
/// A `ServiceGroup` shuts its services down one after another, the last one first, and a server hears of it when those behind it have ended. The routes
/// are a service themselves: put them last, so that `GET ready` answers 503 from the first moment, while a keeper finishes its refreshes.
///
/// Give such a process 90 s before it is killed: up to 50 s for the keeper (a request of 20 s, 20 s for answers that the vault could not take before,
/// 10 s for the webhook), then up to 40 s for `HandshakeService`. Without a keeper 40 s are enough.
///
/// | route | answers |
/// |---|---|
/// | `GET health` | 200 as long as the process answers at all; it asks nothing else, so that a database that is away restarts no process |
/// | `GET ready` | 200 when the vault can be read (nothing is written); 503 when it cannot, is too slow, or a graceful shutdown has begun |
///
/// The content is `{"status":"alive"}`, `{"status":"ready"}` or `{"status":"unready","reason":"vault_unavailable"}`; the reason is a word, never a
/// text. However many ask, the vault is read once a second at most. Keep the routes from the public anyway: who sees them learns when a
/// deployment changes.
public struct HealthRoutes<Context: RequestContext>: ServiceLifecycle.Service {
    private let readiness: Readiness

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - handshake: whose vault has to be readable.
    ///   - timeout: how long the vault may take; from 10 ms to a minute.
    ///   - time: measures it.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for another timeout.
    public init(
        _ handshake: Handshake, timeout: Duration = .seconds(2), time: TimeSource = .system
    ) throws(HandshakeServerError) {
        guard (.milliseconds(10) ... .seconds(60)).contains(timeout) else {
            throw .configuration(member: "timeout", problem: "it must be from 10 ms to a minute")
        }
        readiness = Readiness(handshake.vault, timeout: timeout, time: time)
    }

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.get("health") { _, _ in Self.response(.ok, #"{"status":"alive"}"#) }
        router.get("ready") { _, _ in
            guard let reason = await readiness.reason() else { return Self.response(.ok, #"{"status":"ready"}"#) }
            return Self.response(.serviceUnavailable, #"{"status":"unready","reason":"\#(reason)"}"#)
        }
    }

    /// Waits for the graceful shutdown, and makes the process unready.
    public func run() async throws {
        // Cancelled instead of shut down, the process ends as well.
        try? await gracefulShutdown()
        readiness.end()
    }

    private static func response(_ status: HTTPResponse.Status, _ content: String) -> Response {
        var headers = Response.quiet
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: content)))
    }
}

/// Whether a vault can be read, asked once a second at most.
///
/// A class, because requests share what was found.
private final class Readiness: Sendable {
    private struct Finding {
        var reason: String?
        var at: Double
    }

    private static let life = 1.0
    /// A record that is not there. What matters is that the vault says so.
    private static let probe = VaultKey(.signIn, ["readiness"])

    private let vault: any Vault
    private let timeout: Duration
    private let time: TimeSource
    private let last = Mutex<Finding?>(nil)
    private let isEnding = Mutex(false)
    private let looks = SharedOperation<String?>()

    init(_ vault: any Vault, timeout: Duration, time: TimeSource) {
        self.vault = vault
        self.timeout = timeout
        self.time = time
    }

    /// Answers "shutting down" from now on.
    func end() { isEnding.withLock { $0 = true } }

    /// Why this process should get no requests; nil when it can serve.
    func reason() async -> String? {
        if Task.isShuttingDownGracefully || isEnding.withLock({ $0 }) { return "shutting_down" }
        let now = time.now()
        // A clock that was set back makes no finding last longer.
        if let last = last.withLock({ $0 }), (0..<Self.life).contains(now - last.at) { return last.reason }
        do {
            // A caller leaves at the timeout; the look goes on, and the next caller joins it.
            return try await withDeadline(timeout, on: time.clock) { [self] in
                try await looks.join { [self] in
                    let reason = await look()
                    last.withLock { $0 = Finding(reason: reason, at: time.now()) }
                    return reason
                }
            }
        } catch {
            return "vault_slow"
        }
    }

    private func look() async -> String? {
        do {
            _ = try await vault.record(Self.probe)
            return nil
        } catch let error as VaultError {
            return error.code
        } catch {
            return "vault_unavailable"
        }
    }
}
#endif
