import HTTPTypes
import Handshake
import OAuth
import Testing

@Suite("Tokens for other programs")
struct HandedOutTokenTests {
    @Test("a token that lives long enough is handed out, a shorter one is refreshed once")
    func accessToken() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(try await account.accessToken(validFor: 1_800)?.reveal() == "access-1")
        #expect(provider.count("/token") == 1)
        provider.time.advance(by: 1_900)
        #expect(try await account.accessToken(validFor: 1_800)?.reveal() == "access-2")
        #expect(provider.count("/token") == 2)
    }

    @Test("a token that no refresh can make long-lived enough is not handed out")
    func tooLong() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(try await account.accessToken(validFor: 7_200)?.reveal() == nil)
        #expect(provider.count("/token") == 2)
    }

    @Test("the verified ID token is stored with the grant, and refreshed when it lives too short")
    func idToken() async throws {
        let (provider, vault) = (ScriptedProvider(), MemoryVault())
        let signedIn = try await provider.app(vault: vault).signIn(through: provider.browser)
        let first = try #require(try await signedIn.idToken(validFor: 300))
        let restarted = try #require(try await provider.app(vault: vault).account())
        #expect(try await restarted.idToken()?.reveal() == first.reveal())
        #expect(provider.count("/token") == 1)
        provider.time.advance(by: 400)
        let second = try #require(try await restarted.idToken(validFor: 300))
        #expect(second.reveal() != first.reveal())
        #expect(provider.count("/token") == 2)
        #expect(try await restarted.idToken(validFor: 7_200)?.reveal() == nil)
    }

    @Test("an ID token that was not verified is not handed out")
    func unverified() async throws {
        let provider = ScriptedProvider()
        let service = try Service(
            name: "op", authorizationServer: .discovered(try Issuer(ScriptedProvider.issuer), security: .httpsOnly),
            defaultScopes: ["offline_access"])
        let client = Client(service: service, id: "app", redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        let app = try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
        let account = try await app.signIn(through: provider.browser)
        #expect(try await account.idToken()?.reveal() == nil)
    }

    @Test("header fields are for the service's own origins, and no other address gets them")
    func fields() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(try await account.authorizationFields()[.authorization] == "Bearer access-1")
        for own in ["https://op.example/api", "https://op.example:443/", "me", "/me"] {
            #expect(try await account.authorizationFields(for: own)[.authorization] == "Bearer access-1")
        }
        for foreign in ["https://evil.example/", "https://op.example.evil.example/", "https://op.example:444/"] {
            let error = await handshakeError { try await account.authorizationFields(for: foreign) }
            #expect(error?.code == "foreign_origin")
        }
    }
}
