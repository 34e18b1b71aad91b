#if PostgreSQL
import CLibpq
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One connection to a server, which does one exchange at a time. Nothing here blocks a thread of the concurrency runtime.
///
/// It is in libpq's pipeline mode as long as it lasts. A class, because the thread that watches its socket and the tasks that use it share it.
final class PostgresConnection: Sendable {
    typealias Answer = PostgresExchange.Answer

    /// libpq's connection. It may go from thread to thread, but only one may use it at a time: it is only used within the lock below.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// What became of statements that were to be sent.
    private enum Sent {
        case sent(isWriting: Bool)
        /// The connection is lost. The exchange is under way, and ends with it.
        case broken
        /// Nothing was sent: the connection is closed or does another exchange.
        case refused
    }

    /// What goes to the server for a statement.
    private enum Message {
        case prepare(PostgresStatement)
        case execute(PostgresStatement, isPrepared: Bool)

        /// Whether the server could parse the statement once for all its sendings, and has not.
        var mayBePrepared: Bool {
            if case .execute(let statement, isPrepared: false) = self { statement.name != nil } else { false }
        }

        func send(over handle: OpaquePointer) -> Bool {
            switch self {
            case .prepare(let statement): statement.prepare(over: handle)
            case .execute(let statement, let isPrepared): statement.send(over: handle, isPrepared: isPrepared)
            }
        }
    }

    private struct State {
        var handle: Handle?
        var exchange: PostgresExchange?
        var closed: (@Sendable () -> Void)?
        /// Whether statements may be parsed once for the whole connection. A pooler hands each exchange to another one.
        var prepares = false
        /// The names of those that were.
        var prepared: Set<String> = []
    }

    private let state: Mutex<State>
    private let socket: Int32
    /// Whether libpq has more to send, and whether the connection is closed. They change with the state, and are read without its lock, which
    /// another thread may have for as long as a system call takes.
    private let isWriting = Atomic(false)
    private let isClosed = Atomic(false)
    private let address: PostgresAddress
    private let notified: (@Sendable (String) -> Void)?
    /// The number of the server's process, as the server said when the connection was made.
    private let process: Int32

    private init(_ handle: Handle, _ address: PostgresAddress, notified: (@Sendable (String) -> Void)?) {
        state = Mutex(State(handle: handle))
        socket = PQsocket(handle.pointer)
        process = PQbackendPID(handle.pointer)
        self.address = address
        self.notified = notified
        PostgresReactor.shared.add(self)
    }

    deinit {
        // The watching thread and each exchange keep a connection, so nothing uses it now.
        if let handle = state.withLock({ $0.handle }) { PQfinish(handle.pointer) }
    }

    // MARK: Connecting

