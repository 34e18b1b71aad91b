/// The state of one call of a run.
public struct ChainState: Sendable {
    /// The call; nil for a resumed job.
    public let call: ChainCall?
    /// The job; nil when it was not started.
    public internal(set) var job: JobID?
    public internal(set) var phase: Phase
    /// Whether its start may have reached the service.
    ///
    /// False for the calls that a cancelled run had not sent yet: they do not run.
    public let isSent: Bool

    init(call: ChainCall?, job: JobID?, phase: Phase, isSent: Bool = true) {
        self.call = call
        self.job = job
        self.phase = phase
        self.isSent = isSent
    }

    /// The phases of a call.
    public enum Phase: Sendable {
        /// In progress, with the last known status.
        case underWay(JobStatus)
        /// Ended, with a report or an error.
        case ended(Result<Report, SequencingError>)
    }

    /// The report or the error; nil while the job runs.
    public var result: Result<Report, SequencingError>? {
        if case .ended(let result) = phase { result } else { nil }
    }
}

/// One step of a run: the state of every call (dossier 10, E19).
public struct ChainProgress: Sendable {
    /// One state for each call, in the order of the calls.
    public let chains: [ChainState]
    /// How many poll requests have been sent.
    public let polls: Int

    /// How many calls have ended.
    public var endedCount: Int { chains.count { $0.result != nil } }

    /// Whether every call has ended: the last step of a run.
    public var isComplete: Bool { endedCount == chains.count }

    /// The answer of a chain; nil while it runs, or when it is not part of the run.
    ///
    /// If a run has several files, `file` selects one.
    public subscript<Answer>(chain: AppChain<Answer>, on file: FileID? = nil) -> Result<Answer, SequencingError>? {
        let state = chains.first { $0.call?.chain == chain.code && (file == nil || $0.call?.file == file) }
        return state?.result?.flatMap { report in
            do throws(SequencingError) {
                return .success(try chain.answer(in: report))
            } catch {
                return .failure(error)
            }
        }
    }
}
