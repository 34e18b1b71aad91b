/// Keeps a connection: connects, runs a closure, and does both again when the connection ends.
///
/// A bus forgets everything about a connection that ended: names, match rules, exported objects, sessions. That is why there
/// is no connection that comes back by itself; `body` sets everything up anew each time.
public struct KeptConnection: Sendable {
    /// How long to wait before the next attempt.
    public struct BackOff: Sendable, Hashable {
        /// The wait after the first failure. It doubles with each further one and starts again after a success.
        public var first: Duration
        /// The longest wait.
        public var longest: Duration

        public init(first: Duration = .milliseconds(250), longest: Duration = .seconds(30)) {
            self.first = max(first, .milliseconds(1))
            self.longest = max(longest, self.first)
        }

        func wait(afterFailures count: Int) -> Duration {
            var wait = first
            for _ in 1..<max(count, 1) where wait < longest { wait *= 2 }
            return min(wait, longest)
        }
    }

    /// The addresses that are tried in order.
    public let addresses: [Address]
    public let options: Connection.Options
    public let backOff: BackOff

    public init(_ addresses: [Address], options: Connection.Options = .init(), backOff: BackOff = .init()) {
        self.addresses = addresses
        self.options = options
        self.backOff = backOff
    }

    /// Runs `body` with a connection, again with a new one each time the connection ends, until `body` returns or throws
    /// for another reason.
    ///
    /// `body` is cancelled when its connection ends. It runs at most once at a time.
    ///
    /// - Parameters:
    ///   - interrupted: Called before each wait, with the reason and the wait.
    ///   - body: Sets up what the connection is for and works with it.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` threw while its connection lived; what opening threw, unless ``DBusError/isPassing`` says that
    ///   trying again may help; `CancellationError` when the task is cancelled.
    public func run<Result: Sendable>(
        interrupted: @escaping @Sendable (DBusError, Duration) -> Void = { _, _ in },
        _ body: @escaping @Sendable (Connection) async throws -> Result
    ) async throws -> Result {
        var failures = 0
        while true {
            let reason: DBusError
            switch try await open() {
            case .success(let connection):
                failures = 0
                switch await Self.attempt(body, on: connection) {
                case .finished(let result): return try result.get()
                case .ended(let error): reason = error
                }
            case .failure(let error): reason = error
            }
            failures += 1
            let wait = backOff.wait(afterFailures: failures)
            interrupted(reason, wait)
            try await options.clock.sleep(for: wait)
        }
    }

    /// A connection, or a failure after which trying again may help.
    private func open() async throws -> Result<Connection, DBusError> {
        do {
            return .success(try await Connection.open(addresses, options: options))
        } catch let error as DBusError where error.isPassing {
            return .failure(error)
        }
    }

    private enum Outcome<Result: Sendable>: Sendable {
        /// `body` ended by itself.
        case finished(Swift.Result<Result, any Error>)
        /// The connection ended before.
        case ended(DBusError)
    }

    private static func attempt<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) async throws -> Result, on connection: Connection
    ) async -> Outcome<Result> {
        defer { connection.close() }
        return await withTaskGroup(of: Outcome<Result>?.self) { group in
            group.addTask {
                do {
                    return .finished(.success(try await body(connection)))
                } catch {
                    // Whatever `body` made of the end of its connection: the end is the reason.
                    return connection.ending.map { .ended($0) } ?? .finished(.failure(error))
                }
            }
            group.addTask {
                await connection.waitForEnd()
                return nil
            }
            for await outcome in group {
                group.cancelAll()
                if let outcome { return outcome }
            }
            return .finished(.failure(CancellationError()))
        }
    }
}
