import BusFixtures
import DBus
import TestFixtures
import Testing

@Suite(
    "Against dbus-daemon", .heavy, .enabled(if: Tool.areInstalled(.busDaemon), "dbus-daemon is not installed"))
struct BusDaemonTests {
    static let interface: InterfaceName = "org.example.Advertisement1"

    @Test("the bus lets us in, names us and answers")
    func hello() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        #expect(connection.uniqueName.isUnique)
        let driver = connection.object("/org/freedesktop/DBus", of: .bus)
        let names = try await driver.call("ListNames", in: "org.freedesktop.DBus").read([String].self)
        #expect(names.contains(connection.uniqueName.text))
        let identifier = try await driver.call("GetId", in: "org.freedesktop.DBus").read(String.self)
        #expect(identifier.utf8.count == 32)
        let features: [String] = try await driver.property("Features", of: "org.freedesktop.DBus")
        #expect(!features.contains(""))
    }

    @Test("a service without an owner is unknown")
    func serviceUnknown() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let error = await #expect(throws: DBusError.self) {
            try await connection.object("/", of: "org.example.Unknown").call("Ping", in: "org.freedesktop.DBus.Peer")
        }
        guard case .remote(let remote) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(remote.name == .serviceUnknown)
    }

    @Test("a service reads properties back while the call to it is pending (beacons 7.2)")
    func readBack() async throws {
        let bus = try await BusDaemon()
        let service = try await bus.connect()
        let client = try await bus.connect()
        #expect(try await service.requestName("org.example.Daemon"))
        #expect(try await !client.requestName("org.example.Daemon"))
        let manager = ExportedInterface(
            "org.example.Manager1",
            methods: [
                ExportedMethod("Register", takes: [Argument("path", .objectPath)], returns: [Argument("type", .string)])
                {
                    [weak service] call in
                    guard let service, let sender = call.sender else { throw RemoteError(.failed) }
                    let path = try call.arguments.read(ObjectPath.self)
                    let properties = try await service.object(path, of: sender).properties(of: Self.interface)
                    return [try properties["Type"]?.read(String.self).value ?? ""]
                }
            ])
        try service.export([manager], at: "/")
        try client.export([ExportedInterface(Self.interface, properties: [.init("Type", "broadcast")])], at: "/ad")
        let answer = try await client.object("/", of: "org.example.Daemon")
            .call("Register", in: "org.example.Manager1", [.objectPath("/ad")])
        #expect(answer == ["broadcast"])
    }

    @Test("a message of a mebibyte goes there and back")
    func large() async throws {
        let bus = try await BusDaemon()
        let service = try await bus.connect()
        let client = try await bus.connect()
        let bytes = Argument("bytes", .array(.byte))
        try service.export(
            [
                ExportedInterface(
                    "org.example.Echo", methods: [.init("Echo", takes: [bytes], returns: [bytes]) { $0.arguments }])
            ],
            at: "/")
        let value = Value.bytes((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let answer = try await client.object("/", of: service.uniqueName).call("Echo", in: "org.example.Echo", [value])
        #expect(answer == [value])
    }

    @Test("signals of a name come from its owner, and its coming and going is seen")
    func signals() async throws {
        let bus = try await BusDaemon()
        let service = try await bus.connect()
        let client = try await bus.connect()
        var presence = try await client.presence(of: "org.example.Daemon").makeAsyncIterator()
        #expect(try await presence.next() == .absent)
        #expect(try await service.requestName("org.example.Daemon"))
        #expect(try await presence.next() == .present(owner: service.uniqueName))
        var signals = try await client.object("/a", of: "org.example.Daemon").signals(of: "org.example.Thing")
            .makeAsyncIterator()
        let stranger = try await bus.connect()
        let signal = Signal(path: "/a", interface: "org.example.Thing", member: "Seen", arguments: [.int16(-59)])
        try stranger.emit(Signal(path: "/a", interface: "org.example.Thing", member: "Forged"), to: client.uniqueName)
        // The bus has delivered the forgery before it answers this.
        _ = try await stranger.requestName("org.example.Stranger")
        try service.emit(signal)
        let received = try await signals.next()
        #expect(received?.member == "Seen")
        #expect(received?.arguments == [.int16(-59)])
        #expect(received?.sender == service.uniqueName)
        service.close()
        #expect(try await presence.next() == .absent)
    }

    @Test("the end of the bus ends the connection")
    func busEnds() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let signals = try await connection.signals(matching: MatchRule(interface: "org.example.Thing"))
        await bus.stop()
        await #expect(throws: DBusError.connectionLost(reason: "the peer closed the connection")) {
            for try await _ in signals {}
        }
        await #expect(throws: DBusError.self) { try await bus.connect() }
    }
}

