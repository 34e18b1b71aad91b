import Handshake

/// A run of app chains. It starts them, polls until all have ended, and reports every step.
///
/// ```swift
/// for try await step in genome.run(.melanoma, .vitaminD, on: file) {
///     print("\(step.endedCount) of \(step.chains.count)")
///     if let risk = step[.melanoma] { show(risk) }
/// }
/// ```
///
/// Nothing is sent before the first step is requested, or between steps: a run has no task of its own, and ends with its
/// iterating task. The last step is complete. Each call has its own result, so a failure hides no other result. Only errors
/// that concern all calls are thrown: the session, as ``SequencingError/account(_:)``, a persistent network failure, and
/// `CancellationError`. Iterating again starts the chains
/// again, unless the run resumes jobs.
///
/// A poll ends with the run's time, however slow the service is. A start does not: without its answer, the number of the
/// job would be lost. Where calls are started one by one and one is lost after a job has started, its error is the result of
/// that call, and the run goes on. A run that is cancelled meanwhile sends no further start, and has one more step before
/// `CancellationError`: with the jobs that have started, and with ``ChainState/isSent`` for the others.
public struct ChainRun: AsyncSequence, Sendable {
    let service: Sequencing
    let origin: Origin
    let version: ProtocolVersion
    let polling: Polling

    enum Origin: Sendable {
        case calls([ChainCall])
        case jobs([JobID])
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<ChainProgress, any Error> & Sendable {
        Iterator(self)
    }

    /// Runs to the end.
    ///
    /// - Returns: the last step, with a result for each call in the order of the calls.
    /// - Throws: what iterating throws.
    public func complete() async throws -> ChainProgress {
        var last = ChainProgress(chains: [], polls: 0)
        for try await step in self { last = step }
        return last
    }

    /// The steps of one run.
    private struct Iterator: AsyncIteratorProtocol, Sendable {
        private let run: ChainRun
        private var chains: [ChainState] = []
        private var wait: Wait?
        private var polls = 0
        private var lostPolls = 0
        /// Whether an answer of the current poll could not be read.
        private var isUnread = false
        private var isOver = false

        /// How many consecutive polls may fail before the run ends.
        private static let maximumLostPolls = 3

        init(_ run: ChainRun) {
            self.run = run
        }

        private var progress: ChainProgress { ChainProgress(chains: chains, polls: polls) }

        mutating func next() async throws -> ChainProgress? {
            guard !isOver else { return nil }
            do {
                if wait == nil { try await start() } else { try await poll() }
            } catch {
                isOver = true
                throw error
            }
            isOver = isOver || progress.isComplete
            return progress
        }

        private mutating func start() async throws {
            wait = run.polling.start(on: run.service.clock)
            switch run.origin {
            case .jobs(let jobs):
                chains = jobs.map { ChainState(call: nil, job: $0, phase: .underWay(.pending)) }
                try await ask()
            case .calls(let calls):
                let started = try await ChainStarter(service: run.service, version: run.version).start(calls)
                chains = zip(calls, started).map {
                    ChainState(call: $0, job: $1.job, phase: $1.phase, isSent: $1.isSent)
                }
            }
        }

        private mutating func poll() async throws {
            // A run whose time is over does not sleep, which would throw.
            try Task.checkCancellation()
            if try await wait?.pause() == true { return try await ask() }
            for index in chains.indices where chains[index].result == nil {
                chains[index].phase = chains[index].job.map { .ended(.failure(.deadline($0))) } ?? chains[index].phase
            }
            isOver = true
        }

        /// Polls all open jobs in one request, or one by one where the version has no batch.
        private mutating func ask() async throws {
            let open = chains.indices.filter { chains[$0].result == nil }
            isUnread = false
            do {
                if run.version == .two, open.count > 1 {
                    try await askTogether(open)
                } else {
                    for index in open { try await askAlone(index) }
                }
                lostPolls = isUnread ? lostPolls + 1 : 0
            } catch let error as SequencingError where error.isLostPoll && lostPolls < Self.maximumLostPolls {
                lostPolls += 1
            }
        }

        /// The kit for polls, which end with the run's time.
        private var service: Sequencing { run.service.bounded(by: wait?.left) }

        private mutating func askTogether(_ open: [Int]) async throws {
            polls += 1
            do {
                let jobs = try await service.jobs(open.compactMap { chains[$0].job })
                for index in open {
                    if let job = chains[index].job.flatMap({ jobs[$0] }) { chains[index].take(job) }
                }
            } catch let error as SequencingError where error.concernsJobs && !error.isLostPoll {
                // One unknown or unreadable job must not hide the others.
                for index in open { try await askAlone(index) }
            }
        }

        private mutating func askAlone(_ index: Int) async throws {
            guard let id = chains[index].job else { return }
            polls += 1
            do {
                chains[index].take(try await service.job(id, version: run.version))
            } catch let error as SequencingError where error.concernsJobs && !error.isLostPoll {
                // What cannot be read says nothing of the job.
                if error.isMalformed, lostPolls < Self.maximumLostPolls {
                    isUnread = true
                } else {
                    chains[index].phase = .ended(.failure(error))
                }
            }
        }
    }
}

extension ChainState {
    mutating func take(_ seen: Job) {
        job = seen.id
        phase = seen.outcome.map { .ended($0) } ?? .underWay(seen.status)
    }
}

extension SequencingError {
    /// Whether a poll may fail: the service or the network is in trouble, but the job continues.
    var isLostPoll: Bool {
        if case .service(let status, _, _) = self { return status >= 500 || status == 429 }
        return isRetryable
    }

    /// Whether an answer cannot be read.
    var isMalformed: Bool {
        if case .malformed = self { true } else { false }
    }

    /// Whether this concerns one call or job, and not the session or the connection.
    var concernsJobs: Bool {
        if case .account = self { false } else { true }
    }
}
