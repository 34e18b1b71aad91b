#if Desktop && os(Linux)
import Beacons
import DBus
import Synchronization

/// Keeps an adapter at hand and does some work with it whenever it can be used: through restarts of the bus and of the
/// daemon, and while the adapter is switched off and on.
struct BlueZSession: Sendable {
    let addresses: [Address]
    let options: BlueZRadio.Options
    let status: StatusReport
    let sighting: @Sendable (Advertisement) -> Void

    /// Runs `work` while an adapter is ready. It is cancelled when the adapter is not ready any more, and run again.
    ///
    /// - Throws: ``RadioError`` for what waiting cannot mend; `CancellationError`.
    func run(_ work: @escaping @Sendable (ReadyAdapter) async throws -> Void) async throws {
        let kept = KeptConnection(
            addresses, options: .init(clock: options.time.clock), backOff: options.backOff)
        let progress = Progress()
        do {
            try await kept.run(
                interrupted: { error, _ in status(.unavailable(.noBus(reason: error.description))) },
                { connection in
                    let presence = try await connection.presence(of: .bluez)
                    try await forNewest(of: presence) { presence in
                        switch presence {
                        case .absent: await waitForDaemon(connection, progress)
                        case .present(let owner):
                            let attendance = Attendance(session: self, connection: connection, owner: owner, work: work)
                            try await persist(attendance, progress)
                        }
                    }
                })
        } catch let error as DBusError {
            throw RadioError(error, operation: "using the bus", adapter: "") ?? RadioError.noBus(reason: "\(error)")
        }
    }

    /// The daemon does not run. It is asked for once, as it may start when it is called; a daemon that somebody stopped later
    /// stays stopped.
    private func waitForDaemon(_ connection: Connection, _ progress: Progress) async {
        if progress.shouldAskForDaemon(),
            (try? await connection.object(.root, of: .bluez).managedObjects()) != nil
        {
            return
        }
        if !Task.isCancelled { status(.unavailable(.noBlueZ)) }
    }

    /// Attends to the daemon until it vanishes, again after failures that pass.
    private func persist(_ attendance: Attendance, _ progress: Progress) async throws {
        while true {
            let failure: RadioError
            do {
                try await attendance.run(progress)
                return
            } catch let error as RadioError {
                guard error.isPassing || (progress.hasWorked && !error.isOwnFault) else { throw error }
                failure = error
            } catch let error as DBusError where attendance.connection.ending == nil {
                failure =
                    RadioError(error, operation: "following BlueZ", adapter: options.adapter ?? "")
                    ?? .lost(reason: error.description)
                guard failure.isPassing || progress.hasWorked else { throw failure }
            }
            status(.unavailable(failure))
            try await options.time.clock.sleep(for: options.backOff.pause(after: progress.failed()))
        }
    }
}

/// What a session went through.
///
/// A class, because it outlives the connections of the session.
final class Progress: Sendable {
    private let state = Mutex((failures: 0, hasWorked: false, hasAskedForDaemon: false))

    func worked() { state.withLock { $0 = (0, true, $0.hasAskedForDaemon) } }

    var hasWorked: Bool { state.withLock { $0.hasWorked } }

    /// Counts a failure.
    ///
    /// - Returns: How many there were since it worked last.
    func failed() -> Int {
        state.withLock { state in
            state.failures += 1
            return state.failures
        }
    }

    /// Whether the daemon is to be asked for: true once.
    func shouldAskForDaemon() -> Bool {
        state.withLock { state in
            defer { state.hasAskedForDaemon = true }
            return !state.hasAskedForDaemon && !state.hasWorked
        }
    }
}

extension KeptConnection.BackOff {
    /// How long to wait after so many failures in a row.
    func pause(after failures: Int) -> Duration {
        var pause = first
        for _ in 1..<max(failures, 1) where pause < longest { pause *= 2 }
        return min(pause, longest)
    }
}

extension RadioError {
    /// Whether it lies in what the caller wants sent: the same again would fail again.
    fileprivate var isOwnFault: Bool {
        switch self {
        case .unsendable, .advertisementRejected, .input: true
        default: false
        }
    }
}
#endif
