#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus
import Synchronization

/// Advertising with one adapter (dossier 7.2, advertising).
struct BlueZAdvertising: Sendable {
    let broadcasts: Broadcaster<Broadcast>
    let status: StatusReport
    let clock: any Clock<Duration>
    /// How long nothing is sent between two identifiers.
    let silence: @Sendable () -> Duration

    /// Draws how long nothing is sent between two identifiers, so that the last packet of one and the first of the next are not
    /// seen to belong together (circles dossier 2).
    static func drawnSilence() -> Duration { .milliseconds(Int64.random(in: 500...3_000)) }

    /// How long an unregistration is waited for.
    private static let unregisterTimeout = Duration.seconds(5)

    private static let count = Atomic<Int>(0)

    /// Advertises the newest broadcast until the task is cancelled.
    ///
    /// Each one is registered separately, because the Bluetooth address must change together with the data (dossier 8.4);
    /// changing a registered advertisement would keep the address. The earlier one is unregistered first, and a silence follows.
    ///
    /// - Throws: ``RadioError``; `CancellationError`.
    func run(_ adapter: ReadyAdapter) async throws {
        guard adapter.has(.advertisingManager) else {
            throw RadioError.notSupported(feature: "advertising with \(adapter.name)")
        }
        let hasSent = CancellationFlag()
        try await forNewest(of: broadcasts.values()) { broadcast in
            switch broadcast {
            case .silence: status(.silent)
            case .data(let data):
                let advertisement = try BlueZAdvertisement(data)
                if hasSent.isSet { try await clock.sleep(for: silence()) }
                hasSent.set()
                try await send(advertisement, adapter)
            }
        }
    }

    private func send(_ advertisement: BlueZAdvertisement, _ adapter: ReadyAdapter) async throws {
        do {
            try await hold(advertisement, withInterval: true, adapter)
        } catch let error as RegistrationFailure {
            // Where the interval is experimental, BlueZ may reject the whole advertisement because of it.
            guard case .advertisementRejected = error.error else { throw error.error }
            do {
                try await hold(advertisement, withInterval: false, adapter)
            } catch let error as RegistrationFailure {
                throw error.error
            }
        }
    }

    private struct RegistrationFailure: Error {
        let error: RadioError
    }

    /// Registers an advertisement, and unregisters it when the task is cancelled or BlueZ has released it.
    private func hold(
        _ advertisement: BlueZAdvertisement, withInterval: Bool, _ adapter: ReadyAdapter
    ) async throws {
        let number = Self.count.add(1, ordering: .relaxed).newValue
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
            try await register(path, releases, adapter)
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
        _ path: ObjectPath, _ releases: AsyncStream<Void>, _ adapter: ReadyAdapter
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
        status(.sending)
        for await _ in releases { throw RadioError.lost(reason: "BlueZ released the advertisement") }
        throw CancellationError()
    }
}
#endif
