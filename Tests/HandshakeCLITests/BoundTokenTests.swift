import Foundation
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("Tokens that are bound to a key, in the command")
    struct BoundTokenTests {
        private func login(
            _ command: Command, _ sandbox: SandboxProcess, _ options: String...
        ) async throws -> FinishedCommand {
            let secret = try command.file("secret-\(UUID().uuidString)", "sandbox-dpop-secret-secret")
            return try await command.start(
                [
                    "login", "robot", "--grant", "client-credentials", "--issuer", try sandbox.origin("standard"),
                    "--client-id", "sandbox-dpop-secret", "--client-secret-file", secret, "--scope", "api", "--json",
                ] + options
            ).finish()
        }

        @Test("login --dpop binds the token, request sends it with a proof, and token and headers say what they cannot")
        func signIn() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let done = try await login(command, sandbox, "--dpop")
            #expect(done.ending == .status(0), "\(done)")
            #expect(done.json["token_type"] as? String == "DPoP")
            let address = try sandbox.origin("standard") + "/api/whoami"
            for _ in 0..<2 {
                let answer = try await command.run("request", "GET", address, "--account", "robot")
                #expect(answer.ending == .status(0), "\(answer)")
                #expect(answer.stdout.contains("sandbox-dpop-secret"))
            }
            let token = try await command.run("token", "robot", "--json")
            #expect(token.ending == .status(0), "\(token)")
            #expect(token.json["token_type"] as? String == "DPoP")
            #expect(token.stderr.contains("handshake request GET URL --account robot"), "\(token)")
            let headers = try await command.run("headers", "robot", "--for", address)
            #expect(headers.ending == .status(64), "\(headers)")
            #expect(headers.stdout.isEmpty)
            #expect(headers.stderr.contains("handshake request GET URL --account robot"), "\(headers)")
            let text = "\(done) \(headers)"
            #expect(!text.contains(try #require(token.json["access_token"] as? String)))
            #expect(try await login(command, sandbox).ending == .status(0), "the choice is remembered")
            let never = try await login(command, sandbox, "--no-dpop")
            #expect(never.error["code"] as? String == "invalid_dpop_proof", "\(never)")
        }

        @Test("where an address is missing, the command that is printed names the account as a shell takes it")
        func quotedAccount() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            #expect(try await login(command, sandbox, "--dpop", "--account", "it's").ending == .status(0))
            let done = try await command.run("request", "GET", "user", "--account", "it's")
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.stderr.hasSuffix(": handshake request GET https://… --account 'it'\\''s'\n"), "\(done)")
        }

        @Test("the note that says how a bound token is sent names the vault of the command line")
        func namedVault() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let vault = "files:\(command.folder)/other"
            #expect(try await login(command, sandbox, "--dpop", "--vault", vault).ending == .status(0))
            let token = try await command.run("token", "robot", "--vault", vault)
            let advice = " robot. Add to each command that uses the vault: --vault \(KnownAccount.shellWord(vault))\n"
            #expect(token.ending == .status(0) && token.stderr.hasSuffix(advice), "\(token)")
        }

        @Test("inspect names the type of a token that is there, and of no other")
        func ended() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            #expect(try await login(command, sandbox, "--dpop").ending == .status(0))
            let bound = try await command.run("inspect", "robot", "--json")
            #expect(bound.json["token_type"] as? String == "DPoP", "\(bound)")
            try await sandbox.fault("standard", "/revoke => status 503")
            #expect(try await command.run("logout", "robot").ending != .status(0))
            let ended = try await command.run("inspect", "robot", "--json")
            #expect(ended.json["state"] as? String == "signing_out", "\(ended)")
            #expect(ended.json["token_type"] is NSNull, "\(ended)")
            for name in ["token", "headers"] {
                let refused = try await command.run(name, "robot")
                #expect(refused.ending == .status(3) && refused.stdout.isEmpty, "\(refused)")
                #expect(refused.stderr.split(separator: "\n").count == 1, "\(refused)")
            }
            let text = try await command.run("inspect", "robot")
            #expect(text.ending == .status(0) && !text.stdout.contains("token type"), "\(text)")
        }

        @Test("the settings choose, and a word that is none of theirs is status 64")
        func settings() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            func set(_ word: String) throws {
                _ = try command.file("home/config.toml", "[services.robot]\ndpop = \"\(word)\"\n")
            }
            try set("always")
            #expect(try await login(command, sandbox).ending == .status(0))
            _ = try command.file("home/config.toml", "[services.robot]\ndpop = \"auto\"\nrequires-dpop = true\n")
            let described = try await login(command, sandbox)
            #expect(described.json["token_type"] as? String == "DPoP", "\(described)")
            try set("sometimes")
            let wrong = try await login(command, sandbox)
            #expect(wrong.ending == .status(64), "\(wrong)")
            #expect(wrong.stderr.contains("auto, always, refresh-only or never"))
        }
    }
}
