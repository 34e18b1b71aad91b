#if CommandLine
import Handshake
import Synchronization

/// Says every few seconds on a terminal how far a command is, and where it was interrupted.
final class VaultProgress: Sendable {
    /// How many seconds pass between two lines. A command that is done sooner says nothing.
    static let interval = 5.0

    private struct State {
        var saidAt: Double
        var counts: String?
    }

    private let isShown: Bool
    private let time: TimeSource
    private let say: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// - Parameter isShown: whether anything is said; by default where standard error is a terminal, without `--json`.
    init(
        isShown: Bool = Output.isTerminal && !Output.isJSON, time: TimeSource = .system,
        say: @escaping @Sendable (String) -> Void = { Output.note($0) }
    ) {
        self.isShown = isShown
        self.time = time
        self.say = say
        state = Mutex(State(saidAt: time.now()))
    }

    /// Notes the counts so far, in words.
    func note(_ counts: String) {
        let now = time.now()
        let isDue = state.withLock { state in
            state.counts = counts
            // A clock that was set back does not silence the command.
            guard !(0..<Self.interval).contains(now - state.saidAt) else { return false }
            state.saidAt = now
            return true
        }
        if isShown, isDue { say("handshake: so far \(counts)") }
    }

    /// Does the work, and says the counts when it is interrupted.
    ///
    /// - Parameter advice: what the user should know then.
    func during<Result: Sendable>(
        advice: String = "", _ work: @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch is CancellationError {
            let done = state.withLock { $0.counts }.map { ": " + $0 } ?? " before the first record"
            if isShown { say("Interrupted\(done)." + (advice.isEmpty ? "" : " " + advice)) }
            throw CancellationError()
        }
    }

    /// Reads every record of a vault.
    func inventory(of vault: any Vault) async throws -> VaultInventory {
        try await during { [self] in
            try await vault.inventory { read, failed in
                self.note("\(VaultCommand.records(read)) read, \(failed) could not be read")
            }
        }
    }
}
#endif
