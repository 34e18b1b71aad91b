import Foundation

/// The sources of all tests of this repository.
package enum TestSources {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift and Python files below `Tests`, by their paths there, with their texts.
    package static func all() throws -> [(path: String, text: String)] {
        try SourceFolder.files(below: folder).filter { $0.hasSuffix(".swift") || $0.hasSuffix(".py") }
            .map { (path: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }

    /// What is wrong with a table of rows, one line each; empty when every row is shown.
    ///
    /// A row names at least one test that exists (“its whole name” or `test_name`) or a file of the repository; a suite alone shows
    /// nothing, because it stays when the test goes. Everything it names so exists, and every word that ends in `Tests` is a folder or a suite.
    /// A name is that of a `@Test` in the folder or suite that the row names last before it, or else in the table's own folder; words of
    /// a comment, or of a test elsewhere, are none.
    ///
    /// - Parameter ownFolder: the folder below `Tests` that the table is in.
    package static func faults(
        ofRowsIn table: String, in ownFolder: String, sources: [(path: String, text: String)]
    ) -> [String] {
        let files = sources.map { SourceFile(path: $0.path, text: $0.text) }
        var named: [String: [SourceFile]] = [:]
        for file in files {
            for test in file.tests { named[test, default: []].append(file) }
        }
        func exists(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.deletingLastPathComponent().appending(path: path).path)
        }
        var faults: [String] = []
        for line in table.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| row |") {
            let row = line.dropFirst(2).prefix { $0 != "|" }.trimmingCharacters(in: .whitespaces)
            var place = ownFolder
            var isShown = false
            for part in line.matches(of: /“([^”]+)”|`(test_\w+)`|`(Tests\/[\w.\/-]+)`|\b([A-Z]\w*Tests)\b/) {
                if let suite = part.4 {
                    place = String(suite)
                    if !exists("Tests/\(place)"), !files.contains(where: { $0.declares(place) }) {
                        faults.append("\(row): there is no \(place)")
                    }
                    continue
                }
                isShown = true
                if let name = part.1 {
                    let found = named[String(name)] ?? []
                    if found.isEmpty {
                        faults.append("\(row): there is no test “\(name)”")
                    } else if !found.contains(where: { $0.folder == place || $0.declares(place) }) {
                        faults.append("\(row): the test “\(name)” is not in \(place)")
                    }
                } else if let name = part.2 {
                    let function = String(name)
                    if !files.contains(where: { $0.defines(function) }) {
                        faults.append("\(row): there is no \(function)")
                    }
                } else if let path = part.3, !exists(String(path)) {
                    faults.append("\(row): there is no file \(path)")
                }
            }
            if !isShown { faults.append("\(row): names no test") }
        }
        return faults
    }
}

/// A file of tests, and what a table of rows can name in it.
private struct SourceFile {
    /// The folder below `Tests`.
    let folder: String
    /// The names of its tests in Swift.
    let tests: [String]
    private let isPython: Bool
    private let text: SearchedText

    init(path: String, text: String) {
        // A function at the beginning has a line's end before it too.
        let searched = SearchedText("\n" + text)
        let isPython = path.hasSuffix(".py")
        folder = String(path.prefix { $0 != "/" })
        tests = isPython ? [] : searched.quotations(after: "@Test(")
        (self.isPython, self.text) = (isPython, searched)
    }

    /// Whether a suite is in this file.
    func declares(_ suite: String) -> Bool {
        !isPython && ["struct", "class", "extension"].contains { text.contains("\($0) \(suite) ") }
    }

    /// Whether a test in Python is in this file.
    func defines(_ function: String) -> Bool {
        isPython && text.contains("\ndef \(function)(")
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

    /// The texts in quotation marks that follow a word, with white space at most between them, and not in a comment.
    package func quotations(after word: String) -> [String] {
        bytes.withUnsafeBufferPointer { buffer in
            var found: [String] = []
            let begin = buffer.baseAddress!
            var place = begin
            while let next = strstr(place, word) {
                var quotation = UnsafePointer(next) + word.utf8.count
                place = quotation
                while quotation.pointee == 0x20 || quotation.pointee == 0x0A { quotation += 1 }
                guard quotation.pointee == 0x22, !Self.isComment(UnsafePointer(next), in: begin) else { continue }
                var text: [UInt8] = []
                quotation += 1
                while quotation.pointee != 0, quotation.pointee != 0x22 {
                    // An escaped quotation mark belongs to the text, and its backslash does not.
                    if quotation.pointee == 0x5C, quotation[1] != 0 { quotation += 1 }
                    text.append(UInt8(truncatingIfNeeded: quotation.pointee))
                    quotation += 1
                }
                found.append(String(decoding: text, as: UTF8.self))
            }
            return found
        }
    }

    /// Whether two slashes are before a place in its line.
    private static func isComment(_ place: UnsafePointer<CChar>, in begin: UnsafePointer<CChar>) -> Bool {
        var place = place
        while place > begin, place[-1] != 0x0A {
            place -= 1
            if place[0] == 0x2F, place[1] == 0x2F { return true }
        }
        return false
    }
}
