import BusFixtures
import Foundation
import Handshake
import Testing

extension CommandTests {
    @Suite("Looking after the vault")
    struct VaultCommandTests {
        private let command: Command
        private var files: String { "files:\(command.folder)/first" }

        init() throws { command = try Command() }

        /// A vault with three records that the command can open.
        private func fill() async throws {
            _ = try await command.run("vault", "migrate", "--vault", files)
            for name in ["a", "b", "c"] { try await put(Array(name.utf8), under: name) }
        }

        private func put(_ contents: [UInt8], under name: String) async throws {
            let folder = command.folder + "/first"
            let identifier = try #require(try VaultIdentifier.ofVault(in: folder))
            let vault = try FileVault(
                directory: folder, keyFile: "\(command.folder)/.config/handshake/keys/\(identifier).key")
            try await vault.update(VaultKey(.delivery, [name])) { try await $0.replace(with: contents) }
        }

        private func record() throws -> String {
            let names = try FileManager.default.subpathsOfDirectory(atPath: command.folder + "/first")
            return "\(command.folder)/first/" + (try #require(names.first { $0.utf8.count == 67 }))
        }

        @Test("migrate creates a vault once; check and stats read it, and refuse one that is not there")
        func created() async throws {
            for line in ["check", "stats"] {
                let done = try await command.run("vault", line, "--vault", files, "--json")
                #expect(done.ending == .status(7) && done.stderr.contains("vault_missing"), "\(done)")
                #expect(done.stderr.contains("Check its name."), "\(done)")
                // The user has named no vault whose name could be wrong.
                let first = try await command.run("vault", line)
                #expect(first.ending == .status(7) && first.stderr.contains("handshake login SERVICE"), "\(first)")
            }
            for isNew in [true, false] {
                let done = try await command.run("vault", "migrate", "--vault", files, "--json")
                #expect(done.json["created"] as? Bool == isNew)
                #expect(done.json["vault"] as? String == files)
            }
            try await fill()
            let check = try await command.run("vault", "check", "--vault", files, "--json")
            #expect(check.json["healthy"] as? Bool == true && check.json["records"] as? Int == 3)
            let stats = try await command.run("vault", "stats", "--vault", files, "--json")
            let kinds = stats.json["kinds"] as? [[String: Any]]
            #expect(kinds?.first?["kind"] as? String == "delivery" && kinds?.first?["bytes"] as? Int == 3)
        }

        @Test("a copy is complete and can be repeated; a record that differs is left, or replaced with --replace")
        func copied() async throws {
            try await fill()
            let target = "files:\(command.folder)/second"
            for (copied, present) in [(3, 0), (0, 3)] {
                let done = try await command.run("vault", "copy", files, target, "--json")
                #expect(done.ending == .status(0), "\(done)")
                #expect(done.json["copied"] as? Int == copied && done.json["present"] as? Int == present)
                #expect(done.json["failed"] as? Int == 0)
            }
            try await put([9], under: "a")
            let different = try await command.run("vault", "copy", files, target)
            #expect(different.ending == .status(7) && different.stderr.contains("--replace"), "\(different)")
            #expect(different.stderr.contains("1 record is in both vaults with different contents"), "\(different)")
            let replaced = try await command.run("vault", "copy", files, target, "--replace", "--json")
            #expect(replaced.ending == .status(0) && replaced.json["copied"] as? Int == 1, "\(replaced)")
        }

        @Test("damage is status 7 with each reason, and what is whole is copied")
        func damaged() async throws {
            try await fill()
            try Data(repeating: 0, count: 80).write(to: URL(filePath: record()))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: record())
            let check = try await command.run("vault", "check", "--vault", files, "--json")
            #expect(check.ending == .status(7) && check.json["healthy"] as? Bool == false, "\(check)")
            #expect(check.stderr.contains("vault_damaged"))
            #expect(check.json["unreadable"] as? Int == 1, "\(check)")
            let copy = try await command.run("vault", "copy", files, "files:\(command.folder)/second", "--json")
            #expect(copy.ending == .status(7) && copy.json["copied"] as? Int == 2, "\(copy)")
            #expect(copy.json["failed"] as? Int == 1, "\(copy)")
        }

        @Test(
            "a vault that cannot be copied is a wrong command line",
            arguments: ["memory", "files:FOLDER/first", "files:FOLDER/link"])
        func same(target: String) async throws {
            try await fill()
            try FileManager.default.createSymbolicLink(
                atPath: command.folder + "/link", withDestinationPath: command.folder + "/first")
            let done = try await command.run("vault", "copy", files, target.replacing("FOLDER", with: command.folder))
            #expect(done.ending == .status(64), "\(done)")
        }

