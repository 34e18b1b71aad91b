#if Desktop && os(Linux)
public import Beacons
package import DBus
import DesktopServices

/// Shows alerts as notifications on a Linux desktop (beacons dossier 10.2).
///
/// There is one notification per person: a later alert about the same person replaces it. A click opens the person's page.
/// Without a desktop, alerts go to the fallback, and the next alert tries the desktop again. A desktop that does not answer
/// within five seconds is skipped for one minute, so that it delays one alert only.
public actor DesktopAlerts: Alerts {
    private let addresses: [Address]
    private let application: String
    private let fallback: any Alerts
    private let photo: @Sendable (UserNumber) async -> [UInt8]?
    private let open: @Sendable (String) async -> Void
    private let options: Connection.Options
    /// The time since initialisation.
    private let elapsed: @Sendable () -> Duration

    private var connection: Connection?
    private var clicks: Task<Void, Never>?
    private var shown: [UserNumber: DesktopNotification.ID] = [:]
    private var pages: [DesktopNotification.ID: String] = [:]
    /// The photos of the latest notifications, which the desktop may read for as long as they are shown.
    private var pictures: [(person: UserNumber, picture: SharedPicture)] = []

    /// The end of the pause after a desktop did not answer.
    private var silence: Duration?

    private static let timeout = Duration.seconds(5)
    private static let retryPause = Duration.seconds(60)

    /// How many notifications can be replaced or clicked; older ones stay on screen unchanged.
    private static let capacity = 512
    private static let maximumPictures = 64

    /// Creates the alerts; connects to the bus at the first alert.
    ///
    /// - Parameters:
    ///   - environment: names the session bus: `DBUS_SESSION_BUS_ADDRESS`, otherwise `bus` in `XDG_RUNTIME_DIR`. Without
    ///     either, there is no desktop.
    ///   - application: the program's name as users know it.
    ///   - fallback: receives alerts when there is no desktop.
    ///   - photo: a person's photo as an image file; nil for none. The desktop reads it from memory: no file has it.
    ///   - open: opens a person's page after a click.
    public init(
        environment: [String: String], application: String, fallback: any Alerts,
        photo: @escaping @Sendable (UserNumber) async -> [UInt8]?, open: @escaping @Sendable (String) async -> Void
    ) {
        let addresses = (try? Address.session(environment: environment)) ?? []
        self.init(on: addresses, application: application, fallback: fallback, photo: photo, open: open)
    }

    /// Creates the alerts on the bus at one of these addresses, with options of the connection.
    package init(
        on addresses: [Address], application: String, options: Connection.Options = .init(), fallback: any Alerts,
        photo: @escaping @Sendable (UserNumber) async -> [UInt8]? = { _ in nil },
        open: @escaping @Sendable (String) async -> Void
    ) {
        self.addresses = addresses
        self.application = application
        self.options = options
        elapsed = options.clock.stopwatch()
        self.fallback = fallback
        self.photo = photo
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
            let notice = AlertNotice(alert)
            var notification = DesktopNotification(notice.title, body: notice.body)
            if notice.showsPhoto { notification.image = await picture(of: alert.person) }
            notification.category = "presence.online"
            if notice.page != nil { notification.actions = [.init(key: "default", label: "Show the profile")] }
            let id = try await notifications.show(notification, replacing: shown[alert.person])
            remember(id, of: alert.person, page: notice.page)
        } catch {
            if case DesktopServicesError.bus(.timeout) = error { silence = elapsed() + Self.retryPause }
            connection?.close()
            connection = nil
            // The notifications shown so far belonged to a desktop that is gone.
            shown = [:]
            pages = [:]
            pictures = []
            await fallback.show(alert)
        }
    }

    public func show(_ crowd: CrowdAlert) async {
        if let silence, elapsed() < silence { return await fallback.show(crowd) }
        do {
            let notice = AlertNotice(crowd)
            _ = try await notifications().show(DesktopNotification(notice.title, body: notice.body))
        } catch {
            if case DesktopServicesError.bus(.timeout) = error { silence = elapsed() + Self.retryPause }
            await fallback.show(crowd)
        }
    }

    /// The path of a person's photo; nil without one.
    private func picture(of person: UserNumber) async -> String? {
        guard let bytes = await photo(person), let picture = SharedPicture(bytes) else { return nil }
        pictures.removeAll { $0.person == person }
        if pictures.count >= Self.maximumPictures { pictures.removeFirst() }
        pictures.append((person, picture))
        return picture.path
    }

    private func remember(_ id: DesktopNotification.ID, of person: UserNumber, page: String?) {
        if shown.count >= Self.capacity {
            shown = [:]
            pages = [:]
        }
        if let earlier = shown.updateValue(id, forKey: person), earlier != id { pages[earlier] = nil }
        pages[id] = page
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
                // The connection is closed; the next alert opens another.
            }
        }
        return notifications
    }

    private func notifications(over connection: Connection) -> Notifications {
        Notifications(connection, application: application, timeout: Self.timeout)
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
}

extension Clock where Duration == Swift.Duration {
    /// A function that measures the time from now on.
    fileprivate func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
#endif
