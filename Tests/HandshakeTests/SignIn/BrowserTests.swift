import Foundation
import Handshake
import OAuth
import Synchronization
import Testing

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

    #if os(Linux)
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
