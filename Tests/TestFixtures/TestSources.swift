import Foundation

/// The sources of all tests of this repository.
package enum TestSources {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift and Python files below `Tests`, by their paths there, with their texts.
    ///
    /// A package below `Tests` that has been built holds the sources of other packages. They are left out.
    package static func all() throws -> [(path: String, text: String)] {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { path in
            (path.hasSuffix(".swift") || path.hasSuffix(".py"))
                && !path.split(separator: "/").contains { $0.hasPrefix(".build") || $0 == ".venv" }
        }
        .map { (path: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }

    /// What is wrong with a table of rows, one line each; empty when every row is shown.
    ///
    /// A row names at least one test that exists (“its words” or `test_name`) or a file of the repository; a suite alone shows
    /// nothing, because it stays when the test goes. Everything it names so exists, and every word that ends in `Tests` is a folder or a suite.
    package static func faults(
        ofRowsIn table: String, sources: [(path: String, text: String)]
    ) -> [String] {
        let text = SearchedText(sources.map(\.text).joined(separator: "\n"))
        func isSuite(_ name: String) -> Bool {
            text.contains("struct \(name) ") || text.contains("final class \(name) ")
        }
        func exists(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.deletingLastPathComponent().appending(path: path).path)
        }
        var faults: [String] = []
        for line in table.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| row |") {
            let row = line.dropFirst(2).prefix { $0 != "|" }.trimmingCharacters(in: .whitespaces)
            let words = line.matches(of: /“([^”]+)”/).map { String($0.1) }
            let functions = line.matches(of: /`(test_\w+)`/).map { String($0.1) }
            let files = line.matches(of: /`(Tests\/[\w.\/-]+)`/).map { String($0.1) }
            let suites = line.matches(of: /\b[A-Z]\w*Tests\b/).map { String($0.output) }
            faults += words.filter { !text.contains($0) }.map { "\(row): there is no test “\($0)”" }
            faults += functions.filter { !text.contains("def \($0)(") }.map { "\(row): there is no \($0)" }
            faults += files.filter { !exists($0) }.map { "\(row): there is no file \($0)" }
            faults += suites.filter { !isSuite($0) && !exists("Tests/\($0)") }.map { "\(row): there is no \($0)" }
            if (words + functions + files).isEmpty { faults.append("\(row): names no test") }
        }
        return faults
    }
}

/// A long text in which thousands of others are looked for.
///
/// In six megabytes `String.contains` takes hundreds of times as long.
package struct SearchedText {
    private let bytes: ContiguousArray<CChar>

    /// Takes a text. What comes after a NUL in it is not found.
    package init(_ text: String) {
        bytes = text.utf8CString
    }

    /// Whether the text has a part with exactly these bytes.
    package func contains(_ part: String) -> Bool {
        bytes.withUnsafeBufferPointer { strstr($0.baseAddress!, part) != nil }
    }
}
