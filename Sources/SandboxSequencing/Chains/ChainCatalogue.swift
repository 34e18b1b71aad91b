#if Sandbox
import SandboxCore

/// An app chain of the stand-in: what it answers, and how its jobs go.
struct ChainFixture: Sendable {
    /// One answer about a job: that of the start, then of each poll. The last one is given forever.
    enum Step: Sendable, Equatable {
        case unfinished(String)
        case finished(String, succeeded: Bool)
        /// This poll is answered with HTTP 500; the next one goes on.
        case failingRequest
        /// This poll is answered with HTTP 401 and its access token ends; the next one, with another token, goes on.
        case endingToken
    }

    let number: Int
    let steps: [Step]
    /// Whether the first start of this chain by each user is answered with HTTP 500 and starts nothing.
    var failsFirstStart = false
    let answer: @Sendable (GeneticFile) -> [ResultProperty]
}

/// The app chains by number (Sequencing dossier, sections 5.8 and 9.3).
///
/// The script column is what a client sees: the answer of the start, then of each poll; `v1/StartApp` shows no status
/// and uses up the first one anyway. Every chain completes without success on a file that no chain supports.
///
/// | chain | answer | script |
/// |---|---|---|
/// | Chain8, 11, 12 | `result`: Yes, No | Completed |
/// | Chain9 | `RiskDescription`: Low, Normal, SlightlyIncreased, Moderate, High, VeryHigh, NoData | Pending, Completed |
/// | Chain85 | `Level`: Low, Average, Elevated, NoData | Pending, Running, Completed |
/// | Chain87 | `result`: Yes, No, Insufficient Data, Error | Completed |
/// | Chain88 | `result`: Yes, No, Insufficient Data | Completed |
/// | Chain90 | ten properties, one of each type | Pending, Completed |
/// | Chain91 | `RiskDescription` and `Report` (Pdf) | Pending, Completed |
/// | Chain901 | `result` | Completed: immediate |
/// | Chain902 | `result` | Pending, Executing, Running, Completed |
/// | Chain903 | none | Pending, Running, Cancelled |
/// | Chain904 | none | Pending, Failed |
/// | Chain905 | none | Pending, Completed without success |
/// | Chain906 | none | Pending, then Running forever |
/// | Chain907 | `result` | Pending, HTTP 500 once, Completed |
/// | Chain908 | `result` | Pending, Running, HTTP 401 once (that access token ends), Completed |
/// | Chain909 | `result` | start: HTTP 500 once a user; then Completed |
/// | Chain910 | `result` | Pending, Paused (an unknown status), COMPLETED |
/// | Chain911 | types in other letter case, an unknown type, a null value, a name twice | Completed |
/// | Chain930 | `Report` (Pdf) of 200 MiB | Completed |
/// | Chain2000 to 2099 | `result` | Pending, then Running for (number − 2000) polls, Completed |
/// | Chain3000 to 3299 | `result` | the same with (number mod 4) polls; for large batches |
enum ChainCatalogue {
    /// The chain of an `AppCode` such as `Chain9`; nil when there is none.
    static func chain(_ code: String) -> ChainFixture? {
        guard code.hasPrefix("Chain"), let number = Int(code.dropFirst(5)), code == "Chain\(number)" else {
            return nil
        }
        return named[number] ?? family(number)
    }

    private static let completed = ChainFixture.Step.finished("Completed", succeeded: true)
    private static let pending = ChainFixture.Step.unfinished("Pending")
    private static let running = ChainFixture.Step.unfinished("Running")

    private static let named: [Int: ChainFixture] = {
        let chains = documented + scripted
        return Dictionary(chains.map { ($0.number, $0) }) { first, _ in first }
    }()

    private static let documented =
        [8, 11, 12].map { chain($0, completed) } + [
            chain(9, pending, completed, answer: ChainAnswers.melanoma),
            chain(85, pending, running, completed, answer: ChainAnswers.graded),
            chain(87, completed, answer: ChainAnswers.documentedWords),
            chain(88, completed, answer: ChainAnswers.vitaminD),
            chain(90, pending, completed, answer: ChainAnswers.everyType),
            chain(91, pending, completed, answer: ChainAnswers.document),
        ]

    private static let scripted = [
        chain(901, completed), chain(902, pending, .unfinished("Executing"), running, completed),
        chain(903, pending, running, .finished("Cancelled", succeeded: false)),
        chain(904, pending, .finished("Failed", succeeded: false)),
        chain(905, pending, .finished("Completed", succeeded: false)), chain(906, pending, running),
        chain(907, pending, .failingRequest, completed),
        chain(908, pending, running, .endingToken, completed),
        ChainFixture(number: 909, steps: [completed], failsFirstStart: true, answer: ChainAnswers.plain(909)),
        chain(910, pending, .unfinished("Paused"), .finished("COMPLETED", succeeded: true)),
        chain(911, completed, answer: ChainAnswers.oddTypes),
        chain(930, completed, answer: ChainAnswers.largeDocument),
    ]

    private static func chain(
        _ number: Int, _ steps: ChainFixture.Step...,
        answer: (@Sendable (GeneticFile) -> [ResultProperty])? = nil
    ) -> ChainFixture {
        ChainFixture(number: number, steps: steps, answer: answer ?? ChainAnswers.plain(number))
    }

    private static func family(_ number: Int) -> ChainFixture? {
        switch number {
        case 2000...2099: polled(number, times: number - 2000)
        case 3000...3299: polled(number, times: number % 4)
        default: nil
        }
    }

    private static func polled(_ number: Int, times count: Int) -> ChainFixture {
        let waiting = [pending] + Array(repeating: running, count: count)
        return ChainFixture(
            number: number, steps: waiting + [completed], answer: ChainAnswers.plain(number))
    }
}
#endif
