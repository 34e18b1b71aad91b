import Foundation
import Handshake
import IFTTTConnect
import OAuth
import TestFixtures
import Testing

@Suite("What ends with an installation")
struct InstallationTests {
    /// The tokens of an app with this container. The key rests elsewhere and survives the app, as an item of the Keychain does.
    private func tokens(of app: URL, key: URL) throws -> UserTokens {
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        let vault = try FileVault(directory: app.path + "/vault", keyFile: key.path)
        return UserTokens(in: try Handshake(client, vault: vault, transport: ScriptedIFTTT()))
    }

    @Test("F106: with its folder a vault is gone, and the next installation knows no user")
    func folder() async throws {
        let temporary = try TemporaryFolder()
        let (app, key) = (temporary.url.appending(path: "app"), temporary.url.appending(path: "keychain/key"))
        try await tokens(of: app, key: key).store(try token("utk_first"))
        #expect(try await tokens(of: app, key: key).token() == (try token("utk_first")))
        try FileManager.default.removeItem(at: app)
        #expect(FileManager.default.fileExists(atPath: key.path))
        #expect(try await tokens(of: app, key: key).token() == nil)
        try await tokens(of: app, key: key).store(try token("utk_second"))
        #expect(try await tokens(of: app, key: key).token() == (try token("utk_second")))
    }
}
