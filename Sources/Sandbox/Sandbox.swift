#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Local stand-ins for the services that a client talks to: Sequencing.com, the Recurse Center, a server that keeps
/// to the standards, and IFTTT.
///
/// A sandbox lives inside this process, listens on loopback and keeps everything in memory. Any number run beside each
/// other. It is written from the services' dossiers alone and shares no code with the client, so that one misreading
/// cannot hide in both.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let redirect = try await sandbox.approve(authorizationURL)
/// sandbox.inject(try FaultRule(parsing: "POST /token => drop x1"))
/// sandbox.advanceClock(by: 3601)
/// await sandbox.stop()
/// ```
///
/// Other processes steer a sandbox by HTTP below `/_sandbox` on any of its services: `GET /_sandbox` (the description),
/// `POST` and `DELETE /_sandbox/faults`, `GET` and `DELETE /_sandbox/requests`, `POST /_sandbox/clock`,
/// `POST /_sandbox/expire-access-tokens`, `POST /_sandbox/revoke-refresh-tokens`, and at the Recurse Center
/// `POST /_sandbox/unauthorized` and `POST /_sandbox/revoke-personal-access-tokens`.
///
/// A class, since it owns four listening sockets that end with it: a sandbox that is let go stops by itself.
public final class Sandbox: Sendable {
    /// Sequencing.com.
    public let sequencing: SandboxService
    /// The Recurse Center.
    public let recurseCenter: SandboxService
    /// The server that keeps to the standards; its issuer is its origin.
    public let standard: SandboxService
    /// IFTTT Connect and its partner service.
    public let ifttt: SandboxService

    let standIns: SandboxStandIns
    private let panel: ControlPanel
    private let listeners: [Listener]

    /// Starts a sandbox; it returns when all four services listen.
    ///
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``; then nothing is left listening.
    public static func start(_ configuration: Configuration = .init()) async throws -> Sandbox {
        let panel = ControlPanel(
            faults: configuration.faults, logsWholeRequests: configuration.logsWholeRequests)
        let standIns = SandboxStandIns(
            panel: panel, accessTokenLifetime: configuration.accessTokenLifetime,
            unauthorized: configuration.unauthorizedAnswer)
        var listeners: [Listener] = []
        do {
            for (index, standIn) in standIns.all.enumerated() {
                let server = standIn.server
                let host = configuration.host
                let port = configuration.port == 0 ? 0 : configuration.port + index
                let listener = try await Listener.open(
                    host: host, port: port, doorway: Doorway(standIn, panel: panel),
                    didBind: { server.origin = origin(host: host, port: $0) })
                listeners.append(listener)
            }
        } catch {
            for listener in listeners { listener.cancel() }
            for listener in listeners { await listener.ended() }
            throw error
        }
        return Sandbox(panel: panel, standIns: standIns, listeners: listeners)
    }

    private init(panel: ControlPanel, standIns: SandboxStandIns, listeners: [Listener]) {
        self.panel = panel
        self.standIns = standIns
        self.listeners = listeners
        sequencing = standIns.sequencing.server.service()
        recurseCenter = standIns.recurseCenter.server.service(
            personalAccessToken: RecurseCenterFixtures.users.first.map(RecurseCenterFixtures.personalAccessToken))
        standard = standIns.standard.server.service()
        ifttt = standIns.ifttt.server.service(connect: SandboxConnect())
        panel.description = descriptionJSON()
    }

    deinit {
        for listener in listeners { listener.cancel() }
        standIns.ifttt.store.webhooks.cancel()
    }

    /// Stops all services and returns when their ports are free.
    ///
    /// No connection is accepted any more, answers under way are finished, and those that a fault holds back are given
    /// up. It may be called any number of times, also at once.
    public func stop() async {
        for listener in listeners { listener.cancel() }
        standIns.ifttt.store.webhooks.cancel()
        for listener in listeners { await listener.ended() }
        await standIns.ifttt.store.webhooks.ended()
    }

    /// The one JSON object that describes the sandbox: every service's origin, clients and users.
    ///
    /// Its members are stable and in a stable order, in snake_case.
    public func descriptionJSON() -> String {
        let services = [sequencing, recurseCenter, standard, ifttt].map {
            JSON.Member(name: $0.name.rawValue, value: $0.json)
        }
        return JSON.object([JSON.Member(name: "services", value: .object(services))]).text
    }

    private static func origin(host: String, port: Int) -> String {
        host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }
}

extension Sandbox {
    /// The requests that were received, oldest first, with nothing secret in them unless the configuration asks for
    /// ``LoggedRequest/whole`` ones.
    ///
    /// Beyond 100,000, or 2,000 whole ones, the older half is forgotten.
    public func requests(_ service: SandboxService.Name? = nil) -> [LoggedRequest] {
        panel.requests(service)
    }

    /// Forgets all logged requests.
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

    /// Stops the clock of all services at a time; from then on it moves only when it is advanced.
    public func holdClock(at time: Date) {
        panel.clock.hold(at: time.timeIntervalSince1970)
    }

    /// Ends all access tokens that this service has issued; later ones work. The personal access token is not touched.
    public func expireAccessTokens(_ service: SandboxService.Name) {
        standIns[service].server.expireAccessTokens()
    }

    /// Ends all refresh tokens that this service has issued, so that each answers `invalid_grant`; later ones work.
    public func revokeRefreshTokens(_ service: SandboxService.Name) {
        standIns[service].server.revokeRefreshTokens()
    }

    /// Chooses how the Recurse Center says "unauthorized"; at first as the configuration says.
    public func answerUnauthorized(with style: UnauthorizedAnswer) {
        standIns.recurseCenter.access.answerUnauthorized(with: style)
    }

    /// Ends the Recurse Center's personal access tokens.
    public func revokePersonalAccessTokens() {
        standIns.recurseCenter.access.revokePersonalAccessTokens()
    }
}
