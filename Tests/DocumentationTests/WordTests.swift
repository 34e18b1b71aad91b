import Foundation
import Testing

/// The words that say too little, as CONTRIBUTING.md lists them: who acts, or when, is left out.
@Suite("The words")
struct WordTests {
    private static let words = ["nobody", "somebody", "anybody", "whoever", "anew", "at once", "surroundings"]

    /// The files that name the words themselves, in quotation marks.
    private static let listing = ["CONTRIBUTING.md", "Tests/DocumentationTests/WordTests.swift"]

    /// A word as a word, as a part of a name, and across lines of a comment.
    private static let pattern = words.map { word in
        let rest = word.dropFirst().replacing(" ", with: #"[\s/*#_]+"#)
        return "(?:(?<![A-Za-z])\(word.prefix(1))|\(word.prefix(1).uppercased()))\(rest)(?![a-z])"
    }.joined(separator: "|")

    private static func findings(in text: String) throws -> [String] {
        let search = try NSRegularExpression(pattern: pattern)
        return search.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range, in: text).map { String(text[$0]) }
        }
    }

    @Test("no file has a word in whose place a term says who acts, or when")
    func files() throws {
        let pages = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
            .filter { $0.hasSuffix(".md") }
        let folders = ["Sources", "Tests", "Documentation", "Examples", "Scripts", "Benchmarks", ".ci", ".github"]
        let files = try pages + Repository.files(below: folders)
        #expect(files.count > 1_500 && Set(Self.listing).isSubset(of: files))
        for file in files {
            // Pictures and the fuzzers' bytes are no text.
            let data = try Data(contentsOf: Repository.root.appending(path: file))
            guard var text = String(data: data, encoding: .utf8) else { continue }
            if Self.listing.contains(file) {
                for word in Self.words { text = text.replacing("\"\(word)\"", with: "") }
            }
            let found = try Self.findings(in: text)
            #expect(found == [], "\(file) has \(found.joined(separator: ", ")): see Style in CONTRIBUTING.md")
        }
    }

    @Test("each is found in a comment, in a name and across two lines", arguments: words)
    func finds(word: String) throws {
        let (capital, name) = (word.prefix(1).uppercased() + word.dropFirst(), word.replacing(" ", with: "_"))
        for text in ["// it ends \(word).", "\(capital) is told", "func \(name)()", "test_\(name)_is_told"] {
            #expect(try Self.findings(in: text).count == 1, "\(text)")
        }
        if word.contains(" ") {
            let lines = word.split(separator: " ").joined(separator: "\n    /// ")
            #expect(try Self.findings(in: "    /// it ends \(lines).").count == 1)
        } else {
            #expect(try Self.findings(in: "let is\(capital) = true").count == 1)
        }
    }

    @Test(
        "a word that has another within it is none",
        arguments: ["http.NoBody", "let noBody = 0", "manewa", "flat once"])
    func others(text: String) throws {
        #expect(try Self.findings(in: text) == [])
    }
}
