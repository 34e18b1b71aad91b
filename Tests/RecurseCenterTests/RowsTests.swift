import Foundation
import TestFixtures
import Testing

@Suite("The table of rows")
struct RowsTests {
    @Test("has every row, defect and scenario of the dossier, and names only tests that exist")
    func rows() throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let table = try String(contentsOf: here.appending(path: "ROWS.md"), encoding: .utf8)
        let sources = try TestSources.all().filter { !$0.path.hasSuffix("RowsTests.swift") }
        #expect(TestSources.faults(ofRowsIn: table, in: "RecurseCenterTests", sources: sources) == [])
        let expected =
            (1...30).map { $0 < 10 ? "RC-0\($0)" : "RC-\($0)" } + (1...11).map { "D\($0)" }
            + (1...11).map { "scenario \($0)" }
        for row in expected { #expect(table.contains("\n| \(row) |"), "\(row)") }
        // And the other way round: a test that is for a row is in that row, by words of its name.
        let lines = table.split(separator: "\n")
        for (path, text) in sources where path.hasSuffix(".swift") && SearchedText(text).contains("RC-") {
            for match in text.matches(of: /"([^"\n]*\bRC-\d\d[^"\n]*: [^"\n]*)"/) {
                let name = String(match.1)
                for row in name.matches(of: /\bRC-\d\d\b/) {
                    let words = lines.filter { $0.hasPrefix("| \(row.0) |") }.flatMap { $0.matches(of: /“([^”]+)”/) }
                    #expect(words.contains { name.contains($0.1) }, "\(path): \(name)")
                }
            }
        }
    }
}
