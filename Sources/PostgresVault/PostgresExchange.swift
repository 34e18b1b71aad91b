#if PostgreSQL
import CLibpq

/// Messages that were sent together, as one transaction unless they say otherwise, and the answers that have come.
struct PostgresExchange {
    /// The rows of each statement, or why there are none: then nothing was done, unless the failure says that it may be.
    typealias Answer = Result<[[PostgresRow]], PostgresFailure>

    enum Progress {
        case incomplete, complete
        /// What no server sends for a statement, so that nothing after it can be understood.
        case senseless
    }

    let count: Int
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Answer, Never>
    private var rows: [[PostgresRow]] = []
    /// Those of the statement whose answer is being read.
    private var current: [PostgresRow]?
    /// The first error, which is the one that says why.
    private var failure: PostgresFailure?
    /// How often libpq had something to read.
    private var results = 0

    init(count: Int, deadline: ContinuousClock.Instant, continuation: CheckedContinuation<Answer, Never>) {
        self.count = count
        self.deadline = deadline
        self.continuation = continuation
    }

    /// More than statements have: for each an answer and its end; the end of all; and a few errors.
    private var isFlooded: Bool { results > 3 * count + 4 }

    /// What came when all has come. An error may be of the commit, after all statements were done.
    var answer: Answer { failure.map { .failure($0) } ?? .success(rows) }

    /// What is known when the connection is lost.
    func lost(_ text: String) -> Answer {
        // An error that the server gave before it ended the connection says more.
        .failure(failure ?? .connection(text, mayBeDone: true))
    }

    /// Takes the answers that have come.
    mutating func read(from handle: OpaquePointer, at address: PostgresAddress) -> Progress {
        while PQisBusy(handle) == 0 {
            guard let result = PQgetResult(handle) else {
                // The end of one statement's answer; without an answer before, nothing is left to read.
                guard let answered = current else { return .incomplete }
                rows.append(answered)
                current = nil
                results += 1
                guard !isFlooded else { return .senseless }
                continue
            }
            defer { PQclear(result) }
            results += 1
            guard !isFlooded else { return .senseless }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK: current = PostgresRow.all(of: result)
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_ABORTED: current = []
            case PGRES_PIPELINE_SYNC:
                guard failure == nil, rows.count != count else { return .complete }
                return .senseless
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH, PGRES_BAD_RESPONSE:
                // libpq repeats the first three until the program copies.
                return .senseless
            default:
                failure = failure ?? .answered(result, address, statement: rows.count < count ? rows.count : nil)
                current = []
            }
        }
        return .incomplete
    }
}
#endif
