import Foundation
import Sandbox
import Testing

/// The tables of `Documentation/Sandbox.md`.
@Suite("The page about the sandbox")
struct SandboxPageTests {
    @Test("has tables of rules that the sandbox reads")
    func rules() throws {
        let page = try String(contentsOf: Repository.root.appending(path: "Documentation/Sandbox.md"), encoding: .utf8)
        let rules = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .flatMap { $0.matches(of: /`([^`]+ => [^`]+)`/).map { String($0.1) } }
        #expect(rules.count >= 18)
        for rule in rules { _ = try FaultRule(parsing: rule) }
    }
}
