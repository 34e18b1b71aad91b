import Foundation
import TestFixtures
import Testing

@Suite("The documentation")
struct DocumentationTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    /// The repository; a copy of it where `Tests/Mutations/run` changes what is read.
    private static let root =
        ProcessInfo.processInfo.environment["HANDSHAKE_REPOSITORY"].map { URL(filePath: $0) }
        ?? tests.deletingLastPathComponent().deletingLastPathComponent()

    @Test("names in its table of rows only tests that exist")
    func rows() throws {
        let sources = try Self.sources().mapValues(SearchedText.init)
        let table = try String(contentsOf: Self.tests.appending(path: "ROWS.md"), encoding: .utf8)
        let names = table.matches(of: /`(\w+Tests|\w+Vaults|test_\w+)`((?:,? (?:and )?“[^”]+(?:“[^”]*”[^”]*)?”)*)/)
        var count = 0
        for match in names {
            let place = String(match.1)
            if place.hasPrefix("test_") {
                let isThere = sources.values.contains { $0.contains("def \(place)(") }
                #expect(isThere, "\(place)")
                count += 1
                continue
            }
            let suite = try #require(sources["\(place).swift"], "there is no suite \(place)")
            for name in match.2.matches(of: /“([^”]+(?:“[^”]*”[^”]*)?)”/) {
                let isThere = suite.contains("\"\(name.1)\"")
                #expect(isThere, "\(place): \(name.1)")
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
                #expect(!line.contains(/(?i:cliend|succesful|recieve|seperat)/), "\(file): \(line)")
            }
        }
        #expect(count > 100)
    }

    /// Every source of a test in the package, by its file's name.
    private static func sources() throws -> [String: String] {
        var sources: [String: String] = [:]
        for (path, text) in try TestSources.all() {
            // Several folders may have a suite of the same name.
            sources[String(path.split(separator: "/").last ?? ""), default: ""] += text
        }
        return sources
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
    }
}
