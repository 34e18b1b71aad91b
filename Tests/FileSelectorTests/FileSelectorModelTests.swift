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
