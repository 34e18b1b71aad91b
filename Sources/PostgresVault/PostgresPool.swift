#if PostgreSQL
import Synchronization

/// A transaction that has begun on one connection.
struct PostgresTransaction: Sendable {
    fileprivate let pool: PostgresPool
    fileprivate let connection: PostgresConnection
    fileprivate let timeout: Duration

    @discardableResult
    func run(_ statement: PostgresStatement) async throws(PostgresFailure) -> [PostgresRow] {
        let answer = await connection.run([statement], within: timeout)
        pool.closeIfReadOnly(connection, after: answer)
        return try answer.get().first ?? []
    }
}

/// A few connections to one server, each lent to one exchange, or one transaction, at a time.
///
/// While all are in use, requests wait; those that may share a transaction then go together. So the server commits once for many callers
/// when there are many, and no caller waits when there are few.
final class PostgresPool: Sendable {
    private typealias Turn = PostgresLines.Turn
    private typealias Lent = PostgresLines.Lent

    private struct State {
        var idle: [PostgresConnection] = []
        var open = 0
        var lines = PostgresLines()
        var isClosed = false
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

    /// Sends the statements of one transaction and waits for their answers. It is not ended by cancellation.
    ///
    /// - Returns: the rows of each statement.
    func run(_ request: PostgresRequest) async throws(PostgresFailure) -> [[PostgresRow]] {
        let isShared = ![.alone, .urgent].contains(request.lane)
        switch await lend(isShared ? request : nil, in: request.lane) {
        case .failure(let failure): throw failure
        case .answer(let answer): return try answer.get()
        case .alone: return try await runAlone(request)
        case .connection(let lent, let companions):
            guard companions.isEmpty else { return try await run(request, with: companions, over: lent) }
            let connection = try await made(lent)
            let answer = await connection.run(request.statements, within: Self.timeout)
            giveBack(connection, after: answer)
            return try answer.get()
        }
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
        let transaction = PostgresTransaction(pool: self, connection: connection, timeout: timeout)
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
            defer { state.idle = [] }
            return (state.idle, state.lines.removeAll())
        }
        for connection in idle { connection.close() }
        for turn in turns { turn.resume(returning: .failure(.connection("the vault was closed"))) }
    }

    // MARK: Sharing

    private func runAlone(_ request: PostgresRequest) async throws(PostgresFailure) -> [[PostgresRow]] {
        var request = request
        request.lane = .alone
        return try await run(request)
    }

    /// Sends a request together with those of others, and gives each its answer.
    private func run(
        _ request: PostgresRequest, with companions: [PostgresLines.Companion], over lent: PostgresConnection?
    ) async throws(PostgresFailure) -> [[PostgresRow]] {
        let requests = ([request] + companions.map(\.request)).enumerated().sorted {
            $0.element.name.lexicographicallyPrecedes($1.element.name)
        }
        let connection: PostgresConnection
        do throws(PostgresFailure) { connection = try await made(lent) } catch {
            for companion in companions { companion.turn.resume(returning: .failure(error)) }
            throw error
        }
        let answer = await connection.run(requests.flatMap(\.element.statements), within: Self.timeout)
        giveBack(connection, after: answer)
        var own = Lent.alone
        var end = 0
        for (index, request) in requests {
            let statements = end..<(end + request.statements.count)
            end = statements.upperBound
            let part = Self.part(of: answer, statements)
            if index == 0 { own = part } else { companions[index - 1].turn.resume(returning: part) }
        }
        guard case .answer(let answer) = own else { return try await runAlone(request) }
        return try answer.get()
    }

    /// What a shared answer says of one of the requests.
    private static func part(of answer: PostgresExchange.Answer, _ statements: Range<Int>) -> Lent {
        switch answer {
        case .success(let rows):
            guard rows.count >= statements.upperBound else {
                return .failure(.connection("the server gave fewer answers than there were statements"))
            }
            return .answer(.success(Array(rows[statements])))
        case .failure(let failure):
            // Lost with the connection: each looks for itself whether it was done. Otherwise nothing was done, perhaps because of another.
            let isOwn = failure.state.isEmpty || failure.mayBeDone || failure.statement.map(statements.contains) == true
            return isOwn ? .answer(.failure(failure)) : .alone
        }
    }

    // MARK: Lending

    /// How many callers wait for a connection.
    var waitingCount: Int { state.withLock { $0.lines.count } }

    /// A connection for the caller alone.
    private func take() async throws(PostgresFailure) -> PostgresConnection {
        switch await lend(nil, in: .alone) {
        case .connection(let connection, _): return try await made(connection)
        case .failure(let failure): throw failure
        case .answer, .alone: throw .connection("the connection was lent to another caller")
        }
    }

    private func lend(_ request: PostgresRequest?, in lane: PostgresRequest.Lane) async -> Lent {
        // Mostly one is free, and nothing has to wait.
        if let lent = state.withLock({ free(in: &$0) }) { return lent }
        return await withCheckedContinuation { (turn: Turn) in
            let lent = state.withLock { state -> Lent? in
                if let lent = free(in: &state) { return lent }
                state.lines.append(turn, request, in: lane)
                return nil
            }
            if let lent { turn.resume(returning: lent) }
        }
    }

    /// A connection that is free, or the place of one; nil when all are in use.
    private func free(in state: inout State) -> Lent? {
        if state.isClosed { return .failure(.connection("the vault was closed")) }
        while let connection = state.idle.popLast() {
            if connection.isOpen { return .connection(connection, []) }
            state.open -= 1
        }
        guard state.open < limit else { return nil }
        state.open += 1
        return .connection(nil, [])
    }

    /// A connection that was lent, or one in its place.
    private func made(_ lent: PostgresConnection?) async throws(PostgresFailure) -> PostgresConnection {
        if let lent { return lent }
        do throws(PostgresFailure) {
            return try await PostgresConnection.open(address, timeout: Self.timeout)
        } catch {
            fail(error)
            throw error
        }
    }

    private func giveBack(_ connection: PostgresConnection, after answer: PostgresExchange.Answer) {
        closeIfReadOnly(connection, after: answer)
        giveBack(connection)
    }

    /// Closes a connection whose session takes no writes: a new one is made only where they are taken. The idle ones were made with it, and
    /// are looked at no more.
    fileprivate func closeIfReadOnly(_ connection: PostgresConnection, after answer: PostgresExchange.Answer) {
        guard answer.isReadOnly else { return }
        connection.close()
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.open -= state.idle.count
            return state.idle
        }
        for connection in idle { connection.close() }
    }

    private func giveBack(_ connection: PostgresConnection) {
        let (next, isUnwanted) = state.withLock { state -> ((turn: Turn, lent: Lent)?, Bool) in
            if !state.isClosed, let next = state.lines.removeNext() {
                // The place of a connection that was lost goes to the next caller, who connects.
                return ((next.turn, .connection(connection.isOpen ? connection : nil, next.companions)), false)
            }
            guard !state.isClosed, connection.isOpen else {
                state.open -= 1
                return (nil, true)
            }
            state.idle.append(connection)
            return (nil, false)
        }
        if isUnwanted { connection.close() }
        if let next { next.turn.resume(returning: next.lent) }
    }

    /// Gives up a place whose connection could not be made. All who wait learn why, instead of one after the other.
    private func fail(_ failure: PostgresFailure) {
        let turns = state.withLock { state in
            state.open -= 1
            // Those who are served by connections that stand go on waiting.
            return state.open == 0 ? state.lines.removeAll() : []
        }
        for turn in turns { turn.resume(returning: .failure(failure)) }
    }
}
#endif
