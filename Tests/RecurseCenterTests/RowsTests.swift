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
        #expect(TestSources.faults(ofRowsIn: table, sources: sources) == [])
        let expected =
            (1...30).map { $0 < 10 ? "RC-0\($0)" : "RC-\($0)" } + (1...11).map { "D\($0)" }
            + (1...11).map { "scenario \($0)" }
        for row in expected { #expect(table.contains("\n| \(row) |"), "\(row)") }
    }
}
