#if Desktop && os(Linux)
public import Beacons
public import Circles
package import DBus
import DesktopServices

/// Shows alerts as notifications on a Linux desktop (beacons dossier 10.2).
///
/// There is one notification per person: a later alert about the same person replaces it. A click opens the person's page.
/// Without a desktop, alerts go to the fallback, and the next alert tries the desktop again. A desktop that does not answer
/// within five seconds is skipped for one minute, so that it delays one alert only. What is shown about a person who is forgotten
/// is closed, also by another process: give the alerts to ``StoredPeople`` and ``CircleEnvironment``.
public actor DesktopAlerts: Alerts {
    private let addresses: [Address]
    private let application: String
    private let fallback: any Alerts
    private let photo: @Sendable (UserNumber, CircleScope?) async -> [UInt8]?
    private let open: @Sendable (String) async -> Void
    /// Which notifications are shown, for other processes.
    private let notices: ShownNotices?
    private let options: Connection.Options
    /// The time since initialisation.
    private let elapsed: @Sendable () -> Duration

    private var connection: Connection?
    private var clicks: Task<Void, Never>?
    private var shown: [UserNumber: DesktopNotification.ID] = [:]
    private var pages: [DesktopNotification.ID: String] = [:]
    /// The people about whom notifications are shown, in the order of the latest ones.
    private var order: [(person: UserNumber, trust: Trust)] = []
    /// The photos of the latest notifications, which the desktop may read for as long as they are shown.
    private var pictures: [(person: UserNumber, picture: SharedPicture)] = []

    /// The end of the pause after a desktop did not answer.
    private var silence: Duration?

    private static let timeout = Duration.seconds(5)
    private static let retryPause = Duration.seconds(60)

    /// How many notifications can be replaced, clicked or withdrawn; of those with the least trust the oldest is closed for another one.
    private static let capacity = 512
    private static let maximumPictures = 64

    /// Creates the alerts; connects to the bus at the first alert.
    ///
    /// - Parameters:
    ///   - environment: names the session bus: `DBUS_SESSION_BUS_ADDRESS`, otherwise `bus` in `XDG_RUNTIME_DIR`. Without
    ///     either, there is no desktop.
    ///   - application: the program's name as users know it.
    ///   - fallback: receives alerts when there is no desktop.
    ///   - notices: remembers which notifications are shown. In a ``PeopleVault`` a notification that comes after everyone was
    ///     forgotten is closed immediately.
    ///   - photo: a person's photo as an image file, as the circle has it whose keys recognised the person; nil for none. The desktop
    ///     reads it from memory: no file has it.
    ///   - open: opens a person's page after a click.
    public init(
        environment: [String: String], application: String, fallback: any Alerts, notices: ShownNotices? = nil,
        photo: @escaping @Sendable (UserNumber, CircleScope?) async -> [UInt8]? = { _, _ in nil },
        open: @escaping @Sendable (String) async -> Void = { _ in }
    ) {
        let addresses = (try? Address.session(environment: environment)) ?? []
        self.init(
            on: addresses, application: application, fallback: fallback, notices: notices, photo: photo, open: open)
    }

    /// Creates the alerts on the bus at one of these addresses, with options of the connection.
    package init(
        on addresses: [Address], application: String, options: Connection.Options = .init(), fallback: any Alerts,
        notices: ShownNotices? = nil,
        photo: @escaping @Sendable (UserNumber, CircleScope?) async -> [UInt8]? = { _, _ in nil },
        open: @escaping @Sendable (String) async -> Void
    ) {
        self.addresses = addresses
        self.application = application
        self.options = options
        elapsed = options.clock.stopwatch()
        self.fallback = fallback
        self.notices = notices
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
            if notice.showsPhoto { notification.image = await picture(of: alert) }
            notification.category = "presence.online"
            if notice.page != nil { notification.actions = [.init(key: "default", label: "Show the profile")] }
            let id = try await notifications.show(notification, replacing: shown[alert.person])
            await remember(id, of: alert, page: notice.page)
            await note(id, of: alert)
        } catch {
            if case DesktopServicesError.bus(.timeout) = error { silence = elapsed() + Self.retryPause }
            connection?.close()
            connection = nil
            // The notifications shown so far belonged to a desktop that is gone.
            shown = [:]
            order = []
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

    public func withdraw(_ people: Set<UserNumber>) async {
        let ids = people.compactMap { shown.removeValue(forKey: $0) }
        order.removeAll { people.contains($0.person) }
        pictures.removeAll { people.contains($0.person) }
        // What cannot be read is closed by the user.
        await close(ids, (try? await notices?.take { person, _ in people.contains(person) }) ?? [])
    }

    public func withdrawAll() async {
        let ids = Array(shown.values)
        (shown, order, pictures) = ([:], [], [])
        await close(ids, (try? await notices?.take()) ?? [])
    }

    /// Closes notifications of this connection's desktop, and those of the same desktop that another process showed.
    private func close(_ ids: [DesktopNotification.ID], _ stored: [ShownNotices.Notice]) async {
        for id in ids { pages[id] = nil }
        guard !ids.isEmpty || !stored.isEmpty else { return }
        do {
            let notifications = try await notifications()
            var numbers = Set(ids.map(\.number))
            if let desktop = try await desktop() {
                numbers.formUnion(stored.filter { $0.desktop == desktop }.map(\.id))
            }
            for number in numbers {
                do {
                    try await notifications.close(DesktopNotification.ID(number))
                } catch DesktopServicesError.bus(.remote) {
                    // This one is closed already; the others may not be.
                }
            }
        } catch {
            // Without a desktop nothing is shown.
            if case DesktopServicesError.bus(.timeout) = error { silence = elapsed() + Self.retryPause }
        }
    }

    /// Remembers a notification for other processes. One that was shown after everyone was forgotten is closed, and so are an
    /// earlier one about the person that this process could not replace (another process, or another run, has shown it), and the
    /// one for which there is no place any more.
    private func note(_ id: DesktopNotification.ID, of alert: Alert) async {
        guard let notices else { return }
        do {
            guard let desktop = try await desktop() else { return }
            let dropped = try await notices.note(id.number, of: desktop, about: alert.person, trust: alert.trust)
            await close([], dropped.filter { $0.id != id.number })
        } catch NearbyError.everyoneForgotten {
            await withdraw([alert.person])
        } catch {
            // It is closed by the user, or by this process.
        }
    }

    /// The desktop's connection to its bus, of which there is no other one: its name there, and the bus's.
    private func desktop() async throws -> String? {
        guard let connection else { return nil }
        let bus = connection.object("/org/freedesktop/DBus", of: "org.freedesktop.DBus")
        let name = try await bus.call("GetNameOwner", in: "org.freedesktop.DBus", ["org.freedesktop.Notifications"])
        let id = try await bus.call("GetId", in: "org.freedesktop.DBus")
        return try "\(id.read(String.self)) \(name.read(String.self))"
    }

    /// The path of a person's photo; nil without one.
    private func picture(of alert: Alert) async -> String? {
        let person = alert.person
        guard let bytes = await photo(person, alert.circle), let picture = SharedPicture(bytes) else { return nil }
        pictures.removeAll { $0.person == person }
        if pictures.count >= Self.maximumPictures { pictures.removeFirst() }
        pictures.append((person, picture))
        return picture.path
    }

    /// Remembers a notification to replace, click or withdraw it. What is dropped for it is closed: nothing could close it later.
    private func remember(_ id: DesktopNotification.ID, of alert: Alert, page: String?) async {
        let person = alert.person
        if let earlier = shown.updateValue(id, forKey: person), earlier != id { pages[earlier] = nil }
        pages[id] = page
        order.removeAll { $0.person == person }
        // The first of those with the least trust. The new one stays: the next number that any device can send takes its place.
        let oldest = order.min { $0.trust < $1.trust }
        order.append((person, alert.trust))
        if shown.count > Self.capacity, let oldest { await withdraw([oldest.person]) }
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
            // The person's next notification is a new one, and no one reads the photo any more.
            let person = shown.first { $0.value == id }?.key
            shown = shown.filter { $0.value != id }
            order.removeAll { $0.person == person }
            pages[id] = nil
            pictures.removeAll { $0.person == person }
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
