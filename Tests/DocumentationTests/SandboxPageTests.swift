import Foundation
import Sandbox
import TestFixtures
import Testing

/// The tables of `Documentation/Sandbox.md`.
@Suite("The page about the sandbox", .heavy)
struct SandboxPageTests {
    private static func page() throws -> String {
        try String(contentsOf: Repository.root.appending(path: "Documentation/Sandbox.md"), encoding: .utf8)
    }

    @Test("names each client that has to prove its requests")
    func provers() async throws {
        let paragraph = try #require(
            try Self.page().components(separatedBy: "\n\n").first { $0.contains("have to prove their requests") })
        let sandbox = try await Sandbox.start()
        let clients = sandbox.standard.clients.filter { $0.proofs != .optional }
        await sandbox.stop()
        #expect(clients.count >= 5)
        for client in clients { #expect(paragraph.contains("`\(client.id)`"), "\(client.id)") }
    }

    @Test("says how the clock is moved, and which API no token is for")
    func steering() throws {
        let page = try Self.page()
        for word in ["POST /_sandbox/clock", "sandbox.advanceClock(by:)", "urn:sandbox:refused"] {
            #expect(page.contains(word), "\(word)")
        }
    }

    @Test("has tables of rules that the sandbox reads")
    func rules() throws {
        let page = try Self.page()
        let rules = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .flatMap { $0.matches(of: /`([^`]+ => [^`]+)`/).map { String($0.1) } }
        #expect(rules.count >= 18)
        for rule in rules { _ = try FaultRule(parsing: rule) }
    }
}
