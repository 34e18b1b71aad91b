#if PostgreSQL
import Synchronization

/// A transaction that has begun on one connection.
struct PostgresTransaction: Sendable {
    fileprivate let connection: PostgresConnection
    fileprivate let timeout: Duration

    @discardableResult
    func run(_ statement: PostgresStatement) async throws(PostgresFailure) -> [PostgresRow] {
        guard let answer = await connection.run([statement], within: timeout).first else { return [] }
        return try answer.get()
    }
}

/// A few connections to one server, each lent to one exchange, or one transaction, at a time.
final class PostgresPool: Sendable {
    private typealias Turn = CheckedContinuation<Result<PostgresConnection?, PostgresFailure>, Never>

    private struct State {
        var idle: [PostgresConnection] = []
        var open = 0
        /// The callers that wait for a connection, first come first served, after those who cannot wait.
        var waiting: [Turn] = []
        var firstWaiting = 0
        var isClosed = false

        /// The caller to serve next.
        mutating func next() -> Turn? {
            guard firstWaiting < waiting.count else { return nil }
            defer {
                firstWaiting += 1
                // Half at a time, so that each caller is moved once at most on average.
                if firstWaiting * 2 >= waiting.count {
                    waiting.removeFirst(firstWaiting)
                    firstWaiting = 0
                }
            }
            return waiting[firstWaiting]
        }
    }

    /// How long a statement, and a connection that is made, may take (`vault-lease.md` 2).
    static let timeout = Duration.seconds(5)

    let address: PostgresAddress
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many connections are open at most.
    init(_ address: PostgresAddress, limit: Int) {
        self.address = address
        self.limit = limit
    }

    /// Sends statements together, each a transaction of its own, and waits for their answers. It is not ended by cancellation.
    ///
    /// - Parameter isUrgent: goes before all who wait for a connection: a lease ends while its renewal waits.
    func run(
        _ statements: [PostgresStatement], isUrgent: Bool = false
    ) async throws(PostgresFailure) -> [[PostgresRow]] {
        let connection = try await take(isUrgent: isUrgent)
        let answers = await connection.run(statements, within: Self.timeout)
        giveBack(connection)
        var rows: [[PostgresRow]] = []
        for answer in answers { rows.append(try answer.get()) }
        return rows
    }

    /// Runs statements one after the other in one transaction, which is rolled back when `body` throws.
    ///
    /// - Parameter timeout: how long one statement may take.
    /// - Throws: ``PostgresFailure``, and what `body` throws.
    func transaction<Value: Sendable>(
        within timeout: Duration = PostgresPool.timeout, _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let connection = try await take()
        defer { giveBack(connection) }
        let transaction = PostgresTransaction(connection: connection, timeout: timeout)
        _ = try await transaction.run(PostgresStatement("BEGIN"))
        let value: Value
        do { value = try await body(transaction) } catch {
            _ = try? await transaction.run(PostgresStatement("ROLLBACK"))
            throw error
        }
        _ = try await transaction.run(PostgresStatement("COMMIT"))
        return value
    }

    /// Closes every connection that is idle, and the others when they are given back.
    func close() {
        let (idle, turns) = state.withLock { state in
            state.isClosed = true
            var turns: [Turn] = []
            while let turn = state.next() { turns.append(turn) }
            defer { state.idle = [] }
            return (state.idle, turns)
        }
        for connection in idle { connection.close() }
        for turn in turns { turn.resume(returning: .failure(.connection("the vault was closed"))) }
    }

    // MARK: Lending

    /// How many callers wait for a connection.
    var waitingCount: Int { state.withLock { $0.waiting.count - $0.firstWaiting } }

    private func take(isUrgent: Bool = false) async throws(PostgresFailure) -> PostgresConnection {
        let lent = await withCheckedContinuation { (turn: Turn) in
            let result = state.withLock { state -> Result<PostgresConnection?, PostgresFailure>? in
                if state.isClosed { return .failure(.connection("the vault was closed")) }
                while let connection = state.idle.popLast() {
                    if connection.isOpen { return .success(connection) }
                    state.open -= 1
                }
                if state.open < limit {
                    state.open += 1
                    return .success(nil)
                }
                state.waiting.insert(turn, at: isUrgent ? state.firstWaiting : state.waiting.endIndex)
                return nil
            }
            if let result { turn.resume(returning: result) }
        }
        if let connection = try lent.get() { return connection }
        do throws(PostgresFailure) {
            return try await PostgresConnection.open(address, timeout: Self.timeout)
        } catch {
            fail(error)
            throw error
        }
    }

    private func giveBack(_ connection: PostgresConnection) {
        enum Next {
            case close, keep
            case lend(Turn)
            case make(Turn)
        }
        let next = state.withLock { state -> Next in
            guard !state.isClosed else {
                state.open -= 1
                return .close
            }
            if connection.isOpen {
                if let turn = state.next() { return .lend(turn) }
                state.idle.append(connection)
                return .keep
            }
            // Its place goes to the next caller, who connects.
            if let turn = state.next() { return .make(turn) }
            state.open -= 1
            return .close
        }
        switch next {
        case .close: connection.close()
        case .keep: break
        case .lend(let turn): turn.resume(returning: .success(connection))
        case .make(let turn): turn.resume(returning: .success(nil))
        }
    }

    /// Gives up a place whose connection could not be made. All who wait learn why, instead of one after the other.
    private func fail(_ failure: PostgresFailure) {
        let turns = state.withLock { state in
            state.open -= 1
            var turns: [Turn] = []
            // Those who are served by connections that stand go on waiting.
            while state.open == 0, let turn = state.next() { turns.append(turn) }
            return turns
        }
        for turn in turns { turn.resume(returning: .failure(failure)) }
    }
}
#endif
