import Synchronization
import TestFixtures
import Testing

@testable import DBus

@Suite("Exported objects", .heavy)
struct ExportTests {
    static let advertisement: InterfaceName = "org.example.Advertisement1"

    /// An object in the manner of a BlueZ advertisement (beacons 7.2), which records its calls.
    static func interface(_ log: Log = Log()) -> ExportedInterface {
        ExportedInterface(
            advertisement,
            methods: [
                ExportedMethod("Release") { _ in
                    log.add("Release")
                    return []
                },
                ExportedMethod("Add", takes: [Argument("number", .uint32)], returns: [Argument("sum", .uint32)]) {
                    call in
                    let number = try call.arguments.read(UInt32.self)
                    log.add("Add \(number)")
                    return [.uint32(number + 1)]
                },
                ExportedMethod("Refuse") { _ in throw RemoteError("org.example.Error.No", "no") },
                ExportedMethod("Break") { _ in throw DBusError.unsupported(feature: "secret detail") },
                ExportedMethod("Lie", returns: [Argument("number", .uint32)]) { _ in ["text"] },
            ],
            properties: [
                ExportedProperty("Type", "broadcast"),
                ExportedProperty("ManufacturerData", [UInt16(0x004C): Value.bytes([2, 21])].value),
            ],
            signals: [ExportedSignal("Found", [Argument("path", .objectPath)])])
    }

    final class Log: Sendable {
        private let state = Mutex([String]())
        var lines: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    static func ask(
        _ peer: ScriptedPeer, _ member: MemberName, in interface: InterfaceName? = advertisement,
        of path: ObjectPath = "/ad",
        _ body: [Value] = []
    ) async throws -> Message {
        try peer.send(.call(path: path, interface: interface, member: member), body, sender: ":1.9")
        return try await peer.next()
    }

    @Test("properties are read back while the call that announced them is pending (beacons 7.2)")
    func readBack() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/ad")
        let registration = Task {
            try await connection.call(
                MethodCall(
                    "RegisterAdvertisement", in: "org.bluez.LEAdvertisingManager1", of: "/org/bluez/hci0",
                    at: "org.bluez", arguments: [.objectPath("/ad"), .properties([:])]))
        }
        let call = try await peer.next()
        let answer = try await Self.ask(peer, "GetAll", in: .properties, ["org.example.Broken"])
        #expect(answer.content == .error(name: .unknownInterface, replyTo: 1002))
        let type = try await Self.ask(peer, "Get", in: .properties, [Self.advertisement.text.value, "Type"])
        #expect(type.body == [.variant("broadcast")])
        #expect(type.destination == ":1.9")
        try peer.reply(to: call)
        #expect(try await registration.value == [])
    }

