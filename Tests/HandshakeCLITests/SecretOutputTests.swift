import Foundation
import TestFixtures
import Testing

@testable import HandshakeCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension CommandTests {
    @Suite("Secrets and the command")
    struct SecretOutputTests {
        private let command: Command

        init() throws { command = try Command() }

        @Test("L4: a token is printed by the commands whose result it is, and by no other")
        func tokens() async throws {
            let sandbox = try await SandboxProcess(command)
            let token = SandboxProcess.personalToken
            let login = try await command.signIn(at: sandbox)
            #expect(login.ending == .status(0) && !login.description.contains(token), "\(login)")
            for arguments in [
                ["accounts"], ["inspect", "recurse-center"], ["doctor"], ["services", "show", "recurse-center"],
                ["request", "GET", "profiles/me", "--account", "recurse-center"],
                ["request", "GET", "no-such", "--account", "recurse-center"], ["token", "unknown"],
            ] {
                for options in [[], ["--json"]] {
                    let done = try await command.start(arguments + options).finish()
                    #expect(!done.stdout.isEmpty || !done.stderr.isEmpty, "\(arguments)")
                    #expect(!done.description.contains(token), "\(arguments + options): \(done)")
                }
            }
            for arguments in [["token", "recurse-center"], ["headers", "recurse-center"]] {
                let done = try await command.start(arguments).finish()
                #expect(done.stdout.contains(token) && !done.stderr.contains(token), "\(arguments)")
            }
            let logout = try await command.run("logout", "recurse-center")
            #expect(logout.ending == .status(0) && !logout.description.contains(token), "\(logout)")
        }

        @Test(
            "L1: a wrong value that may be a secret is not quoted",
            arguments: [
                ["accounts", "--vault", "mysql://app:canary@db.example.com/vault"],
                ["accounts", "--vault", "host=db.example.com password=canary"], ["accounts", "--vault", "canary@host"],
                ["vault", "copy", "mysql://app:canary@db.example.com/vault", "files:x"],
                ["accounts", "--vault-key", "canary-0123456789"],
                ["accounts", "--vault-key", "key:canary"],
                ["request", "GET", "me", "--account", "a", "-H", "Authorization Bearer canary"],
                ["request", "GET", "me", "--account", "a", "-H", "canary"],
                ["login", "github", "--client-id", "app", "--param", "canary"],
            ])
        func wrongValues(_ arguments: [String]) async throws {
            let done = try await command.start(arguments).finish()
            #expect(done.ending == .status(64) && !done.stderr.contains("canary"), "\(done)")
            #expect(done.stderr.contains(arguments.last { $0.hasPrefix("-") } ?? "FROM"), "\(done)")
        }

        @Test("L2: an address that cannot be asked is quoted without its query")
        func wrongAddress() async throws {
            let sandbox = try await SandboxProcess(command)
            _ = try await command.signIn(at: sandbox)
            for address in [
                "https://exa mple.com/?token=canary", "https://user@host.example/#canary",
                "https://exa mple.com/?\u{301}token=canary",
            ] {
                let done = try await command.run("request", "GET", address, "--account", "recurse-center")
                #expect(done.ending == .status(64) && done.stderr.contains("https://"), "\(done)")
                #expect(!done.stderr.contains("canary"), "\(done)")
            }
        }

        @Test("L5, M1: the doctor's findings have no secret, and name the accounts that may use unencrypted http")
        func doctor() async throws {
            let sandbox = try await SandboxProcess(command)
            _ = try await command.signIn(at: sandbox)
            let done = try await command.run("doctor", "--json")
            #expect(!done.description.contains(SandboxProcess.personalToken), "\(done)")
            let checks = done.json["checks"] as? [[String: Any]] ?? []
            let names = checks.compactMap { $0["name"] as? String }.filter { !$0.hasPrefix("bluetooth") }
            #expect(
                names == [
                    "settings", "vault", "vault key", "transport", "browser", "loopback", "certificates", "clock",
                    "terminal",
                ])
            for check in checks {
                #expect(Set(check.keys) == ["name", "state", "detail", "cure"])
                #expect(["works", "limited", "missing", "broken"].contains(check["state"] as? String))
            }
            let transport = try #require(checks.first { $0["name"] as? String == "transport" })
            #expect(
                transport["detail"] as? String
                    == "unencrypted http on this machine is allowed for: recurse-center")
            let text = try await command.run("doctor")
            #expect(text.stdout.contains("is allowed for: recurse-center"), "\(text)")
            #expect(!text.description.contains(SandboxProcess.personalToken))
        }

        #if os(Linux)
        @Test(
            "F7: neither the arguments nor the environment of the browser, or of the command, have the client's secret")
        func processes() async throws {
            let sandbox = try await SandboxProcess(command)
            let secret = "very-secret-0123456789"
            let seen = command.folder + "/seen"
            // What a process of the same user sees; then the browser ends the command.
            let browser = try command.program(
                "browser",
                """
                #!/bin/sh
                { printf '%s\\n' "$@"; env; tr '\\0' '\\n' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$PPID/environ; } > '\(seen)'
                kill -TERM $PPID

                """)
            let done = try await command.run(
                "login", "mine", "--issuer", try sandbox.origin("standard"), "--client-id", "mine", "--par", "never",
                "--client-secret-file", try command.file("secret", secret + "\n"),
                environment: ["BROWSER": browser])
            #expect(done.ending != .status(0), "\(done)")
            let text = try String(contentsOfFile: seen, encoding: .utf8)
            #expect(text.contains("code_challenge=") && text.contains("--client-secret-file"), "\(text)")
            #expect(!text.contains(secret) && !done.description.contains(secret))
        }

        @Test("L4, K1: logout --end-session shows the page's address without the ID token, wherever it shows it")
        func endOfSession() async throws {
            let sandbox = try await SandboxProcess(command)
            let origin = try sandbox.origin("standard")
            let pipe = command.folder + "/page"
            #expect(mkfifo(pipe, 0o600) == 0)
            let browser = try command.program("page-browser", "#!/bin/sh\nprintf '%s' \"$*\" > '\(pipe)'\n")
            for (choice, opener) in [("print", ""), ("system", "/nowhere/browser"), ("system", browser)] {
                try await signIn(at: origin)
                // Blocks until the browser has written; the browser ends when it is read.
                var page: Task<Data?, Never>?
                if opener == browser {
                    page = Task { await aside { try? FileHandle(forReadingAtPath: pipe)?.readToEnd() } }
                }
                let done = try await command.run(
                    "logout", "mine", "--end-session", "--browser", choice, environment: ["BROWSER": opener])
                #expect(done.ending == .status(0), "\(done)")
                var shown = done.description
                if opener == browser {
                    try #require(!shown.contains("No browser"), "\(done)")
                    let bytes = await page?.value
                    shown += String(decoding: bytes ?? Data(), as: UTF8.self)
                }
                #expect(shown.contains(origin + "/end_session?client_id=sandbox-public"), "\(shown)")
                #expect(!shown.contains("id_token_hint"), "\(shown)")
            }
        }

        /// Signs in to the sandbox's standard server, as its user does who opens the page that is printed.
        private func signIn(at origin: String) async throws {
            let running = try command.start([
                "login", "mine", "--issuer", origin, "--client-id", "sandbox-public", "--scope", "openid", "--browser",
                "print",
            ])
            let visitor = try await WebVisitor(origin: origin, at: try #require(await running.line()))
            try await visitor.submit([("email", "ada@example.test"), ("password", "standards-matter")])
            if visitor.left == nil { try await visitor.submit([("op", "Allow")]) }
            let redirect = try #require(visitor.left)
            let listener = redirect.split(separator: "/").prefix(2).joined(separator: "//")
            _ = try await WireClient(origin: listener).send("GET", String(redirect.dropFirst(listener.count)))
            let done = await running.finish()
            #expect(done.ending == .status(0), "\(done)")
        }
        #endif
    }
}
