import BusFixtures
import DBus
import TestFixtures
import Testing

@testable import DesktopServices

@Suite("Notifications as values")
struct NotificationValueTests {
    static func arguments(
        _ notification: DesktopNotification, _ capabilities: Set<Notifications.Capability> = []
    ) -> [Value] {
        notification.arguments(application: "Example", replacing: nil, capabilities: capabilities)
    }

    @Test("the arguments have the types and places of the specification (beacons 10.2)")
    func signature() {
        var notification = DesktopNotification("Found", body: "Ada Example")
        notification.icon = "dialog-information"
        notification.actions = [.init(key: "default", label: "Open")]
        notification.expiry = .after(.seconds(5))
        let arguments = notification.arguments(application: "Example", replacing: .init(7), capabilities: [.actions])
        #expect(
            arguments == [
                "Example", .uint32(7), "dialog-information", "Found", "Ada Example", .strings(["default", "Open"]),
                .properties(["urgency": .byte(1)]), .int32(5000),
            ])
    }

    @Test("markup is escaped exactly when the server reads it, whatever stands on the brackets")
    func markup() {
        let notification = DesktopNotification("a < b", body: "<b>&\u{338}<\u{338}i>\nx")
        #expect(Self.arguments(notification)[4] == "<b>&\u{338}<\u{338}i>\nx")
        #expect(
            Self.arguments(notification, [.bodyMarkup])[4] == "&lt;b&gt;&amp;\u{338}&lt;\u{338}i&gt;\nx")
        #expect(Self.arguments(notification, [.bodyMarkup])[3] == "a < b")
    }

    @Test("actions go only to a server that shows them")
    func actions() {
        var notification = DesktopNotification("x")
        notification.actions = (0..<20).map { .init(key: "\($0)", label: "Do \($0)") }
        #expect(Self.arguments(notification)[5] == .strings([]))
        #expect(
            Self.arguments(notification, [.actions])[5] == .strings((0..<8).flatMap { ["\($0)", "Do \($0)"] }))
    }

    @Test("control characters are made visible and long texts are cut")
    func harmless() {
        let long = String(repeating: "ä", count: 3000)
        let arguments = Self.arguments(DesktopNotification("a\u{1B}[2J\nb", body: "c\u{0}d\ne\u{202E}f"))
        #expect(arguments[3] == #"a\u{1b}[2J\u{a}b"#)
        #expect(arguments[4] == .string(#"c\u{0}d"# + "\n" + #"e\u{202e}f"#))
        let cut = Self.arguments(DesktopNotification(long, body: long))
        #expect(cut[3] == .string(String(repeating: "ä", count: 200) + "…"))
        #expect(cut[4] == .string(String(repeating: "ä", count: 2000) + "…"))
    }

    @Test(
        "the expiry is in milliseconds, -1 for the server's own and 0 for never",
        arguments: [
            (.serverDefault, -1), (.never, 0), (.after(.milliseconds(1500)), 1500), (.after(.zero), 1),
            (.after(.seconds(-5)), 1), (.after(.seconds(Int64.max)), .max),
        ] as [(DesktopNotification.Expiry, Int32)])
    func expiry(expiry: DesktopNotification.Expiry, milliseconds: Int32) {
        #expect(expiry.milliseconds == milliseconds)
    }

    @Test("hints are sent in their types")
    func hints() {
        var notification = DesktopNotification("x")
        notification.urgency = .critical
        notification.category = "presence.online"
        notification.isTransient = true
        #expect(
            Self.arguments(notification)[6]
                == .properties(["urgency": .byte(2), "category": "presence.online", "transient": true]))
    }

    @Test(
        "a signal is read as what it means, and others are left out",
        arguments: [
            ("NotificationClosed", [.uint32(4), .uint32(1)], .closed(.init(4), .expired)),
            ("NotificationClosed", [.uint32(4), .uint32(2)], .closed(.init(4), .dismissed)),
            ("NotificationClosed", [.uint32(4), .uint32(3)], .closed(.init(4), .closedByCall)),
            ("NotificationClosed", [.uint32(4), .uint32(9)], .closed(.init(4), .other(9))),
            ("ActionInvoked", [.uint32(4), "default"], .actionInvoked(.init(4), key: "default")),
            ("ActionInvoked", [.uint32(4)], nil), ("ActivationToken", [.uint32(4), "x"], nil),
        ] as [(MemberName, [Value], Notifications.Event?)])
    func events(member: MemberName, arguments: [Value], event: Notifications.Event?) {
        let signal = Signal(
            path: Notifications.path, interface: Notifications.interface, member: member, arguments: arguments)
        #expect(Notifications.Event(signal) == event)
    }
}