        @Test(
            "the key of a vault of files is not rotated in place, and the error names the command that gives a new one")
        func rotation() async throws {
            try await fill()
            let done = try await command.run("vault", "rotate-key", "--vault", files)
            #expect(
                done.ending == .status(64) && done.stderr.contains("handshake vault copy \(files) files:DIR"), "\(done)"
            )
        }

        @Test("the folder of a vault is named in that command as a shell takes it")
        func rotationOfQuotedFolder() async throws {
            let place = "files:\(command.folder)/a b"
            let made = try await command.run("vault", "migrate", "--vault", place)
            #expect(made.ending == .status(0), "\(made)")
            let done = try await command.run("vault", "rotate-key", "--vault", place)
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.stderr.hasSuffix(": handshake vault copy '\(place)' files:DIR\n"), "\(done)")
        }

        @Test(
            "the commands of an error are for the vault that the command line names",
            arguments: [["token", "absent"], ["logout", "absent"]])
        func namedVault(_ line: [String]) async throws {
            let place = "files:\(command.folder)/a b"
            let advice = "handshake accounts\nAdd to each command that uses the vault: --vault '\(place)'"
            let text = try await command.start(line + ["--vault", place]).finish()
            #expect(text.ending == .status(3) && text.stderr.hasSuffix("\(advice)\n"), "\(text)")
            let json = try await command.start(line + ["--vault", place, "--json"]).finish()
            #expect("\(json.error["message"] ?? "")".hasSuffix(advice), "\(json)")
            let note = try await command.run("accounts", "--vault", place)
            let words = "handshake login SERVICE\nAdd to each command that uses the vault: --vault '\(place)'\n"
            #expect(note.ending == .status(0) && note.stderr.hasSuffix(words), "\(note)")
        }

        @Test("a vault in memory has no key to rotate, and the error names no command that cannot work")
        func rotationInMemory() async throws {
            let done = try await command.run("vault", "rotate-key", "--vault", "memory")
            #expect(done.ending == .status(64) && done.stderr.contains("--vault"), "\(done)")
            #expect(!done.stderr.contains("copy"), "\(done)")
        }

        @Test(
            "a vault whose key is in the keyring is named as --vault opens it",
            .enabled(
                if: Tool.areInstalled(.busDaemon, .keyring), "dbus-daemon or gnome-keyring-daemon is not installed"))
        func keyring() async throws {
            let bus = try await BusDaemon()
            let keyring = try await bus.startKeyring(password: "test-password")
            defer { keyring.end() }
            let desktop = ["DBUS_SESSION_BUS_ADDRESS": bus.addressText]
            let location = "secret-service:\(command.home)/vault"
            for isNew in [true, false] {
                let made = try await command.run("vault", "migrate", "--json", environment: desktop)
                #expect(made.json["vault"] as? String == location && made.json["created"] as? Bool == isNew, "\(made)")
            }
            for named in [["vault", "stats", "--json"], ["vault", "stats", "--json", "--vault", location]] {
                let stats = try await command.start(named, environment: desktop).finish()
                #expect(stats.json["vault"] as? String == location, "\(stats)")
            }
            let rotation = try await command.run("vault", "rotate-key", environment: desktop)
            #expect(rotation.stderr.contains("handshake vault copy \(location) files:DIR"), "\(rotation)")
        }

        @Test(
            "a build without SQLite or PostgreSQL says how to build it in, and shows no password",
            arguments: [
                ("sqlite:/nowhere/a.sqlite", "SQLite", "libsqlite3-dev"),
                ("postgres:postgresql://app:hunter2@127.0.0.1:1/a", "PostgreSQL", "libpq-dev"),
                ("postgresql://app:hunter2@127.0.0.1:1/a", "PostgreSQL", "libpq-dev"),
            ])
        func withoutTrait(vault: String, trait: String, library: String) async throws {
            let done = try await command.run("accounts", "--vault", vault)
            #expect(!done.stderr.contains("hunter2"))
            // A build with the trait lists the accounts of a vault that is not there, none, or finds no server.
            guard !Self.isBuiltIn(trait) else { return }
            #expect(done.ending == .status(64))
            #expect(done.stderr.contains("swift build -c release --product handshake --traits Everything,\(trait)"))
            #expect(done.stderr.contains(library))
        }

        private static func isBuiltIn(_ trait: String) -> Bool {
            #if SQLite
            if trait == "SQLite" { return true }
            #endif
            #if PostgreSQL
            if trait == "PostgreSQL" { return true }
            #endif
            return false
        }
    }
}
