import Beacons
import Handshake
import Testing

@testable import Nearby

/// A watch of one community, and what it asks and shows.
struct WatchScene {
    let vault = MemoryVault()
    let log: EncounterLog
    let shown = AsyncStream.makeStream(of: Watch.Notice.self)
    let asked = AsyncStream.makeStream(of: Watch.Question.self)

    init() {
        log = EncounterLog(in: vault, community: "recurse-center")
    }

    func watch(
        ignoring own: UserNumber? = nil, report: @escaping @Sendable (NearbyUpdate) async -> Void = { _ in }
    ) -> Watch {
        Watch(log: log, ignoring: own, report: report, ask: asked.continuation, show: shown.continuation)
    }

    /// What was asked and shown.
    struct Outcome {
        var alerts: [Alert] = []
        var crowds: [CrowdAlert] = []
        var questions: [UserNumber] = []
    }

    /// Everything that was asked and shown; the watch is of no use afterwards.
    func outcome() async -> Outcome {
        shown.continuation.finish()
        asked.continuation.finish()
        var outcome = Outcome()
        for await notice in shown.stream {
            switch notice {
            case .person(let alert): outcome.alerts.append(alert)
            case .crowd(let crowd): outcome.crowds.append(crowd)
            }
        }
        for await question in asked.stream { outcome.questions.append(question.person) }
        return outcome
    }
}
