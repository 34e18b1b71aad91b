import Foundation
import Testing

@testable import HandshakeCLI

extension CommandTests {
    @Suite("Keys of clients in the command")
    struct ClientKeyTests {
        @Test("a client signs in with its key, and later runs need no file")
        func signIn() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            let done = try await command.signIn(by: "client-credentials", at: sandbox, "--key", key)
            #expect(done.ending == .status(0), "\(done)")
            try FileManager.default.removeItem(atPath: key)
            #expect(try await command.signIn(by: "client-credentials", at: sandbox).ending == .status(0))
            let again = try await command.signIn(by: "client-credentials", at: sandbox, "--auth", "private-key-jwt")
            #expect(again.ending == .status(0))
            let token = try await command.run("token", "robot")
            #expect(token.ending == .status(0), "\(token)")
            #expect(!"\(token) \(done)".contains(String(sandbox.clientKey.dropLast(2).suffix(30))))
        }

        @Test("M506: an address that is none of a client's document is refused at a server that is given by its issuer")
        func noDocument() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let done = try await command.run(
                "login", "mine", "--issuer", try sandbox.origin("standard"), "--client-id",
                "https://app.example.test/a/../client.json", "--browser", "print", "--json")
            #expect(done.ending == .status(64) && done.stdout.isEmpty, "\(done)")
            let message = done.error["message"] as? String
            #expect(message?.contains("the address of a client's document") == true, "\(done)")
        }

        @Test("a client that signed in for itself does so again, without a browser, and has no ID token")
        func again() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            let done = try await command.signIn(
                by: "client-credentials", at: sandbox, "--key", key, "--param", "audience=api")
            #expect(done.ending == .status(0), "\(done)")
            // A sign-in page would wait for a user.
            let again = try await command.run("login", "robot")
            #expect(again.ending == .status(0), "\(again)")
            let path = try sandbox.origin("standard") + "/api/stepup"
            let demand = try await command.run("request", "GET", path, "--account", "robot")
            // Only a user can be authenticated in another way. Without openid the API alone judges how.
            let words = "login robot --param acr_values=urn:sandbox:acr:strong --grant authorization-code"
            #expect(demand.stderr.contains(": handshake \(words)\n"), "\(demand)")
            // What went to the token endpoint is not for a page.
            #expect(!demand.stderr.contains("audience"), "\(demand)")
            let page = words.split(separator: " ").map(String.init)
            let running = try command.start(page + ["--par", "never", "--browser", "print"])
            #expect(await running.line()?.contains("acr_values=urn") == true, "the command is refused")
            let none = try await command.run("token", "robot", "--kind", "id")
            #expect(none.ending == .status(64) && none.stderr.contains("without a user"), "\(none)")
            let other = try await command.run("login", "robot", "--client-id", "other")
            #expect(other.ending == .status(64), "\(other)")
            #expect(other.stderr.contains("was made with another client ID, “sandbox-key”"), "\(other)")
            let whole = "handshake login robot --grant client-credentials --issuer \(try sandbox.origin("standard"))"
            #expect(other.stderr.contains("\nThen sign in with: \(whole) --client-id other\n"), "\(other)")
        }

        @Test("a key of the settings signs, and is found by its name")
        func settings() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            _ = try command.file(
                "home/config.toml",
                """
                [services.robot]
                issuer = "\(try sandbox.origin("standard"))"
                client-id = "sandbox-key"
                key = "\(key)"
                key-id = "sandbox-client-1"
                """)
            let done = try await command.run("login", "robot", "--grant", "client-credentials", "--scope", "api")
            #expect(done.ending == .status(0), "\(done)")
        }

        @Test("M305: a key file that others can read is refused with status 7, and no key in it with status 64")
        func refused() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let open = try command.file("open.json", sandbox.clientKey, mode: 0o644)
            let denied = try await command.signIn(by: "client-credentials", at: sandbox, "--key", open)
            #expect(denied.ending == .status(7), "\(denied)")
            #expect(denied.stderr.contains("chmod"))
            let text = try command.file("text.pem", "no key at all")
            for (file, words) in [
                (text, "openssl pkey"), (command.folder + "/absent", "does not exist"), ("/", "folder"),
            ] {
                let done = try await command.signIn(by: "client-credentials", at: sandbox, "--key", file)
                #expect(done.ending == .status(64), "\(done)")
                #expect((done.error["message"] as? String)?.contains(words) == true, "\(done)")
            }
        }

        @Test(
            "options for a key and for a secret that do not fit are status 64",
            arguments: [
                (["--key", "k", "--client-secret-file", "s"], "leave out --key or --client-secret-file"),
                (["--auth", "private-key-jwt"], "--key FILE"), (["--auth", "telepathy"], "auth"),
                (["--par", "sometimes"], "auto, always or never"), (["--key", "k", "--token-file", "-"], "leave out"),
            ])
        func misfits(_ options: [String], _ words: String) async throws {
            let done = try await Command().start(
                ["login", "mine", "--issuer", "https://id.example.test", "--client-id", "app"] + options
            ).finish()
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.stderr.contains(words), "\(done)")
        }

        @Test("the public half of a key is printed as a set without private members")
        func publicHalf() async throws {
            let command = try Command()
            let sandbox = try await SandboxProcess(command)
            let key = try command.file("key.json", sandbox.clientKey)
            let done = try await command.run("public-key", key)
            #expect(done.ending == .status(0), "\(done)")
            let keys = try #require(done.json["keys"] as? [[String: String]])
            #expect(keys.count == 1)
            #expect(keys[0].keys.sorted() == ["alg", "crv", "kid", "kty", "use", "x", "y"])
            #expect(keys[0]["kid"] == "sandbox-client-1")
            #expect(try await command.run("public-key", key, "--json").stdout == done.stdout)
            let absent = try await command.run("public-key", command.folder + "/absent", "--json")
            #expect(absent.ending == .status(64) && absent.error["message"] is String, "\(absent)")
        }

        @Test(
            "services show says how clients authenticate",
            arguments: [
                ("apple", ["private-key-jwt"]), ("zoom", ["none", "basic"]), ("recurse-center", ["basic", "post"]),
            ])
        func shown(_ name: String, _ methods: [String]) async throws {
            let done = try await Command().run("services", "show", name, "--json")
            #expect(done.json["authentication_methods"] as? [String] == methods, "\(done)")
        }
    }
}
