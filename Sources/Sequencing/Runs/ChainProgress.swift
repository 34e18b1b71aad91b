/// How far one call of a run is.
public struct ChainState: Sendable {
    /// The call; nil for a job that was taken up again by its identifier alone.
    public let call: ChainCall?
    /// The job; nil when none was started.
    public internal(set) var job: JobID?
    public internal(set) var phase: Phase

    init(call: ChainCall?, job: JobID?, phase: Phase) {
        self.call = call
        self.job = job
        self.phase = phase
    }

    /// The stations of a call.
    public enum Phase: Sendable {
        /// At the service, which last said this.
        case underWay(JobStatus)
        /// Ended: with a report, or with why there is none.
        case ended(Result<Report, SequencingError>)
    }

    /// The report, or why there is none; nil while the job goes on.
    public var result: Result<Report, SequencingError>? {
        if case .ended(let result) = phase { result } else { nil }
    }
}

/// One step of a run: where every call stands (dossier 10, E19).
public struct ChainProgress: Sendable {
    /// One state for each call, in the order of the calls.
    public let chains: [ChainState]
    /// How many poll requests have been sent.
    public let polls: Int

    /// How many calls have ended.
    public var endedCount: Int { chains.count { $0.result != nil } }

    /// Whether every call has ended: the last step of a run.
    public var isComplete: Bool { endedCount == chains.count }

    /// The jobs at the service that have not ended, to be kept and resumed after a restart.
    public var openJobs: [JobID] { chains.filter { $0.result == nil }.compactMap(\.job) }

    /// The answer of a chain; nil while it goes on, or when it is not part of the run.
    ///
    /// With several files in one run, `file` tells which.
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
