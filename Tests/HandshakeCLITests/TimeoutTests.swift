import Foundation
import TestFixtures
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("--timeout against a server that accepts and never answers")
    struct TimeoutTests {
        /// Without the deadline each of these takes 20 seconds or more and ends with another code: the transport has a deadline of
        /// its own, which `request` sets to its own `--timeout` for each exchange.
        @Test("a sign-in ends with status 6 and the command to try", arguments: UnhelpfulServer.Manner.allCases)
        func login(_ manner: UnhelpfulServer.Manner) async throws {
            let server = try UnhelpfulServer(manner)
            let done = try await Command().run(
                "login", "mine", "--issuer", server.origin, "--client-id", "app", "--browser", "print", "--timeout",
                "1",
                "--json")
            #expect(done.ending == .status(6), "\(done)")
            #expect(done.error["code"] as? String == "timed_out")
            let command = "handshake login mine --issuer \(server.origin) --browser print --client-id app --timeout 4"
            #expect("\(done.error["message"] ?? "")".hasSuffix(": \(command)"), "\(done)")
            #expect(done.stdout.isEmpty)
        }

        @Test("a personal token that the service never judges makes no account")
        func personalToken() async throws {
            let (server, command) = (try UnhelpfulServer(.silent), try Command())
            let file = try command.file("token", "abc\n")
            let done = try await command.run(
                "login", "recurse-center", "--account", "it's", "--base-url", server.origin, "--token-file", file,
                "--timeout", "1", "--json")
            #expect(done.ending == .status(6), "\(done)")
            #expect(done.error["code"] as? String == "timed_out")
            let again = "handshake login recurse-center --account 'it'\\''s' --base-url \(server.origin)"
            let ending = ": \(again) --token-file \(file) --timeout 4"
            #expect("\(done.error["message"] ?? "")".hasSuffix(ending), "\(done)")
            #expect(try await command.run("token", "it's").ending == .status(3))
        }

        @Test("turning a connection on ends with status 6")
        func connect() async throws {
            let server = try UnhelpfulServer(.silent)
            let done = try await Command().run(
                "ifttt", "connect", "aB3dE5fG", "--base-url", server.origin, "--email", "ada@example.test", "--browser",
                "print", "--timeout", "1", "--json")
            #expect(done.ending == .status(6), "\(done)")
            #expect(done.error["code"] as? String == "timed_out")
        }

        @Test(
            "a command of a service ends with status 6 and the option that allows more time",
            arguments: [
                ["ifttt", "show", "aB3dE5fG"],
                [
                    "ifttt", "url", "aB3dE5fG", "--email", "a@example.test", "--service-key-file", "key",
                    "--oauth-code-file", "key",
                ],
                ["ifttt", "notify", "--user", "1", "--service-key-file", "key"],
                ["sequencing", "register", "ada@example.test", "--client-id", "app"],
                ["sequencing", "reset-password", "ada@example.test", "--client-id", "app"],
            ])
        func service(_ arguments: [String]) async throws {
            let (server, command) = (try UnhelpfulServer(.silent), try Command())
            let key = try command.file("key", "abc\n")
            let done = try await command.start(
                arguments.map { $0 == "key" ? key : $0 } + ["--base-url", server.origin, "--timeout", "1", "--json"]
            ).finish()
            #expect(done.ending == .status(6), "\(done)")
            #expect(done.error["code"] as? String == "timed_out")
            #expect("\(done.error["message"] ?? "")".contains("--timeout 4"))
        }
    }
}

@Suite("The deadline of a whole command")
struct CommandDeadlineTests {
    private struct Late: Error {}

    @Test("what ends in time is the result")
    func inTime() async throws {
        let clock = ManualClock()
        #expect(try await CommandDeadline.run(1, on: clock, expired: { Late() }, { 7 }) == 7)
    }

    @Test("a body that obeys is cancelled, and its clean-up is waited for")
    func obedient() async throws {
        let (clock, cleaned) = (ManualClock(), Flag())
        let run = Task {
            try await CommandDeadline.run(5, on: clock, expired: { Late() }) {
                defer { cleaned.set() }
                try await waitForCancellation()
            }
        }
        await clock.sleeper(of: .seconds(5))
        clock.advance(by: .seconds(5))
        await #expect(throws: Late.self) { try await run.value }
        #expect(cleaned.isSet)
    }

    @Test("a body that does not end is left behind one second later")
    func stubborn() async throws {
        let clock = ManualClock()
        let run = Task {
            try await CommandDeadline.run(5, on: clock, expired: { Late() }) {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        await clock.sleeper(of: .seconds(5))
        clock.advance(by: .seconds(5))
        await clock.sleeper(of: .seconds(1))
        clock.advance(by: .seconds(1))
        await #expect(throws: Late.self) { try await run.value }
    }

    @Test("a cancelled command waits for its clean-up and is cancelled")
    func cancelled() async throws {
        let (clock, cleaned, begun) = (ManualClock(), Flag(), AsyncStream.makeStream(of: Void.self))
        let run = Task {
            try await CommandDeadline.run(5, on: clock, expired: { Late() }) {
                begun.continuation.yield()
                defer { cleaned.set() }
                try await waitForCancellation()
            }
        }
        var iterator = begun.stream.makeAsyncIterator()
        await iterator.next()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(cleaned.isSet)
    }

    @Test("the command that allows more time is printed whole")
    func wholeCommand() throws {
        let command = "handshake login mine --scope \(String(repeating: "s", count: 2_000)) --timeout 4"
        let error = try #require(SignInWait().error("It is late.", command: command) as? CommandError)
        #expect(error.message.hasSuffix(": \(command)"))
    }

    @Test("a time that is no time is a wrong command line", arguments: [Int.min, -1, 0, 86_401, Int.max])
    func limits(_ seconds: Int) async throws {
        let late: @Sendable () -> any Error = { Late() }
        let error = await #expect(throws: CommandError.self) {
            try await CommandDeadline.run(seconds, expired: late) { 7 }
        }
        #expect(error?.status == .usage)
    }
}
