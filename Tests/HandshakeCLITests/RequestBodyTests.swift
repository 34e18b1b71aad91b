import Foundation
import TestFixtures
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension CommandTests {
    @Suite("What request and ifttt update read from standard input")
    struct RequestBodyTests {
        private let command: Command
        private let arguments = ["request", "POST", "profiles/me", "--account", "recurse-center", "-d", "@-", "--json"]

        init() throws { command = try Command() }

        @Test("standard input that cannot be read is an error, and no empty body")
        func unreadable() async throws {
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let done = try await command.start(arguments, standardInput: command.folder).finish()
            #expect(done.ending == .status(64) && done.stdout.isEmpty, "\(done)")
            #expect(done.error["code"] as? String == "file_unreadable")
        }

        @Test("standard input that does not end is named when the time is over, and not the network")
        func endless() async throws {
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let pipe = command.folder + "/pipe"
            try #require(mkfifo(pipe, 0o600) == 0)
            // Its own writer, so that neither end waits for the other one.
            let writer = open(pipe, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            // What was written is gone when the command has read it.
            try #require(write(writer, "{", 1) == 1)
            let done = try await command.runIntoTimeout(arguments, standardInput: pipe) {
                var left: CInt = 0
                return ioctl(writer, UInt(FIONREAD), &left) == 0 && left == 0 ? 1 : 0
            }
            #expect(done.ending == .status(64), "\(done)")
            let message = "\(done.error["message"] ?? "")"
            #expect(message.contains(/^Standard input did not end within \d+ s\./), "\(done)")
        }

        @Test("lines that cannot be read are no empty text")
        func unreadableLines() async throws {
            let key = try command.file("key", "abc\n")
            let done = try await command.start(
                [
                    "ifttt", "update", "aB3dE5fG", "--configuration", "-", "--user", "1", "--service-key-file", key,
                    "--json",
                ], standardInput: command.folder
            ).finish()
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.error["code"] as? String == "file_unreadable")
        }
    }
}
