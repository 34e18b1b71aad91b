import ArgumentParser
import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("Sign-in by assertions in the command (RFC 7523)")
    struct AssertionTests {
        private func whoami(_ command: Command, _ sandbox: SandboxProcess) async throws -> FinishedCommand {
            try await command.run(
                "request", "GET", try sandbox.origin("standard") + "/api/whoami", "--account", "robot")
        }

        private func expireTokens(_ sandbox: SandboxProcess) async throws {
            let answer = try await WireClient(origin: try sandbox.origin("standard"))
                .send("POST", "/_sandbox/expire-access-tokens")
            #expect(answer.status < 300)
        }

        @Test("M707: a key signs in without a user, a later token is a new assertion's, and later runs need no file")
        func key() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            let done = try await command.signIn(by: "jwt-bearer", at: sandbox, "--key", key)
            #expect(done.ending == .status(0), "\(done)")
            #expect(done.json["refreshable"] as? Bool == true)
            try FileManager.default.removeItem(atPath: key)
            let first = try await command.run("token", "robot")
            try await expireTokens(sandbox)
            #expect(try await whoami(command, sandbox).ending == .status(0))
            let second = try await command.run("token", "robot")
            #expect(first.ending == .status(0) && second.ending == .status(0), "\(second)")
            #expect(first.stdout != second.stdout)
            #expect(try await command.run("login", "robot").ending == .status(0), "what is left out is as before")
            #expect(try await whoami(command, sandbox).ending == .status(0))
            #expect(!"\(done) \(first) \(second)".contains(String(sandbox.clientKey.dropLast(2).suffix(30))))
        }

        @Test("--subject acts for a user, and stays with the account")
        func subject() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            let done = try await command.signIn(
                by: "jwt-bearer", at: sandbox, "--key", key, "--subject", "ada@example.test", "--assertion-audience",
                "token_endpoint")
            #expect(done.ending == .status(0), "\(done)")
            #expect(try await whoami(command, sandbox).stdout.contains("248289761001"))
            let shown = try await command.run("inspect", "robot", "--json")
            #expect(
                shown.json["assertion"] as? [String: String] == [
                    "iss": "sandbox-key", "sub": "ada@example.test", "aud": "token_endpoint",
                    "kid": "sandbox-client-1",
                ], "\(shown)")
            #expect(try await command.run("inspect", "robot").stdout.contains("ada@example.test"))
            #expect(try await command.run("login", "robot").ending == .status(0))
            #expect(try await whoami(command, sandbox).stdout.contains("248289761001"))
            let unknown = try await command.signIn(by: "jwt-bearer", at: sandbox, "--subject", "unknown@example.test")
            #expect(unknown.ending == .status(4) && unknown.error["code"] as? String == "invalid_grant", "\(unknown)")
            let wrong = try await command.signIn(
                by: "jwt-bearer", at: sandbox, "--assertion-audience", "https://elsewhere.example.test")
            #expect(wrong.ending == .status(4), "\(wrong)")
        }

        @Test("M705: a service account's key file signs in, and a foreign token endpoint in it is status 5")
        func serviceAccount() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let origin = try sandbox.origin("standard")
            let content = try await WireClient(origin: origin).send("GET", "/_sandbox/service-account").text
            let file = try command.file("account.json", content)
            let arguments = [
                "login", "google", "--account", "robot", "--grant", "jwt-bearer", "--key", file, "--json",
            ]
            let plain = try await command.start(arguments + ["--scope", "api"]).finish()
            #expect(plain.ending == .status(5) && !plain.stderr.contains("security:"), "\(plain)")
            #expect(plain.stderr.contains("For a server on this machine, add: --token-url URL"), "\(plain)")
            _ = try command.file(
                "account.json", content.replacing(origin + "/token", with: "https://elsewhere.example.test/token"))
            let foreign = try await command.start(arguments + ["--scope", "api"]).finish()
            #expect(foreign.ending == .status(5), "\(foreign)")
            #expect(foreign.error["code"] as? String == "foreign_token_endpoint", "\(foreign)")
            #expect(foreign.stderr.contains("state it: --token-url URL"), "\(foreign)")
            #expect(!foreign.stderr.contains("handshake login"), "no command to copy leads there: \(foreign)")
            _ = try command.file("account.json", content)
            let own = ["--token-url", origin + "/token", "--api-origin", origin]
            let unscoped = try await command.start(arguments + own).finish()
            #expect(unscoped.ending == .status(64) && unscoped.stderr.contains("--scope SCOPE"), "\(unscoped)")
            let done = try await command.start(arguments + own + ["--scope", "api"]).finish()
            #expect(done.ending == .status(0), "\(done)")
            #expect(try await whoami(command, sandbox).ending == .status(0))
            try await expireTokens(sandbox)
            let later = try await whoami(command, sandbox)
            #expect(later.ending == .status(0), "\(later)")
            let again = try await command.start(arguments).finish()
            #expect(again.ending == .status(0), "the endpoint of the last sign-in is known: \(again)")
            #expect(try await whoami(command, sandbox).ending == .status(0))
            let key = try #require(content.split(separator: "\\n").dropFirst().first)
            #expect(!"\(foreign) \(unscoped) \(done) \(later)".contains(key))
            #expect(try await command.run("logout", "robot").ending == .status(0))
        }

        private func plan(
            _ command: Command, _ arguments: [String], after previous: Client? = nil
        ) async throws -> Client {
            let login = try #require(try HandshakeCommand.parseAsRoot(["login", "drive"] + arguments) as? Login)
            try login.options.check()
            return try await LoginPlan(
                service: "drive", options: login.options,
                settings: Settings(home: command.home, environment: [:], file: Settings.File()), previous: previous
            ).client
        }

        private func refusal(
            _ command: Command, _ arguments: [String], after previous: Client? = nil
        ) async throws -> CommandError? {
            do {
                _ = try await plan(command, arguments, after: previous)
                return nil
            } catch let error as CommandError {
                return error
            }
        }

        private static let good = ["--token-url", "https://good.example/token"]

        private func keyFile(_ command: Command, _ name: String) throws -> String {
            try command.file(name, try DPoPKey().source.reveal())
        }

        @Test("M705: a stored key, its audience and a stored secret stay at the server of the last sign-in")
        func elsewhere() async throws {
            let command = try Command()
            let (first, second) = (try keyFile(command, "first.pem"), try keyFile(command, "second.pem"))
            let secret = try command.file("secret", "a-secret-of-the-client\n")
            let known = try await plan(
                command,
                [
                    "--grant", "jwt-bearer", "--client-id", "robot", "--key", first, "--client-secret-file", secret,
                    "--assertion-audience", "https://good.example/token",
                ] + Self.good)
            #expect(known.credential?.secret != nil)
            for elsewhere in [
                ["--issuer", "https://good.example", "--token-url", "https://evil.example/collect"],
                ["--issuer", "https://evil.example"], ["--token-url", "https://good.example/other"],
            ] {
                let refused = try await refusal(command, elsewhere, after: known)
                #expect(refused?.code == "foreign_token_endpoint" && refused?.status == .refused, "\(elsewhere)")
                #expect(refused?.message.contains("--key FILE --assertion-audience ID") == true, "\(elsewhere)")
            }
            let other = ["--token-url", "https://other.example/token"]
            let moved = try await plan(command, ["--key", second] + other, after: known)
            #expect(moved.assertion?.claims.audience == .tokenEndpoint && moved.credential == nil)
            let stated = try await plan(
                command, ["--assertion-audience", "https://other.example"] + other, after: known)
            #expect(stated.assertion?.claims.audience == .named("https://other.example"))
            #expect(stated.credential == nil)
            for same in [[], Self.good, ["--key", second], ["--key", second] + Self.good] {
                let client = try await plan(command, same, after: known)
                #expect(client.assertion?.claims.audience == .named("https://good.example/token"), "\(same)")
                #expect(client.credential?.secret != nil, "\(same)")
            }
        }

        @Test("a client's stored secret or key goes to no other server, unless it is stated again")
        func otherServer() async throws {
            let command = try Command()
            let secret = try command.file("secret", "a-secret-of-the-client\n")
            let credentials = ["--grant", "client-credentials"]
            for shown in [["--client-secret-file", secret], ["--key", try keyFile(command, "key.pem")]] {
                let known = try await plan(
                    command, credentials + ["--client-id", "app", "--scope", "api"] + shown + Self.good)
                for elsewhere in [
                    ["--issuer", "https://good.example", "--token-url", "https://evil.example/collect"],
                    ["--issuer", "https://evil.example"], ["--token-url", "https://good.example/other"],
                ] {
                    let refused = try await refusal(command, credentials + elsewhere, after: known)
                    #expect(refused?.code == "foreign_credential" && refused?.status == .refused, "\(elsewhere)")
                    let stated = try await plan(command, credentials + elsewhere + shown, after: known)
                    #expect(stated.credential != nil, "\(elsewhere)")
                }
                for same in [[], Self.good] {
                    #expect(try await plan(command, credentials + same, after: known).credential != nil)
                }
            }
        }

        @Test("a client that authenticates with the key of its assertions takes the new one after a change")
        func changedKey() async throws {
            let command = try Command()
            let (first, second) = (try keyFile(command, "first.pem"), try keyFile(command, "second.pem"))
            let known = try await plan(
                command,
                ["--grant", "jwt-bearer", "--client-id", "robot", "--key", first, "--auth", "private-key-jwt"]
                    + Self.good)
            let changed = try await plan(command, ["--key", second], after: known)
            #expect(changed.credential?.key?.thumbprint == changed.assertion?.key.thumbprint)
            #expect(changed.credential?.key?.thumbprint != known.credential?.key?.thumbprint)
        }

        @Test("without --grant an account that makes assertions refuses what only a page uses, and takes what they say")
        func implied() async throws {
            let command = try Command()
            let key = try keyFile(command, "first.pem")
            let known = try await plan(
                command, ["--grant", "jwt-bearer", "--client-id", "robot", "--key", key] + Self.good)
            for option in [["--param", "audience=x"], ["--authorize-url", "https://good.example/authorize"]] {
                let refused = try await refusal(command, option, after: known)
                #expect(refused?.status == .usage, "\(option)")
                #expect(refused?.message.contains("leave out --redirect, --browser, --param") == true, "\(option)")
            }
            let acting = try await plan(command, ["--subject", "ada@example.test"], after: known)
            #expect(acting.assertion?.claims.subject == "ada@example.test")
            let new = try await refusal(command, ["--subject", "ada@example.test"])
            #expect(new?.message == "--subject is for --grant jwt-bearer: add it.")
        }

        @Test("the key file of a service account without --grant says what to add, and other JSON that it is no key")
        func withoutGrant() async throws {
            let command = try Command()
            for (text, words) in [
                (#"{"type":"service_account"}"#, "add --grant jwt-bearer"), (#"{"type":"other"}"#, "no key (JWK)"),
            ] {
                let file = try command.file("sa.json", text)
                let refused = try await refusal(command, ["--client-id", "robot", "--key", file] + Self.good)
                #expect(refused?.status == .usage && refused?.message.contains(words) == true, "\(words)")
            }
        }

        @Test(
            "options that do not fit are status 64, with what to do",
            arguments: [
                (["--grant", "jwt-bearer"], "--key FILE"), (["--subject", "ada"], "--grant jwt-bearer"),
                (["--grant", "client-credentials", "--assertion-issuer", "me"], "--grant jwt-bearer"),
                (["--grant", "jwt-bearer", "--redirect", "loopback"], "leave out --redirect"),
                (["--grant", "jwt-bearer", "--device"], "leave out"),
                (["--grant", "jwt-bearer", "--registration-token-file", "-"], "--registration-token-file"),
            ])
        func misfits(_ options: [String], _ words: String) async throws {
            let done = try await Command().start(["login", "mine", "--issuer", "https://id.example.test"] + options)
                .finish()
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.stderr.contains(words), "\(done)")
        }

        @Test("a key file that others can read is refused, and one without a key is status 64")
        func refused() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let open = try command.file("open.json", sandbox.clientKey, mode: 0o644)
            #expect(try await command.signIn(by: "jwt-bearer", at: sandbox, "--key", open).ending == .status(7))
            let cut = try command.file("cut.json", #"{"type":"service_account","client_email":"a@b"}"#)
            let done = try await command.signIn(by: "jwt-bearer", at: sandbox, "--key", cut)
            #expect(done.ending == .status(64) && done.stderr.contains("token_uri"), "\(done)")
        }
    }
}
