import Handshake
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

/// Two chains that answer when their gate is open.
///
/// An actor, since it counts questions that come from several tasks.
private actor Chains {
    let gate = Gate()
    private(set) var questions = 0

    func ask() async -> Genes {
        questions += 1
        await gate.wait()
        return Genes(melanoma: .success(.moderate), vitaminD: .success(.issue))
    }

    /// Returns when so many questions were asked.
    func asked(_ count: Int) async {
        while questions < count { await Task.yield() }
    }
}

@Suite("What the chains found, in the web sample")
struct ChainAnswersTests {
    private let visitors = Visitors()
    private let chains = Chains()
    private let session: String
    private let file: FileID
    private let other: FileID

    init() throws {
        session = visitors.start()
        file = try #require(FileID("227001"))
        other = try #require(FileID("910001"))
    }

    /// What the user of the visit learns about a file.
    private func risk(_ visit: Int, _ file: FileID) async throws -> MelanomaRisk? {
        let answers = ChainAnswers(visitors, session, visit)
        let genes = try await answers.genes(of: file) { [chains] in await chains.ask() }
        return genes?.answers?.risk
    }

    @Test("E16: a file that a browser comes back to is not run again, while its chains run and after")
    func back() async throws {
        let visit = visitors.visit(session).number
        let first = Task { try await risk(visit, file) }
        await chains.asked(1)
        let second = Task { try await risk(visit, other) }
        await chains.asked(2)
        let opening = Task { [chains] in
            for _ in 0..<1_000 { await Task.yield() }
            chains.gate.open()
        }
        #expect(try await risk(visit, file) == .moderate)
        await opening.value
        let risks = [try await first.value, try await second.value, try await risk(visit, file)]
        #expect(risks.allSatisfy { $0 == .moderate })
        #expect(await chains.questions == 2)
    }

    @Test("E16: what the chains found for a user is not given to the next user of the browser")
    func nextUser() async throws {
        let visit = visitors.visit(session).number
        let first = Task { try await risk(visit, file) }
        await chains.asked(1)
        await visitors.restart(session, nil, in: MemoryVault())
        chains.gate.open()
        #expect(try await first.value == nil)
        let next = visitors.visit(session)
        #expect(next.number != visit && next.genes.isEmpty && next.asking.isEmpty)
        #expect(try await risk(next.number, file) == .moderate)
        #expect(await chains.questions == 2)
    }
}