@Suite(
    "Notifications over a bus", .heavy, .enabled(if: Tool.areInstalled(.busDaemon), "dbus-daemon is not installed"))
struct NotificationBusTests {
    @Test("without a service that is said by its type")
    func noService() async throws {
        let bus = try await BusDaemon()
        let notifications = Notifications(try await bus.connect(), application: "Example")
        await #expect(throws: DesktopServicesError.noNotificationService) {
            try await notifications.show(DesktopNotification("Found"))
        }
    }

    @Test("a notification that is gone can be closed, and other errors are told")
    func closing() async throws {
        let bus = try await BusDaemon()
        let service = try await bus.connect()
        let close = ExportedMethod("CloseNotification", takes: [Argument("id", .uint32)]) { call in
            let isGone = try call.arguments.read(UInt32.self) == 1
            throw RemoteError("org.example.Error.Closing", isGone ? "" : "broken")
        }
        try service.export([ExportedInterface(Notifications.interface, methods: [close])], at: Notifications.path)
        #expect(try await service.requestName(Notifications.name))
        let notifications = Notifications(try await bus.connect(), application: "Example")
        try await notifications.close(.init(1))
        await #expect(
            throws: DesktopServicesError.bus(.remote(RemoteError("org.example.Error.Closing", "broken")))
        ) {
            try await notifications.close(.init(2))
        }
    }

    @Test(
        "a notification is shown, replaced, clicked and closed by another's server (beacons 10.2)",
        .enabled(if: Tool.hasDBusMock, "python3-dbusmock is not installed"))
    func dbusmock() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        var presence = try await connection.presence(of: Notifications.name).makeAsyncIterator()
        #expect(try await presence.next() == .absent)
        let server = try bus.start(
            .python,
            [
                "-m", "dbusmock", "--session", "--template", "notification_daemon", "-p",
                #"{"capabilities": "body body-markup actions"}"#,
            ])
        #expect(try await presence.next() != .absent)
        let notifications = Notifications(connection, application: "Example")
        // The template adds its methods after it has taken the name.
        while try await !connection.object(Notifications.path, of: Notifications.name)
            .call("Introspect", in: "org.freedesktop.DBus.Introspectable").read(String.self).contains("Notify")
        {
            await Task.yield()
        }
        #expect(try await notifications.capabilities() == [.body, .bodyMarkup, .actions])
        var events = try await notifications.events().makeAsyncIterator()
        var notification = DesktopNotification("Found", body: "Ada <b>")
        notification.actions = [.init(key: "default", label: "Open")]
        let first = try await notifications.show(notification)
        let second = try await notifications.show(notification, replacing: first)
        #expect(second == first)
        let mock = connection.object(Notifications.path, of: Notifications.name)
        let calls = try await mock.call("GetMethodCalls", in: "org.freedesktop.DBus.Mock", ["Notify"])
        #expect("\(calls)".contains("Ada &lt;b&gt;"))
        try await mock.call(
            "EmitSignal", in: "org.freedesktop.DBus.Mock",
            [
                Notifications.interface.text.value, "ActionInvoked", "us",
                [Value.uint32(first.number), "default"].value,
            ])
        #expect(try await events.next() == .actionInvoked(first, key: "default"))
        try await notifications.close(first)
        // This server gives the reason 1 where the specification has 3.
        #expect(try await events.next() == .closed(first, .expired))
        server.end()
        #expect(try await presence.next() == .absent)
    }
}
