#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus
import Synchronization

/// Follows one daemon's objects while it runs, and runs the work while an adapter is ready.
struct DaemonSession: Sendable {
    let session: BlueZSession
    let connection: Connection
    /// The daemon's unique name, which changes when it restarts.
    let owner: BusName
    let work: @Sendable (ReadyAdapter) async throws -> Void

    /// The maximum number of unread signals. BlueZ sends one for each reported packet.
    private static let signalBuffer = 8_192

    func run(_ progress: Progress) async throws {
        // Subscribed first, so that no change is missed before the reply.
        let signals = try await connection.signals(matching: MatchRule(sender: owner), buffer: Self.signalBuffer)
        let view = BlueZView(sighting: session.sighting, time: session.options.time, condition: condition)
        view.replace(with: try await connection.object(.root, of: owner).managedObjects())
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await listen(to: signals, view) }
            group.addTask {
                try await runForNewest(of: view.conditions) { condition in
                    try await use(condition, view, progress)
                }
            }
            try await group.next()
        }
    }

    /// Whether an adapter is usable.
    private func condition(_ objects: BlueZObjects) -> AdapterCondition {
        do throws(RadioError) {
            let adapter = try objects.adapter(named: session.options.adapter)
            guard adapter.isPowered else {
                let block = session.options.rfkill.block(of: adapter.name)
                let error: RadioError =
                    block.map { .blocked(adapter: adapter.name, bySwitch: $0 == .hard) }
                    ?? .poweredOff(adapter: adapter.name)
                return .unavailable(error, adapter.path)
            }
            return .ready(adapter.path, interfaces: adapter.interfaces, monitorTypes: adapter.monitorTypes)
        } catch {
            return .unavailable(error, nil)
        }
    }

    private func listen(to signals: Signals, _ view: BlueZView) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await signal in signals {
                guard let unknown = view.apply(signal) else { continue }
                group.addTask { await fetch(unknown, view) }
            }
        }
        try Task.checkCancellation()
    }

    /// Fetches a device that was dropped from the table, or that appeared before the subscription.
    private func fetch(_ path: ObjectPath, _ view: BlueZView) async {
        let properties = try? await connection.object(path, of: owner).properties(of: .device)
        view.fetched(path, properties)
    }

    private func use(_ condition: AdapterCondition, _ view: BlueZView, _ progress: Progress) async throws {
        switch condition {
        case .unavailable(let error, let path):
            if session.options.switchesOn, case .poweredOff(let name) = error, let path {
                return try await switchOn(path, name)
            }
            session.status(.unavailable(error))
        case .ready(let path, let interfaces, let monitorTypes):
            try await work(
                ReadyAdapter(
                    connection: connection, owner: owner, path: path, interfaces: interfaces,
                    monitorTypes: monitorTypes, view: view, progress: progress))
        }
    }

    /// Switches an adapter on. Retries until BlueZ does it, or the adapter's condition changes.
    ///
    /// BlueZ refuses for a while when firmware loads, after sleep, and while another program changes the power.
    private func switchOn(_ path: ObjectPath, _ name: String) async throws {
        for attempt in 1... {
            do {
                return try await connection.object(path, of: owner)
                    .setProperty("Powered", of: .adapter, to: true)
            } catch is CancellationError {
                // It is already on: the change was signalled before the reply.
                throw CancellationError()
            } catch let error where BlueZErrorName(error) == .busy {
                // It is being switched on or off already, often by another connection of this program.
                session.status(.unavailable(.poweredOff(adapter: name)))
            } catch {
                let failure = RadioError(error, operation: "switching Bluetooth on", adapter: name)
                session.status(.unavailable(failure ?? .poweredOff(adapter: name)))
            }
            try await session.options.time.clock.sleep(for: session.options.backOff.pause(afterFailures: attempt))
        }
    }
}

/// Whether an adapter is usable, and which one.
enum AdapterCondition: Sendable, Hashable {
    case ready(ObjectPath, interfaces: Set<String>, monitorTypes: [String])
    /// The error, and the adapter that would be usable if it were on.
    case unavailable(RadioError, ObjectPath?)
}

/// An adapter that is on, as long as it is on.
struct ReadyAdapter: Sendable {
    let connection: Connection
    let owner: BusName
    let path: ObjectPath
    let interfaces: Set<String>
    let monitorTypes: [String]
    let view: BlueZView
    let progress: Progress

