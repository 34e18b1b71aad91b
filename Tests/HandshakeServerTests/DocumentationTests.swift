import ConnectButton
import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import Testing

/// The documentation's server, compiled; `CodeTests` compares.
private enum DocumentedServer {
    struct User: Sendable {
        let id: String
        let email: String
    }

    private static func userToken(of user: String) async throws -> UserToken? { nil }

    static func service(at origin: String) throws -> Service {
        let ifttt = Service.ifttt.at(try EndpointURL(origin, security: .allowingInsecureLoopback))
        return ifttt
    }

    static func run(
        ifttt: Service, vault: any Vault, signedInUser: @escaping @Sendable (Request) async throws -> User?
    ) async throws {
        let connection = try ConnectionID("aB3dE5fG")
        let address = try PublicAddress("https://garden.example/connect")
        let settings = try ConnectButtonSettings(at: address, offering: [ConnectButtonOffer(connection)]) { user in
            .partnerServer { try await userToken(of: user) }
        }
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
