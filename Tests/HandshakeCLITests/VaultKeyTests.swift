import Foundation
import Handshake
import Testing

extension CommandTests {
    @Suite("The key that --vault-key names")
    struct VaultKeyTests {
        private let command: Command
        private var files: String { "files:\(command.folder)/vault" }

        init() throws { command = try Command() }

        /// A key file, as text of 64 digits.
        private func keyFile(_ name: String = "key") throws -> String {
            try command.file(name, String(repeating: "4f", count: 32) + "\n")
        }

        /// Whether the vault is opened, and made with this key.
        private func run(_ key: [String], environment: [String: String] = [:]) async throws -> FinishedCommand {
            let line = ["vault", "migrate", "--json", "--vault", files] + key
            return try await command.start(line, environment: environment).finish()
        }

        @Test("option, variable, settings and credential open one vault, and no key file is made")
        func places() async throws {
            let path = try keyFile()
            #expect(try await run(["--vault-key", "command:cat \(path)"]).json["created"] as? Bool == true)
            let list = #"command:["sh", "-c", "cat \"$0\"", "\#(path)"]"#
            for environment in [
                ["HANDSHAKE_VAULT_KEY": "command:cat \(path)"], ["HANDSHAKE_VAULT_KEY": list],
                ["HANDSHAKE_VAULT_KEY": "credential:key", "CREDENTIALS_DIRECTORY": command.folder],
            ] {
                #expect(try await run([], environment: environment).json["created"] as? Bool == false)
            }
            _ = try command.file("home/config.toml", "vault-key = \"command:cat \(path)\"\n")
            #expect(try await run([]).json["created"] as? Bool == false)
            #expect(!FileManager.default.fileExists(atPath: command.folder + "/.config"))
            let doctor = try await command.run("doctor", "--json", "--vault", files)
            let checks = doctor.json["checks"] as? [[String: Any]] ?? []
            let key = checks.first { $0["name"] as? String == "vault key" }
            #expect(key?["detail"] as? String == "from the command “cat”", "\(doctor)")
            let stats = try await command.run("vault", "stats", "--vault", files)
            #expect(stats.ending == .status(0), "\(stats)")
        }

        @Test("another key, and a command that fails, is status 7, and the vault stays")
        func wrong() async throws {
            let path = try keyFile()
            #expect(try await run(["--vault-key", "command:cat \(path)"]).ending == .status(0))
            let other = try command.file("other", String(repeating: "5f", count: 32))
            for key in ["command:cat \(other)", "command:false", "credential:key"] {
                let done = try await run(["--vault-key", key])
                #expect(done.ending == .status(7) && done.error["code"] as? String == "vault_locked", "\(done)")
                #expect(!done.stderr.contains("5f5f"), "\(done)")
            }
            #expect(try await run(["--vault-key", "command:cat \(path)"]).ending == .status(0))
            let keyless = try await run([])
            #expect(keyless.ending == .status(7) && keyless.error["code"] as? String == "vault_locked", "\(keyless)")
        }

        @Test(
            "what is no place of a key is a wrong command line, and so is what only a shell could read",
            arguments: [
                "cat", "command:", "command: ", "command:[]", "command:[\"\"]", "command:[1]", "command:[\"a\"",
                "command:cat 'my key'", "command:cat $HOME/key", "command:cat key | tail", "credential:", "file:/key",
            ])
        func malformed(_ key: String) async throws {
            let done = try await run(["--vault-key", key])
            #expect(done.ending == .status(64) && done.stderr.contains("--vault-key"), "\(done)")
            #expect(!FileManager.default.fileExists(atPath: command.folder + "/vault"))
        }

        @Test("a vault of the keyring takes no other key")
        func keyring() async throws {
            let done = try await command.run("accounts", "--vault", "secret-service", "--vault-key", "credential:key")
            #expect(done.ending == .status(64) && done.stderr.contains("--vault-key"), "\(done)")
        }

        @Test("a copy takes the key of each vault from its own option, and from nowhere else")
        func copied() async throws {
            let path = try keyFile()
            #expect(try await run(["--vault-key", "command:cat \(path)"]).ending == .status(0))
            let environment = ["HANDSHAKE_VAULT_KEY": "command:false"]
            let copy = ["vault", "copy", files, "files:\(command.folder)/second", "--json"]
            let keyless = try await command.start(copy, environment: environment).finish()
            #expect(keyless.ending == .status(7), "\(keyless)")
            #expect(keyless.stderr.contains("--from-key secret-service;"), "\(keyless)")
            #expect(keyless.stderr.contains("command:cat FILE"), "\(keyless)")
            let line = copy + ["--from-key", "command:cat \(path)"]
            let done = try await command.start(line, environment: environment).finish()
            #expect(done.ending == .status(0), "\(done)")
            let stats = try await command.run("vault", "stats", "--vault", "files:\(command.folder)/second")
            #expect(stats.ending == .status(0), "\(stats)")
        }
    }
}
