import Foundation
import Handshake
import OAuth
import Testing

@Suite("Clients that are named by the address of a document")
struct ClientDocumentTests {
    /// The client that the user's browser would name to a server.
    ///
    /// - Parameter isTaken: what the server says about clients that documents name; nil for nothing.
    private func named(_ id: String, _ isTaken: Bool?, _ secret: Secret? = nil) async throws -> String? {
        let provider = ScriptedProvider()
        if let isTaken { provider.announce(["client_id_metadata_document_supported": isTaken]) }
        let service = try provider.client().service
        let redirect = Client.Redirect.uri(try RedirectURI(ScriptedProvider.redirect))
        let client =
            if let secret {
                Client.confidential(service: service, id: id, secret: secret, redirect: redirect)
            } else {
                Client(service: service, id: id, redirect: redirect)
            }
        let app = try provider.app(client)
        do {
            let page = URLComponents(string: try await app.beginSignIn().page.url)
            return page?.queryItems?.first { $0.name == "client_id" }?.value
        } catch {
            #expect(provider.paths.allSatisfy { $0.hasPrefix("/.well-known/") }, "nothing else was sent")
            throw error
        }
    }

    @Test(
        "M506: at a server by its issuer too, an address that is none of a document is refused before a page opens",
        arguments: [
            "https://app.example", "https://app.example/", "https://app.example/a/../client.json",
            "https://app.example/client.json?x=1", "https://app.example/client.json#x",
            "HTTPS://ada@app.example/client.json",
        ])
    func refused(_ id: String) async throws {
        let error = await handshakeError { try await named(id, true) }
        guard case .exchange? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("M506: the address of a document names the client at a server by its issuer")
    func taken() async throws {
        let address = "https://app.example/client.json"
        #expect(try await named(address, true) == address)
    }

    @Test("M506: where a server takes no documents, or gave a secret, an address is an identifier like any other")
    func identifier() async throws {
        let id = "https://app.example/?x=1"
        for isTaken in [false, nil] as [Bool?] { #expect(try await named(id, isTaken) == id) }
        #expect(try await named(id, true, Secret("canary")) == id)
    }
}
