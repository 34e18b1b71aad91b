#if Sandbox
import HTTPTypes

/// The faults of one request.
package struct FaultPlan: Sendable {
    private(set) var delay: Double = 0
    private var headers: [(name: String, value: String)] = []
    private var changes: [DocumentChange] = []
    private var signed: [SignedTextFaults.Change] = []
    private var main: FaultRule.Action?

    /// How the response is sent.
    enum Delivery: Sendable {
        /// Completely.
        case whole(Answer)
        /// The headers, then that many bytes of the body, then the connection closes.
        case cut(Answer, bytes: Int)
        /// Not at all: the connection closes.
        case dropped
        /// Headers, then bytes until the client leaves.
        case endless
        /// So many bytes.
        case huge(bytes: Int)

        /// The status that the client sees.
        var status: Int? {
            switch self {
            case .whole(let answer), .cut(let answer, _): answer.status
            case .dropped: nil
            case .endless, .huge: 200
            }
        }
    }

    /// Collects the matching rules, up to the first that does not combine, and counts down the limited ones among them.
    ///
    /// - Parameter signedTextsOnly: whether rules that do more than to change signed texts are passed over.
    init(
        taking rules: inout [FaultRule], for request: IncomingRequest, at service: SandboxService.Name,
        signedTextsOnly: Bool = false
    ) {
        var spent: [Int] = []
        var isDecided = false
        for index in rules.indices where rules[index].fits(request, at: service) {
            if signedTextsOnly, !rules[index].action.isAboutSignedTexts { continue }
            if rules[index].skipped > 0 {
                rules[index].skipped -= 1
                continue
            }
            if isDecided { continue }
            if let remaining = rules[index].remaining {
                rules[index].remaining = remaining - 1
                if remaining <= 1 { spent.append(index) }
            }
            add(rules[index].action)
            isDecided = !rules[index].action.combines
        }
        for index in spent.reversed() { rules.remove(at: index) }
    }

    private mutating func add(_ action: FaultRule.Action) {
        switch action {
        case .delay(let seconds): delay += seconds
        case .header(let name, let value): headers.append((name, value))
        case .change(let change): changes.append(change)
        case .signed(let kind, let more): signed.append((kind, more))
        default: main = action
        }
    }

    /// The delivery of a request's response; `process` is called at most once, and not at all if the fault replaces
    /// the service.
    func delivery(_ answering: () -> Answer) -> Delivery {
        func process() -> Answer { changing(answering) }
        switch main {
        case nil, .delay, .header, .change, .signed: return .whole(finished(process()))
        case .cut(let bytes): return .cut(finished(process()), bytes: bytes)
        case .drop:
            _ = process()
            return .dropped
        case .body(let text): return .whole(finished(Self.replacing(process(), status: 200, with: text)))
        case .empty: return .whole(finished(Answer(status: process().status)))
        case .malformed:
            let answer = process()
            return .whole(finished(Self.replacing(answer, status: answer.status, with: #"{"type":"connection","id":"#)))
        case .status(let code, let body): return .whole(finished(Self.failure(code, body)))
        case .redirect(let url, let status): return .whole(finished(.redirect(to: url, status: status)))
        case .garbage: return .whole(finished(Self.garbage))
        case .endless: return .endless
        case .huge(let bytes): return .huge(bytes: bytes)
        }
    }

    /// Runs a body whose signed texts have the changes; nothing else is changed.
    package func changing<Result>(_ body: () -> Result) -> Result {
        signed.isEmpty ? body() : SignedTextFaults.$current.withValue(signed, operation: body)
    }

    private static func replacing(_ answer: Answer, status: Int, with text: String) -> Answer {
        var answer = answer
        answer.status = status
        answer.body = AnswerBody(Array(text.utf8))
        answer.headers[.contentType] = "application/json"
        return answer
    }

    private func finished(_ answer: Answer) -> Answer {
        let changed = changes.reduce(answer) { answer, change in answer.rewriting(change.applied(to:)) }
        return headers.reduce(changed) { $0.setting($1.name, $1.value) }
    }

    private static func failure(_ code: Int, _ body: String) -> Answer {
        let isJSON = body.hasPrefix("{") || body.hasPrefix("[")
        var answer = Answer.text(body, status: code)
        if isJSON { answer.headers[.contentType] = "application/json" }
        return answer
    }

    private static let garbage = Answer(
        status: 200, headers: [.contentType: "text/html"],
        body: Array("<html><body>It works! ".utf8) + [0xFF, 0xFE, 0x00, 0xC3, 0x28] + Array("</body>".utf8))
}
#endif
