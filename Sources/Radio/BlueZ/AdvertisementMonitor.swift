#if Desktop && os(Linux)
import Beacons
import DBus
import AsyncSupport
import Synchronization

/// A passive scan: BlueZ reports packets that match a pattern (dossier 7.2, passive scan).
///
/// A class, because BlueZ's calls and the scan share it.
final class AdvertisementMonitor: Sendable {
    /// BlueZ's response to the registration.
    private enum Verdict: Sendable {
        case activated, released
    }

    /// Without an activation in this time the monitor counts as unsupported: old kernels accept the registration and do
    /// nothing (dossier 7.2, passive scan 4).
    static let activationTimeout = Duration.seconds(2)

    private static let count = Atomic<Int>(0)

    private let adapter: ReadyAdapter
    private let interest: ScanInterest
    private let clock: any Clock<Duration>
    private let number: Int
    private let verdicts: AsyncStream<Verdict>
    private let announce: AsyncStream<Verdict>.Continuation

    init(adapter: ReadyAdapter, interest: ScanInterest, clock: any Clock<Duration>) {
        self.adapter = adapter
        self.interest = interest
        self.clock = clock
        number = Self.count.add(1, ordering: .relaxed).newValue
        (verdicts, announce) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16))
    }

    /// Registers the monitor and waits for its activation.
    ///
    /// The object is exported after the registration: some daemons query the objects immediately, and some only process
    /// `InterfacesAdded`; in this order both find it (dossier 7.2, passive scan 3).
    ///
    /// - Throws: ``RadioError/notSupported(feature:)`` when there is no monitor, it cannot match the interest, or it is not
    ///   activated; what a call throws.
    func start() async throws {
        guard adapter.has(.monitorManager) else {
            throw RadioError.notSupported(feature: "the monitor (bluetoothd runs without --experimental)")
        }
        guard adapter.monitorTypes.contains("or_patterns") else {
            throw RadioError.notSupported(feature: "a monitor of patterns")
        }
        guard !interest.patterns.isEmpty else {
            throw RadioError.notSupported(feature: "a monitor of everything")
        }
        let root = try path()
        try adapter.connection.export([], at: root, isManager: true)
        try await adapter.call("RegisterMonitor", in: .monitorManager, [root.value])
        let groups = groups
        for (path, patterns) in zip(try paths(), groups) {
            try adapter.connection.export([interface(patterns)], at: path)
        }
        let verdict = try await within(Self.activationTimeout, on: clock) { [verdicts] in
            var active = 0
            for await verdict in verdicts {
                guard verdict == .activated else { return false }
                active += 1
                if active == groups.count { return true }
            }
            return false
        }
        switch verdict {
        case true?: return
        case false? where !Task.isCancelled:
            throw RadioError.notSupported(feature: "the monitor (the kernel rejected it)")
        default:
            try Task.checkCancellation()
            throw RadioError.notSupported(feature: "the monitor (it was not activated in 2 s)")
        }
    }

    /// The patterns by monitor: one of the kernel's takes 16 (circles dossier 2).
    private var groups: [[ScanInterest.Pattern]] {
        stride(from: 0, to: interest.patterns.count, by: ScanInterest.maximumOfMonitor).map { start in
            Array(interest.patterns[start...].prefix(ScanInterest.maximumOfMonitor))
        }
    }

    private func paths() throws(DBusError) -> [ObjectPath] {
        let root = try path()
        return try groups.indices.map { index throws(DBusError) in try root.appending("patterns\(index)") }
    }

    /// Waits until BlueZ releases the monitor; never returns.
    ///
    /// - Throws: ``RadioError/lost(reason:)`` when BlueZ releases the monitor; `CancellationError`.
    func waitForRelease() async throws {
        for await verdict in verdicts where verdict == .released {
            throw RadioError.lost(reason: "BlueZ released the monitor")
        }
        try Task.checkCancellation()
    }

    /// Unregisters the monitor. Idempotent.
    func stop() {
        guard let root = try? path() else { return }
        adapter.order("UnregisterMonitor", in: .monitorManager, [root.value])
        for path in (try? paths()) ?? [] { try? adapter.connection.withdraw(path) }
        try? adapter.connection.withdraw(root)
    }

    private func path() throws(DBusError) -> ObjectPath {
        try ObjectPath("/org/handshake/monitor\(number)")
    }

    private func interface(_ patterns: [ScanInterest.Pattern]) -> ExportedInterface {
        let patterns = patterns.map { pattern in
            Value.structure([.byte(pattern.offset), .byte(pattern.type.rawValue), .bytes(pattern.bytes)])
        }
        let pattern = ValueType.structure([.byte, .byte, .array(.byte)])
        return ExportedInterface(
            .monitor,
            methods: [
                method("Activate") { [announce] _ in announce.yield(.activated) },
                method("Release") { [announce] _ in announce.yield(.released) },
                method("DeviceFound", takes: [Argument("device", .objectPath)]) { [adapter] call in
                    await Self.found(try call.arguments.read(ObjectPath.self), adapter)
                },
                method("DeviceLost", takes: [Argument("device", .objectPath)]) { [adapter] call in
                    adapter.view.lost(try call.arguments.read(ObjectPath.self))
                },
            ],
            properties: [
                ExportedProperty("Type", "or_patterns"),
                ExportedProperty("Patterns", .array(patterns, of: pattern)),
            ])
    }

    /// A method that only the daemon may call; calls from other connections are rejected.
    private func method(
        _ name: MemberName, takes: [Argument] = [], _ body: @escaping @Sendable (IncomingCall) async throws -> Void
    ) -> ExportedMethod {
        ExportedMethod(name, takes: takes) { [owner = adapter.owner] call in
            guard call.sender == owner else { throw RemoteError(.accessDenied, "only BlueZ may call this") }
            try await body(call)
            return []
        }
    }

    private static func found(_ path: ObjectPath, _ adapter: ReadyAdapter) async {
        guard let unknown = adapter.view.found(path) else { return }
        let properties = try? await adapter.connection.object(unknown, of: adapter.owner).properties(of: .device)
        adapter.view.fetched(unknown, properties)
    }
}
#endif