@Suite(
    "Against foreign clients", .heavy,
    .enabled(if: Tool.areInstalled(.busDaemon, .gdbus), "dbus-daemon or gdbus is not installed"))
struct ForeignClientTests {
    @Test("gdbus calls, reads and introspects an exported object")
    func gdbus() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        try connection.export([ExportTests.interface()], at: "/org/example/ad")
        let target = [
            "--session", "--dest", connection.uniqueName.text, "--object-path", "/org/example/ad", "--method",
        ]
        let name = ExportTests.advertisement.text
        #expect(try await bus.run(.gdbus, ["call"] + target + [name + ".Add", "4"]) == "(uint32 5,)\n")
        let type = try await bus.run(
            .gdbus, ["call"] + target + ["org.freedesktop.DBus.Properties.Get", name, "Type"])
        #expect(type == "(<'broadcast'>,)\n")
        let text = try await bus.run(.gdbus, ["introspect"] + target.dropLast())
        for line in [
            "interface org.example.Advertisement1 {", "Add(in  u number,",
            "readonly s Type = 'broadcast';", "Found(o path);",
        ] {
            #expect(text.contains(line), "\(text)")
        }
    }

    @Test("a signal that gdbus emits is received")
    func signal() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        var signals = try await connection.signals(matching: MatchRule(interface: "org.example.Thing"))
            .makeAsyncIterator()
        _ = try await bus.run(
            .gdbus,
            [
                "emit", "--session", "--object-path", "/a", "--signal", "org.example.Thing.Seen",
                "{'RSSI': <int16 -59>, 'ManufacturerData': <{uint16 76: <[byte 0x02, 0x15]>}>}",
            ])
        let signal = try #require(try await signals.next())
        let properties = try signal.arguments.read([String: Value].self)
        #expect(try properties["RSSI"]?.read(Int16.self) == -59)
        #expect(try properties["ManufacturerData"]?.read([UInt16: Value].self) == [76: .bytes([2, 21])])
    }

    @Test(
        "busctl walks the tree and reads every property",
        .enabled(if: Tool.areInstalled(.busctl), "busctl is not installed"))
    func busctl() async throws {
        let bus = try await BusDaemon()
        let connection = try await bus.connect()
        let thing = ExportedInterface(
            "org.example.Thing",
            properties: [
                .init(
                    "Patterns",
                    .array(
                        [.structure([.byte(0), .byte(255), .bytes([0x4C, 0])])],
                        of: .structure([.byte, .byte, .array(.byte)])))
            ])
        try connection.export([], at: "/app", isManager: true)
        try connection.export([thing], at: "/app/one")
        let address = "--address=" + bus.addressText
        #expect(
            try await bus.run(.busctl, [address, "--list", "tree", connection.uniqueName.text]).contains("/app/one"))
        let value = try await bus.run(
            .busctl, [address, "get-property", connection.uniqueName.text, "/app/one", "org.example.Thing", "Patterns"])
        #expect(value == "a(yyay) 1 0 255 2 76 0\n")
        let objects = try await bus.run(
            .busctl,
            [
                address, "call", connection.uniqueName.text, "/app", "org.freedesktop.DBus.ObjectManager",
                "GetManagedObjects",
            ])
        #expect(objects.contains(#""/app/one" 1 "org.example.Thing" 1 "Patterns" a(yyay) 1 0 255 2 76 0"#))
        _ = try await bus.run(
            .busctl, [address, "call", connection.uniqueName.text, "/app", "org.freedesktop.DBus.Peer", "Ping"])
    }
}