    @Test(
        "a call is answered by what the object has",
        arguments: [
            (.init("Add", [.uint32(4)]), .success([.uint32(5)])),
            (.init("Add", [.uint32(4)], in: nil), .success([.uint32(5)])),
            (.init("Add", ["4"]), .failure(.invalidArguments)), (.init("Add"), .failure(.invalidArguments)),
            (.init("Refuse"), .failure("org.example.Error.No")), (.init("Break"), .failure(.failed)),
            (.init("Lie"), .failure(.failed)), (.init("Nothing"), .failure(.unknownMethod)),
            (.init("Nothing", in: nil), .failure(.unknownMethod)),
            (.init("Add", in: "org.example.Other"), .failure(.unknownInterface)),
            (.init("Add", of: "/other"), .failure(.unknownObject)),
            (.init("Ping", in: .peer, of: "/anything"), .success([])),
            (.init("Pong", in: .peer), .failure(.unknownMethod)),
            (.init("GetManagedObjects", in: .objectManager), .failure(.unknownInterface)),
            (.init("Get", [advertisement.text.value, "Type"], in: .properties), .success([.variant("broadcast")])),
            (.init("Get", ["", "Type"], in: .properties), .success([.variant("broadcast")])),
            (.init("Get", [advertisement.text.value, "Nothing"], in: .properties), .failure(.unknownProperty)),
            (.init("Get", ["not a name", "Type"], in: .properties), .failure(.unknownInterface)),
            (.init("Get", ["Type"], in: .properties), .failure(.invalidArguments)),
            (.init("Nothing", in: .properties), .failure(.unknownMethod)),
            (
                .init("Set", [advertisement.text.value, "Type", .variant("x")], in: .properties),
                .failure(.propertyReadOnly)
            ),
        ] as [(Question, Expected)])
    func answers(question: Question, expected: Expected) async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/ad")
        let answer = try await Self.ask(
            peer, question.member, in: question.interface, of: question.path, question.arguments)
        switch (expected, answer.content) {
        case (.success(let body), .reply): #expect(answer.body == body)
        case (.failure(let name), .error(let found, _)):
            #expect(name == found)
            #expect(!"\(answer.body)".contains("secret detail"))
        default: Issue.record("\(answer.content)")
        }
    }

    struct Question: Sendable, CustomTestStringConvertible {
        let member: MemberName
        let arguments: [Value]
        let interface: InterfaceName?
        let path: ObjectPath

        init(
            _ member: MemberName, _ arguments: [Value] = [], in interface: InterfaceName? = advertisement,
            of path: ObjectPath = "/ad"
        ) {
            self.member = member
            self.arguments = arguments
            self.interface = interface
            self.path = path
        }

        var testDescription: String { "\(interface?.text ?? "").\(member) of \(path) with \(arguments.count)" }
    }

    enum Expected: Sendable {
        case success([Value])
        case failure(ErrorName)
    }

    @Test("calls of one object run in the order in which they came")
    func order() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let log = Log()
        try connection.export([Self.interface(log)], at: "/ad")
        for number in UInt32(0)..<50 {
            try peer.send(.call(path: "/ad", interface: Self.advertisement, member: "Add"), [.uint32(number)])
        }
        for _ in 0..<50 { _ = try await peer.next() }
        #expect(log.lines == (0..<50).map { "Add \($0)" })
    }

    @Test("a handler that hangs does not keep other objects from answering, and too many calls are refused")
    func queue() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let hanging = ExportedInterface(
            "org.example.Slow",
            methods: [
                ExportedMethod("Hang") { _ in
                    entering.yield()
                    try await waitForCancellation()
                    return []
                }
            ])
        try connection.export([hanging], at: "/slow")
        try connection.export([Self.interface()], at: "/ad")
        let hang = Message.Content.call(path: "/slow", interface: "org.example.Slow", member: "Hang")
        try peer.send(hang)
        for await _ in entered { break }
        for _ in 0..<ExportedObject.callLimit { try peer.send(hang) }
        #expect(try await Self.ask(peer, "Add", [.uint32(1)]).body == [.uint32(2)])
        try peer.send(hang)
        guard case .error(.limitsExceeded, _) = try await peer.next().content else {
            Issue.record("a call too many was queued")
            return
        }
    }

    @Test("a call that wants no answer gets none")
    func noReply() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/ad")
        var silent = Message(
            .call(path: "/ad", interface: Self.advertisement, member: "Nothing"), serial: 1, flags: .noReplyExpected)
        silent.sender = ":1.9"
        try peer.send(raw: silent.encoded())
        let answer = try await Self.ask(peer, "Add", [.uint32(1)])
        #expect(answer.body == [.uint32(2)])
    }

    @Test("a call with file descriptors is refused politely")
    func descriptors() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/ad")
        var call = Message(
            .call(path: "/ad", interface: Self.advertisement, member: "Take"), serial: 1,
            body: [.unixDescriptor(index: 0)])
        call.descriptorCount = 1
        try peer.send(raw: call.encoded())
        #expect(try await peer.next().content == .error(name: .notSupported, replyTo: 1))
    }

    @Test("a withdrawn object is gone, and its running call is cancelled")
    func withdraw() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let (ended, ending) = AsyncStream.makeStream(of: Bool.self)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let interface = ExportedInterface(
            "org.example.Slow",
            methods: [
                ExportedMethod("Hang") { _ in
                    entering.yield()
                    try? await waitForCancellation()
                    ending.yield(Task.isCancelled)
                    return []
                }
            ])
        try connection.export([interface], at: "/slow")
        try peer.send(.call(path: "/slow", interface: "org.example.Slow", member: "Hang"))
        for await _ in entered { break }
        try connection.withdraw("/slow")
        try connection.withdraw("/slow")
        for await isCancelled in ended {
            #expect(isCancelled)
            break
        }
        _ = try await peer.next()
        let answer = try await Self.ask(peer, "Hang", in: "org.example.Slow", of: "/slow")
        guard case .error(.unknownObject, _) = answer.content else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test("what clashes is not exported")
    func invalid() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/ad")
        let method = ExportedMethod("M") { _ in [] }
        let clashes: [[ExportedInterface]] = [
            [Self.interface()], [ExportedInterface(.peer)], [ExportedInterface("a.b"), ExportedInterface("a.b")],
            [ExportedInterface("a.b", methods: [method, method])],
            [ExportedInterface("a.b", properties: [.init("P", "x"), .init("P", "y")])],
            [ExportedInterface("a.b", properties: [.init("P", .structure([]))])],
            [ExportedInterface("a.b", signals: [.init("S", [Argument("a", .structure([]))])])],
        ]
        for (number, interfaces) in clashes.enumerated() {
            #expect(throws: DBusError.self, "\(number)") {
                try connection.export(interfaces, at: number == 0 ? "/ad" : "/other")
            }
        }
        _ = peer
    }

    @Test("a manager tells of the objects below it, and of those that come and go")
    func manager() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([], at: "/app", isManager: true)
        let thing = ExportedInterface("org.example.Thing", properties: [.init("Type", "or_patterns")])
        try connection.export([thing], at: "/app/one")
        let added = try await peer.next()
        #expect(added.content == .signal(path: "/app", interface: .objectManager, member: "InterfacesAdded"))
        let tree: [String: [String: Value]] = ["org.example.Thing": ["Type": "or_patterns"]]
        #expect(added.body == [.objectPath("/app/one"), tree.value])
        let answer = try await Self.ask(peer, "GetManagedObjects", in: .objectManager, of: "/app")
        let managed = try answer.body.read([ObjectPath: [String: [String: Value]]].self)
        #expect(managed == ["/app/one": tree])
        try connection.withdraw("/app/one")
        let removed = try await peer.next()
        #expect(removed.content == .signal(path: "/app", interface: .objectManager, member: "InterfacesRemoved"))
        #expect(removed.body == [.objectPath("/app/one"), .strings(["org.example.Thing"])])
    }

    @Test("paths on the way to an object can be walked")
    func introspection() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        try connection.export([Self.interface()], at: "/org/example/ad")
        let root = try await Self.ask(peer, "Introspect", in: .introspectable, of: "/")
        #expect(try root.body.read(String.self).contains(#"<node name="org"/>"#))
        let way = try await Self.ask(peer, "Introspect", in: .introspectable, of: "/org/example")
        #expect(try way.body.read(String.self).contains(#"<node name="ad"/>"#))
        let object = try await Self.ask(peer, "Introspect", in: .introspectable, of: "/org/example/ad")
        let text = try object.body.read(String.self)
        #expect(text.contains(#"<interface name="org.example.Advertisement1">"#))
        #expect(text.contains(#"<arg name="number" type="u" direction="in"/>"#))
        let elsewhere = try await Self.ask(peer, "Introspect", in: .introspectable, of: "/com")
        guard case .error(.unknownObject, _) = elsewhere.content else {
            Issue.record("\(elsewhere)")
            return
        }
    }
}
