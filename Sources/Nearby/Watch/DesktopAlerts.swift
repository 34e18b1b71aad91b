#if Desktop && os(Linux)
import Beacons
public import DBus
import DesktopServices
import OAuth

/// Alerts as notifications of a Linux desktop (beacons dossier 10.2).
///
/// One notification a person: what is told later about the same person takes its place. A click opens the person's page. Where no
/// desktop listens, an alert goes to the fallback, and the next one tries the desktop again. One that does not answer within
/// five seconds is not tried again for a minute, so that it delays no more than one alert.
public actor DesktopAlerts: Alerts {
    private let addresses: [Address]
    private let application: String
    private let fallback: any Alerts
    private let open: @Sendable (String) async -> Void
    private let options: Connection.Options
    /// The time since this was made.
    private let elapsed: @Sendable () -> Duration

    private var connection: Connection?
    private var clicks: Task<Void, Never>?
    private var shown: [UserNumber: DesktopNotification.ID] = [:]
    private var pages: [DesktopNotification.ID: String] = [:]

    /// Until when a desktop that did not answer is left alone.
    private var silence: Duration?

    private static let patience = Duration.seconds(5)
    private static let silencePause = Duration.seconds(60)

    /// How many people's notifications can still be replaced or clicked on; older ones stay as they are.
    private static let capacity = 512

    /// Prepares alerts; nothing is asked of the bus before the first.
    ///
    /// - Parameters:
    ///   - addresses: the session's bus.
    ///   - application: the program's name as users know it.
    ///   - options: how the bus is reached.
    ///   - fallback: where alerts go when there is no desktop.
    ///   - open: opens a person's page after a click.
    public init(
        on addresses: [Address], application: String, options: Connection.Options = .init(), fallback: any Alerts,
        open: @escaping @Sendable (String) async -> Void
    ) {
        self.addresses = addresses
        self.application = application
        self.options = options
        elapsed = options.clock.stopwatch()
        self.fallback = fallback
        self.open = open
    }

    deinit {
        clicks?.cancel()
        connection?.close()
    }

    public func show(_ alert: Alert) async {
        if let silence, elapsed() < silence { return await fallback.show(alert) }
        do {
            let notifications = try await notifications()
            var notification = DesktopNotification(alert.title, body: alert.body ?? "")
            notification.image = alert.known?.photo
            notification.category = "presence.online"
            if let page = alert.known?.page, Self.mayBeOpened(page) {
                notification.actions = [.init(key: "default", label: "Show the profile")]
            }
            let id = try await notifications.show(notification, replacing: shown[alert.person])
            remember(id, of: alert)
        } catch {
            if case DesktopServicesError.bus(.timeout) = error { silence = elapsed() + Self.silencePause }
            connection?.close()
            connection = nil
            // The notifications that were shown belong to a desktop that is gone.
            shown = [:]
            pages = [:]
            await fallback.show(alert)
        }
    }

    private func remember(_ id: DesktopNotification.ID, of alert: Alert) {
        if shown.count >= Self.capacity {
            shown = [:]
            pages = [:]
        }
        if let earlier = shown.updateValue(id, forKey: alert.person), earlier != id { pages[earlier] = nil }
        pages[id] = alert.known?.page.flatMap { Self.mayBeOpened($0) ? $0 : nil }
    }

    private func notifications() async throws -> Notifications {
        if let connection, connection.ending == nil { return notifications(over: connection) }
        let connection = try await Connection.open(addresses, options: options)
        self.connection = connection
        let notifications = notifications(over: connection)
        let events = try await notifications.events()
        clicks?.cancel()
        clicks = Task { [weak self] in
            do {
                for try await event in events { await self?.note(event) }
            } catch {
                // The bus is gone; the next alert opens it anew.
            }
        }
        return notifications
    }

    private func notifications(over connection: Connection) -> Notifications {
        Notifications(connection, application: application, timeout: Self.patience)
    }

    private func note(_ event: Notifications.Event) async {
        switch event {
        case .closed(let id, _):
            // The person's next notification is a new one.
            shown = shown.filter { $0.value != id }
            pages[id] = nil
        case .actionInvoked(let id, key: "default"):
            if let page = pages[id] { await open(page) }
        case .actionInvoked: break
        }
    }

    /// A page comes from a service: only the web is opened, never a file or another program.
    private static func mayBeOpened(_ page: String) -> Bool {
        (try? EndpointURL(page, security: .allowingInsecureLoopback)) != nil
    }
}

extension Clock where Duration == Swift.Duration {
    /// Measures the time from now on.
    fileprivate func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
#endif
