import Handshake
import OAuth
import Sequencing
import Synchronization
import Testing

@testable import FileSelector

@Suite("The sheet that copies a file from the web")
@MainActor
struct CopyingModelTests {
    private nonisolated static let url = "https://files.example.test/ada.vcf.gz"

    private func model(_ answer: Result<ConnectDelivery.Outcome, SequencingError>) -> CopyingModel {
        CopyingModel(CopyingState(email: "ada@example.test", name: "ada.vcf.gz", url: Self.url)) { _ in
            try answer.get()
        }
    }

    @Test(
        "C05: a wrong field is told, and nothing is sent",
        arguments: [
            ("", "a.vcf", url, CopyingState.Complaint.emptyEmail), (" ", "", "", .emptyEmail),
            ("ada@", "a.vcf", url, .invalidEmail),
            ("ada@example.test", "  ", url, .emptyName), ("ada@example.test", "a.vcf", "", .invalidURL),
            ("ada@example.test", "a.vcf", "file:///etc/passwd", .invalidURL),
            ("ada@example.test", "a.vcf", "https://", .invalidURL),
            ("ada@example.test", "a.vcf", "https://files.example.test/a b", .invalidURL),
            ("ada@example.test", "a.vcf", "https://files.example.test/größe.vcf", .invalidURL),
        ])
    func fields(_ email: String, _ name: String, _ url: String, _ complaint: CopyingState.Complaint) {
        let model = CopyingModel(CopyingState(email: email, name: name, url: url)) { _ in
            Issue.record("sent")
            return .accepted
        }
        model.send()
        #expect(model.state.step == .editing(complaint))
    }

    @Test("the text for a wrong address names all that is wrong with one")
    func wrongAddress() {
        let text = CopyingState.Complaint.invalidURL.text(in: .american)
        #expect(text.contains("https, http or ftp") && text.contains("spaces or accented letters"))
    }

    @Test("C07: the request has what the user typed, is sent once, and its acceptance is told")
    func accepted() async throws {
        let sent = Mutex<[ConnectRequest]>([])
        let model = CopyingModel(CopyingState(email: " ada@example.test ", name: "ada.vcf.gz\n", url: Self.url)) {
            request in
            sent.withLock { $0.append(request) }
            return .accepted
        }
        model.send()
        model.send()
        #expect(model.state.step == .asking)
        await model.finish()
        #expect(model.state.step == .accepted)
        model.send()
        await model.finish()
        let expected = try ConnectRequest(
            email: Sequencing.EmailAddress("ada@example.test"),
            files: [ConnectRequest.File(name: "ada.vcf.gz", url: Self.url)])
        #expect(sent.withLock { $0 } == [expected])
    }

    @Test("C07: a refusal has the service's status, and the fields can be changed")
    func refused() async {
        let model = model(.success(.refused(status: 403)))
        model.send()
        await model.finish()
        #expect(model.state.step == .editing(.refused(status: 403)))
        let text = CopyingState.Complaint.refused(status: 403).text(in: .american)
        #expect(text == "The service answered with an error (status \u{2068}403\u{2069}).")
        model.send()
        #expect(model.state.step == .asking)
    }

    @Test(
        "C07: a request that may have arrived is told apart from one that was never sent",
        arguments: [
            (SequencingError.account(.network(.cut(host: "h", reason: "r"))), CopyingState.Complaint.unconfirmed),
            (.account(.network(.unreachable(host: "h", reason: "r"))), .unreachable),
            (.service(status: 503, code: nil, message: nil), .unconfirmed),
            (.input(member: "files", problem: "too long"), .invalidURL),
        ])
    func failures(_ error: SequencingError, _ complaint: CopyingState.Complaint) async {
        let model = model(.failure(error))
        model.send()
        await model.finish()
        #expect(model.state.step == .editing(complaint))
        #expect(!complaint.text(in: .american).isEmpty)
    }

    @Test("C07: cancelling stops the wait, and an answer that comes later changes nothing")
    func cancelled() async {
        let model = model(.success(.accepted))
        model.send()
        model.cancel()
        await model.finish()
        #expect(model.state.step == .editing(.unconfirmed))
    }

    @Test(
        "C07: the late answer to a cancelled request does not end the next one",
        arguments: [
            .success(.accepted), .failure(.account(.network(.unreachable(host: "h", reason: "r")))),
        ] as [Result<ConnectDelivery.Outcome, SequencingError>])
    func late(_ answer: Result<ConnectDelivery.Outcome, SequencingError>) async {
        let waiting = Mutex<[CheckedContinuation<ConnectDelivery.Outcome, any Error>]>([])
        let model = CopyingModel(CopyingState(email: "ada@example.test", name: "ada.vcf.gz", url: Self.url)) { _ in
            // Ignores the cancellation.
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
            }
        }
        model.send()
        while waiting.withLock({ $0.count }) < 1 { await Task.yield() }
        model.cancel()
        model.send()
        while waiting.withLock({ $0.count }) < 2 { await Task.yield() }
        waiting.withLock { $0[0] }.resume(with: answer)
        for _ in 0..<100 { await Task.yield() }
        #expect(model.state.step == .asking)
        waiting.withLock { $0[1] }.resume(returning: .refused(status: 403))
        await model.finish()
        #expect(model.state.step == .editing(.refused(status: 403)))
    }
}
