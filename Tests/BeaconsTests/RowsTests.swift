import Foundation
import Testing

@Suite("The table of rows")
struct RowsTests {
    @Test("names every row of the dossier, and only tests that exist")
    func rows() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let tests = folder.deletingLastPathComponent()
        func text(_ paths: [String], in folder: URL, _ suffixes: [String]) throws -> String {
            try paths.filter { path in suffixes.contains { path.hasSuffix($0) } && !path.hasSuffix("RowsTests.swift") }
                .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
        }
        let own = try text(
            try FileManager.default.contentsOfDirectory(atPath: folder.path), in: folder, [".swift"])
        // Rows of other rooms name the tests of these.
        let all = try text(
            FileManager.default.enumerator(atPath: tests.path)?.compactMap { $0 as? String } ?? [], in: tests,
            [".swift", ".py"])
        let table = try String(contentsOf: folder.appending(path: "ROWS.md"), encoding: .utf8)
        for number in 1...30 {
            let row = "| BE-" + (number < 10 ? "0" : "") + "\(number) |"
            #expect(table.components(separatedBy: "\n" + row).count == 2, "\(row)")
        }
        let names = table.matches(of: /“([^”]+)”/).map { String($0.1) }
        #expect(names.count > 50)
        for name in names { #expect(all.contains("\"\(name)\""), "\(name)") }
        for match in table.matches(of: /`(test_\w+)`/) { #expect(all.contains("def \(match.1)("), "\(match.1)") }
        // And the other way round: a test that is for a row is in the table.
        for match in own.matches(of: /"(BE-\d\d[^"]*)"/) {
            #expect(names.contains(String(match.1)), "\(match.1)")
        }
    }
}
