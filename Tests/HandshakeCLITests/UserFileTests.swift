import Foundation
import Testing

extension CommandTests {
    @Suite("Settings and secret files that other users could have changed")
    struct UserFileTests {
        private let command: Command

        init() throws { command = try Command() }

        private func settings(_ text: String = "vault = \"memory\"\n", mode: Int = 0o600) throws {
            _ = try command.file("home/config.toml", text, mode: mode)
        }

        @Test("settings that only their owner can write are read, even if other users can read them")
        func trusted() async throws {
            try settings(mode: 0o644)
            let done = try await command.run("accounts")
            #expect(done.ending == .status(0), "\(done)")
            #expect(
                !FileManager.default.fileExists(atPath: command.home + "/vault"),
                "the setting vault = memory was ignored")
        }

        @Test("settings that others can write are status 7 with the cure", arguments: [0o666, 0o620, 0o602])
        func writable(mode: Int) async throws {
            try settings(mode: mode)
            let done = try await command.run("accounts", "--json")
            #expect(done.ending == .status(7), "\(done)")
            #expect(done.error["code"] as? String == "settings_denied")
            #expect("\(done.error["message"] ?? "")".contains("chmod go-w \(command.home)/config.toml"))
        }

        @Test("settings in a folder that others can write to are status 7 with the cure")
        func folder() async throws {
            try settings()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: command.home)
            let done = try await command.run("accounts", "--json")
            #expect(done.ending == .status(7), "\(done)")
            #expect(done.error["code"] as? String == "settings_denied")
            #expect("\(done.error["message"] ?? "")".contains("chmod go-w \(command.home)"))
        }

        @Test("settings that are a symbolic link or have two names are status 7")
        func links() async throws {
            let other = try command.file("other.toml", "vault = \"memory\"\n")
            try FileManager.default.createSymbolicLink(
                atPath: command.home + "/config.toml", withDestinationPath: other)
            #expect(try await command.run("accounts").ending == .status(7))
            try FileManager.default.removeItem(atPath: command.home + "/config.toml")
            try FileManager.default.linkItem(atPath: other, toPath: command.home + "/config.toml")
            #expect(try await command.run("accounts").ending == .status(7))
        }

        @Test("a secret's file that others can read is status 7 with the cure", arguments: [0o604, 0o640, 0o622])
        func secret(mode: Int) async throws {
            let file = try command.file("secret", "s3cr3t\n", mode: mode)
            let done = try await command.run(
                "login", "mine", "--issuer", "http://127.0.0.1:9", "--client-id", "app", "--client-secret-file", file,
                "--json")
            #expect(done.ending == .status(7), "\(done)")
            #expect(done.error["code"] as? String == "secret_file_denied")
            #expect("\(done.error["message"] ?? "")".contains("chmod 600 \(file)"))
            #expect(!done.stderr.contains("s3cr3t"))
        }
    }
}
