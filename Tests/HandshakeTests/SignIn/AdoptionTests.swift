import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Tokens that the user brings, and codes that the user carries", .heavy)
struct AdoptionTests {
    private func grant(_ token: String, refreshToken: String? = nil) -> Grant {
        Grant(
            accessToken: Secret(token), expiresAt: nil, issuedAt: 0, refreshToken: refreshToken.map(Secret.init),
            scopes: [])
    }

    @Test("RC-05: a brought token is an account that lasts, in this process and in the next")
    func lasts() async throws {
        let world = try await World()
        let token = try #require(world.sandbox.recurseCenter.personalAccessToken)
        let account = try await world.app().adopt(grant(token))
        #expect(account.status.isRefreshable == false)
        #expect(account.status.expiresAt == nil)
        world.time.advance(by: 1e9)
        world.sandbox.advanceClock(by: 1e9)
        #expect(try await account.identity().subject == "759")
        let later = try #require(try await world.app().account())
        #expect(try await later.identity().subject == "759")
        #expect(world.tokenRequests() == 0)
        await world.sandbox.stop()
    }

    @Test("RC-05: a brought token that is refused asks for another one, and stays until one is brought")
    func refused() async throws {
        let world = try await World()
        let handshake = try world.app()
        let account = try await handshake.adopt(grant("wrong"))
        let error = await handshakeError { try await account.identity() }
        #expect(error == .signInRequired(account.id, .notRefreshable))
        #expect(account.status.state == .signedIn)
        let token = try #require(world.sandbox.recurseCenter.personalAccessToken)
        let again = try await handshake.adopt(grant(token))
        #expect(again === account)
        #expect(try await account.identity().subject == "759")
        await world.sandbox.stop()
    }

    @Test("signing out forgets a brought token without asking the service to void it")
    func signOut() async throws {
        let world = try await World()
        let handshake = try world.app()
        let account = try await handshake.adopt(grant("a-token"))
        world.sandbox.clearRequests()
        let report = try await account.signOut()
        #expect(report.isForgotten)
        #expect(report.notRevocable == [.accessToken])
        #expect(world.sandbox.requests().isEmpty)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("a brought grant with a refresh token is refreshed like one of a sign-in")
    func refreshable() async throws {
        let world = try await World()
        let (_, signedIn) = try await world.signedIn()
        let browser = ApprovingBrowser(sandbox: world.sandbox)
        let other = try world.app(vault: MemoryVault())
        _ = try await other.signIn(as: "source", through: browser)
        let account = try await world.app(vault: MemoryVault()).adopt(grant("expired", refreshToken: "unknown"))
        #expect(account.status.isRefreshable)
        let error = await handshakeError { try await account.identity() }
        #expect(error == .signInRequired(account.id, .refreshRejected))
        #expect(world.tokenRequests() == 1)
        #expect(signedIn.status.state == .signedIn)
        await world.sandbox.stop()
    }

    @Test(
        "a token that cannot stand in a header is refused and not stored",
        arguments: ["", "a b", "a\r\nX-Injected: 1", "tökén", "a\u{0}", String(repeating: "a", count: 8193)])
    func impossible(_ token: String) async throws {
        let handshake = try Handshake(Client(service: .recurseCenter, id: "app"), vault: MemoryVault())
        for grant in [grant(token), grant("good", refreshToken: token)] {
            let error = await handshakeError { try await handshake.adopt(grant) }
            guard case .configuration = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try await handshake.account() == nil)
    }

    @Test("RC-02: a code from the service's page, carried by hand, signs in")
    func outOfBand() async throws {
        let world = try await World()
        let handshake = try world.app(world.client(redirect: .uri(.outOfBand)))
        let browser = PrintingBrowser(print: { _ in }, readRedirect: { try await world.code(for: $0) })
        let account = try await handshake.signIn(through: browser)
        #expect(try await account.identity().subject == "759")
        await world.sandbox.stop()
    }

    @Test("RC-02, RC-03: a code that was issued for another request is refused by the service, thanks to PKCE")
    func foreignCode() async throws {
        let world = try await World()
        let handshake = try world.app(world.client(redirect: .uri(.outOfBand)))
        let attackers = try await handshake.beginSignIn(as: "attacker")
        let code = try await world.code(for: attackers.page)
        let browser = PrintingBrowser(print: { _ in }, readRedirect: { _ in code })
        let error = await handshakeError { try await handshake.signIn(through: browser) }
        guard case .exchange(.server(let answer))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(answer.isInvalidGrant)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("RC-02: what is no code is refused before it is sent", arguments: [" ", "two words", "a\u{7}b", "ä"])
    func noCode(_ text: String) async throws {
        let world = try await World()
        let handshake = try world.app(world.client(redirect: .uri(.outOfBand)))
        world.sandbox.clearRequests()
        let browser = PrintingBrowser(print: { _ in }, readRedirect: { _ in text })
        guard case .configuration("code", _)? = await handshakeError({ try await handshake.signIn(through: browser) })
        else {
            Issue.record("it was taken")
            return
        }
        #expect(world.tokenRequests("authorization_code") == 0)
        await world.sandbox.stop()
    }

    @Test("only a page without a redirect has its code carried")
    func redirected() async throws {
        let handshake = try Handshake(
            Client(service: .recurseCenter, id: "app", redirect: .uri(try RedirectURI("com.example.app:/cb"))),
            vault: MemoryVault())
        let page = try await handshake.beginSignIn().page
        #expect(throws: HandshakeError.self) { try page.redirect(carrying: Secret("code")) }
    }
}

extension World {
    /// The code that the sandbox's page shows for an out-of-band sign-in.
    fileprivate func code(for page: SignInPage) async throws -> String {
        let redirect = try await sandbox.approve(page.url)
        return redirect.split(separator: "?").last?.split(separator: "&").first { $0.hasPrefix("code=") }
            .map { String($0.dropFirst("code=".count)) } ?? ""
    }
}
