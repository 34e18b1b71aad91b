import Handshake
import OAuth
import Sequencing
import Synchronization
import Testing

@testable import FileSelector

@Suite("The sheet for registration and password reset")
@MainActor
struct RegistrationModelTests {
    private typealias Answer = Result<Registration.Outcome, SequencingError>

    private func model(_ email: String, _ answer: Answer) -> RegistrationModel {
        RegistrationModel(email: email) { _, _ in try answer.get() }
    }

    @Test(
        "B01, B02: an empty or wrong address is told, and nothing is sent",
        arguments: [("", RegistrationState.Complaint.empty), ("  ", .empty), ("ada", .invalid), ("ada@", .invalid)])
    func addresses(_ email: String, _ complaint: RegistrationState.Complaint) {
        let model = RegistrationModel(email: email) { _, _ in
            Issue.record("sent")
            return .mailSent
        }
        model.send(.account)
        #expect(model.state.step == .editing(complaint))
    }

    @Test("B01: each of the two requests leads to the mailbox", arguments: RegistrationState.Request.allCases)
    func sent(_ request: RegistrationState.Request) async {
        let model = model(" ada@example.test ", .success(.mailSent))
        model.send(request)
        #expect(model.state.step == .asking(request))
        await model.finish()
        #expect(model.state.step == .mailSent(request) && model.state.email == "ada@example.test")
        model.send(request)
        #expect(model.state.step == .mailSent(request), "nothing is sent twice")
    }

    @Test("B03: a refusal has the service's words, and the address can be changed")
    func refused() async {
        let model = model(
            "ada@example.test", .success(.refused(code: 101, messages: ["Already registered.", "Twice."])))
        model.send(.account)
        await model.finish()
        #expect(model.state.step == .editing(.refused(["Already registered.", "Twice."])))
        let text = RegistrationState.Complaint.refused(["Already registered.", "Twice."]).text(in: .american)
        #expect(text == "Sequencing.com did not accept this: \u{2068}Already registered. Twice.\u{2069}")
    }

    @Test(
        "an answer that did not come is told apart from a service that is down",
        arguments: [
            (SequencingError.account(.network(.cut(host: "h", reason: "r"))), RegistrationState.Complaint.unanswered),
            (.account(.network(.unreachable(host: "h", reason: "r"))), .unreachable),
            (.service(status: 503, code: nil, message: nil), .unreachable),
            (.malformed(answer: "", member: "", expected: "", found: ""), .unanswered),
        ])
    func failures(_ error: SequencingError, _ complaint: RegistrationState.Complaint) async {
        let model = model("ada@example.test", .failure(error))
        model.send(.password)
        await model.finish()
        #expect(model.state.step == .editing(complaint))
    }

    @Test("B01: cancelling stops the wait, and an answer that comes later changes nothing")
    func cancelled() async {
        let model = model("ada@example.test", .success(.mailSent))
        model.send(.account)
        model.cancel()
        await model.finish()
        #expect(model.state.step == .editing(.unanswered))
    }

    @Test(
        "B01: the late answer to a cancelled request does not end the next one",
        arguments: [
            .success(.mailSent), .failure(.account(.network(.unreachable(host: "h", reason: "r")))),
        ] as [Result<Registration.Outcome, SequencingError>])
    func late(_ answer: Result<Registration.Outcome, SequencingError>) async {
        let waiting = Mutex<[CheckedContinuation<Registration.Outcome, any Error>]>([])
        let model = RegistrationModel(email: "ada@example.test") { _, _ in
            // Ignores the cancellation.
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
            }
        }
        model.send(.account)
        while waiting.withLock({ $0.count }) < 1 { await Task.yield() }
        model.cancel()
        model.send(.password)
        while waiting.withLock({ $0.count }) < 2 { await Task.yield() }
        waiting.withLock { $0[0] }.resume(with: answer)
        for _ in 0..<100 { await Task.yield() }
        #expect(model.state.step == .asking(.password))
        waiting.withLock { $0[1] }.resume(returning: .mailSent)
        await model.finish()
        #expect(model.state.step == .mailSent(.password))
    }
}
