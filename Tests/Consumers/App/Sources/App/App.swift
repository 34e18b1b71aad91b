import Handshake

/// Signs in with a private-scheme redirect and sends a request, in memory.
@main
struct App {
    static func main() async throws {
        let client = try Client(company: "example").registration()
        let handshake = try Handshake(client, vault: MemoryVault(), transport: OwnTransport())

        let account = try await handshake.signIn(through: InstantBrowser())
        let response = try await account.send(.get, "profiles/me")
        print("signed in:", String(decoding: response.content, as: UTF8.self))

        #if os(Linux)
        do {
            _ = try Handshake(client, vault: MemoryVault())
            print("error: a transport was found")
        } catch HandshakeError.configuration("transport", let problem) {
            print("without a transport:", problem)
        }
        #endif
    }
}

/// A browser whose user agrees immediately.
struct InstantBrowser: Browser {
    func show(_ page: SignInPage) async throws -> String? {
        let state = page.url.split(separator: "&").first { $0.hasPrefix("state=") } ?? ""
        return "\(page.redirectURI)?code=a-code&\(state)"
    }
}
