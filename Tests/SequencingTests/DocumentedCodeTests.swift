import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import Synchronization
import TestFixtures
import Testing

/// The code of the documentation, compiled, and run at the sandbox. `CodeTests` compares it with the pages.
private enum DocumentedCode {
    actor Archive {
        private(set) var count = 0

        func append(_ piece: [UInt8], at end: Int64) { count += piece.count }
    }

    static func overview(vault: any Vault) async throws {
        let handshake = try Handshake(Client(service: .sequencing, id: "your-client-id"), vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)
        let genome = Sequencing(account)

        let files = try await genome.files()
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: files[0].id)
        _ = (risk, vitaminD)
    }

    static func noting(_ genome: Sequencing, _ file: FileID, _ vault: any Vault) async throws -> UnfinishedJobs {
        let jobs = UnfinishedJobs(of: genome.account, in: vault)
        for try await step in genome.run(.melanoma, .vitaminD, on: file) {
            try await jobs.note(step)
        }
        return jobs
    }

    static func resuming(_ genome: Sequencing, _ jobs: UnfinishedJobs) async throws {
        for try await step in genome.resume(try await jobs.all.map(\.id)) {
            try await jobs.note(step)
        }
    }

    static func answer(
        _ genome: Sequencing, _ file: FileID, show: (Any) -> Void, showAnotherFileIsNeeded: () -> Void
    ) async throws {
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file)
        switch risk {
        case .success(.noData): showAnotherFileIsNeeded()
        case .success(let level): show(level)
        case .failure(let error): show(error)
        }
        _ = vitaminD
    }

    static func run(_ genome: Sequencing, _ file: FileID, print: (String) -> Void) async throws {
        for try await step in genome.run(.melanoma, .vitaminD, on: file) {
            print("\(step.endedCount) of \(step.chains.count)")
        }
    }

    static func save(
        _ genome: Sequencing, _ file: FileID, folder: String, print: @escaping @Sendable (String) -> Void
    ) async throws -> Report {
        let report = try await genome.report(AppCode(91), on: file)
        for document in report.files {
            try await genome.save(document, intoFolder: folder) { print("\($0.received) bytes") }
        }
        return report
    }

    static func stream(_ genome: Sequencing, _ document: ReportFile, to archive: Archive) async throws {
        try await genome.stream(document.id) { piece, progress in
            await archive.append(piece, at: progress.received)
        }
    }

    static func register(showLookIntoYourMail: () -> Void, show: ([String]) -> Void) async throws {
        let registration = Registration(.identifier("your-client-id"))
        switch try await registration.register(Sequencing.EmailAddress("ada@example.com")) {
        case .mailSent: showLookIntoYourMail()
        case .refused(_, let messages): show(messages)
        }
    }

    static func bring(
        _ genome: Sequencing, _ vault: any Vault, name: String, password: Secret, ask: (String) -> String
    ) async throws -> UnfinishedImport? {
        let imports = ThirdPartyImport(genome)
        let unfinished = UnfinishedImports(of: genome, in: vault)
        var started: UnfinishedImport?
        let login = try await unfinished.noting(.twentyThreeAndMe, login: name) {
            try await imports.from23andMe(.init(login: name, password: password))
        }
        switch login.answer {
        case .question(let question):
            started = try await unfinished.noting(.twentyThreeAndMe, login: name) {
                try await imports.answer(ask(question.text), to: question)
            }.started
        case .ended: started = login.started
        }
        return started
    }

    static func wait(
        _ unfinished: UnfinishedImports, for started: UnfinishedImport?, show: (String) -> Void
    ) async throws {
        guard let started else { return }
        switch try await unfinished.arrival(of: started, polling: Polling(timeout: .seconds(600))) {
        case .file(let file): show("New: \(file.displayName)")
        case .oneOf(let files): show("Your file is one of these: \(files.map(\.displayName))")
        case .late: show("Look again later.")
        }
    }
}

enum Caffeine: Equatable {
    case fast, slow
    case other(String)
}

extension AppChain where Answer == Caffeine {
    static var caffeine: AppChain {
        AppChain(11, property: "result") { word in
            switch word.lowercased() {
            case "yes": .fast
            case "no": .slow
            default: .other(word)
            }
        }
    }
}

@Suite("The documentation's code at the sandbox", .heavy)
struct DocumentedCodeTests {
    @Test("F02: asks chains about a file")
    func asking() async throws {
        let town = try await Town()
        let file = try #require(FileID("910001"))
        var shown: [String] = []
        try await DocumentedCode.answer(town.genome, file, show: { shown.append("\($0)") }, showAnotherFileIsNeeded: {})
        #expect(shown == ["Moderate"])
        var steps: [String] = []
        try await DocumentedCode.run(town.genome, file) { steps.append($0) }
        #expect(steps.last == "2 of 2")
        await town.sandbox.stop()
    }

    @Test("E06: saves a report's files, and reads one in pieces")
    func saving() async throws {
        let town = try await Town()
        let folder = try TemporaryFolder()
        let progress = Mutex<[String]>([])
        let report = try await DocumentedCode.save(town.genome, try #require(FileID("910001")), folder: folder.path) {
            text in
            progress.withLock { $0.append(text) }
        }
        #expect(folder.names() == report.files.map(\.suggestedName).sorted())
        let last = try #require(report.files.last)
        let size = try Data(contentsOf: folder.url.appending(path: last.suggestedName)).count
        #expect(progress.withLock { $0.last } == "\(size) bytes")

        let archive = DocumentedCode.Archive()
        try await DocumentedCode.stream(town.genome, last, to: archive)
        #expect(await archive.count == size)
        await town.sandbox.stop()
    }

    @Test("C01: imports data from 23andMe")
    func importing() async throws {
        let town = try await Town()
        let vault = MemoryVault()
        let started = try await DocumentedCode.bring(
            town.genome, vault, name: "ada@example.test", password: Secret("x")
        ) { question in
            question == "First pet?" ? "Turing" : ""
        }
        town.sandbox.advanceClock(by: 60)
        var shown: [String] = []
        try await DocumentedCode.wait(UnfinishedImports(of: town.genome, in: vault), for: started) { shown.append($0) }
        #expect(shown == ["New: 23andme_ada.txt"])
        await town.sandbox.stop()
    }
}
