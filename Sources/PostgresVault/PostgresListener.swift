#if PostgreSQL
import AsyncSupport
import Handshake
import Synchronization

/// Notifies waiting tasks that a record was released: by notifications, where a connection that stays can be had.
///
/// Without one (a pooler in transaction mode, an engine that has no LISTEN, a connection that was lost) no waiter is notified, and each
/// looks for itself after a while. Nothing depends on a notification.
final class PostgresListener: Sendable {
    /// One wait for a record. It is notified once, or left.
    struct Ticket: Sendable {
        fileprivate let name: String
        fileprivate let number: UInt64
        fileprivate let notice: SingleResult<Bool>
    }

    private enum Activity {
        case none, running, impossible, stopped
    }

    private struct State {
        var tickets: [String: [UInt64: SingleResult<Bool>]] = [:]
        var next: UInt64 = 0
        var activity = Activity.none
        var connection: PostgresConnection?
        /// Those who wait for the first connection.
        var starting: [CheckedContinuation<Void, Never>] = []
        var hasStarted = false
    }

    private static let channel = "handshake"
    private static let maximumPause = Duration.seconds(30)

    private let state = Mutex(State())
    private let address: PostgresAddress
    /// Whether the connection string was given for this, so that it leads to the server itself.
    private let isDirect: Bool

    /// - Parameter isDirect: whether the address certainly leads to the server itself. Otherwise the server is asked.
    init(_ address: PostgresAddress, isDirect: Bool) {
        self.address = address
        self.isDirect = isDirect
    }

    /// Whether notifications arrive.
    var isListening: Bool { state.withLock { $0.connection != nil } }

    /// Begins to wait for a record. Notifications from now on count.
    func join(_ name: RecordName) async -> Ticket {
        await start()
        let name = name.text
        return state.withLock { state in
            state.next += 1
            let notice = SingleResult<Bool>()
            state.tickets[name, default: [:]][state.next] = notice
            return Ticket(name: name, number: state.next, notice: notice)
        }
    }

    /// Waits until the record is released or the deadline comes. The ticket is of no use afterwards.
    ///
    /// - Returns: whether there was a notification.
    /// - Throws: `CancellationError`.
    func wait<C: Clock>(_ ticket: Ticket, until deadline: C.Instant, on clock: C) async throws -> Bool {
        async let _ = expire(ticket, at: deadline, on: clock)
        return try await withTaskCancellationHandler {
            try await ticket.notice.value
        } onCancel: {
            settle(ticket, .failure(CancellationError()))
        }
    }

    /// Gives up a wait that has not begun.
    func leave(_ ticket: Ticket) { settle(ticket, .success(false)) }

    /// Listens no more.
    func stop() {
        let (connection, starting) = state.withLock { state in
            state.activity = .stopped
            defer { (state.connection, state.starting) = (nil, []) }
            return (state.connection, state.starting)
        }
        connection?.close()
        for continuation in starting { continuation.resume() }
    }

    private func expire<C: Clock>(_ ticket: Ticket, at deadline: C.Instant, on clock: C) async {
        do {
            try await clock.sleep(until: deadline, tolerance: nil)
            settle(ticket, .success(false))
        } catch {
            // Cancelled: it was notified, or left, before.
        }
    }

    private func settle(_ ticket: Ticket, _ outcome: Result<Bool, any Error>) {
        let notice = state.withLock { state in
            let notice = state.tickets[ticket.name]?.removeValue(forKey: ticket.number)
            if state.tickets[ticket.name]?.isEmpty == true { state.tickets[ticket.name] = nil }
            return notice
        }
        notice?.settle(outcome)
    }

    /// Tells all who wait for a record, or for any.
    private func tell(_ payload: String?) {
        let notices = state.withLock { state in
            guard let payload else {
                defer { state.tickets = [:] }
                return state.tickets.values.flatMap(\.values)
            }
            let name = String(payload.filter { $0 != "-" })
            return state.tickets.removeValue(forKey: name).map { Array($0.values) } ?? []
        }
        for notice in notices { notice.settle(.success(true)) }
    }

    // MARK: The connection

    /// Begins to listen, and returns when that succeeded or failed for the first time.
    private func start() async {
        await withCheckedContinuation { continuation in
            let (starts, isReady) = state.withLock { state in
                let starts = state.activity == .none
                if starts { state.activity = .running }
                let isReady = state.hasStarted || state.activity == .stopped
                if !isReady { state.starting.append(continuation) }
                return (starts, isReady)
            }
            if starts { Task.detached { [self] in await listen() } }
            if isReady { continuation.resume() }
        }
    }

    private func started() {
        let starting = state.withLock { state in
            state.hasStarted = true
            defer { state.starting = [] }
            return state.starting
        }
        for continuation in starting { continuation.resume() }
    }

    private func listen() async {
        var pause = Duration.milliseconds(100)
        while state.withLock({ $0.activity == .running }) {
            if let connection = await connect() {
                pause = .milliseconds(100)
                started()
                // What was released while no connection listened.
                tell(nil)
                await withCheckedContinuation { continuation in
                    connection.whenClosed { continuation.resume() }
                }
                state.withLock { $0.connection = nil }
            }
            started()
            guard state.withLock({ $0.activity == .running }) else { return }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.maximumPause)
        }
    }

    private func connect() async -> PostgresConnection? {
        let connection = try? await PostgresConnection.open(
            address, timeout: PostgresPool.timeout, notified: { [weak self] payload in self?.tell(payload) })
        guard let connection else { return nil }
        guard isDirect || connection.isDirect else { return giveUp(connection) }
        // Before any look at a lease. The channel's name is constant.
        let listening = await connection.run(
            [PostgresStatement("LISTEN \(Self.channel)")], within: PostgresPool.timeout)
        switch listening {
        case .success: break
        // The engine has no such thing.
        case .failure(let failure) where failure.state == "0A000" || failure.state == "42601":
            return giveUp(connection)
        default:
            connection.close()
            return nil
        }
        let isWanted = state.withLock { state in
            guard state.activity == .running else { return false }
            state.connection = connection
            return true
        }
        guard isWanted else { return giveUp(connection) }
        return connection
    }

    private func giveUp(_ connection: PostgresConnection) -> PostgresConnection? {
        connection.close()
        state.withLock { if $0.activity == .running { $0.activity = .impossible } }
        return nil
    }
}
#endif
