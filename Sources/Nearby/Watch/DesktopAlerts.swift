import Beacons
public import DBus
import DesktopServices
import OAuth

/// Alerts as notifications of a Linux desktop (beacons dossier 10.2).
///
/// One notification a person: what is told later about the same person takes its place. A click opens the person's page. Where no
/// desktop listens, an alert goes to the fallback, and the next one tries the desktop again.
public actor DesktopAlerts: Alerts {
    private let addresses: [Address]
    private let application: String
    private let fallback: any Alerts
    private let open: @Sendable (String) async -> Void
    private let options: Connection.Options

    private var connection: Connection?
    private var clicks: Task<Void, Never>?
    private var shown: [UserNumber: DesktopNotification.ID] = [:]
    private var pages: [DesktopNotification.ID: String] = [:]

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
        self.fallback = fallback
        self.open = open
    }

    deinit {
        clicks?.cancel()
        connection?.close()
    }

    public func show(_ alert: Alert) async {
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
        shown[alert.person] = id
        pages[id] = alert.known?.page.flatMap { Self.mayBeOpened($0) ? $0 : nil }
    }

    private func notifications() async throws -> Notifications {
        if let connection, connection.ending == nil { return Notifications(connection, application: application) }
        let connection = try await Connection.open(addresses, options: options)
        self.connection = connection
        let notifications = Notifications(connection, application: application)
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
