import ConnectButton
import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import Testing

/// The documentation's server, compiled: a line of its code that is not here is an error.
private enum DocumentedServer {
    struct User: Sendable {
        let id: String
        let email: String
    }

    static func service(at origin: String) throws -> Service {
        let ifttt = try Service.builtIn("ifttt", at: origin, security: .allowingInsecureLoopback) ?? .ifttt
        return ifttt
    }

    static func run(
        ifttt: Service, vault: any Vault, signedInUser: @escaping @Sendable (Request) async throws -> User?
    ) async throws {
        let connection = try ConnectionID("aB3dE5fG")
        let address = try PublicAddress("https://garden.example/connect")
        let settings = try ConnectButtonSettings(at: address, offering: [ConnectButtonOffer(connection)])
        let redirect = try RedirectURI(settings.callbackURL)
        let client = Client(service: ifttt, id: "lumen_garden", redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: vault)
        let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) {
            request, _ in
            try await signedInUser(request).map { try ConnectButtonUser(id: $0.id, suggestedEmail: $0.email) }
        }
        let router = Router()
        buttons.add(to: router.group("connect"))
        let application = Application(router: router)
        try await application.runService()
    }
}

@Suite("The documentation of the server")
struct DocumentationTests {
    @Test("shows a whole server, and only code of it that compiles")
    func server() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let compiled = Set(try lines(of: here))
        let page = root.appending(path: "Sources/HandshakeServer/HandshakeServer.docc/HandshakeServer.md")
        let section = try lines(of: page).drop { $0 != "### A server with one button" }.dropFirst()
            .prefix { !$0.hasPrefix("#") }
        let blocks = section.split { $0.hasPrefix("```") && $0 != "```swift" }
            .compactMap { part in part.firstIndex(of: "```swift").map { part[part.index(after: $0)...] } }
        #expect(blocks.count == 2)
        for line in blocks.joined() where !line.isEmpty { #expect(compiled.contains(line), "\(line)") }
    }

    @Test("names every attribute that the component's own head names")
    func attributes() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/ConnectButton")
        let page = try lines(of: root.appending(path: "ConnectButton.docc/ConnectButton.md"))
        let script = try lines(of: root.appending(path: "Web/connect-button.js"))
        let names = script.drop { $0 != "* Attributes" }.dropFirst().prefix { $0 != "*" }
            .compactMap { $0.dropFirst(2).split(separator: " ").first }
        #expect(names.count == 7)
        for name in names { #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)") }
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
