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

/// Lists that are asked for, and answered when a test says so.
private final class HeldLists: Sendable {
    typealias Answer = CheckedContinuation<FileList, any Error>

    private let calls = Mutex(0)
    private let held: Int
    private let begun: AsyncStream<Answer>
    private let begin: AsyncStream<Answer>.Continuation

    /// - Parameter held: how many of the first calls wait; the others have an empty list immediately.
    init(holding held: Int = .max) {
        self.held = held
        (begun, begin) = AsyncStream.makeStream(of: Answer.self)
    }

    var count: Int { calls.withLock(\.self) }

    /// The next call that waits.
    func asked() async -> Answer? {
        for await answer in begun { return answer }
        return nil
    }

    func next() async throws -> FileList {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        guard number <= held else { return try FileList(.array([])) }
        return try await withCheckedThrowingContinuation { _ = begin.yield($0) }
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

    private func model(_ lists: HeldLists) -> FileSelectorModel {
        FileSelectorModel { try await lists.next() }
    }

    private func list() throws -> FileList {
        try FileList(.array(files.map { .object($0.members) }))
    }

    @Test("D19: an app is told that its user forgets the choice, and the file that is continued with is selected")
    func forgotten() async throws {
        let model = FileSelectorModel(remembered: RememberedChoice(FileShelf.samples[0])) { [files] in
            try FileList(.array(files.map { .object($0.members) }))
        }
        await model.load()
        model.choose(FileShelf.own[1])
        #expect(model.state.selected == FileShelf.own[1] && model.state.remembered == nil)
        var calls = 0
        model.onForget = { calls += 1 }
        model.forget()
        #expect(calls == 1 && model.state.remembered == nil && model.state.selected == FileShelf.own[1])
    }

    @Test("D19: of an own file and a sample with one identifier, the user continues with the own file")
    func oneIdentifier() async throws {
        let sample = try #require(FileShelf.file(1, "Community", persona: "Ada", line: "Walks"))
        let model = FileSelectorModel { [files] in
            try FileList(.array(([sample] + files).map { .object($0.members) }))
        }
        await model.load()
        #expect(model.choose(sample) == FileShelf.own[0] && model.state.selected == FileShelf.own[0])
    }

    @Test("callers meanwhile wait for the same answer")
    func shared() async throws {
        let lists = HeldLists(holding: 1)
        let model = model(lists)
        let first = Task { await model.load() }
        let answer = try #require(await lists.asked())
        let second = Task { await model.load() }
        // The main actor runs the second call before this goes on.
        await Task { @MainActor in }.value
        answer.resume(returning: try list())
        await first.value
        await second.value
        #expect(lists.count == 1 && model.state.phase == .loaded)
    }

    @Test("after a cancelled load the next one asks again, and the answer to the cancelled one changes nothing")
    func cancelled() async throws {
        let lists = HeldLists()
        let model = model(lists)
        let first = Task { await model.load() }
        let late = try #require(await lists.asked())
        model.cancel()
        #expect(model.state.phase == .loading)
        let second = Task { await model.load() }
        let answer = try #require(await lists.asked())
        late.resume(throwing: CancellationError())
        await first.value
        #expect(model.state.phase == .loading, "nothing is said of a load that was cancelled")
        answer.resume(returning: try list())
        await second.value
        #expect(model.state.phase == .loaded)

        let third = Task { await model.load() }
        let later = try #require(await lists.asked())
        #expect(model.state.isRefreshing)
        model.cancel()
        #expect(!model.state.isRefreshing)
        later.resume(returning: try FileList(.array([])))
        await third.value
        #expect(model.state.notices.isEmpty && model.state.count(of: .own) == 7)
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
