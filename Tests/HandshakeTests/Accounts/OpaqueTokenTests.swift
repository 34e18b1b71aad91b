import Foundation
import HTTPTypes
import Handshake
import OAuth
import Testing

@Suite("Access tokens are opaque")
struct OpaqueTokenTests {
    /// An access token that is a JWT, and says of itself that it is long expired, another server's and another user's.
    private static let token: String = {
        let claims = #"{"iss":"https://evil.example","sub":"mallory","aud":"other","exp":1,"scope":"none"}"#
        return Base64URL.encode(#"{"alg":"none","typ":"at+jwt"}"#.utf8) + "." + Base64URL.encode(claims.utf8) + "."
    }()

    @Test("D13: what an access token says of itself decides nothing", arguments: [3600, nil] as [Int?])
    func opaque(lifetime: Int?) async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/token"] = { _ in
                var members: [String: Any] = [
                    "access_token": Self.token, "token_type": "Bearer", "refresh_token": "refresh", "scope": "all",
                ]
                members["expires_in"] = lifetime
                return .json(200, members)
            }
        }
        let client = Client(
            service: try provider.client().service, id: "app",
            redirect: .uri(try RedirectURI(ScriptedProvider.redirect)),
            scopes: ["all"])
        let app = try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
        let account = try await app.signIn(through: provider.browser)
        #expect(try await account.accessToken().reveal() == Self.token)
        #expect(account.status.state == .signedIn && account.status.identity == nil)
        #expect(account.status.expiresAt.map { $0 > provider.time.source.now() } ?? (lifetime == nil))
        #expect(account.status.scopes == ["all"])
        #expect(provider.count("/token") == 1)
    }
}