    var name: String { path.elements.last.map(String.init) ?? path.text }

    func has(_ interface: InterfaceName) -> Bool { interfaces.contains(interface.text) }

    /// How many advertisements can be sent now, each under an address of its own; at least one, which BlueZ may refuse.
    var usableInstances: Int {
        guard let adapter = view.adapter(at: path), adapter.hasSeparateAddresses else { return 1 }
        return max(1, Int(adapter.freeInstances ?? 1))
    }

    /// Calls a method of the adapter.
    ///
    /// - Throws: As `Connection.call`.
    func call(_ member: MemberName, in interface: InterfaceName, _ arguments: [Value] = []) async throws {
        try await connection.call(
            MethodCall(member, in: interface, of: path, at: owner, arguments: arguments))
    }

    /// Calls a method of the adapter without waiting, even from a cancelled task. BlueZ processes it before later
    /// calls.
    func order(_ member: MemberName, in interface: InterfaceName, _ arguments: [Value] = []) {
        // Nothing stays registered after a connection has ended.
        try? connection.send(MethodCall(member, in: interface, of: path, at: owner, arguments: arguments))
    }
}

/// BlueZ's objects, for the tasks that follow it.
///
/// A class, because a monitor's handlers and the signal reader share it.
final class BlueZView: Sendable {
    private struct State {
        var objects = BlueZObjects()
        var condition: AdapterCondition?
        var fetching: Set<ObjectPath> = []
    }

    /// Whether an adapter is usable, now and after each change. A condition can repeat when another came in between.
    let conditions: AsyncStream<AdapterCondition>
    private let announce: AsyncStream<AdapterCondition>.Continuation
    private let state = Mutex(State())
    private let sighting: @Sendable (Advertisement) -> Void
    private let time: ScanTime
    private let condition: @Sendable (BlueZObjects) -> AdapterCondition

    /// The maximum number of concurrent fetches; further devices are fetched when they are heard again.
    private static let maximumFetches = 16

    init(
        sighting: @escaping @Sendable (Advertisement) -> Void, time: ScanTime,
        condition: @escaping @Sendable (BlueZObjects) -> AdapterCondition
    ) {
        (conditions, announce) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.sighting = sighting
        self.time = time
        self.condition = condition
    }

    /// An adapter as it is now.
    func adapter(at path: ObjectPath) -> BlueZAdapter? { state.withLock { $0.objects.adapters[path] } }

    func replace(with objects: [ObjectPath: [String: [String: Value]]]) {
        let heard = state.withLock { state in
            let heard = state.objects.replace(with: objects, at: time.now())
            update(&state)
            return heard
        }
        for advertisement in heard { sighting(advertisement) }
    }

    /// Applies a signal.
    ///
    /// - Returns: A device to fetch, if any.
    func apply(_ signal: Signal) -> ObjectPath? {
        handle { $0.apply(signal, at: time.now()) }
    }

    /// Applies a monitor's `DeviceFound`.
    ///
    /// - Returns: The device, if it must be fetched.
    func found(_ path: ObjectPath) -> ObjectPath? {
        handle { $0.found(path, at: time.now()) }
    }

    /// Applies a monitor's `DeviceLost`.
    func lost(_ path: ObjectPath) {
        state.withLock { $0.objects.lost(path) }
    }

    /// Applies the properties of a fetched device; nil when there is none.
    func fetched(_ path: ObjectPath, _ properties: [String: Value]?) {
        state.withLock { _ = $0.fetching.remove(path) }
        guard let properties else { return }
        _ = handle { $0.add(path, [InterfaceName.device.text: properties], at: time.now()) }
    }

    private func handle(_ change: (inout BlueZObjects) -> BlueZObjects.Change) -> ObjectPath? {
        let change = state.withLock { state -> BlueZObjects.Change in
            let change = change(&state.objects)
            if change == .adapters { update(&state) }
            guard case .unknownDevice(let path) = change else { return change }
            guard state.fetching.count < Self.maximumFetches, state.fetching.insert(path).inserted else {
                return .nothing
            }
            return change
        }
        switch change {
        case .sighting(let advertisement): sighting(advertisement)
        case .unknownDevice(let path): return path
        case .nothing, .adapters: break
        }
        return nil
    }

    private func update(_ state: inout State) {
        let condition = condition(state.objects)
        guard condition != state.condition else { return }
        state.condition = condition
        announce.yield(condition)
    }
}
#endif
