import Foundation
import HTTPTypes
import OAuth
import Testing

@testable import Handshake

@Suite("Sign-in: what has to be true before there is an account")
struct SignInGuaranteeTests {
    @Test(
        "B13: no token can be used or is stored before the ID token of the token endpoint was checked",
        arguments: [
            ProviderChange(name: "another nonce", change: { $0.claims["nonce"] = "injected" }, code: "nonce_mismatch"),
            ProviderChange(name: "no nonce", change: { $0.claims["nonce"] = .some(nil) }, code: "nonce_mismatch"),
            ProviderChange(name: "another client", change: { $0.claims["aud"] = "other" }, code: "audience_mismatch"),
            ProviderChange(name: "no ID token", change: { $0.idToken = "" }, code: "malformed_response"),
            ProviderChange(
                name: "no signature", change: { $0.idToken = "eyJhbGciOiJub25lIn0.e30." }, code: "algorithm_refused"),
            ProviderChange(
                name: "no keys",
                change: { $0.overrides["/jwks"] = { _ in throw TransportError.timedOut(host: "op.example") } },
                code: "timed_out"),
        ])
    func identityFirst(_ row: ProviderChange) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        provider.change(row.change)
        let app = try provider.app(vault: vault)
        #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == row.code)
        #expect(provider.count("/token") == 1)
        #expect(try await app.account() == nil)
        #expect(try await vault.keys(of: .account).keys.isEmpty)
        #expect(try await vault.keys(of: .signIn).keys.isEmpty)
    }

    private static func client(asking parameters: [String: String]) throws -> Client {
        let known = try ScriptedProvider().client()
        var client = Client(service: known.service, id: known.id, redirect: known.redirect, parameters: parameters)
        client.options.requiresAuthenticationContext = true
        return client
    }

    @Test(
        "D8: a sign-in whose user authenticated too long ago, or too weakly, is refused and not stored",
        arguments: [
            (["max_age": "86400"], 500, nil as String?, nil as String?),
            (["max_age": "600"], 700, nil, "authentication_insufficient"), (["acr_values": "gold"], 0, "gold", nil),
            (["acr_values": "gold"], 0, "silver", "authentication_insufficient"),
            (["acr_values": "gold"], 0, nil, "authentication_insufficient"),
        ])
    func authentication(_ asked: [String: String], _ age: Int, _ context: String?, _ code: String?) async throws {
        let provider = ScriptedProvider()
        let now = Int(provider.time.source.now())
        provider.change { state in
            state.claims["auth_time"] = now - age
            state.claims["acr"] = context
        }
        let client = try Self.client(asking: asked)
        let vault = MemoryVault()
        let app = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == code)
        #expect(try await vault.keys(of: .account).keys.isEmpty == (code != nil))
    }

    @Test("D8, 6.5: acr_values alone are a wish: a sign-in in another context counts, and the account says in which")
    func wishedContext() async throws {
        for context in ["gold", "silver", nil] {
            let provider = ScriptedProvider()
            provider.change { $0.claims["acr"] = context }
            var client = try Self.client(asking: ["acr_values": "gold"])
            client.options.requiresAuthenticationContext = false
            let lines = LogLines()
            let app = try Handshake(
                client, vault: MemoryVault(), transport: provider, time: provider.time.source, log: lines.logger)
            let account = try await app.signIn(through: provider.browser)
            #expect(account.status.identity?.claims["acr"]?.string == context)
            let notices = lines.all.filter { $0.contains("in none of the contexts") }
            #expect(notices.count == (context == "gold" ? 0 : 1))
        }
    }

    @Test(
        "D8: a sign-in without an ID token is refused before its page where it demands an age or a context, else stored",
        arguments: [
            ([:], true, nil), (["acr_values": "gold"], false, nil),
            (["acr_values": "gold"], true, "authentication_insufficient"),
            (["max_age": "600"], false, "authentication_insufficient"),
        ] as [([String: String], Bool, String?)])
    func unidentified(_ asked: [String: String], _ isDemanded: Bool, _ code: String?) async throws {
        let provider = ScriptedProvider()
        provider.change { $0.idToken = "" }
        let known = try Self.client(asking: asked)
        var client = Client(
            service: known.service, id: known.id, redirect: known.redirect, scopes: ["offline_access"],
            parameters: asked)
        client.options.requiresAuthenticationContext = isDemanded
        let vault = MemoryVault()
        let app = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        let pages = Shared<[String]>([])
        let browser = ScriptedBrowser { page in
            pages.change { $0.append(page.url) }
            return try await provider.browser.show(page)
        }
        #expect(await handshakeError { try await app.signIn(through: browser) }?.code == code)
        #expect(pages.value.count == (code == nil ? 1 : 0))
        #expect(try await vault.keys(of: .account).keys.isEmpty == (code != nil))
    }

    @Test("D8: another process that finishes the sign-in demands the same authentication")
    func authenticationInAnotherProcess() async throws {
        let provider = ScriptedProvider()
        provider.change { $0.claims["acr"] = "silver" }
        let client = try Self.client(asking: ["acr_values": "gold"])
        let vault = MemoryVault()
        let first = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        let attempt = try await first.beginSignIn()
        let redirect = try #require(try await provider.browser.show(attempt.page))
        let second = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        let error = await handshakeError { try await second.finishSignIn(redirectURL: redirect) }
        #expect(error?.code == "authentication_insufficient")
        #expect(try await vault.keys(of: .account).keys.isEmpty)
    }

    @Test("A12: a client that names no scopes asks for the service's smallest useful ones; more have to be named")
    func smallestScopes() async throws {
        func asked(_ client: Client) async throws -> String? {
            let page = try await Handshake(client, vault: MemoryVault(), transport: ScriptedProvider()).beginSignIn()
                .page
            return URLComponents(string: page.url)?.queryItems?.first { $0.name == "scope" }?.value
        }
        let redirect = Client.Redirect.uri(try RedirectURI(ScriptedProvider.redirect))
        func client(_ service: Service, _ scopes: [String]? = nil) -> Client {
            Client(service: service, id: "app", redirect: redirect, scopes: scopes)
        }
        #expect(try await asked(client(.recurseCenter)) == nil)
        #expect(try await asked(client(.sequencing)) == "demo,external")
        #expect(try await asked(client(.sequencing, ["demo"])) == "demo")
        #expect(try await asked(client(.sequencing, [])) == nil)
    }
}
