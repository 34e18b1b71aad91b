import Foundation
import Testing

#if os(Linux)
extension CommandTests {
    @Suite("The descriptions of services")
    struct UnreadServicesTests {
        /// A program whose descriptions of services are gone.
        private static func emptied(in command: Command) throws -> String {
            var program = try Data(contentsOf: URL(fileURLWithPath: Command.binary()))
            let first = try #require(program.range(of: Data(#"{"name":"23andme","#.utf8)))
            let last = try #require(program.range(of: Data(#"{"name":"zoom","#.utf8)))
            try #require(last.lowerBound - first.lowerBound > 50_000, "they lie in one piece")
            program.resetBytes(in: first.lowerBound..<last.upperBound)
            return try command.program("emptied", program)
        }

        @Test("section 3: `token` reads no description of any service")
        func token() async throws {
            let command = try Command()
            let program = try Self.emptied(in: command)
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let asked = ["token", "recurse-center", "--show"]
            let whole = try await command.start(asked).finish()
            #expect(whole.stdout == SandboxProcess.personalToken + "\n")
            let emptied = try await command.start(asked, program: program).finish()
            #expect(emptied.stdout == whole.stdout && emptied.ending == .status(0), "\(emptied)")
            let known = try await command.start(["services", "show", "github", "--json"]).finish()
            let lost = try await command.start(["services", "show", "github", "--json"], program: program).finish()
            #expect(known.ending == .status(0) && lost.ending == .status(64), "nothing is left there: \(lost)")
        }
    }
}
#endif
