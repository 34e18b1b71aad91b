#if Sandbox
import SandboxCore
import Synchronization

/// One app chain running on one file for one user.
struct ChainJob: Sendable {
    let id: Int
    let subject: String
    let chain: ChainFixture
    let file: GeneticFile
    /// The step that was answered last.
    private(set) var position = 0

    init(id: Int, subject: String, chain: ChainFixture, file: GeneticFile) {
        self.id = id
        self.subject = subject
        self.chain = chain
        self.file = file
    }

    /// The step that the next poll answers.
    var next: ChainFixture.Step {
        chain.steps[nextPosition]
    }

    private var nextPosition: Int {
        min(position + 1, chain.steps.count - 1)
    }

    mutating func advance() {
        position = nextPosition
    }

    /// The status word of the step that was answered last.
    var word: String {
        switch chain.steps[position] {
        case .unfinished(let word), .finished(let word, _): word
        case .failingRequest, .endingToken: "Running"
        }
    }

    /// The job result object (Sequencing dossier, section 5.2).
    var json: JSON {
        var succeeded: Bool?
        if case .finished(_, let isSuccess) = chain.steps[position] {
            succeeded = isSuccess && file.coverage != .unsupported
        }
        let properties = succeeded == true ? chain.answer(file) : []
        return [
            "ResultProps": .array(properties.map(\.json)),
            "Status": [
                "IdJob": .number(id), "Status": .string(word),
                "CompletedSuccesfully": succeeded.map(JSON.bool) ?? .null,
                "FinishDt": succeeded == nil ? .null : "2017-04-02T10:15:30Z",
            ],
        ]
    }
}

/// The jobs of one sandbox; each start makes a new one that goes through its chain's script from the beginning.
///
/// A class, since starts and polls of all routes share it. Job ids count from 800123.
final class JobStore: Sendable {
    private struct State: Sendable {
        var jobs: [Int: ChainJob] = [:]
        var failedStarts: Set<String> = []
    }

    private let state = Mutex(State())

    /// Starts jobs, all or none.
    ///
    /// - Throws: HTTP 500 when one of the chains fails its first start.
    func start(
        _ calls: [(chain: ChainFixture, file: GeneticFile)], subject: String
    ) throws(APIRefusal) -> [ChainJob] {
        let result = state.withLock { state -> Result<[ChainJob], APIRefusal> in
            for call in calls where call.chain.failsFirstStart {
                if state.failedStarts.insert("\(subject) \(call.chain.number)").inserted {
                    return .failure(.internalError)
                }
            }
            let first = 800_123 + state.jobs.count
            let jobs = calls.enumerated().map { index, call in
                ChainJob(id: first + index, subject: subject, chain: call.chain, file: call.file)
            }
            for job in jobs { state.jobs[job.id] = job }
            return .success(jobs)
        }
        return try result.get()
    }

    /// Moves jobs on by one step each and gives them as they are then.
    ///
    /// A step that fails the request counts alone; then no other job moves.
    ///
    /// - Throws: 404 for a job that is not the user's, 401 and 500 where a script says so.
    func poll(_ ids: [Int], subject: String) throws(APIRefusal) -> [ChainJob] {
        let result = state.withLock { state -> Result<[ChainJob], APIRefusal> in
            let jobs = ids.compactMap { state.jobs[$0] }.filter { $0.subject == subject }
            guard jobs.count == ids.count else { return .failure(.jobNotFound) }
            for job in jobs {
                guard job.next == .failingRequest || job.next == .endingToken else { continue }
                state.jobs[job.id]?.advance()
                return .failure(job.next == .endingToken ? .invalidToken : .internalError)
            }
            for id in Set(ids) { state.jobs[id]?.advance() }
            return .success(ids.compactMap { state.jobs[$0] })
        }
        return try result.get()
    }
}
#endif
