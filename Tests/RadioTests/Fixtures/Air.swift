import Beacons
import DBus
import Foundation
import Radio
import Synchronization

/// A private message bus with the air simulator of `Tests/Interop/bluez` on it.
final class Air: Sendable {
    /// The bus's address, as in `DBUS_SYSTEM_BUS_ADDRESS`.
    let address: String
    private let connection: Connection
    private let bus: ChildProcess
    private let simulator: Mutex<ChildProcess?>

    /// Why these tests cannot run here; nil when they can.
    static let obstacle: String? = {
        guard daemon != nil else { return "dbus-daemon is not installed" }
        guard ChildProcess.succeeds("/usr/bin/python3", ["-c", "import dbus, gi.repository.GLib"]) else {
            return "python3-dbus or python3-gi is not installed for /usr/bin/python3"
        }
        return nil
    }()

    private static let daemon = ["/usr/bin/dbus-daemon", "/bin/dbus-daemon", "/usr/local/bin/dbus-daemon"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs `body` with a bus and a simulator, and ends both.
    ///
    /// - Parameters:
    ///   - behaviour: The simulator's options, as in `monitor=silent`; nil starts no simulator.
    ///   - body: The test.
    static func with(_ behaviour: [String]? = [], _ body: (Air) async throws -> Void) async throws {
        let bus = try ChildProcess(daemon ?? "", ["--session", "--nofork", "--print-address=1"])
        defer { bus.end() }
        let address = try await bus.firstLine()
        let connection = try await Connection.open(try Address.list(address))
        let air = Air(address: address, connection: connection, bus: bus)
        defer { air.stop() }
        if let behaviour { try await air.start(behaviour) }
        try await body(air)
    }

    private init(address: String, connection: Connection, bus: ChildProcess) {
        self.address = address
        self.connection = connection
        self.bus = bus
        simulator = Mutex(nil)
    }

    /// Starts the daemon, and waits until it is there.
    func start(_ behaviour: [String] = []) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Interop/bluez/air.py").standardized.path
        let presence = try await connection.presence(of: "org.bluez")
        let child = try ChildProcess(
            "/usr/bin/python3", [script] + behaviour.map { "--" + $0 },
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
        simulator.withLock { $0 = child }
        for try await state in presence {
            if case .present = state { return }
        }
    }

    /// Ends the daemon, as a crash would.
    func stop() {
        simulator.withLock { simulator in
            simulator?.end()
            simulator = nil
        }
    }

    /// Ends the bus itself.
    func stopBus() {
        bus.end()
    }

    /// A radio on this bus. It waits a millisecond before it tries again.
    func radio(
        adapter: String? = nil, switchesOn: Bool = false, methods: [ScanMethod] = BlueZRadio.Options.bluezMethods,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws -> BlueZRadio {
        let time = ScanTime(now: { Air.now }, clock: clock)
        let options = BlueZRadio.Options(
            adapter: adapter, switchesOn: switchesOn, methods: methods, time: time,
            backOff: .init(first: .milliseconds(1), longest: .milliseconds(20)))
        return try BlueZRadio(environment: ["DBUS_SYSTEM_BUS_ADDRESS": address], options: options)
    }

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
    case noOutput
}

/// A program that a test starts.
final class ChildProcess: Sendable {
    private let process: Process
    private let output: Pipe

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process()
        output = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { end() }

    func end() {
        if process.isRunning { process.terminate() }
    }

    /// The first line of what it writes.
    func firstLine() async throws -> String {
        let handle = output.fileHandleForReading
        return try await withCheckedThrowingContinuation { continuation in
            // A thread that may block.
            DispatchQueue.global().async {
                var line: [UInt8] = []
                while let byte = try? handle.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
                    line.append(byte)
                }
                if line.isEmpty {
                    continuation.resume(throwing: AirError.noOutput)
                } else {
                    continuation.resume(returning: String(decoding: line, as: UTF8.self))
                }
            }
        }
    }

    /// Whether a program that ends by itself ends well.
    static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
