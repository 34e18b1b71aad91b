import Foundation
import TestFixtures
import Testing

@Suite("The table of rows")
struct RowsTests {
    @Test("names a test for each row of places, and only tests that exist")
    func rows() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let table = try String(contentsOf: folder.appending(path: "ROWS.md"), encoding: .utf8)
        let sources = try TestSources.all().filter { !$0.path.hasSuffix("RowsTests.swift") }
        #expect(TestSources.faults(ofRowsIn: table, in: "GeofencesTests", sources: sources) == [])
    }
}
