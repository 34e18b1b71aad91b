import Foundation
import TestFixtures
import Testing

@Suite("The table of rows")
struct RowsTests {
    @Test("names every row of the dossier, and only tests that exist")
    func rows() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let sources = try TestSources.all().filter { !$0.path.hasSuffix("RowsTests.swift") }
        let table = try String(contentsOf: folder.appending(path: "ROWS.md"), encoding: .utf8)
        for number in 1...30 {
            let row = "| BE-" + (number < 10 ? "0" : "") + "\(number) |"
            #expect(table.components(separatedBy: "\n" + row).count == 2, "\(row)")
        }
        let names = table.matches(of: /“([^”]+)”/).map { String($0.1) }
        #expect(names.count > 50)
        #expect(TestSources.faults(ofRowsIn: table, in: "BeaconsTests", sources: sources) == [])
        // And the other way round: a test that is for a row is in the table.
        for (path, text) in sources where path.hasSuffix(".swift") && SearchedText(text).contains("BE-") {
            for match in text.matches(of: /"([^"\n]*\bBE-\d\d[^"\n]*: [^"\n]*)"/) {
                let isNamed = names.contains(String(match.1))
                #expect(isNamed, "\(path): \(match.1)")
            }
        }
    }
}
