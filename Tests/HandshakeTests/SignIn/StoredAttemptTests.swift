import HTTPTypes
import Handshake
import OAuth
import TestFixtures
import Testing

/// Redirects against the sign-in attempts that a vault holds, as a server or an app that was restarted has them.
@Suite("Stored sign-in attempts")
struct StoredAttemptTests {
    private static let redirect = "https://app.example:8443/cb"
    private let provider = ScriptedProvider()
    private let vault = MemoryVault()

    private func app() throws -> Handshake {
        try Handshake(
            provider.client(redirect: Self.redirect), vault: vault, transport: provider, time: provider.time.source)
    }

    /// The redirect with which the provider grants an attempt.
    private func granted(_ attempt: SignInAttempt) async throws -> String {
        let redirect = try #require(try await provider.browser.show(attempt.page))
        return redirect.replacing(ScriptedProvider.redirect, with: Self.redirect)
    }

    private func code(_ redirect: String, at app: Handshake) async -> String? {
        await handshakeError { try await app.finishSignIn(redirectURL: redirect) }?.code
    }

    @Test(
        "B5: a redirect whose state no stored attempt has is refused and ends none, with a code or an error",
        arguments: ["code=code", "error=access_denied", "error=server_error&error_description=x"])
    func foreignState(_ parameters: String) async throws {
        let app = try app()
        let attempt = try await app.beginSignIn()
        let redirect = try await granted(attempt)
        let iss = "iss=https%3A%2F%2Fop.example"
        #expect(await code("\(Self.redirect)?\(parameters)&state=other&\(iss)", at: app) == "state_mismatch")
        #expect(await code("\(Self.redirect)?\(parameters)&\(iss)", at: app) == "state_mismatch")
        #expect(provider.count("/token") == 0)
        #expect(try await vault.keys(of: .signIn).keys.count == 1)
        _ = try await app.finishSignIn(redirectURL: redirect)
    }

    @Test(
        "B4: a redirect at another address than the stored attempt's is refused and does not end the attempt",
        arguments: [
            "https://app.example/cb", "https://app.example:8444/cb", "https://app.example:8443/cb/",
            "https://app.example:8443/CB", "https://evil.example:8443/cb",
        ])
    func anotherAddress(_ address: String) async throws {
        let app = try app()
        let redirect = try await granted(app.beginSignIn())
        #expect(await code(redirect.replacing(Self.redirect, with: address), at: app) == "state_mismatch")
        #expect(provider.count("/token") == 0)
        _ = try await app.finishSignIn(redirectURL: redirect)
    }

    @Test("B5: of two stored attempts, each is finished by its own redirect")
    func ownRedirect() async throws {
        let app = try app()
        let (first, second) = (try await app.beginSignIn(as: "first"), try await app.beginSignIn(as: "second"))
        let (firstRedirect, secondRedirect) = (try await granted(first), try await granted(second))
        #expect(
            await handshakeError { try await app.finishSignIn(redirectURL: secondRedirect, as: "first") }?.code
                == "state_mismatch")
        let account = try await app.finishSignIn(redirectURL: secondRedirect, as: "second")
        #expect(account.id.name == "second")
        #expect(try await vault.keys(of: .signIn).keys.count == 1)
        let nonce = try #require(first.page.url.firstMatch(of: /nonce=([^&]+)/)).1
        provider.change { $0.claims["nonce"] = String(nonce) }
        #expect(try await app.finishSignIn(redirectURL: firstRedirect, as: "first").id.name == "first")
        #expect(try await vault.keys(of: .signIn).keys.isEmpty)
    }

    @Test("B6: of many redirects with one state that arrive concurrently in two apps, one counts")
    func concurrentReplay() async throws {
        let apps = [try app(), try app()]
        let redirect = try await granted(apps[0].beginSignIn())
        let codes = await withTaskGroup(of: String?.self) { group in
            for number in 0..<64 { group.addTask { await code(redirect, at: apps[number % 2]) } }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == "state_mismatch" } == 63)
        #expect(provider.count("/token") == 1)
    }

    @Test(
        "B6: a redirect with an error ends the stored attempt, and a code that follows it is refused",
        arguments: ["access_denied", "server_error"])
    func errorEnds(_ error: String) async throws {
        let app = try app()
        let redirect = try await granted(app.beginSignIn())
        let refused = redirect.replacing("code=code", with: "error=\(error)")
        #expect(await code(refused, at: app) == error)
        #expect(await code(redirect, at: app) == "state_mismatch")
        #expect(provider.count("/token") == 0)
    }
}
