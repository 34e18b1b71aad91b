import Foundation
import TestFixtures
import Testing

@Suite("The table of rows")
struct RowsTests {
    @Test("names every row of the circles dossier, and only tests that exist")
    func rows() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let sources = try TestSources.all().filter { !$0.path.hasSuffix("RowsTests.swift") }
        let table = try String(contentsOf: folder.appending(path: "ROWS.md"), encoding: .utf8)
        #expect(table.matches(of: /(?m)^\| (CI\d+) \|/).map { String($0.1) } == (1...59).map { "CI\($0)" })
        for row in table.split(separator: "\n") where row.hasPrefix("| CI") {
            #expect(row.contains(/“[^”]+”|`test_\w+`/), "\(row.prefix(60))")
        }
        #expect(TestSources.faults(ofRowsIn: table, in: "NearbyTests", sources: sources) == [])
        // And the other way round: a test that is for a row is in the table.
        let names = Set(table.matches(of: /“([^”]+)”/).map { String($0.1) })
        for (path, text) in sources where path.hasSuffix(".swift") {
            for match in text.matches(of: /"([^"\n]*\bCI\d+[^"\n]*: [^"\n]*)"/) {
                let isNamed = names.contains(String(match.1))
                #expect(isNamed, "\(path): \(match.1)")
            }
        }
    }
}
