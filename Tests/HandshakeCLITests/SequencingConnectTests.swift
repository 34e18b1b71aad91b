import Foundation
import Sandbox
import Testing

extension CommandTests {
    @Suite("handshake sequencing connect")
    struct SequencingConnectTests {
        private let command: Command

        init() throws { command = try Command() }

        private func arguments(_ more: [String], secret: String = "short-secret") throws -> [String] {
            let file = try command.file("secret", secret + "\n")
            return ["sequencing", "connect", "ada@example.test", "--client-secret-file", file] + more
        }

        private func run(_ more: [String], secret: String = "short-secret") async throws -> FinishedCommand {
            try await command.start(arguments(more, secret: secret)).finish()
        }

        @Test("C06: the link is printed, to the service unless another origin is given, and holds no readable secret")
        func link() async throws {
            let done = try await run(["--file", "ada.vcf.gz=https://files.example.test/ada.vcf.gz"])
            #expect(done.ending == .status(0) && done.stderr.isEmpty, "\(done)")
            #expect(
                done.stdout.hasPrefix(
                    "https://sequencing.com/connect?c=68a4d52c671140f4338b8d9592ec7a59&json=Z8YyItXn1FHGQpELT%2F7vkHVGTi"
                ),
                "\(done)")
            #expect(!done.stdout.contains("short-secret"))
        }

        @Test("C07: --deliver tells whether the service accepted the files")
        func delivery() async throws {
            let sandbox = try await SandboxProcess(command)
            let arguments = [
                "--file", "ada & co.vcf.gz=https://files.example.test/ada.vcf.gz",
                "--report", "a report=https://files.example.test/report.pdf", "--base-url",
                try sandbox.origin("sequencing"), "--deliver", "--json",
            ]
            let accepted = try await run(arguments)
            #expect(accepted.json["outcome"] as? String == "accepted", "\(accepted)")
            let refused = try await run(arguments, secret: "another app's secret")
            #expect(refused.ending == .status(4) && refused.error["code"] as? String == "refused", "\(refused)")
        }

        @Test(
            "C07: a delivery without an answer may have worked: the error advises no second one",
            arguments: [("drop", 6), ("delay 600", 6), ("status 502", 4)] as [(String, Int32)])
        func unconfirmed(_ fault: String, _ status: Int32) async throws {
            let sandbox = try await Sandbox.start()
            sandbox.inject(try FaultRule(parsing: "sequencing /connect => \(fault)"))
            let deliveries = { sandbox.requests(.sequencing).count { $0.path == "/connect" } }
            let arguments = try arguments([
                "--file", "ada.vcf.gz=https://files.example.test/ada.vcf.gz", "--base-url", sandbox.sequencing.origin,
                "--deliver",
            ])
            let done =
                fault.hasPrefix("delay")
                ? try await command.runIntoTimeout(arguments, counting: deliveries)
                : try await command.start(arguments).finish()
            #expect(done.ending == .status(status), "\(done)")
            #expect(done.stderr.contains("The files may still be copied"), "\(done)")
            #expect(!done.stderr.lowercased().contains("try again") && !done.stderr.contains("--timeout"), "\(done)")
            #expect(deliveries() == 1)
            await sandbox.stop()
        }

        @Test("C07: Ctrl-C while a delivery is not answered says that the files may be copied")
        func interrupted() async throws {
            let sandbox = try await Sandbox.start()
            sandbox.inject(try FaultRule(parsing: "sequencing /connect => delay 600"))
            let delivery = try arguments([
                "--file", "ada.vcf.gz=https://files.example.test/ada.vcf.gz", "--base-url", sandbox.sequencing.origin,
                "--deliver",
            ])
            let done = try await command.runInterrupted(delivery) {
                sandbox.requests(.sequencing).contains { $0.path == "/connect" }
            }
            #expect(done.ending == .status(130), "\(done)")
            #expect(done.stderr.contains("The files may still be copied"), "\(done)")
            await sandbox.stop()
        }

        @Test(
            "C05: a wrong address, file or URL is a wrong command line",
            arguments: [
                [], ["--file", "no address"], ["--file", "=https://files.example.test/x"],
                ["--file", "x=file:///etc/passwd"],
            ])
        func wrong(_ arguments: [String]) async throws {
            let done = try await run(arguments + ["--json"])
            #expect(done.ending == .status(64) && done.stdout.isEmpty, "\(done)")
        }
    }
}
