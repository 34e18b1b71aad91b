import Foundation
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("User agents")
struct BrowserTests {
    private func page(redirect: String) async throws -> SignInPage {
        let client = Client(service: .recurseCenter, id: "app", redirect: .uri(try RedirectURI(redirect)))
        return try await Handshake(client, vault: MemoryVault()).beginSignIn().page
    }

    @Test("I2: the last resort prints the address, and takes the redirect from the user where no listener can")
    func printedAddress() async throws {
        let printed = Mutex<[String]>([])
        let browser = PrintingBrowser(
            print: { page in printed.withLock { $0.append(page.url) } },
            readRedirect: { _ in "com.example.app:/callback?code=c" })
        let page = try await page(redirect: "com.example.app:/callback")
        #expect(try await browser.show(page) == "com.example.app:/callback?code=c")
        #expect(printed.withLock { $0 } == [page.url])
        #expect(try await browser.show(self.page(redirect: "http://127.0.0.1:8765/callback")) == nil)
    }

    @Test("a user who brings back nothing has closed the page")
    func nothingPasted() async throws {
        let browser = PrintingBrowser(print: { _ in }, readRedirect: { _ in nil })
        let page = try await page(redirect: "com.example.app:/callback")
        #expect(await handshakeError { try await browser.show(page) } == .signInAbandoned(.closed))
    }

    /// Addresses that a shell, an opener or a terminal could take for more than an address (`any-server.md` 9).
    private static let hostile = [
        "https://op.example/a\"b", "https://op.example/$(touch${IFS}x)'", "https://op.example/`id`",
        "https://op.example/a|b", "https://op.example/<script>", "https://op.example/a^b", "https://op.example/{a,b}",
        "https://op.example/a b", "https://op.example/a\\b", "https://op.example/a\u{7}b", "https://op.example/ä",
        "javascript:alert(1)", "file:///etc/passwd", "http://op.example/authorize", "//op.example/authorize",
        "-https://op.example/", "vbscript:x", "data:text/html,x", "https:op.example", "https://u:p@op.example/",
    ]

    @Test("M904: metadata with a hostile page are refused before any page is shown", arguments: hostile)
    func hostileMetadata(_ address: String) async throws {
        let good = "https://op.example/page"
        for (member, address) in [
            ("authorization_endpoint", address), ("authorization_endpoint", good), ("end_session_endpoint", address),
            ("end_session_endpoint", good),
        ] {
            let provider = ScriptedProvider()
            provider.publish([member: address])
            let shown = Mutex(0)
            let app = try provider.app()
            let error = await handshakeError {
                try await app.signIn(
                    through: ScriptedBrowser { page in
                        shown.withLock { $0 += 1 }
                        return try await provider.browser.show(page)
                    })
            }
            #expect((error == nil) == (address == good), "\(member)")
            #expect(shown.withLock { $0 } == (address == good ? 1 : 0), "\(member)")
        }
    }

    #if os(Linux)
    /// A program in the place of a browser, which notes its arguments.
    private static func recorder(in folder: TemporaryFolder) throws -> (browser: SystemBrowser, note: String) {
        let (program, note) = (folder.path + "/browser", folder.path + "/note")
        #expect(mkfifo(note, 0o600) == 0)
        let script = "#!/bin/sh\necho x >> '\(folder.path)/started'\n{ echo $#; printf '%s\\n' \"$@\"; } > '\(note)'\n"
        try writeProgram(Data(script.utf8), to: program)
        return (SystemBrowser(environment: ["BROWSER": program, "PATH": "/usr/bin:/bin"]), note)
    }

    @Test("M904: no program is started for a page that was written by hand and is no plain address")
    func hostilePage() async throws {
        let folder = try TemporaryFolder()
        let (browser, note) = try Self.recorder(in: folder)
        for address in ["https://op.example/a\"b", "https://op.example/`id`", "https://op.example/a|b"] {
            let server = AuthorizationServerMetadata(
                issuer: try Issuer(ScriptedProvider.issuer), authorizationEndpoint: try EndpointURL(address),
                tokenEndpoint: try EndpointURL("https://op.example/token"))
            let client = Client(
                service: try Service(name: "op", authorizationServer: .described(server)), id: "app",
                redirect: .uri(try RedirectURI("com.example.app:/callback")))
            let page = try await Handshake(client, vault: MemoryVault()).beginSignIn().page
            let error = await handshakeError { try await browser.show(page) }
            #expect(error?.code == "invalid_configuration", "\(address)")
        }
        // Only this one starts it. It ends when its note is read.
        let written = Task { await contents(ofPipe: note) }
        _ = try await browser.show(page(redirect: "com.example.app:/callback"))
        let arguments = await written.value
        #expect(!arguments.isEmpty)
        #expect(try String(contentsOfFile: folder.path + "/started", encoding: .utf8) == "x\n")
    }

    @Test("M904: a good page is the one argument of a program that no shell starts")
    func recordedArguments() async throws {
        let folder = try TemporaryFolder()
        let (browser, note) = try Self.recorder(in: folder)
        let page = try await page(redirect: "com.example.app:/callback")
        let written = Task { await contents(ofPipe: note) }
        let redirect = try await browser.show(page)
        #expect(redirect == nil)
        let arguments = await written.value
        #expect(arguments.split(separator: "\n").map(String.init) == ["1", page.url])
        #expect(page.url.hasPrefix("https://"))
    }

    @Test("I2: an opener that fails is an error, and one that runs on is the browser itself")
    func failingOpener() async throws {
        let page = try await page(redirect: "http://127.0.0.1:8765/callback")
        let failed = await handshakeError {
            try await SystemBrowser(environment: ["BROWSER": "/bin/false", "PATH": "/bin"])
                .show(page.url, timeout: .seconds(300))
        }
        #expect(failed?.code == "invalid_configuration")
        #expect(failed?.description.contains("show the address") == true)
        #expect(try await SystemBrowser(environment: ["BROWSER": "/bin/true", "PATH": "/bin"]).show(page) == nil)
        // Nothing reads this one's note, so it does not end.
        let folder = try TemporaryFolder()
        let (browser, note) = try Self.recorder(in: folder)
        try await browser.show(page.url, timeout: .milliseconds(1))
        _ = await contents(ofPipe: note)
    }

    /// What the environment says, and the opener that has to come of it.
    struct Row: Sendable {
        let environment: [String: String]
        let opener: String?
    }

    @Test(
        "I2: the system's browser is the user's own choice, then the desktop's; without a desktop there is none",
        arguments: [
            Row(environment: ["BROWSER": "/bin/true", "PATH": "/bin"], opener: "/bin/true"),
            Row(environment: ["BROWSER": "true", "PATH": "/nowhere:/bin"], opener: "/bin/true"),
            Row(environment: ["BROWSER": "missing:true", "PATH": "/bin"], opener: "/bin/true"),
            Row(environment: ["BROWSER": "firefox --private", "PATH": "/bin"], opener: nil),
            Row(environment: ["PATH": "/bin"], opener: nil),
            Row(environment: ["DISPLAY": ":0", "PATH": "/nowhere"], opener: nil),
        ])
    func opener(_ row: Row) {
        #expect(SystemBrowser.opener(in: row.environment) == row.opener)
    }

    @Test("a machine without a browser says so, and what to do")
    func noBrowser() async throws {
        let page = try await page(redirect: "http://127.0.0.1:8765/callback")
        let error = await handshakeError { try await SystemBrowser(environment: ["PATH": "/nowhere"]).show(page) }
        #expect(error?.description.contains("show the address") == true)
        #expect(error?.description.contains(page.url) == false)
    }
    #endif
}
