#if os(Linux)
import Beacons
import BusFixtures
import DBus
import Foundation
import Nearby
import Synchronization
import TestFixtures
import Testing

/// A desktop on a bus of its own: it numbers notifications, keeps what it was asked, and can be clicked on.
private final class Desktop: Sendable {
    struct Shown: Sendable, Equatable {
        let replaced: UInt32
        let summary: String
        let body: String
        let actions: [String]
        let image: String?
    }

    let bus: BusDaemon
    let service: Connection
    private let state = Mutex([Shown]())
    var shown: [Shown] { state.withLock(\.self) }

    init(on bus: BusDaemon) async throws {
        self.bus = bus
        service = try await bus.connect()
        let show = ExportedMethod(
            "Notify",
            takes: [
                Argument("app", .string), Argument("replaces", .uint32), Argument("icon", .string),
                Argument("summary", .string), Argument("body", .string), Argument("actions", .array(.string)),
                Argument("hints", .dictionary(key: .string, value: .variant)), Argument("expiry", .int32),
            ], returns: [Argument("id", .uint32)]
        ) { [weak self] call in
            let arguments = call.arguments
            let hints = try arguments[6].read([String: Value].self)
            let shown = Shown(
                replaced: try arguments[1].read(UInt32.self), summary: try arguments[3].read(String.self),
                body: try arguments[4].read(String.self), actions: try arguments[5].read([String].self),
                image: try hints["image-path"].map { try $0.read(String.self) })
            let number = self?.note(shown) ?? 0
            return [.uint32(shown.replaced == 0 ? number : shown.replaced)]
        }
        let capabilities = ExportedMethod("GetCapabilities", returns: [Argument("names", .array(.string))]) { _ in
            [["body", "body-markup", "actions"].value]
        }
        try service.export(
            [ExportedInterface("org.freedesktop.Notifications", methods: [show, capabilities])],
            at: "/org/freedesktop/Notifications")
        _ = try await service.requestName("org.freedesktop.Notifications")
    }

    private func note(_ shown: Shown) -> UInt32 {
        state.withLock { state in
            state.append(shown)
            return UInt32(state.count)
        }
    }

    func click(_ number: UInt32) throws {
        try service.emit(
            Signal(
                path: "/org/freedesktop/Notifications", interface: "org.freedesktop.Notifications",
                member: "ActionInvoked", arguments: [.uint32(number), "default"]))
    }
}

private final class Board: Alerts {
    private let state = Mutex([Alert]())
    var alerts: [Alert] { state.withLock(\.self) }

    func show(_ alert: Alert) async { state.withLock { $0.append(alert) } }

    func show(_ crowd: CrowdAlert) async {}
}

@Suite(
    "Alerts on the desktop", .heavy, .enabled(if: Tool.areInstalled(.busDaemon), "dbus-daemon is not installed"))
struct DesktopAlertsTests {
    private let ada = Person(name: "Ada <b>Example</b>", batch: "S1'14", page: "https://example.org/ada")
    private static let photo: [UInt8] = [0xFF, 0xD8, 0xFF] + (0..<100).map { UInt8($0) }

