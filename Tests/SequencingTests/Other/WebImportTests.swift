import Handshake
import MessageFixtures
import OAuth
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

@Suite("The imports of the web sample")
struct WebImportTests {
    private let service = ScriptedService(["GET /DataSourceList": [.json("[]")]])
    private let visitors = Visitors()
    private let session: String
    private let vault = MemoryVault()

    init() { session = visitors.start() }

    private var visit: Visit { visitors.visit(session) }

    private func state(_ visit: Visit) -> String { visit.imported["state"]?.string ?? "" }

    private func start(_ genome: Sequencing, login: String = "ada@example.test") async throws {
        try await Imports(visitors, session).start(
            .twentyThreeAndMe, login: login, password: Secret("x"), UnfinishedImports(of: genome, in: vault),
            ThirdPartyImport(genome))
    }

    private func answer(_ text: String, _ genome: Sequencing) async throws {
        try await Imports(visitors, session)
            .answer(text, UnfinishedImports(of: genome, in: vault), ThirdPartyImport(genome))
    }

    private func giveUp(_ key: String, _ genome: Sequencing) async throws {
        try await Imports(visitors, session).giveUp(key, UnfinishedImports(of: genome, in: vault))
    }

    /// The imports whose files have not come, as the page is told.
    private func unfinished(_ genome: Sequencing) async throws -> [JSONObject] {
        let told = try await Imports(visitors, session).told(UnfinishedImports(of: genome, in: vault))
        return told["unfinished"]?.array?.compactMap(\.object) ?? []
    }

