import Foundation
import Handshake
import OAuth
import Sequencing
import Synchronization
import TestFixtures
import Testing

@testable import FileSelector

/// Lists that a test answers with, one a call; the last one again and again.
private final class Lists: Sendable {
    private let answers: Mutex<[Result<[GeneticFile], SequencingError>]>
    private let asked = Mutex(0)

    init(_ answers: Result<[GeneticFile], SequencingError>...) {
        self.answers = Mutex(answers)
    }

    var count: Int { asked.withLock { $0 } }

    func next() throws -> FileList {
        asked.withLock { $0 += 1 }
        let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
        let files = try answer?.get() ?? []
        return try FileList(.array(files.map { .object($0.members) }))
    }
}

@Suite("A selector that loads its list")
@MainActor
struct FileSelectorModelTests {
    private let files = FileShelf.own + FileShelf.samples

    private func model(_ lists: Lists, now: Double = 100) -> FileSelectorModel {
        FileSelectorModel(time: TimeSource(now: { now }, clock: ContinuousClock())) { try lists.next() }
    }

    @Test("it loads, refreshes, and keeps the list when the service is gone")
    func life() async {
        let lists = Lists(.success(files), .failure(.service(status: 503, code: nil, message: nil)), .success([]))
        let model = model(lists)
        #expect(model.state.phase == .loading)
        await model.load()
        #expect(model.state.phase == .loaded && model.state.loadedAt == 100 && model.state.count(of: .own) == 7)
        await model.load()
        #expect(model.state.notices == [.stale(loadedAt: 100, .unreachable)] && model.state.count(of: .own) == 7)
        await model.load()
        #expect(model.state.notices == [.noFiles])
    }

    @Test("a first failure has no list, and a retry brings it")
    func failure() async {
        let model = model(Lists(.failure(.malformed(answer: "", member: "", expected: "", found: "")), .success(files)))
        await model.load()
        #expect(model.state.phase == .failed(.answer))
        await model.load()
        #expect(model.state.phase == .loaded)
    }

    @Test("callers meanwhile wait for the same answer")
    func shared() async {
        let lists = Lists(.success(files))
        let model = model(lists)
        async let first: Void = model.load()
        async let second: Void = model.load()
        _ = await (first, second)
        #expect(lists.count == 1 && model.state.phase == .loaded)
    }

    @Test(
        "what an error means to the user",
        arguments: [
            (SequencingError.service(status: 401, code: nil, message: nil), FileProblem.signInRequired),
            (.service(status: 429, code: nil, message: nil), .tooManyRequests),
            (.service(status: 503, code: nil, message: nil), .unreachable),
            (.service(status: 418, code: nil, message: nil), .status(418)),
            (.account(.network(.timedOut(host: "h"))), .unreachable),
            (.account(.demanded(.scopes(["external"]), status: 403)), .signInRequired),
            (.account(.vault(.damaged(what: "p", reason: "r"))), .app),
        ])
    func problems(_ error: SequencingError, _ problem: FileProblem) {
        #expect(FileProblem(error) == problem)
    }
}

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
}
