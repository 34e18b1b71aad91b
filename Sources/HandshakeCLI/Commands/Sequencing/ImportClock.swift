#if CommandLine
import Synchronization

/// How long an import may be waited for, and whether one may run.
///
/// A class, because the deadline asks from another task.
final class ImportClock: Sendable {
    private let isBegun = Atomic(false)
    private let end: ContinuousClock.Instant

    /// - Parameter timeout: the seconds of the whole command. A wait ends before, so that it can say what it has found.
    init(_ timeout: Int) {
        end = .now + Self.limit(timeout)
    }

    /// How long a command with a timeout waits: at most 10 minutes, and a tenth less than the command has.
    static func limit(_ timeout: Int) -> Duration {
        min(.seconds(600), .seconds(timeout) - min(.seconds(30), .milliseconds(100) * timeout))
    }

    /// The time that is left for waiting.
    var left: Duration { max(ContinuousClock.now.duration(to: end), .zero) }

    /// Whether an import may run at the service.
    var mayRun: Bool { isBegun.load(ordering: .relaxed) }

    func begin() { isBegun.store(true, ordering: .relaxed) }

    /// Sends what may start an import. Without an answer it may run.
    func sending<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        begin()
        let answer = try await body()
        isBegun.store(false, ordering: .relaxed)
        return answer
    }
}
#endif
