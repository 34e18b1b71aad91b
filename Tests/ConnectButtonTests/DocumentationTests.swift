import Foundation
import Testing

@Suite("The documentation of the button")
struct DocumentationTests {
    /// `Tests/AppleDeclarations/check` compiles the file.
    @Test(
        "shows only code that compiles on Apple's platforms",
        arguments: [
            "Sources/ConnectButton/ConnectButton.docc/ConnectButton.md",
            "Sources/ConnectButton/SwiftUI/ConnectButton.swift",
            "Sources/ConnectButton/SwiftUI/ConnectButtonContent.swift",
            "Sources/ConnectButton/UIKit/ConnectButtonView.swift",
        ])
    func sample(_ page: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func lines(_ path: String) throws -> [String] {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.trimmingPrefix(/\s*(\/\/\/)?/).trimmingCharacters(in: .whitespaces) }
        }
        let compiled = Set(try lines("Tests/AppleDeclarations/Sample.swift"))
        var (isShown, count) = (false, 0)
        for line in try lines(page) {
            if line.hasPrefix("```") {
                isShown = line == "```swift"
            } else if isShown, !line.isEmpty, !Self.isOfTheServer(line) {
                count += 1
                #expect(compiled.contains(line), "\(line)")
            }
        }
        #expect(count >= 3)
    }

    /// The three lines for a server, which `Tests/DocumentationTests` compiles.
    private static func isOfTheServer(_ line: String) -> Bool {
        line.hasPrefix("let state = ") || line.hasPrefix("let locale = ") || line.hasPrefix("let answer = ")
    }
}