    /// Connects, on a thread of its own: libpq asks name servers synchronously, and the threads of a Dispatch queue are the runtime's too.
    ///
    /// - Parameters:
    ///   - timeout: how long the server may take to accept the connection and to answer the first statement, together. What this process
    ///     itself takes between the two does not count.
    ///   - notified: what each notification calls with its payload.
    static func open(
        _ address: PostgresAddress, timeout: Duration, notified: (@Sendable (String) -> Void)? = nil
    ) async throws(PostgresFailure) -> PostgresConnection {
        let (connection, left) = try await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let deadline = ContinuousClock.now.advanced(by: timeout)
                let connected = connect(address, until: deadline, notified: notified)
                let left = ContinuousClock.now.duration(to: deadline)
                continuation.resume(returning: connected.map { ($0, left) })
            }
        }.get()
        try await connection.learnWhetherDirect(within: left)
        return connection
    }

    /// A pooler answers with a number of its own when the connection is made.
    private func learnWhetherDirect(within timeout: Duration) async throws(PostgresFailure) {
        switch await run([PostgresStatement("SELECT pg_catalog.pg_backend_pid()")], within: timeout) {
        case .success(let rows):
            let number = try? rows.first?.first?.int(0)
            state.withLock { $0.prepares = number == Int64(process) }
        case .failure(let failure):
            // An engine may not know the function. A connection that was lost is none.
            guard isOpen else { throw failure.beforehand }
        }
    }

    /// Whether it leads to the server itself, as far as is known.
    var isDirect: Bool { state.withLock { $0.prepares } }

    /// Connects to the first server of a list that can be used. Each has its share of the time that is left.
    private static func connect(
        _ address: PostgresAddress, until deadline: ContinuousClock.Instant, notified: (@Sendable (String) -> Void)?
    ) -> Result<PostgresConnection, PostgresFailure> {
        let servers = address.servers()
        var failures: [(PostgresAddress, PostgresFailure)] = []
        for (index, server) in servers.enumerated() {
            let now = ContinuousClock.now
            let end = now.advanced(by: now.duration(to: deadline) / (servers.count - index))
            switch connect(to: server, of: address, until: end, notified: notified) {
            case .success(let connection): return .success(connection)
            case .failure(let failure):
                // As libpq does: one that refuses the role ends the search.
                guard failure.isPassing else { return .failure(failure) }
                failures.append((server, failure))
            }
        }
        return .failure(.connecting(failures))
    }

    private static func connect(
        to server: PostgresAddress, of address: PostgresAddress, until deadline: ContinuousClock.Instant,
        notified: (@Sendable (String) -> Void)?
    ) -> Result<PostgresConnection, PostgresFailure> {
        guard let pointer = server.startConnecting() else {
            return .failure(.connection("there is no memory for a connection"))
        }
        // With this, the text of a refusal has the server's code.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        let failure = finishConnecting(pointer, until: deadline)
        guard let failure else {
            PQsetErrorVerbosity(pointer, PQERRORS_DEFAULT)
            guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
                PQfinish(pointer)
                return .failure(.connection("the connection cannot be made non-blocking"))
            }
            return .success(PostgresConnection(Handle(pointer: pointer), address, notified: notified))
        }
        PQfinish(pointer)
        return .failure(.connecting(failure, to: address))
    }

    /// - Returns: what went wrong; nil when the connection stands.
    private static func finishConnecting(_ pointer: OpaquePointer, until deadline: ContinuousClock.Instant) -> String? {
        var status = PGRES_POLLING_WRITING
        guard PQstatus(pointer) != CONNECTION_BAD else { return String(cString: PQerrorMessage(pointer)) }
        while true {
            if status == PGRES_POLLING_OK { return nil }
            if status == PGRES_POLLING_FAILED { return String(cString: PQerrorMessage(pointer)) }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return "the server did not answer in time" }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            var watched = pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
            let pause = Int32(min(left / .milliseconds(1), 60_000).rounded(.up))
            guard poll(&watched, 1, pause) > 0 else { continue }
            status = PQconnectPoll(pointer)
        }
    }

    // MARK: Statements

    /// Whether it can still be used, as far as is known.
    var isOpen: Bool { state.withLock { $0.handle != nil } }

    /// Sends statements together, as one transaction unless they say otherwise, and waits for their answers.
    ///
    /// The exchange is finished whether or not the task is cancelled: a caller must know what was stored. A connection whose deadline
    /// passes is closed, and its answers count as lost.
    func run(_ statements: [PostgresStatement], within timeout: Duration) async -> Answer {
        let (prepares, prepared) = state.withLock { ($0.prepares, $0.prepared) }
        var messages = Self.messages(statements, prepared)
        if prepares, messages.contains(where: \.mayBePrepared) {
            for statement in statements {
                if let failure = await prepare(statement, within: timeout) { return .failure(failure) }
            }
            messages = Self.messages(statements, state.withLock { $0.prepared })
        }
        let answer = await exchange(messages, within: timeout)
        if case .failure(let failure) = answer, failure.isOfPreparation { prepareNoMore() }
        return answer
    }

    private static func messages(_ statements: [PostgresStatement], _ prepared: Set<String>) -> [Message] {
        statements.map { .execute($0, isPrepared: $0.name.map(prepared.contains) ?? false) }
    }

    /// - Returns: why the connection was lost; nil when the statement can be sent, prepared or not.
    private func prepare(_ statement: PostgresStatement, within timeout: Duration) async -> PostgresFailure? {
        guard let name = statement.name, state.withLock({ !$0.prepared.contains(name) }) else { return nil }
        switch await exchange([.prepare(statement)], within: timeout) {
        case .success: state.withLock { _ = $0.prepared.insert(name) }
        case .failure(let failure):
            if failure.isOfPreparation { prepareNoMore() }
            guard isOpen else { return failure.beforehand }
        }
        return nil
    }

    /// Something between here and the server does not keep what was prepared.
    private func prepareNoMore() {
        state.withLock { ($0.prepares, $0.prepared) = (false, []) }
    }

    private func exchange(_ messages: [Message], within timeout: Duration) async -> Answer {
        await withCheckedContinuation { continuation in
            let exchange = PostgresExchange(
                count: messages.count, deadline: .now.advanced(by: timeout), continuation: continuation)
            let sent = state.withLock { state -> Sent in
                guard let handle = state.handle?.pointer, state.exchange == nil else { return .refused }
                // From here on only `advance` and `fail` resume the continuation: the watching thread may do so immediately.
                state.exchange = exchange
                guard messages.allSatisfy({ $0.send(over: handle) }), PQpipelineSync(handle) == 1 else {
                    return .broken
                }
                let flushed = PQflush(handle)
                isWriting.store(flushed == 1, ordering: .releasing)
                return flushed < 0 ? .broken : .sent(isWriting: flushed == 1)
            }
            switch sent {
            case .sent(let isWriting): PostgresReactor.shared.wake(always: isWriting)
            case .broken: fail("the connection was lost")
            case .refused: continuation.resume(returning: .failure(.connection("the connection was lost")))
            }
        }
    }

    /// Closes the connection. An exchange that is under way fails.
    func close() { fail("the connection was closed") }

    /// What is called, once, when the connection ends; immediately when it has.
    func whenClosed(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            guard state.handle != nil else { return false }
            state.closed = action
            return true
        }
        if !isOpen { action() }
    }

    // MARK: The watching thread

    /// The socket to watch, and whether for writing too; -1, which poll(2) leaves out, when the connection is closed.
    var interest: (socket: Int32, isWriting: Bool) {
        (isClosed.load(ordering: .acquiring) ? -1 : socket, isWriting.load(ordering: .acquiring))
    }

    /// Whether an exchange is under way.
    var isBusy: Bool { state.withLock { $0.exchange != nil } }

    /// Whether an exchange is under way. Ends one whose deadline has passed.
    func isWaiting(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = state.withLock({ $0.exchange?.deadline }) else { return false }
        if deadline <= now { fail("the server did not answer in time") }
        return true
    }

    /// Reads and writes what can be, and delivers what is complete.
    func advance() {
        var payloads: [String] = []
        var lost: String?
        let done = state.withLock { state -> PostgresExchange? in
            guard let handle = state.handle?.pointer else { return nil }
            guard PQconsumeInput(handle) == 1 else {
                lost = String(cString: PQerrorMessage(handle))
                return nil
            }
            if isWriting.load(ordering: .acquiring) {
                let flushed = PQflush(handle)
                if flushed < 0 { lost = String(cString: PQerrorMessage(handle)) }
                isWriting.store(flushed == 1, ordering: .releasing)
            }
            while let notice = PQnotifies(handle) {
                payloads.append(String(cString: notice.pointee.extra))
                PQfreemem(notice)
            }
            let progress = state.exchange?.read(from: handle, at: address) ?? .incomplete
            if progress == .senseless {
                lost = "the server sent what is no answer to a statement"
            } else if PQstatus(handle) == CONNECTION_BAD, progress == .incomplete {
                lost = String(cString: PQerrorMessage(handle))
            }
            guard progress == .complete, let exchange = state.exchange else { return nil }
            state.exchange = nil
            return exchange
        }
        if let notified { for payload in payloads { notified(payload) } }
        if let lost { fail(address.redacted(lost)) }
        if let done { done.continuation.resume(returning: done.answer) }
    }

    /// Ends the connection and the exchange that is under way.
    private func fail(_ text: String) {
        let (handle, exchange, closed) = state.withLock { state in
            defer { state = State(handle: nil) }
            isClosed.store(true, ordering: .releasing)
            isWriting.store(false, ordering: .releasing)
            return (state.handle, state.exchange, state.closed)
        }
        PostgresReactor.shared.remove(self)
        if let handle { PQfinish(handle.pointer) }
        closed?()
        if let exchange { exchange.continuation.resume(returning: exchange.lost(text)) }
    }
}
#endif
