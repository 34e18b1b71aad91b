import AsyncSupport
import Beacons
import BusFixtures
import DBus
import Foundation
import Radio
import Synchronization

/// A private message bus with the air simulator of `Tests/Interop/bluez` on it.
final class Air: Sendable {
    /// The bus's address, as in `DBUS_SYSTEM_BUS_ADDRESS`.
    var address: String { bus.addressText }
    private let connection: Connection
    private let bus: BusDaemon
    private let simulator: Mutex<Child?>

    /// Why these tests cannot run here; nil when they can.
    static let obstacle: String? = {
        guard Tool.areInstalled(.busDaemon, .python) else { return "dbus-daemon or /usr/bin/python3 is not installed" }
        let packages = "/usr/lib/python3/dist-packages/"
        let areThere = ["dbus/__init__.py", "gi/__init__.py"].allSatisfy {
            FileManager.default.fileExists(atPath: packages + $0)
        }
        return areThere ? nil : "python3-dbus or python3-gi is not installed"
    }()

    /// Runs `body` with a bus and a simulator, and ends both.
    ///
    /// - Parameters:
    ///   - behaviour: The simulator's options, as in `monitor=silent`; nil starts no simulator.
    ///   - body: The test.
    static func with(_ behaviour: [String]? = [], _ body: (Air) async throws -> Void) async throws {
        let bus = try await BusDaemon()
        let air = Air(connection: try await bus.connect(), bus: bus)
        do {
            if let behaviour { try await air.start(behaviour) }
            try await body(air)
        } catch {
            await air.end()
            throw error
        }
        await air.end()
    }

    private init(connection: Connection, bus: BusDaemon) {
        self.connection = connection
        self.bus = bus
        simulator = Mutex(nil)
    }

    /// Starts the daemon, and waits until it is there.
    func start(_ behaviour: [String] = []) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Interop/bluez/air.py").standardized.path
        let child = try Child(
            .python, [script] + behaviour.map { "--" + $0 }, environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
        simulator.withLock { $0 = child }
        let line = try await child.firstLine()
        guard line == "ready" else { throw AirError.didNotStart(line) }
    }

    /// Ends the daemon, as a crash would.
    func stop() async {
        await simulator.withLock { simulator in
            defer { simulator = nil }
            return simulator
        }?.stop()
    }

    /// Ends the bus itself, with everything on it.
    func stopBus() async {
        await bus.stop()
    }

    private func end() async {
        await stop()
        await bus.stop()
    }

    #if os(Linux)
    /// A radio on this bus. It waits a millisecond before it tries again.
    ///
    /// - Parameter silence: how long nothing is sent between two identifiers; nil for what the radio's options say.
    func radio(
        adapter: String? = nil, switchesOn: Bool = false, methods: [ScanMethod] = BlueZRadio.Options.bluezMethods,
        clock: any Clock<Duration> = ContinuousClock(), silence: Duration? = .milliseconds(1)
    ) throws -> BlueZRadio {
        let time = ScanTime(now: { Air.now }, clock: clock)
        var options = BlueZRadio.Options(adapter: adapter, switchesOn: switchesOn, methods: methods, time: time)
        if let silence { options.silence = { silence } }
        options.backOff = .init(first: .milliseconds(1), longest: .milliseconds(20))
        return try BlueZRadio(environment: ["DBUS_SYSTEM_BUS_ADDRESS": address], options: options)
    }
    #endif

    /// The time that the radios of these tests have.
    static let now = Timestamp(clampingMicroseconds: 1_767_225_600_000_000)

    // MARK: Control

    @discardableResult
    private func control(_ member: MemberName, _ arguments: [Value] = []) async throws -> [Value] {
        try await connection.call(
            MethodCall(member, in: "org.example.Air1", of: "/", at: "org.bluez", arguments: arguments))
    }

    func sight(_ address: String = "D0:00:00:00:02:F7", rssi: Int16 = -61, data: [UInt8]) async throws {
        try await control("Sight", [address.value, rssi.value, .bytes(data)])
    }

    func lose(_ address: String) async throws { try await control("Lose", [address.value]) }
    func power(_ on: Bool) async throws { try await control("Power", [on.value]) }
    func plug(_ present: Bool) async throws { try await control("Plug", [present.value]) }
    func release() async throws { try await control("Release") }
    func behave(_ name: String, _ value: Value) async throws {
        try await control("Behave", [name.value, .variant(value)])
    }

    var onAir: [[UInt8]] {
        get async throws { try await control("OnAir").read([[UInt8]].self) }
    }

    /// The address and the data of everything that is sent.
    var transmissions: [(address: String, data: [UInt8])] {
        get async throws {
            guard case .array(let entries, _) = try await control("Transmissions").first else { return [] }
            return try entries.map { entry in
                guard case .structure(let fields) = entry else { throw AirError.unexpected }
                return try fields.read(String.self, [UInt8].self)
            }
        }
    }

    /// When advertisements were registered and unregistered, in milliseconds.
    var changes: [(what: String, time: UInt64)] {
        get async throws {
            guard case .array(let entries, _) = try await control("Changes").first else { return [] }
            return try entries.map { entry in
                guard case .structure(let fields) = entry else { throw AirError.unexpected }
                return try fields.read(String.self, UInt64.self)
            }
        }
    }

    /// Where the advertisements are that the daemon has taken.
    func paths() async throws -> [ObjectPath] { try await control("Paths").read([ObjectPath].self) }

    var registrations: UInt32 { get async throws { try await control("Registrations").read(UInt32.self) } }
    var isSearching: Bool { get async throws { try await control("Searching").read(Bool.self) } }
    var monitors: UInt32 { get async throws { try await control("Monitors").read(UInt32.self) } }

    /// Who is on the bus, as a stranger to it: calls a method of another connection.
    func call(_ member: MemberName, in interface: InterfaceName, of path: ObjectPath, at name: BusName) async throws {
        try await connection.call(MethodCall(member, in: interface, of: path, at: name))
    }

    /// Every unique name on the bus.
    func names() async throws -> [String] {
        try await connection.call(
            MethodCall("ListNames", in: "org.freedesktop.DBus", of: "/org/freedesktop/DBus", at: .bus)
        ).read([String].self)
    }

    /// Asks until the answer is yes. The time limit of the test is the deadline.
    func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try Task.checkCancellation() }
    }
}

enum AirError: Error {
    case unexpected
    /// The first line that the simulator printed instead.
    case didNotStart(String)
}
