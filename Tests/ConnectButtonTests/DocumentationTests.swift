import Foundation
import Testing

@Suite("The documentation of the button")
struct DocumentationTests {
    /// `Tests/AppleDeclarations/check` compiles the file.
    @Test(
        "shows only code that compiles on Apple's platforms",
        arguments: [
            ("Sources/ConnectButton/ConnectButton.docc/ConnectButton.md", "struct BalconyButton: View {", 30),
            (
                "Sources/ConnectButton/SwiftUI/ConnectButtonView.swift",
                "ConnectButtonView(ConnectButtonState(activation)) { event in", 7
            ),
        ])
    func sample(_ page: String, _ first: String, _ least: Int) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func lines(_ path: String) throws -> [String] {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.trimmingPrefix(/\s*(\/\/\/)?/).trimmingCharacters(in: .whitespaces) }
        }
        let compiled = Set(try lines("Tests/AppleDeclarations/Sample.swift"))
        let shown = try lines(page).drop { $0 != first }.prefix { $0 != "```" }
        #expect(shown.count >= least)
        for line in shown { #expect(compiled.contains(line), "\(line)") }
    }
}
