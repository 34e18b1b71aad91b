#if Sandbox
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Local stand-ins for the services that a client talks to.
///
/// A sandbox lives inside this process, listens on loopback and stores everything in memory. Any number can run
/// concurrently. It is written from the services' dossiers alone and shares no code with the client, so that a misreading
/// cannot cancel itself out.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let redirect = try await sandbox.approve(authorizationURL)
/// sandbox.inject(try FaultRule(parsing: "POST /token => drop x1"))
/// sandbox.advanceClock(by: 3601)
/// await sandbox.stop()
/// ```
///
/// Other processes control a sandbox by HTTP below `/_sandbox` on any of its services: `GET /_sandbox` (the description),
/// `POST` and `DELETE /_sandbox/faults`, `GET` and `DELETE /_sandbox/requests`, `POST /_sandbox/clock`,
/// `POST /_sandbox/expire-access-tokens`, `POST /_sandbox/revoke-refresh-tokens`; some services have more.
///
/// A class, because it owns listening sockets: a sandbox without references stops by itself.
public final class Sandbox: Sendable {
    /// The services, in the order of their ports.
    public let services: [SandboxService]

    private let standIns: [any StandIn]
    private let panel: ControlPanel
    private let listeners: [Listener]

    /// Starts a sandbox of some services; it returns when all of them listen.
    ///
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``; then nothing is left listening.
    package static func start(
        _ configuration: Configuration, services: [any FixedStandIn.Type], beside plans: [StandInPlan] = []
    ) async throws -> Sandbox {
        let panel = ControlPanel(
            services: services.map { $0.name } + plans.map(\.name), faults: configuration.faults,
            logsWholeRequests: configuration.logsWholeRequests)
        let lifetime = configuration.accessTokenLifetime.map { min(max($0, 0), Configuration.maximumLifetime) }
        let fixed: [any StandIn] = services.map { $0.init(panel: panel, accessTokenLifetime: lifetime) }
        let standIns: [any StandIn] = fixed + plans.map { $0.make(panel, lifetime) }
        var listeners: [Listener] = []
        do {
            for (index, standIn) in standIns.enumerated() {
                let servers = standIn.servers
                let host = configuration.host
                let port = configuration.port == 0 ? 0 : configuration.port + index
                let usesTLS = type(of: standIn).usesTLS
                let listener = try await Listener.open(
                    host: host, port: port, usesTLS: usesTLS, responder: Doorway.responder(for: standIn, panel: panel),
                    didBind: { port in
                        for server in servers { server.root = origin(host: host, port: port, usesTLS: usesTLS) }
                    })
                listeners.append(listener)
            }
        } catch {
            await end(listeners, standIns)
            throw error
        }
        for standIn in standIns { standIn.started(beside: standIns) }
        return Sandbox(panel: panel, standIns: standIns, listeners: listeners)
    }

    private init(panel: ControlPanel, standIns: [any StandIn], listeners: [Listener]) {
        self.panel = panel
        self.standIns = standIns
        self.listeners = listeners
        services = standIns.map(\.service)
        panel.description = descriptionJSON()
    }

    deinit {
        Self.cancel(listeners, standIns)
    }

    /// Stops all services and returns when their ports are free.
    ///
    /// The sandbox accepts no new connections, finishes responses in progress, and cancels those that a fault
    /// delays. Idempotent, also when called concurrently.
    public func stop() async {
        await Self.end(listeners, standIns)
    }

    private static func end(_ listeners: [Listener], _ standIns: [any StandIn]) async {
        cancel(listeners, standIns)
        for listener in listeners { await listener.ended() }
        for standIn in standIns { await standIn.ended() }
    }

    private static func cancel(_ listeners: [Listener], _ standIns: [any StandIn]) {
        for listener in listeners { listener.cancel() }
        for standIn in standIns { standIn.cancel() }
    }

    /// The one JSON object that describes the sandbox. It has every service's origin, clients and users.
    ///
    /// Its members are stable and in a stable order, in snake_case.
    public func descriptionJSON() -> String {
        let services = standIns.map { JSON.Member(name: $0.name.rawValue, value: $0.description) }
        return JSON.object([JSON.Member(name: "services", value: .object(services))]).text
    }

    /// The stand-in of one kind.
    package func standIn<Service: FixedStandIn>(_ type: Service.Type) -> Service {
        guard let standIn = standIns.lazy.compactMap({ $0 as? Service }).first else {
            // Which services a sandbox has is decided by the program that starts it, never by a request.
            preconditionFailure("This sandbox was started without \(type.name.rawValue).")
        }
        return standIn
    }

    /// Makes a signed text with the faults of the route that would make it.
    package func withSignedTextFaults<Text>(
        _ service: SandboxService.Name, _ method: String, _ path: String, _ body: () -> Text
    ) -> Text {
        panel.takeSignedTextFaults(for: IncomingRequest(method: method, target: path), at: service).changing(body)
    }

    /// The authorization server that an address is of, and its stand-in: the one with the longest path.
    func server(of url: String) -> (server: AuthorizationServer, standIn: any StandIn)? {
        var found: (server: AuthorizationServer, standIn: any StandIn)?
        for standIn in standIns {
            for server in standIn.servers where url.hasPrefix(server.origin + "/") {
                if let found, found.server.prefix.count >= server.prefix.count { continue }
                found = (server, standIn)
            }
        }
        return found
    }

    private func servers(_ name: SandboxService.Name) -> [AuthorizationServer] {
        standIns.filter { $0.name == name }.flatMap(\.servers)
    }

    private static func origin(host: String, port: Int, usesTLS: Bool) -> String {
        let scheme = usesTLS ? "https" : "http"
        return host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}

extension Sandbox {
    /// The requests that were received, oldest first. Nothing secret is in them unless the configuration asks for
    /// ``LoggedRequest/whole`` ones.
    ///
    /// Beyond 100,000, or 2,000 whole ones, the older half is dropped.
    public func requests(_ service: SandboxService.Name? = nil) -> [LoggedRequest] {
        panel.requests(service)
    }

    /// Clears the request log.
    public func clearRequests() {
        panel.clearRequests()
    }

    /// Adds a fault rule after those already there.
    public func inject(_ rule: FaultRule) {
        panel.inject([rule])
    }

    /// Removes all fault rules.
    public func clearFaults() {
        panel.clearFaults()
    }

    /// Moves the clock of all services forward, so that codes and tokens expire. Negative values are ignored.
    ///
    /// Times that the services state (`created_at`, `iat`, `exp`, `auth_time`) are of this clock too.
    public func advanceClock(by seconds: Double) {
        panel.clock.advance(by: seconds)
    }

    /// Stops the clock of all services at a time. From then on it moves only when it is advanced.
    public func holdClock(at time: Date) {
        panel.clock.hold(at: time.timeIntervalSince1970)
    }

    /// Revokes all access tokens that this service has issued; later ones work. The personal access token is not touched.
    public func expireAccessTokens(_ service: SandboxService.Name) {
        for server in servers(service) { server.expireAccessTokens() }
    }

    /// Revokes all refresh tokens that this service has issued. Each then answers `invalid_grant`. Later ones work.
    public func revokeRefreshTokens(_ service: SandboxService.Name) {
        for server in servers(service) { server.revokeRefreshTokens() }
    }
}
#endif
