package import AsyncSupport

/// Connects and runs a closure, and repeats both when the connection ends.
///
/// A bus forgets everything about a closed connection: names, match rules, exported objects, sessions. A connection
/// therefore cannot be restored; `body` sets everything up again each time.
package struct ReconnectingConnection: Sendable {
    /// The pauses between attempts, unless others are asked for.
    package static let backOff = BackOff(first: .milliseconds(250), longest: .seconds(30))

    /// The addresses, in the order in which to try them.
    package let addresses: [Address]
    package let options: Connection.Options
    /// The pauses between attempts; a connection that opened begins them again.
    package let backOff: BackOff

    package init(_ addresses: [Address], options: Connection.Options = .init(), backOff: BackOff = Self.backOff) {
        self.addresses = addresses
        self.options = options
        self.backOff = backOff
    }

    /// Runs `body` with a connection, and again with a new one each time the connection ends, until `body` returns or throws
    /// for another reason.
    ///
    /// `body` is cancelled when its connection ends. Only one runs at a time.
    ///
    /// - Parameters:
    ///   - interrupted: Called before each delay, with the reason and the delay.
    ///   - body: Sets up the connection and uses it.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` threw while its connection was open; what opening threw, unless it ``DBusError/isTransient``;
    ///   `CancellationError` when the task is cancelled.
    package func run<Result: Sendable>(
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
            let wait = backOff.pause(afterFailures: failures)
            interrupted(reason, wait)
            try await options.clock.sleep(for: wait)
        }
    }

    /// A connection, or a transient failure.
    private func open() async throws -> Result<Connection, DBusError> {
        do {
            return .success(try await Connection.open(addresses, options: options))
        } catch let error as DBusError where error.isTransient {
            return .failure(error)
        }
    }

    private enum Outcome<Result: Sendable>: Sendable {
        /// `body` ended by itself.
        case finished(Swift.Result<Result, any Error>)
        /// The connection ended first.
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
                    // Whatever `body` made of the closed connection, its end is the reason.
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
