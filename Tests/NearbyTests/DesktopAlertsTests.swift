#if os(Linux)
import Beacons
import BusFixtures
import DBus
import Foundation
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import Nearby

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
    private let ended = Mutex([UInt32]())
    var shown: [Shown] { state.withLock(\.self) }
    /// Which notifications were closed, in this order.
    var closed: [UInt32] { ended.withLock(\.self) }

    /// - Parameters:
    ///   - bus: where it is.
    ///   - refused: which notifications it refuses to close, with a text.
    init(on bus: BusDaemon, refusing refused: Set<UInt32> = []) async throws {
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
        let close = ExportedMethod("CloseNotification", takes: [Argument("id", .uint32)]) { [weak self] call in
            let number = try call.arguments[0].read(UInt32.self)
            guard !refused.contains(number) else { throw RemoteError("org.example.Error", "no such notification") }
            self?.ended.withLock { $0.append(number) }
            return []
        }
        try service.export(
            [ExportedInterface("org.freedesktop.Notifications", methods: [show, capabilities, close])],
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
            photo: { person, _ in person.value == 36 ? nil : Self.photo }, open: { opening.yield($0) })
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
        let file = try FileManager.default.destinationOfSymbolicLink(atPath: address.path)
        #expect(file.hasPrefix("/dev/shm/handshake-") && file.hasSuffix(" (deleted)"))
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

    /// The alerts of one process that remembers none for others.
    private func alerts(on bus: BusDaemon) throws -> DesktopAlerts {
        DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake", fallback: Board()
        ) { _ in }
    }

    /// The alerts of one process.
    private func alerts(on bus: BusDaemon, _ vault: any Vault) throws -> DesktopAlerts {
        DesktopAlerts(
            on: try Address.list(bus.addressText), application: "Handshake", fallback: Board(),
            notices: ShownNotices(in: vault, community: "c"), photo: { _, _ in Self.photo }, open: { _ in })
    }

    @Test(
        "CI49: what stands on the desktop about who is forgotten is closed, also by another process, and nothing else")
    func withdrawn() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let vault = MemoryVault()
        let watch = try alerts(on: bus, vault)
        for number in [759, 36, 6_700] { await watch.show(Alert(person: person(number), known: ada, trust: .circle)) }
        let stored = StoredPeople(in: vault, community: "c", alerts: try alerts(on: bus, vault))
        #expect(try await stored.forget(person(36)).isEmpty, "it is no record about a person")
        #expect(desktop.closed == [2])
        _ = try await stored.forget(person(36))
        #expect(desktop.closed == [2], "it is closed once")
        // The process that shows them closes what it shows, and the desktop reads the photo no more.
        let photo = try #require(desktop.shown.first?.image.flatMap { URL(string: $0) })
        let file = { try? FileManager.default.destinationOfSymbolicLink(atPath: photo.path) }
        let memory = try #require(file())
        #expect(memory.contains("handshake-"))
        await watch.withdraw([person(759)])
        #expect(desktop.closed == [2, 1])
        #expect(file() != memory)
        #expect(try await stored.forgetEveryone().isEmpty)
        #expect(desktop.closed == [2, 1, 3])
        for kind in VaultKey.Kind.allCases { #expect(try await vault.keys(of: kind).keys == [], "\(kind)") }
    }

    @Test("CI49: a watch that has begun again leaves no notification behind that it cannot replace any more")
    func twoRuns() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let vault = MemoryVault()
        let alert = Alert(person: person(759), known: ada, trust: .circle)
        let runs = [try alerts(on: bus, vault), try alerts(on: bus, vault)]
        for run in runs { await run.show(alert) }
        #expect(desktop.closed == [1])
        await runs[1].show(alert)
        #expect(desktop.shown.map(\.replaced) == [0, 0, 2] && desktop.closed == [1])
        _ = try await StoredPeople(in: vault, community: "c", alerts: try alerts(on: bus, vault)).forget(person(759))
        #expect(desktop.closed == [1, 2])
    }

    @Test("CI49: a notification that is not remembered any more, because there are too many, is closed")
    func tooMany() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let vault = MemoryVault()
        let earlier = try alerts(on: bus, vault)
        await earlier.show(Alert(person: person(1), known: ada, trust: .circle))
        let later = 4_000_000_000.0
        let notices = ShownNotices(in: vault, community: "c") { later }
        for number in 2...ShownNotices.capacity {
            try await notices.note(UInt32(number), of: "another", about: person(number), trust: .circle)
        }
        #expect(desktop.closed.isEmpty)
        let watch = try alerts(on: bus, vault)
        await watch.show(Alert(person: person(1_000), known: ada, trust: .circle))
        #expect(desktop.closed == [1])
        // What is shown last stays, and can be closed.
        await watch.withdraw([person(1_000)])
        #expect(desktop.closed == [1, 2])
    }

    @Test("CI49: the oldest of 513 notifications of one process is closed, and the others can be closed later")
    func tooManyOfOneProcess() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let alerts = try alerts(on: bus)
        // The first one is shown again, so that the second is the oldest.
        for number in Array(1...512) + [1, 513] { await alerts.show(Alert(person: person(number), known: nil)) }
        #expect(desktop.closed == [2])
        await alerts.withdrawAll()
        let closed = desktop.closed
        #expect(closed.count == 513 && Set(closed).count == 513)
    }

    @Test("CI47: of too many notifications of one process, one about a number that any device can send is closed")
    func tooManyUnverified() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let alerts = try alerts(on: bus)
        await alerts.show(Alert(person: person(1), known: ada, trust: .paired))
        await alerts.show(Alert(person: person(2), known: ada, trust: .circle))
        for number in 3...514 { await alerts.show(Alert(person: person(number), known: nil)) }
        #expect(desktop.closed == [3, 4])
    }

    @Test("CI49: a notification that cannot be closed does not keep the others open")
    func refused() async throws {
        let bus = try await BusDaemon()
        // Half of twelve: they are closed in no order.
        let desktop = try await Desktop(on: bus, refusing: [1, 3, 5, 7, 9, 11])
        let vault = MemoryVault()
        let watch = try alerts(on: bus, vault)
        for number in 1...12 { await watch.show(Alert(person: person(number), known: ada, trust: .circle)) }
        _ = try await StoredPeople(in: vault, community: "c", alerts: try alerts(on: bus, vault)).forgetEveryone()
        #expect(desktop.closed.sorted() == [2, 4, 6, 8, 10, 12])
    }

    @Test("CI49: numbers of notifications are those of one desktop: a later one's with the same numbers stay")
    func anotherDesktop() async throws {
        let bus = try await BusDaemon()
        let vault = MemoryVault()
        let desktop = try await Desktop(on: bus)
        let notices = ShownNotices(in: vault, community: "c")
        try await notices.note(1, of: "0123456789abcdef :1.7", about: person(36))
        await (try alerts(on: bus, vault)).show(Alert(person: person(759), known: nil))
        let stored = StoredPeople(in: vault, community: "c", alerts: try alerts(on: bus, vault))
        _ = try await stored.forget(person(36))
        #expect(desktop.closed.isEmpty)
        #expect(try await notices.people(before: .infinity) == [person(759)])
        _ = try await stored.forget(person(759))
        #expect(desktop.closed == [1])
    }

    @Test("CI49: a notification that a watch shows after everyone was forgotten is closed immediately")
    func afterForgetting() async throws {
        let bus = try await BusDaemon()
        let desktop = try await Desktop(on: bus)
        let vault = MemoryVault()
        let watch = try alerts(on: bus, try await PeopleVault.open(vault, community: "c"))
        _ = try await StoredPeople(in: vault, community: "c").forgetEveryone()
        await watch.show(Alert(person: person(36), known: ada))
        #expect(desktop.shown.count == 1 && desktop.closed == [1])
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
