import Foundation
import Testing

@Suite("The table of rows")
struct RowsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private func table() throws -> String {
        try String(contentsOf: Self.folder.appending(path: "ROWS.md"), encoding: .utf8)
    }

    @Test("has every row of the dossier but those of location, once")
    func complete() throws {
        let found = try table().matches(of: /(?m)^\| ([FW]\d+) \|/).map { String($0.1) }
        let features = ((1...79).map(\.self) + (99...115).map(\.self)).map { String(format: "F%03d", $0) }
        #expect(found == features + (1...30).map { "W\($0)" })
    }

    @Test("names only tests that exist, in the suites that it says")
    func names() throws {
        let files = FileManager.default.enumerator(atPath: Self.folder.path)?.compactMap { $0 as? String } ?? []
        var sources: [String: String] = [:]
        for file in files where file.hasSuffix("Tests.swift") {
            let suite = String(file.split(separator: "/").last?.dropLast(".swift".count) ?? "")
            sources[suite] = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
        }
        var count = 0
        for line in try table().split(separator: "\n") where line.hasPrefix("| F") || line.hasPrefix("| W") {
            var suite = ""
            for part in line.matches(of: /`(\w+Tests)`|“([^”]+)”/) {
                if let name = part.1 { suite = String(name) }
                guard let name = part.2 else { continue }
                count += 1
                #expect(sources[suite]?.contains("\"\(name)") == true, "\(suite): \(name)")
            }
        }
        #expect(count > 100)
    }
}
