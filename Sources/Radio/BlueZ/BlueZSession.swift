#if Desktop && os(Linux)
import AsyncSupport
import Beacons
import DBus
import Synchronization

/// Runs work with an adapter whenever one is usable: through restarts of the bus and the daemon, and while the adapter is
/// switched off and on.
struct BlueZSession: Sendable {
    let addresses: [Address]
    let options: BlueZRadio.Options
    let status: StatusReport
    let sighting: @Sendable (Advertisement) -> Void

    /// Runs `work` while an adapter is ready. It is cancelled when the adapter becomes unavailable, and run again later.
    ///
    /// - Throws: ``RadioError`` for permanent errors; `CancellationError`.
    func run(_ work: @escaping @Sendable (ReadyAdapter) async throws -> Void) async throws {
        let bus = ReconnectingConnection(
            addresses, options: .init(clock: options.time.clock), backOff: options.backOff)
        let progress = Progress()
        do {
            try await bus.run(
                interrupted: { error, _ in status(.unavailable(RadioError(noBus: error))) },
                { connection in
                    let presence = try await connection.presence(of: .bluez)
                    try await runForNewest(of: presence) { presence in
                        switch presence {
                        case .absent: await waitForDaemon(connection, progress)
                        case .present(let owner):
                            let daemon = DaemonSession(session: self, connection: connection, owner: owner, work: work)
                            try await follow(daemon, progress)
                        }
                    }
                })
        } catch let error as DBusError {
            throw RadioError(error, operation: "using the bus", adapter: "") ?? RadioError.noBus(reason: "\(error)")
        }
    }

    /// Calls the daemon once, because the bus may start it, and otherwise reports that it does not run.
    ///
    /// A daemon that was stopped later is not called: it stays stopped.
    private func waitForDaemon(_ connection: Connection, _ progress: Progress) async {
        if progress.shouldAskForDaemon(),
            (try? await connection.object(.root, of: .bluez).managedObjects()) != nil
        {
            return
        }
        if !Task.isCancelled { status(.unavailable(.noBlueZ)) }
    }

    /// Follows the daemon until it stops; retries after transient failures.
    private func follow(_ daemon: DaemonSession, _ progress: Progress) async throws {
        while true {
            let failure: RadioError
            do {
                try await daemon.run(progress)
                return
            } catch let error as RadioError {
                guard error.isTransient || (progress.hasWorked && !error.isOwnFault) else { throw error }
                failure = error
            } catch let error as DBusError where daemon.connection.ending == nil {
                failure =
                    RadioError(error, operation: "following BlueZ", adapter: options.adapter ?? "")
                    ?? .lost(reason: error.description)
                guard failure.isTransient || progress.hasWorked else { throw failure }
            }
            status(.unavailable(failure))
            try await options.time.clock.sleep(for: options.backOff.pause(afterFailures: progress.failed()))
        }
    }
}

/// The history of a session.
///
/// A class, because it outlives the session's connections.
final class Progress: Sendable {
    private let state = Mutex((failures: 0, hasWorked: false, hasAskedForDaemon: false))

    func worked() { state.withLock { $0 = (0, true, $0.hasAskedForDaemon) } }

    var hasWorked: Bool { state.withLock { $0.hasWorked } }

    /// Counts a failure.
    ///
    /// - Returns: How many there were since the last success.
    func failed() -> Int {
        state.withLock { state in
            state.failures += 1
            return state.failures
        }
    }

    /// Whether to ask the bus to start the daemon: true once.
    func shouldAskForDaemon() -> Bool {
        state.withLock { state in
            defer { state.hasAskedForDaemon = true }
            return !state.hasAskedForDaemon && !state.hasWorked
        }
    }
}

extension RadioError {
    /// Whether the cause is the data to send, so that a retry would fail again.
    fileprivate var isOwnFault: Bool {
        switch self {
        case .unsendable, .advertisementRejected, .input: true
        default: false
        }
    }
}
#endif
