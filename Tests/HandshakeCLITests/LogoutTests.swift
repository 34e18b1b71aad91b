import Testing

extension CommandTests {
    @Suite("The command line of logout")
    struct LogoutTests {
        @Test(
            "K1: --return-to takes the listener's own spelling alone, which the service compares",
            arguments: [
                "http://localhost:8765/signed-out", "http://127.0.0.2:8765/signed-out", "http://[::1]:8765/signed-out",
                "http://127.0.0.1/signed-out", "http://127.0.0.1:8765", "http://127.0.0.1:08765/signed-out",
                "HTTP://127.0.0.1:8765/signed-out", "http://127.0.0.1:8765/signed-out?a=b", "http://127.0.0.1:0/",
                "https://127.0.0.1:8765/signed-out", "http://app.example/signed-out", "app.example:/signed-out", "8765",
            ])
        func returnAddress(_ address: String) async throws {
            let done = try await Command().run("logout", "mine", "--end-session", "--return-to", address, "--json")
            #expect(done.ending == .status(64), "\(done)")
            #expect("\(done.error["message"] ?? "")".contains("http://127.0.0.1:PORT/PATH"), "\(done)")
        }

        @Test("K1: --return-to with the listener's own spelling is a right command line")
        func ownSpelling() async throws {
            let done = try await Command().run(
                "logout", "mine", "--end-session", "--return-to", "http://127.0.0.1:8765/signed-out", "--json")
            #expect(done.ending == .status(3), "\(done)")
        }

        @Test(
            "an account that is not there, whose name is a service's, is not to be signed in",
            arguments: [[], ["--local"]])
        func absent(_ options: [String]) async throws {
            let done = try await Command().start(["logout", "sequencing", "--json"] + options).finish()
            #expect(done.ending == .status(3), "\(done)")
            #expect(
                done.error["message"] as? String
                    == "There is no account “sequencing”. List the accounts with: handshake accounts")
        }

        @Test(
            "an option of the service's page without --end-session is refused",
            arguments: [
                ["--browser", "print"], ["--browser", "system"], ["--return-to", "http://127.0.0.1:8765/signed-out"],
            ])
        func withoutPage(_ options: [String]) async throws {
            let done = try await Command().start(["logout", "mine", "--json"] + options).finish()
            #expect(done.ending == .status(64), "\(done)")
            #expect(done.error["message"] as? String == "\(options[0]) needs --end-session.")
        }
    }
}