    /// Starts an import, whose file is waited for then. The next one meets a question.
    private func startFollowed(_ clock: ManualClock) async throws -> Sequencing {
        let genome = try await service.genome(clock: clock)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started), .json(ImportAnswers.question)])
        try await start(genome)
        await clock.sleepers(1)
        return genome
    }

    /// Returns when the page shows something else than a running import.
    private func ended() async {
        while state(visit) == "running" { await Task.yield() }
    }

    @Test("the end of an import does not replace the question of a later one, and its file is told beside it")
    func older() async throws {
        let clock = ManualClock()
        let genome = try await startFollowed(clock)
        #expect(state(visit) == "running")
        try await start(genome, login: "grace@example.test")
        #expect(state(visit) == "question")
        service.script("GET /DataSourceList", [.json(ImportAnswers.file)])
        clock.advance(by: .seconds(5))
        while visit.arrived.isEmpty, state(visit) == "question" { await Task.yield() }
        #expect(state(visit) == "question")
        #expect(visit.imported["also"]?.array?.map(\.string) == ["23andme_ada.txt"])
    }

    @Test("C02: an answer that two tabs send is sent once, for the login that was asked about")
    func twoTabs() async throws {
        let held = Held(service, ImportAnswers.path)
        let genome = try await service.genome(through: held)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question)])
        service.script(ImportAnswers.path, [.json(#"{"StatusCode":0}"#)])
        try await start(genome)
        // Another import without a login runs: only the login tells the two apart.
        let beside = try await UnfinishedImports(of: genome, in: vault).noting(.twentyThreeAndMe, login: nil) {
            ThirdPartyImport.Outcome.started
        }
        #expect(beside.started != nil)
        let tab = Task { try await answer("Turing", genome) }
        await held.reached.wait()
        // Nothing would hold this one's request.
        try await answer("Turing", service.genome())
        #expect(state(visit) == "answering")
        service.script("GET /DataSourceList", [.json(ImportAnswers.file)])
        held.gate.open()
        try await tab.value
        await ended()
        #expect(service.lines.count { $0 == ImportAnswers.path } == 1)
        #expect(state(visit) == "done")
    }

    @Test("an answer that comes late does not replace a later import's question, and its files are told beside it")
    func lateAnswer() async throws {
        let (clock, held) = (ManualClock(), Held(service, ImportAnswers.path))
        let genome = try await service.genome(clock: clock, through: held)
        let other = ImportAnswers.question.replacing("First pet?", with: "First car?")
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question), .json(other)])
        service.script(ImportAnswers.path, [.json(#"{"StatusCode":0}"#)])
        try await start(genome)
        let late = Task { try await answer("Turing", genome) }
        await held.reached.wait()
        try await start(genome, login: "grace@example.test")
        held.gate.open()
        try await late.value
        #expect(state(visit) == "question" && visit.imported["text"]?.string == "First car?")
        #expect(visit.imported["followed"]?.integer == 1)
        await clock.sleepers(1)
        service.script("GET /DataSourceList", [.json(ImportAnswers.files(7, 8))])
        clock.advance(by: .seconds(5))
        while !visit.waits.isEmpty { await Task.yield() }
        #expect(visit.imported["text"]?.string == "First car?")
        let files = visit.imported["also_one_of"]?.array?.first?.array?.map(\.string)
        #expect(files == ["23andme.txt (7)", "23andme.txt (8)"])
    }

    @Test("C02: an answer that the service does not read leaves the question")
    func unread() async throws {
        let genome = try await service.genome()
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question)])
        service.script(ImportAnswers.path, [.json(#"{"Message":"no"}"#, status: 400)])
        try await start(genome)
        #expect(await sequencingError { try await answer("Turing", genome) } != nil)
        #expect(state(visit) == "question")
        #expect(await sequencingError { try await answer("", genome) } != nil)
        #expect(state(visit) == "question")
    }

    @Test("C07: an import whose file does not come is given up, and others wait for it no more")
    func givenUp() async throws {
        let genome = try await service.genome()
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
        try await start(genome)
        await ended()
        #expect(state(visit) == "late")
        let left = try await unfinished(genome)
        #expect(left.map { $0["source"]?.string } == ["23andMe"])
        try await giveUp("none of them", genome)
        #expect(try await unfinished(genome) == left && state(visit) == "late")
        try await giveUp(left.first?["key"]?.string ?? "", genome)
        #expect(try await unfinished(genome).isEmpty && state(visit) == "none")
        // No name tells the two imports apart.
        service.script("GET /DataSourceList", [.json("[]"), .json(ImportAnswers.file)])
        try await start(genome, login: "ada@elsewhere.test")
        await ended()
        #expect(visit.imported["files"]?.array?.map(\.string) == ["23andme_ada.txt"])
    }

    @Test("C07: giving up an import that runs ends the wait for its file, and leaves a later one's question")
    func givenUpWhileRunning() async throws {
        let genome = try await startFollowed(ManualClock())
        let first = try #require(try await unfinished(genome).first?["key"]?.string)
        try await start(genome, login: "grace@example.test")
        #expect(visit.imported["followed"]?.integer == 1)
        try await giveUp(first, genome)
        #expect(visit.imported["followed"]?.integer == 0 && state(visit) == "question")
        #expect(try await unfinished(genome).isEmpty)
    }

    @Test("a question outlasts a new sign-in of the same user, and pages see nothing until it is known who that is")
    func sameUser() async throws {
        let held = Held(service, "GET /indexApi.php")
        let genome = try await service.genome(through: held)
        service.script("POST /23andMe/Download", [.json(ImportAnswers.question)])
        service.script("GET /indexApi.php", [.json(#"{"uid":"1"}"#)])
        held.gate.open()
        await visitors.restart(session, genome.account, in: vault)
        try await start(genome)
        #expect(state(visit) == "question")
        let again = Held(service, "GET /indexApi.php")
        let other = try await service.genome(through: again)
        let signIn = Task { await visitors.restart(session, other.account, in: vault) }
        await again.reached.wait()
        #expect(state(visit) == "none")
        again.gate.open()
        await signIn.value
        #expect(state(visit) == "question")
        service.script("GET /indexApi.php", [.json(#"{"uid":"2"}"#)])
        await visitors.restart(session, other.account, in: vault)
        #expect(state(visit) == "none")
    }

    @Test("of two who sign in at the same time neither is taken for the user whose visit it is")
    func twoUsers() async throws {
        let slow = Held(service, "GET /indexApi.php")
        let (first, second) = (try await service.genome(through: slow), try await service.genome())
        service.script("GET /indexApi.php", [.json(#"{"uid":"2"}"#), .json(#"{"uid":"1"}"#)])
        let signIn = Task { await visitors.restart(session, first.account, in: vault) }
        await slow.reached.wait()
        await visitors.restart(session, second.account, in: vault)
        #expect(visitors.visit(session).number == 0, "the first one's answer is still awaited")
        slow.gate.open()
        await signIn.value
        #expect(visit.number > 0 && visit.subject == nil)
        // The next one alone is known again.
        service.script("GET /indexApi.php", [.json(#"{"uid":"1"}"#)])
        visitors.change(session) { $0.place = "Oslo" }
        await visitors.restart(session, second.account, in: vault)
        #expect(visit.subject == "1" && visit.place == nil)
        await visitors.restart(session, second.account, in: vault)
        #expect(visit.subject == "1")
    }

    @Test("F03: too many sessions end one in which no user has signed in")
    func manySessions() {
        _ = visitors.prove(session)
        let first = visitors.start()
        for _ in 0..<999 { _ = visitors.start() }
        #expect(visitors.visit(first).number == 0)
        #expect(visit.number > 0)
    }

    @Test("another user who signs in in the same browser gets no import and no chain of the user before")
    func anotherUser() async throws {
        let genome = try await service.genome()
        let account = genome.account
        service.script("POST /23andMe/Download", [.json(ImportAnswers.started)])
        func signIn(_ subject: String?) async throws -> [Bool] {
            let answer = subject.map { [ScriptedService.Reply.json(#"{"uid":"\#($0)"}"#)] } ?? []
            for method in ["GET", "POST"] { service.script("\(method) /indexApi.php", answer) }
            await visitors.restart(session, account, in: vault)
            let keys = [account.id.vaultKey(.imports), account.id.vaultKey(.jobs)]
            var areThere: [Bool] = []
            for key in keys { areThere.append(try await vault.record(key) != nil) }
            for key in keys { try await vault.update(key) { try await $0.replace(with: Array("[]".utf8)) } }
            return areThere
        }
        _ = try await signIn("1")
        #expect(try await signIn("1") == [true, true], "the same user")
        #expect(try await signIn("2") == [false, false])
        #expect(try await signIn("2") == [true, true])
        #expect(try await signIn(nil) == [false, false], "the service does not say who it is")
        #expect(try await signIn("2") == [false, false])
    }
}
