#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus
import Synchronization

/// Advertising with one adapter (dossier 7.2, advertising).
struct BlueZAdvertising: Sendable {
    let broadcasts: Broadcaster<Broadcast>
    let status: StatusReport

    private static let count = Atomic<Int>(0)

    /// Advertises the newest broadcast until the task is cancelled.
    ///
    /// Each one is registered separately, because the Bluetooth address must change together with the data (dossier 8.4);
    /// changing a registered advertisement would keep the address.
    ///
    /// - Throws: ``RadioError``; `CancellationError`.
    func run(_ adapter: ReadyAdapter) async throws {
        guard adapter.has(.advertisingManager) else {
            throw RadioError.notSupported(feature: "advertising with \(adapter.name)")
        }
        try await forNewest(of: broadcasts.values()) { broadcast in
            switch broadcast {
            case .silence: status(.silent)
            case .data(let data): try await send(try BlueZAdvertisement(data), adapter)
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
        defer {
            // Unregisters before withdrawing the object, because BlueZ may read it until then.
            adapter.order("UnregisterAdvertisement", in: .advertisingManager, [path.value])
            try? adapter.connection.withdraw(path)
        }
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
        try Task.checkCancellation()
    }
}
#endif
