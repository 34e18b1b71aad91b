import Foundation
import TestFixtures
import Testing

@Suite("The table of rows")
struct RowsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private func table() throws -> String {
        try String(contentsOf: Self.folder.appending(path: "ROWS.md"), encoding: .utf8)
    }

    @Test("has every row of the dossier, once")
    func complete() throws {
        let found = try table().matches(of: /(?m)^\| ([FW]\d+) \|/).map { String($0.1) }
        let features = (1...115).map { String(format: "F%03d", $0) }
        #expect(found == features + (1...30).map { "W\($0)" })
    }

    @Test("names only tests that exist, in the suites that it says")
    func names() throws {
        var sources: [String: String] = [:]
        var scripts = ""
        for (file, text) in try TestSources.all() {
            let name = String(file.split(separator: "/").last ?? "")
            // Several folders may have a suite of the same name; a folder's name stands for all of its suites.
            if file.hasSuffix("Tests.swift") {
                sources[String(name.dropLast(".swift".count)), default: ""] += text
                sources[String(file.split(separator: "/").first ?? ""), default: ""] += text
            } else if file.hasSuffix(".py") {
                scripts += text
            }
        }
        var absent: [String] = []
        let (suites, allScripts) = (sources.mapValues(SearchedText.init), SearchedText(scripts))
        for line in try table().split(separator: "\n") where line.hasPrefix("| F") || line.hasPrefix("| W") {
            var suite = ""
            for part in line.matches(of: /`?(\w+Tests)`?|“([^”]+)”|`(test_\w+)`/) {
                if let name = part.1 {
                    suite = String(name)
                    if suites[suite] == nil { absent.append(suite) }
                }
                if let script = part.3, !allScripts.contains("def \(script)(") { absent.append("\(script)") }
                guard let name = part.2, suites[suite]?.contains("\"\(name)") != true else { continue }
                absent.append("\(suite): \(name)")
            }
        }
        #expect(absent == [])
    }

    @Test("names a test for each row, or says why there is none")
    func shown() throws {
        for line in try table().split(separator: "\n") where line.hasPrefix("| F") || line.hasPrefix("| W") {
            let isShown = line.contains(/“[^”]+”|`test_\w+`/)
            let isExplained = line.contains(/\| elsewhere: \w/)
            #expect(isShown || isExplained, "\(line.prefix(80))")
        }
    }
}
