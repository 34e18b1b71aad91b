import Foundation
import Handshake
import OAuth
import Sequencing
import Testing

/// The code of the documentation, compiled: a line that is not here is an error.
private enum DocumentationExamples {
    struct Store { var choice: RememberedChoice? }

    actor Archive {
        func append(_ piece: [UInt8], at end: Int64) {}
    }

    enum Caffeine: Equatable {
        case fast, slow
        case other(String)
    }

    static func draw(_ title: String, _ subtitle: String?, _ facts: [String], _ isSelected: Bool) {}
    static func show(_ anything: Any) {}
    static func showAnotherFileIsNeeded() {}
    static func showLookIntoYourMail() {}
    static func ask(_ question: String) -> String { question }

    static func overview(vault: any Vault) async throws {
        let handshake = try Handshake(Client(service: .sequencing, id: "your-client-id"), vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)
        let genome = Sequencing(account)

        let files = try await genome.files()
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: files[0].id)
        _ = (risk, vitaminD)
    }

    static func choose(_ genome: Sequencing, _ id: FileID, _ store: inout Store) async {
        var selector = FileSelector(remembered: store.choice)
        do {
            selector.show(try await genome.fileList())
        } catch {
            selector.fail(error)
        }
        selector.choose(.sample)
        selector.search = "ada"
        for row in selector.rows { draw(row.title, row.subtitle, row.facts, row.isSelected) }
        selector.toggle(id)
        if selector.canContinue, let file = selector.selected { store.choice = RememberedChoice(file) }
    }

    static func run(_ genome: Sequencing, _ file: FileID) async throws {
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file)
        switch risk {
        case .success(.noData): showAnotherFileIsNeeded()
        case .success(let level): show(level)
        case .failure(let error): show(error)
        }
        _ = vitaminD
        for try await step in genome.run(.melanoma, .vitaminD, on: file) {
            print("\(step.endedCount) of \(step.chains.count)")
        }
    }

    static func save(_ genome: Sequencing, _ file: FileID, folder: String, archive: Archive) async throws {
        let report = try await genome.report(AppCode(91), on: file)
        for document in report.files {
            try await genome.save(document, intoFolder: folder) { print("\($0.received) bytes") }
        }
        for document in report.files {
            try await genome.stream(document.id) { piece, progress in
                await archive.append(piece, at: progress.received)
            }
        }
    }

    static func register() async throws {
        let registration = Registration(.identifier("your-client-id"))
        switch try await registration.register(Sequencing.EmailAddress("ada@example.com")) {
        case .mailSent: showLookIntoYourMail()
        case .refused(_, let messages): show(messages)
        }
    }

    static func bring(_ genome: Sequencing, login: String, password: Secret) async throws -> ThirdPartyImport.Outcome {
        let outcome: ThirdPartyImport.Outcome
        let imports = ThirdPartyImport(genome)
        let known = Set(try await genome.files().map(\.id))
        switch try await imports.from23andMe(.init(login: login, password: password)) {
        case .question(let question): outcome = try await imports.answer(ask(question.text), to: question)
        case .ended(let ended): outcome = ended
        }
        let new = try await genome.newFiles(besides: known, polling: Polling(deadline: .seconds(600)))
        _ = new
        return outcome
    }
}

private typealias Caffeine = DocumentationExamples.Caffeine

extension AppChain where Answer == Caffeine {
    fileprivate static var caffeine: AppChain {
        AppChain(11, property: "result") { word in
            switch word.lowercased() {
            case "yes": .fast
            case "no": .slow
            default: .other(word)
            }
        }
    }
}

@Suite("The documentation")
struct DocumentationTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = tests.deletingLastPathComponent().deletingLastPathComponent()

    @Test("F02: shows only code that compiles")
    func examples() throws {
        let compiled = Set(try lines(of: URL(filePath: #filePath)).map(Self.bare))
        let catalogue = Self.root.appending(path: "Sources/Sequencing/Sequencing.docc")
        let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
        var count = 0
        for article in articles {
            for part in try lines(of: article).split(whereSeparator: { $0.hasPrefix("```") && $0 != "```swift" }) {
                guard let start = part.firstIndex(of: "```swift") else { continue }
                for line in part[part.index(after: start)...] where !line.isEmpty {
                    #expect(compiled.contains(Self.bare(line)), "\(article.lastPathComponent): \(line)")
                    count += 1
                }
            }
        }
        #expect(count > 50)
    }

    @Test("and the table of rows names only tests that exist")
    func rows() throws {
        let sources = try Self.sources()
        let table = try String(contentsOf: Self.tests.appending(path: "ROWS.md"), encoding: .utf8)
        let names = table.matches(of: /`(\w+Tests|\w+Vaults|test_\w+)`((?:,? (?:and )?“[^”]+(?:“[^”]*”[^”]*)?”)*)/)
        var count = 0
        for match in names {
            let place = String(match.1)
            if place.hasPrefix("test_") {
                #expect(sources.values.contains { $0.contains("def \(place)(") }, "\(place)")
                count += 1
                continue
            }
            let suite = try #require(sources["\(place).swift"], "there is no suite \(place)")
            for name in match.2.matches(of: /“([^”]+(?:“[^”]*”[^”]*)?)”/) {
                #expect(suite.contains("\"\(name.1)\""), "\(place): \(name.1)")
                count += 1
            }
        }
        #expect(count > 150)
    }

    @Test("in which every row and every weakness of the dossier stands once")
    func completeness() throws {
        let table = try lines(of: Self.tests.appending(path: "ROWS.md"))
        let rows = table.compactMap { $0.firstMatch(of: /^\| ([A-FW]\d+) \|/).map { String($0.1) } }
        let counts = [("A", 18), ("B", 5), ("C", 7), ("D", 20), ("E", 19), ("F", 5)]
        let acceptance = counts.flatMap { letter, count in
            (1...count).map { letter + ($0 < 10 ? "0" : "") + "\($0)" }
        }
        #expect(rows == acceptance + (1...40).map { "W\($0)" })
    }

    @Test("W38: no public name repeats a misspelling of the service")
    func spelling() throws {
        let folder = Self.root.appending(path: "Sources/Sequencing")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var count = 0
        for file in files {
            for line in try lines(of: folder.appending(path: file)) where line.contains("public ") {
                count += 1
                #expect(!line.contains(/(?i:cliend|succesful(?!l)|recieve|seperat)/), "\(file): \(line)")
            }
        }
        #expect(count > 100)
    }

    /// Every source of a test in the package, by its file's name.
    private static func sources() throws -> [String: String] {
        let folder = root.appending(path: "Tests")
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var sources: [String: String] = [:]
        for file in files where file.hasSuffix(".swift") || file.hasSuffix(".py") {
            let url = folder.appending(path: file)
            // Several folders may have a suite of the same name.
            sources[url.lastPathComponent, default: ""] += try String(contentsOf: url, encoding: .utf8)
        }
        return sources
    }

    private static func bare(_ line: some StringProtocol) -> String {
        line.trimmingCharacters(in: .whitespaces).replacing("fileprivate ", with: "")
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
    }
}