    @Test(
        "BE-25, RC-21: an alert has name, batch, photo and a click that opens the page; the next about the same person replaces it"
    )
    func shownAndReplaced() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let (opened, opening) = AsyncStream.makeStream(of: String.self)
        let board = Board()
        let alerts = DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake", fallback: board,
            photo: { $0.value == 36 ? nil : Self.photo }, open: { opening.yield($0) })
        await alerts.show(Alert(person: person(759), known: nil))
        await alerts.show(Alert(person: person(759), known: ada, proximity: .near, trust: .paired, isUpdate: true))
        await alerts.show(Alert(person: person(36), known: nil, trust: .circle))
        let images = desktop.shown.map(\.image)
        // A person who sends a plain number is shown without a photo.
        let first = Desktop.Shown(
            replaced: 0, summary: "Person 759 is near", body: "unverified", actions: [], image: nil)
        let second = Desktop.Shown(
            replaced: 1, summary: "Ada <b>Example</b> is near", body: "S1'14, a few metres away",
            actions: ["default", "Show the profile"], image: images[1])
        #expect(desktop.shown.prefix(2) == [first, second])
        #expect(desktop.shown.last?.replaced == 0 && images[2] == nil)
        // The desktop can read the photo, and no folder has a file with it.
        let address = try #require(images[1].flatMap { URL(string: $0) })
        #expect(FileManager.default.contents(atPath: address.path) == Data(Self.photo))
        #expect(address.path.hasPrefix("/proc/"))
        let shared = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        #expect(!shared.contains { $0.hasPrefix("handshake-") })
        #expect(board.alerts.isEmpty)

        try desktop.click(1)
        var pages = opened.makeAsyncIterator()
        #expect(await pages.next() == "https://example.org/ada")
    }

    @Test(
        "a page that is not of the web is not offered",
        arguments: ["file:///etc/passwd", "javascript:alert(1)", "http://127.0.0.1:80@example.org/", "ada", ""])
    func hostilePages(page: String) async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let alerts = DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake", fallback: Board()
        ) { _ in Issue.record("opened") }
        await alerts.show(Alert(person: person(759), known: Person(name: "Ada", page: page)))
        #expect(desktop.shown.map(\.actions) == [[]])
    }

    @Test("BE-25: without a desktop alerts go to the fallback, and to the desktop when there is one again")
    func fallback() async throws {
        let bus = try await BusDaemon()
        let board = Board()
        let alerts = DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake", fallback: board
        ) { _ in }
        let alert = Alert(person: person(759), known: ada)
        await alerts.show(alert)
        #expect(board.alerts == [alert])
        let desktop = try await Desktop(on: bus)
        await alerts.show(alert)
        #expect(desktop.shown.count == 1)
        #expect(board.alerts.count == 1)
    }

    @Test("a desktop that does not answer delays the alerts once, not each of them, and is asked again a minute later")
    func aDesktopThatHangs() async throws {
        let bus = try await BusDaemon()
        let asked = Mutex(0)
        let service = try await bus.connect()
        let silent = ExportedMethod("GetCapabilities", returns: [Argument("names", .array(.string))]) { _ in
            asked.withLock { $0 += 1 }
            try await waitForCancellation()
            return []
        }
        try service.export(
            [ExportedInterface("org.freedesktop.Notifications", methods: [silent])],
            at: "/org/freedesktop/Notifications")
        _ = try await service.requestName("org.freedesktop.Notifications")
        let board = Board()
        let clock = ImpatientClock()
        let alerts = DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake",
            options: Connection.Options(clock: clock), fallback: board
        ) { _ in }
        for number in 1...5 { await alerts.show(Alert(person: person(number), known: nil)) }
        #expect(board.alerts.map(\.person.value) == [1, 2, 3, 4, 5])
        #expect(clock.timeoutEnded.withLock(\.self) == 1)
        clock.ahead.withLock { $0 = .seconds(61) }
        await alerts.show(Alert(person: person(6), known: nil))
        #expect(clock.timeoutEnded.withLock(\.self) == 2)
        service.close()
    }
}

/// A clock on which five seconds, which an alert waits for a desktop, pass immediately, and all longer times as they do.
private final class ImpatientClock: Clock {
    let timeoutEnded = Mutex(0)
    /// How far ahead of the real time it is.
    let ahead = Mutex(Duration.zero)

    var now: ContinuousClock.Instant { ContinuousClock.now + ahead.withLock(\.self) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        guard now.duration(to: deadline) <= .seconds(5) else {
            return try await Task.sleep(until: deadline, tolerance: tolerance, clock: .continuous)
        }
        timeoutEnded.withLock { $0 += 1 }
    }
}
#endif
