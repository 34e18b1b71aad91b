import FileSelector
import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

@Suite("Files and chains at the sandbox", .heavy)
struct ChainsAtTheSandboxTests {
    private func file(_ number: Int) throws -> FileID { try #require(FileID("\(number)")) }

    @Test("D01: the user's files and the samples, names with markup and the three words included")
    func files() async throws {
        let town = try await Town()
        let files = try await town.genome.files()
        #expect(files.count { $0.isSample } == 10 && files.count { !$0.isSample } == 11)
        #expect(files.contains { $0.name == "error_invalid_exception.vcf" })
        #expect(files.contains { $0.personaName == "<b>Tim</b>" })
        var selector = FileSelectorState()
        selector.show(files, at: 0)
        #expect(selector.availableSegments == [.uploaded, .shared, .fromApps, .altruist])
        #expect(try await town.genome.files(.sample).count == 10)
        #expect(try await town.genome.file(try file(227_007))?.category == .sharedToMe)
        await town.sandbox.stop()
    }

    @Test("D14: a user without files, and W37: one with 5,000")
    func extremes() async throws {
        let none = try await Town(user: "charles@example.test")
        var selector = FileSelectorState()
        selector.show(try await none.genome.files(), at: 0)
        #expect(selector.notices == [.noOwnFiles])
        await none.sandbox.stop()
        let many = try await Town(user: "herman@example.test")
        #expect(try await many.genome.files([.uploaded, .shared, .fromApps, .altruist]).count == 5000)
        await many.sandbox.stop()
    }

    @Test(
        "9.5: numbers as texts, texts as numbers and missing or null members change nothing",
        arguments: [
            "numbers-as-strings", "strings-as-numbers", "without Sex", "null Population", "without ResultProps.Title",
            "null FinishDt",
        ])
    func spellings(_ change: String) async throws {
        let town = try await Town()
        try town.inject("sequencing /DataSourceList => \(change)")
        try town.inject("sequencing /v2/* => \(change)")
        #expect(try await town.genome.files().count == 21)
        let (risk, vitaminD) = try await town.genome.answers(.melanoma, .vitaminD, on: try file(910_001))
        #expect(try risk.get() == .moderate)
        #expect(try vitaminD.get() == .issue)
        await town.sandbox.stop()
    }

    @Test(
        "bad input: garbage, half an answer, a lost one, an object for a list, a missing member",
        arguments: [
            ("garbage", "malformed_answer"), ("cut 40", "connection_cut"),
            ("body {\"Message\":\"ok\"}", "malformed_answer"), ("body null", "malformed_answer"),
            ("without Id", "malformed_answer"), ("null Id", "malformed_answer"),
        ])
    func badLists(_ fault: String, _ code: String) async throws {
        let town = try await Town()
        try town.inject("sequencing /DataSourceList => \(fault)")
        #expect(await sequencingError { try await town.genome.files() }?.code == code)
        await town.sandbox.stop()
    }

    @Test("E02, E04: immediately, after polls, and with unknown words", arguments: [901, 902, 910, 907, 2005])
    func scripts(_ number: Int) async throws {
        let town = try await Town()
        let answer = try await town.genome.answer(.yesOrNo(number), on: try file(910_002))
        #expect(answer == (number.isMultiple(of: 2) ? .yes : .no))
        await town.sandbox.stop()
    }

    @Test("E11, W25: cancelled, failed, without success and never finished are four different errors")
    func endings() async throws {
        let town = try await Town(polling: Polling(jitter: 0, timeout: .seconds(30)))
        let calls = try [903, 904, 905, 906, 901].map { ChainCall(AppCode($0), on: try file(910_002)) }
        let last = try await town.genome.run(calls).complete()
        let codes = calls.map { outcome(of: $0, in: last) }
        #expect(codes == ["job_cancelled", "job_failed", "job_unsuccessful", "job_deadline", "No"])
        await town.sandbox.stop()
    }

    /// The answer of one call, or its error's word.
    private func outcome(of call: ChainCall, in step: ChainProgress) -> String {
        guard let result = step.chains.first(where: { $0.call == call })?.result else { return "no result" }
        do {
            return "\(try AppChain.yesOrNo(1).answer(in: try result.get()))"
        } catch {
            return error.code
        }
    }

    @Test("W22: a token that ends in the middle of polling is refreshed, and the run goes on")
    func tokenEnds() async throws {
        let town = try await Town()
        #expect(try await town.genome.answer(.yesOrNo(908), on: try file(910_002)) == .yes)
        #expect(town.sandbox.requests(.sequencing).count { $0.grantType == "refresh_token" } == 1)
        await town.sandbox.stop()
    }

    @Test("9.4: a start answered with 500 is not retried")
    func failingStart() async throws {
        let town = try await Town()
        let call = ChainCall(AppCode(909), on: try file(910_002))
        let error = try #require(await sequencingError { try await town.genome.start(call) })
        #expect(error.code == "server_error" && error.description.contains("status 500"))
        #expect(town.paths.count { $0 == "/v2/StartApp" } == 1)
        #expect(try await town.genome.start(call).status == .completed)
        await town.sandbox.stop()
    }

    @Test(
        "E17, W26: an unknown chain, a foreign file and a file of a kind that no chain supports, beside one that answers"
    )
    func mixedBatch() async throws {
        let town = try await Town()
        let calls = try [(77_777, 910_001), (88, 228_001), (88, 227_006), (88, 910_002)].map {
            ChainCall(AppCode($0.0), on: try file($0.1))
        }
        let last = try await town.genome.run(calls).complete()
        let codes = calls.map { outcome(of: $0, in: last) }
        #expect(codes == ["chain_not_found", "file_not_found", "job_unsuccessful", "No"])
        #expect(throws: SequencingError.unknownChain(calls[0].chain)) { try last.chains[0].result?.get() }
        #expect(throws: SequencingError.unknownFile(calls[1].file)) { try last.chains[1].result?.get() }
        await town.sandbox.stop()
    }

    @Test("E12: all ten types, and what is odd")
    func types() async throws {
        let town = try await Town()
        let report = try await town.genome.report(AppCode(90), on: try file(910_001))
        #expect(Set(report.properties.map(\.value.type)).count == 10)
        #expect(report.properties.allSatisfy { if case .unknown = $0.value { false } else { true } })
        let odd = try await town.genome.report(AppCode(911), on: try file(910_001))
        #expect(odd["Future"]?.value == .unknown(type: "Hologram", value: .string("a type of tomorrow")))
        #expect(odd.text("Twice") == "first" && odd.properties.count == 7)
        await town.sandbox.stop()
    }

    @Test("E06: a report's file comes whole")
    func reportFile() async throws {
        let town = try await Town()
        let file = try #require(try await town.genome.report(AppCode(91), on: try file(910_001)).files.first)
        #expect(try await town.genome.contents(of: file.id).prefix(5).elementsEqual("%PDF-".utf8))
        #expect(file.suggestedName == "report_\(file.job).pdf")
        await town.sandbox.stop()
    }

    @Test("E10: version 1 answers the same")
    func versionOne() async throws {
        let town = try await Town()
        let calls = try [ChainCall(AppCode(9), on: file(910_005)), ChainCall(AppCode(88), on: file(910_005))]
        let last = try await town.genome.run(calls, version: .one).complete()
        #expect(try last[.melanoma]?.get() == .veryHigh)
        #expect(try last[.vitaminD]?.get() == .noIssue)
        await town.sandbox.stop()
    }

    @Test("a run left alone is taken up by another client")
    func resumed() async throws {
        let town = try await Town()
        var jobs: [JobID] = []
        for try await step in town.genome.run(.melanoma, on: try file(910_003)) {
            jobs = step.chains.compactMap(\.job)
            break
        }
        let again = Sequencing(town.account, polling: Polling(jitter: 0), clock: HurriedClock())
        let last = try await again.resume(jobs).complete()
        #expect(try last.chains.first?.result.map { try AppChain.melanoma.answer(in: try $0.get()) } == .high)
        await town.sandbox.stop()
    }

    @Test("200 chains in one batch: one start, and no more polls than intervals")
    func manyChains() async throws {
        let town = try await Town()
        let calls = try (3000..<3200).map { ChainCall(AppCode($0), on: try file(910_002)) }
        let last = try await town.genome.run(calls).complete()
        #expect(last.chains.count { (try? $0.result?.get().succeeded) == true } == 200)
        #expect(town.paths.count { $0 == "/v2/StartAppBatch" } == 1)
        #expect(town.paths.count { $0 == "/v2/GetAppResultsBatch" } == last.polls)
        #expect(last.polls <= 5)
        await town.sandbox.stop()
    }
}
