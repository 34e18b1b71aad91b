#if CommandLine
import Handshake
import Sequencing
import Synchronization

/// A job that has not ended.
struct OpenJob: Sendable {
    let id: JobID
    /// Its chain, where the command has several.
    var chain: AppCode?

    /// As a sentence names it.
    var name: String {
        guard let chain else { return "Job \(id)" }
        return chain.title.map { "\($0) (\(chain.string), job \(id))" } ?? "\(chain.string) (job \(id))"
    }
}

/// How long a command follows app chains, and what it knows of them when its time ends.
///
/// A class, because the deadline asks from another task.
final class RunWatch: Sendable {
    private enum State {
        case idle
        /// The start of so many chains was sent, and its answer is awaited.
        case starting(Int)
        /// The jobs that have not ended, and the chains that may run without a known job.
        case following([OpenJob], unknown: [AppCode])
        /// The command's time is over.
        case expired
    }

    private let state = Mutex(State.idle)
    private let end: ContinuousClock.Instant
    /// The time after the last pause: a part for the last poll, the rest for printing and for ending.
    private let reserve: Duration

    /// - Parameter timeout: the seconds of the whole command. Polling ends before, so that the reports and the open jobs are printed.
    init(_ timeout: Int) {
        end = .now + .seconds(timeout)
        reserve = min(.milliseconds(1500), .milliseconds(300) * timeout)
    }

    /// The polls for the time that is left.
    var polling: Polling {
        Polling(timeout: max(ContinuousClock.now.duration(to: end) - reserve, .zero), lastPoll: reserve / 2)
    }

    /// How many chains are being started; nil before the start is sent and after it is answered.
    var startCount: Int? {
        state.withLock { if case .starting(let count) = $0 { count } else { nil } }
    }

    /// The jobs that have not ended.
    var open: [OpenJob] {
        state.withLock { if case .following(let jobs, _) = $0 { jobs } else { [] } }
    }

    /// How many chains may run without a known job: their start was sent, and has no answer yet.
    var unknownCount: Int {
        state.withLock { state in
            switch state {
            case .starting(let count): count
            case .following(_, let unknown): unknown.count
            case .idle, .expired: 0
            }
        }
    }

    /// The chains that may run without a known job, where some of a run's are told apart from the others.
    var unknown: [AppCode] {
        state.withLock { if case .following(_, let unknown) = $0 { unknown } else { [] } }
    }

    /// Whether every start was answered, or jobs are resumed.
    var isFollowing: Bool {
        state.withLock { if case .following = $0 { true } else { false } }
    }

    func start(_ count: Int) { set(.starting(count)) }

    func follow(_ jobs: [OpenJob]) { set(.following(jobs, unknown: [])) }

    func follow(_ step: ChainProgress) {
        let isAlone = step.chains.count == 1
        let open = step.chains.filter { $0.result == nil }
        let jobs = open.compactMap { state in
            state.job.map { OpenJob(id: $0, chain: isAlone ? nil : state.call?.chain) }
        }
        // A start that an interrupted run had not sent runs nothing.
        let unknown = open.filter { $0.job == nil && $0.isSent }.compactMap { $0.call?.chain }
        set(.following(jobs, unknown: unknown))
    }

    /// Notes that the deadline's error tells what is open: nothing else does after it.
    func expire() { set(.expired) }

    private func set(_ new: State) {
        state.withLock { state in
            if case .expired = state { return }
            state = new
        }
    }
}
#endif
