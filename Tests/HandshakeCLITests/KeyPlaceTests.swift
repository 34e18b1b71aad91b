import Foundation
import Testing

extension CommandTests {
    @Suite("Where the vault's key lies")
    struct KeyPlaceTests {
        private let command: Command

        init() throws { command = try Command() }

        private func files(below folder: String) throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".key") }
        }

        /// Makes the command's own vault by a sign-in at a sandbox, which then ends.
        ///
        /// - Returns: the folder of its key, and the key's name.
        private func signIn() async throws -> (keys: String, name: String) {
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            let keys = command.folder + "/.config/handshake/keys"
            return (keys, try #require(try files(below: keys).first))
        }

        private func vaultKey(_ done: FinishedCommand) -> [String: Any] {
            let checks = done.json["checks"] as? [[String: Any]] ?? []
            return checks.first { $0["name"] as? String == "vault key" } ?? [:]
        }

        @Test("a new vault's key lies in ~/.config/handshake/keys, not in the data, and the doctor says where")
        func newVault() async throws {
            let sandbox = try await SandboxProcess(command)
            #expect(try await command.signIn(at: sandbox).ending == .status(0))
            #expect(try files(below: command.home).isEmpty)
            let keys = try files(below: command.folder + "/.config/handshake/keys")
            #expect(keys.count == 1)
            let check = vaultKey(try await command.run("doctor", "--json"))
            #expect(check["state"] as? String == "works")
            #expect("\(check["detail"] ?? "")".contains(".config/handshake/keys/\(keys.first ?? "?")"))
        }

        @Test("HANDSHAKE_KEY_HOME says where with HANDSHAKE_HOME, XDG_CONFIG_HOME without it")
        func places() async throws {
            let sandbox = try await SandboxProcess(command)
            let named = ["HANDSHAKE_KEY_HOME": command.folder + "/a"]
            #expect(try await command.signIn(at: sandbox, environment: named).ending == .status(0))
            #expect(try files(below: command.folder + "/a").count == 1)
            let without = [
                "HANDSHAKE_HOME": "", "XDG_CONFIG_HOME": command.folder + "/b", "XDG_DATA_HOME": command.folder + "/c",
            ]
            #expect(try await command.signIn(at: sandbox, environment: without).ending == .status(0))
            #expect(try files(below: command.folder + "/b/handshake").count == 1)
        }

        @Test("a command that only reads makes no vault", arguments: ["accounts", "token mine", "logout mine"])
        func reading(_ line: String) async throws {
            let running = try command.start(
                line.split(separator: " ").map(String.init) + ["--vault", "files:\(command.folder)/vault"])
            let done = await running.finish()
            #expect(done.ending == .status(line == "accounts" ? 0 : 3), "\(done)")
            #expect(!FileManager.default.fileExists(atPath: command.folder + "/vault"))
            #expect(try files(below: command.folder).isEmpty)
        }

        @Test("a key beside its vault, where earlier versions kept it, is moved, and the account still works")
        func former() async throws {
            let (keys, name) = try await signIn()
            try FileManager.default.moveItem(atPath: keys + "/" + name, toPath: command.home + "/vault.key")
            let token = try await command.run("token", "recurse-center")
            #expect(token.stdout == SandboxProcess.personalToken + "\n", "\(token)")
            #expect(try files(below: command.home).isEmpty)
            #expect(try files(below: keys) == [name])
        }

        @Test("the key of an app's vault stays beside it, where the app reads it")
        func ofApp() async throws {
            let (keys, name) = try await signIn()
            let vault = command.home + "/vault"
            try FileManager.default.moveItem(atPath: keys + "/" + name, toPath: vault + ".key")
            let token = try await command.run("token", "recurse-center", "--vault", "files:\(vault)")
            #expect(token.stdout == SandboxProcess.personalToken + "\n", "\(token)")
            #expect(try files(below: command.home) == ["vault.key"])
            #expect(try files(below: keys).isEmpty)
        }

        @Test("a key that cannot be moved is used where it lies, and the doctor says so with the reason")
        func immovable() async throws {
            let (keys, name) = try await signIn()
            try FileManager.default.moveItem(atPath: keys + "/" + name, toPath: command.home + "/vault.key")
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: keys)
            #expect(try await command.run("token", "recurse-center").ending == .status(0))
            let check = vaultKey(try await command.run("doctor", "--json"))
            #expect(check["state"] as? String == "limited")
            #expect("\(check["cure"] ?? "")".contains("chmod go-w"))
        }

        @Test("without its key the vault is locked, with status 7, and nothing is deleted")
        func lost() async throws {
            let (keys, name) = try await signIn()
            try FileManager.default.removeItem(atPath: keys + "/" + name)
            let done = try await command.run("accounts", "--json")
            #expect(done.ending == .status(7))
            #expect(done.error["code"] as? String == "vault_locked")
            #expect(try files(below: command.folder).isEmpty, "no new key is made for an old vault")
        }
    }
}
