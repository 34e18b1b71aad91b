import Foundation
import Handshake
import IFTTTConnect
import OAuth
import TestFixtures
import Testing

@Suite("What ends with an installation")
struct InstallationTests {
    private func tokens(in folder: URL) throws -> UserTokens {
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        let vault = try FileVault(directory: folder.path + "/vault", keyFile: folder.path + "/vault.key")
        return UserTokens(in: try Handshake(client, vault: vault, transport: ScriptedIFTTT()))
    }

    @Test("F106: with its folder a vault is gone, and the next installation knows no user")
    func folder() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        try await tokens(in: folder).store(try token("utk_first"))
        #expect(try await tokens(in: folder).token() == (try token("utk_first")))
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try await tokens(in: folder).token() == nil)
    }
}
