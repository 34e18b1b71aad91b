#if CommandLine
import ArgumentParser
import Handshake
import Synchronization

/// A command that waits for a service: `--timeout` bounds all of it.
protocol BoundedCommand: AsyncParsableCommand, Sendable {
    /// The seconds that the whole command may take.
    var timeout: Int { get }
    /// Whether the command goes on until it is interrupted, and has no bound.
    var isEndless: Bool { get }
}

extension BoundedCommand {
    var isEndless: Bool { false }

    /// Runs the command, for at most ``timeout`` seconds.
    ///
    /// - Throws: what the command throws; ``CommandError`` with status 6 when time is over.
    func runBounded() async throws {
        let run: @Sendable () async throws -> Void = {
            var command = self
            try await command.run()
        }
        if isEndless { return try await run() }
        try await CommandDeadline.run(timeout, run)
    }
}

extension ArgumentHelp {
    /// The help of `--timeout`.
    static let timeout = ArgumentHelp("The longest time for the whole command.", valueName: "seconds")
}

/// The time that `--timeout` gives a whole command: the network, the vault, the user and the clean-up.
enum CommandDeadline {
    /// How long a cancelled command may take to clean up.
    private static let grace = Duration.seconds(1)

    private enum Event<Result: Sendable>: Sendable {
        case ended(Swift.Result<Result, any Error>)
        case expired
        case graceExpired
    }

    /// The seconds of `--timeout`, if a clock can hold them.
    static func check(_ seconds: Int) throws(CommandError) {
        guard (1...86_400).contains(seconds) else {
            throw .usage("--timeout takes 1 to 86400 seconds, not \(seconds).")
        }
    }

    /// Runs a whole command with a timeout.
    ///
    /// - Throws: what `body` throws; ``CommandError`` with status 6, or 64 when an input was waited for, when time is over.
    static func run<Result: Sendable>(
        _ timeout: Int, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await run(timeout, expired: { expired(timeout) }, body)
    }

    /// The error of a command that can be run again, with a longer `--timeout`.
    static func expired(_ timeout: Int) -> CommandError {
        let longer = "--timeout \(min(86_400, timeout * 4))"
        guard let input = GivenFile.current else {
            return CommandError.timedOut("The command did not end within \(timeout) s.", retry: longer)
        }
        return CommandError(
            status: .usage, code: "timed_out",
            message:
                "\(input) did not end within \(timeout) s. Check what writes to it, or run the command again "
                + "with \(longer)")
    }

    /// Runs `body` with a timeout.
    ///
    /// After it, `body` is cancelled and has one second to clean up. Then this returns whether or not `body` has ended, because
    /// a silent server must not block the command.
    ///
    /// - Parameters:
    ///   - expired: the error when time runs out; it is made at that moment.
    /// - Throws: what `body` throws in time, `CancellationError`, or `expired`.
    static func run<Result: Sendable>(
        _ seconds: Int, on clock: any Clock<Duration> = ContinuousClock(), expired: @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try check(seconds)
        let (events, report) = AsyncStream.makeStream(of: Event<Result>.self)
        let work = Task {
            do { report.yield(.ended(.success(try await body()))) } catch { report.yield(.ended(.failure(error))) }
        }
        let timer = Task {
            try await clock.sleep(for: .seconds(seconds))
            report.yield(.expired)
            try await clock.sleep(for: Self.grace)
            report.yield(.graceExpired)
        }
        defer { timer.cancel() }
        // In an unstructured task, which is not cancelled, to await the end of `work`.
        let result = Task {
            var error: (any Error)?
            for await event in events {
                switch event {
                case .ended(.success(let result)): return result
                case .ended(.failure(let failure)): throw error ?? failure
                case .expired:
                    error = expired()
                    work.cancel()
                case .graceExpired: throw error ?? CancellationError()
                }
            }
            throw error ?? CancellationError()
        }
        return try await withTaskCancellationHandler {
            try await result.value
        } onCancel: {
            work.cancel()
        }
    }
}
#endif
