#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus
import Synchronization

/// Advertising with one adapter (dossier 7.2, advertising).
///
/// It uses as many of the adapter's advertising instances as there are identifiers, if the adapter can send them at a time, each
/// under an address of its own (circles dossier 2). Otherwise the identifiers take turns in fewer instances.
struct BlueZAdvertising<Instance: AsyncSequence & Sendable>: Sendable where Instance.Element == Broadcast {
    /// How many identifiers there are at a time.
    let identifiers: Int
    /// What each of so many advertising instances carries over time.
    let instances: @Sendable (Int) -> [Instance]
    let status: StatusReport
    let clock: any Clock<Duration>
    /// How long nothing is sent between two identifiers.
    let silence: @Sendable () -> Duration

    /// How long an unregistration is waited for.
    private static var unregisterTimeout: Duration { .seconds(5) }

    /// Advertises the newest broadcast of each instance until the task is cancelled.
    ///
    /// Each one is registered separately, because the Bluetooth address must change together with the data (dossier 8.4);
    /// changing a registered advertisement would keep the address. The earlier one is unregistered first, and a silence follows.
    ///
    /// - Throws: ``RadioError``; `CancellationError`.
    func run(_ adapter: ReadyAdapter) async throws {
        guard adapter.has(.advertisingManager) else {
            throw RadioError.notSupported(feature: "advertising with \(adapter.name)")
        }
        let states = (0..<identifiers).map { _ in InstanceState() }
        var count = min(identifiers, adapter.usableInstances)
        while true {
            if count < identifiers { status(.takingTurns(identifiers: identifiers, atATime: count)) }
            do {
                return try await run(adapter, Array(zip(instances(count), states)), InstanceStatus(status))
            } catch RadioError.noFreeInstance where count > 1 {
                // Another program was faster.
                count -= 1
            }
        }
    }

    private func run(
        _ adapter: ReadyAdapter, _ instances: [(Instance, InstanceState)], _ status: InstanceStatus
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            for (number, (instance, state)) in instances.enumerated() {
                group.addTask {
                    try await runForNewest(of: instance) { broadcast in
                        switch broadcast {
                        case .silence: status.note(isSending: false, in: number)
                        case .data(let data):
                            let advertisement = try BlueZAdvertisement(data)
                            if state.hasSent.isSet { try await clock.sleep(for: silence()) }
                            state.hasSent.set()
                            try await send(advertisement, adapter) { status.note(isSending: true, in: number) }
                        }
                    }
                }
            }
            // The first failure ends all instances.
            for try await _ in group {}
        }
    }

    private func send(
        _ advertisement: BlueZAdvertisement, _ adapter: ReadyAdapter, begun: @Sendable () -> Void
    ) async throws {
        do {
            try await hold(advertisement, withInterval: true, adapter, begun)
        } catch let error as RegistrationFailure {
            // Where the interval is experimental, BlueZ may reject the whole advertisement because of it.
            guard case .advertisementRejected = error.error else { throw error.error }
            do {
                try await hold(advertisement, withInterval: false, adapter, begun)
            } catch let error as RegistrationFailure {
                throw error.error
            }
        }
    }

    /// Registers an advertisement, and unregisters it when the task is cancelled or BlueZ has released it.
    private func hold(
        _ advertisement: BlueZAdvertisement, withInterval: Bool, _ adapter: ReadyAdapter, _ begun: @Sendable () -> Void
    ) async throws {
        let number = AdvertisementCount.shared.add(1, ordering: .relaxed).newValue
        let path = try ObjectPath("/org/handshake/advertisement\(number)")
        let (releases, announce) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let release = ExportedMethod("Release") { [owner = adapter.owner] call in
            guard call.sender == owner else { throw RemoteError(.accessDenied, "only BlueZ may call this") }
            announce.yield()
            return []
        }
        let interface = ExportedInterface(
            .advertisement, methods: [release], properties: advertisement.properties(withInterval: withInterval))
        try adapter.connection.export([interface], at: path)
        do {
            try await register(path, releases, adapter, begun)
        } catch {
            // Unregisters before withdrawing the object, because BlueZ may read it until then. In a task of its own, because this
            // one may be cancelled: the next identifier must not be sent before this one has ended.
            let ending = Task { [clock] in
                try? await within(Self.unregisterTimeout, on: clock) {
                    try await adapter.call("UnregisterAdvertisement", in: .advertisingManager, [path.value])
                }
            }
            _ = await ending.value
            try? adapter.connection.withdraw(path)
            throw error
        }
    }

    private func register(
        _ path: ObjectPath, _ releases: AsyncStream<Void>, _ adapter: ReadyAdapter, _ begun: @Sendable () -> Void
    ) async throws {
        do {
            let options: [String: Value] = [:]
            try await adapter.call(
                "RegisterAdvertisement", in: .advertisingManager, [path.value, .properties(options)])
        } catch {
            try Task.checkCancellation()
            guard let failure = RadioError(registering: error, adapter: adapter.name) else { throw error }
            throw RegistrationFailure(error: failure)
        }
        adapter.progress.worked()
        begun()
        for await _ in releases { throw RadioError.lost(reason: "BlueZ released the advertisement") }
        throw CancellationError()
    }
}

extension BlueZRadio {
    /// Draws how long nothing is sent between two identifiers, so that the last packet of one and the first of the next are not
    /// seen to belong together (circles dossier 2).
    static func drawnSilence() -> Duration { .milliseconds(Int64.random(in: 500...3_000)) }
}

private struct RegistrationFailure: Error {
    let error: RadioError
}

private enum AdvertisementCount {
    static let shared = Atomic<Int>(0)
}

/// What is remembered of an instance while its identifiers change, also when there are fewer instances afterwards.
private struct InstanceState: Sendable {
    let hasSent = CancellationFlag()
}

/// The status of all instances: sending while one of them sends.
///
/// A class with a lock, because the instances report concurrently.
private final class InstanceStatus: Sendable {
    private let sending = Mutex<Set<Int>>([])
    private let report: StatusReport

    init(_ report: StatusReport) {
        self.report = report
    }

    func note(isSending: Bool, in instance: Int) {
        sending.withLock { sending in
            if isSending { sending.insert(instance) } else { sending.remove(instance) }
            report(sending.isEmpty ? .silent : .sending)
        }
    }
}
#endif
