import Handshake
import MessageFixtures
import OAuth
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

@Suite("The imports of the iOS sample")
@MainActor
struct ImportModelTests {
    private let service = ScriptedService(["GET /DataSourceList": [.json("[]")]])

    private func model(
        clock: any Clock<Duration> = HurriedClock(), through transport: (any Transport)? = nil
    ) async throws -> ImportModel {
        let genome = try await service.genome(clock: clock, through: transport)
        let model = ImportModel(genome, vault: MemoryVault())
        (model.login, model.password) = ("ada@example.test", "x")
        return model
    }

    /// A model whose question waits for its answer.
    private func asked(through transport: (any Transport)? = nil) async throws -> ImportModel {
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question)])
        let model = try await model(through: transport)
        await model.start()
        #expect(question(model) == "First pet?")
        model.answer = "Turing"
        return model
    }

    private func question(_ model: ImportModel) -> String? {
        if case .question(let question) = model.step { question.text } else { nil }
    }

    private func file(_ model: ImportModel) -> String? {
        if case .done(let file) = model.step { file.id.string } else { nil }
    }

    private func sent(_ line: String) -> Int { service.lines.count { $0 == line } }

    @Test("C02: Send that is tapped twice sends the answer once, and the import goes on")
    func twice() async throws {
        let held = Held(service, ImportAnswers.path)
        let model = try await asked(through: held)
        service.script(ImportAnswers.path, [.json(#"{"StatusCode":0}"#)])
        service.script("GET /DataSourceList", [.json("[]"), .json(ImportAnswers.file)])
        let tap = Task { await model.proceed() }
        await held.reached.wait()
        // The first tap has emptied the field.
        model.answer = "Turing"
        let again = Task { await model.proceed() }
        held.gate.open()
        await again.value
        await tap.value
        #expect(sent(ImportAnswers.path) == 1)
        #expect(file(model) == "7" && model.problem == nil)
    }

    @Test("Import that is tapped twice logs in once")
    func startTwice() async throws {
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question)])
        let held = Held(service, "POST /23andMe/Download")
        let model = try await model(through: held)
        let tap = Task { await model.start() }
        await held.reached.wait()
        model.password = "x"
        await model.start()
        held.gate.open()
        await tap.value
        #expect(sent("POST /23andMe/Download") == 1)
        #expect(question(model) == "First pet?")
    }

    @Test("C02: an answer that the service does not read keeps the question and the answer")
    func unread() async throws {
        let model = try await asked()
        service.script(ImportAnswers.path, [.json(#"{"Message":"no"}"#, status: 400), .json(#"{"StatusCode":0}"#)])
        await model.proceed()
        #expect(question(model) == "First pet?" && model.answer == "Turing" && model.problem != nil)
        model.answer = ""
        await model.proceed()
        #expect(question(model) == "First pet?" && model.problem != nil && sent(ImportAnswers.path) == 1)
        model.answer = "Turing"
        service.script("GET /DataSourceList", [.json("[]"), .json(ImportAnswers.file)])
        await model.proceed()
        #expect(sent(ImportAnswers.path) == 2 && file(model) == "7")
    }

    @Test("C07: an answer that is sent again after a lost one ends with the file")
    func lost() async throws {
        let model = try await asked()
        service.script(ImportAnswers.path, [.lost, .json(#"{"StatusCode":0}"#)])
        await model.proceed()
        #expect(question(model) == "First pet?" && model.answer == "Turing" && model.problem != nil)
        service.script("GET /DataSourceList", [.json("[]"), .json(ImportAnswers.file)])
        await model.proceed()
        #expect(file(model) == "7", "\(model.step)")
    }

    @Test("a wrong answer ends the question, as the service has it")
    func wrong() async throws {
        let model = try await asked()
        service.script(ImportAnswers.path, [.json(#"{"StatusCode":1}"#)])
        await model.proceed()
        guard case .credentials = model.step else {
            Issue.record("\(model.step)")
            return
        }
        #expect(model.problem == ThirdPartyImport.Outcome.badAnswer.problem && model.answer.isEmpty)
    }

    @Test("an import that ends while another's question waits does not replace the question, and is told")
    func older() async throws {
        let clock = ManualClock()
        let model = try await model(clock: clock)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started), .json(ImportAnswers.question)])
        let first = Task { await model.start() }
        await clock.sleepers(1)
        guard case .running = model.step else {
            Issue.record("\(model.step)")
            return
        }
        model.restart()
        (model.login, model.password) = ("grace@example.test", "x")
        await model.start()
        #expect(question(model) == "First pet?")
        service.script("GET /DataSourceList", [.json(ImportAnswers.file)])
        clock.advance(by: .seconds(5))
        await first.value
        #expect(question(model) == "First pet?")
        #expect(model.arrived.map(\.id.string) == ["7"])
    }

    @Test("an import that ends while another's question waits is told, also when nothing tells which file is its own")
    func olderUncertain() async throws {
        let clock = ManualClock()
        let model = try await model(clock: clock)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started), .json(ImportAnswers.question)])
        let first = Task { await model.start() }
        await clock.sleepers(1)
        model.restart()
        (model.login, model.password) = ("grace@example.test", "x")
        await model.start()
        service.script("GET /DataSourceList", [.json(ImportAnswers.files(7, 8))])
        clock.advance(by: .seconds(5))
        await first.value
        #expect(question(model) == "First pet?" && model.arrived.isEmpty)
        #expect(model.uncertain.map { $0.map(\.id.string) } == [["7", "8"]])
    }

    @Test("a look at the list that fails ends the wait, and says why")
    func failingLook() async throws {
        let model = try await model()
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
        service.script("GET /DataSourceList", [.json("[]"), .json(#"{"Message":"closed"}"#, status: 403)])
        await model.start()
        guard case .late = model.step else {
            Issue.record("\(model.step)")
            return
        }
        #expect(model.problem?.contains("403") == true, "\(model.problem ?? "")")
    }

    @Test("C07: an import whose file does not come is given up, and others wait for it no more")
    func givenUp() async throws {
        let model = try await model()
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
        await model.start()
        #expect(model.step.awaited != nil && model.left.map(\.source) == [.twentyThreeAndMe], "\(model.step)")
        await model.giveUp(try #require(model.left.first))
        #expect(model.step.awaited == nil && model.left.isEmpty, "\(model.step)")
        // No name tells the two imports apart.
        service.script("GET /DataSourceList", [.json("[]"), .json(ImportAnswers.file)])
        (model.login, model.password) = ("ada@elsewhere.test", "x")
        await model.start()
        #expect(file(model) == "7" && model.left.isEmpty, "\(model.step)")
    }

    @Test("C07: giving up an import that runs ends the wait for its file")
    func givenUpWhileRunning() async throws {
        let clock = ManualClock()
        let model = try await model(clock: clock)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
        let start = Task { await model.start() }
        await clock.sleepers(1)
        await model.look()
        await model.giveUp(try #require(model.left.first))
        await start.value
        guard case .credentials = model.step else {
            Issue.record("\(model.step)")
            return
        }
        #expect(model.left.isEmpty && model.problem == nil)
    }

    @Test("an import whose answer was lost, and one of an earlier launch, can be given up")
    func lostOnes() async throws {
        let (vault, genome) = (MemoryVault(), try await service.genome())
        service.script("POST /23andMe/Download", [.lost])
        let model = ImportModel(genome, vault: vault)
        (model.login, model.password) = ("ada@example.test", "x")
        await model.start()
        #expect(model.problem != nil && model.left.count == 1)
        let later = ImportModel(genome, vault: vault)
        await later.look()
        #expect(later.left == model.left)
        await later.giveUp(try #require(later.left.first))
        await model.look()
        #expect(later.left.isEmpty && model.left.isEmpty)
    }

    @Test("going back to the login is not possible while the service is asked")
    func restarting() async throws {
        let held = Held(service, ImportAnswers.path)
        let model = try await asked(through: held)
        service.script(ImportAnswers.path, [.json(#"{"StatusCode":1}"#)])
        let tap = Task { await model.proceed() }
        await held.reached.wait()
        model.restart()
        guard case .asking = model.step else {
            Issue.record("\(model.step)")
            return
        }
        held.gate.open()
        await tap.value
        #expect(model.problem != nil)
        model.restart()
        #expect(model.problem == nil)
    }
}

/// Holds the requests of one method and path until a gate opens.
struct Held: Transport {
    let service: ScriptedService
    let line: String
    let reached = Gate()
    let gate = Gate()

    init(_ service: ScriptedService, _ line: String) {
        (self.service, self.line) = (service, line)
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        if request.line.prefix(while: { $0 != "?" }) == line {
            reached.open()
            await gate.wait()
        }
        return try await service.send(request, limits: limits)
    }
}
