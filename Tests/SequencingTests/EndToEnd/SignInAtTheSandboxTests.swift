import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

/// A user who closes the page of the service.
private struct ClosedPage: Browser {
    func show(_ page: SignInPage) async throws -> String? {
        throw HandshakeError.signInAbandoned(.closed)
    }
}

@Suite("Signing in to the sandbox's Sequencing.com", .heavy)
struct SignInAtTheSandboxTests {
    private func handshake(at sandbox: Sandbox, in vault: any Vault) throws -> Handshake {
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        let redirect = Client.Redirect.uri(try RedirectURI("http://127.0.0.1:9/callback"))
        return try Handshake(
            Client(service: .sequencing.at(origin), id: "my-genome-app", redirect: redirect), vault: vault)
    }

    @Test("A02: the authorization request has mobile=1 and the scopes with a comma, and the service takes it")
    func request() async throws {
        let sandbox = try await Sandbox.start(Sandbox.Configuration(logsWholeRequests: true))
        let attempt = try await handshake(at: sandbox, in: MemoryVault()).beginSignIn()
        let query = try #require(attempt.page.url.split(separator: "?").last).split(separator: "&").map(String.init)
        #expect(query.contains("mobile=1") && query.contains("scope=demo%2Cexternal"))
        for name in ["redirect_uri", "response_type", "state", "client_id", "code_challenge"] {
            #expect(query.count { $0.hasPrefix(name + "=") } == 1, "\(name)")
        }
        let page = RequestMessage(.get, try EndpointURL(attempt.page.url, security: .allowingInsecureLoopback))
        #expect(try await PlatformTransport().send(page, limits: TransferLimits()).head.status == .ok)
        let asked = try #require(sandbox.requests(.sequencing).last?.whole)
        #expect(asked.target.contains("mobile=1") && asked.target.contains("scope=demo%2Cexternal"))
        await sandbox.stop()
    }

    @Test("A08: a user who closes the page has cancelled, once, and nothing is stored")
    func closed() async throws {
        let sandbox = try await Sandbox.start()
        let vault = MemoryVault()
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        let handshake = try Handshake(Client(service: .sequencing.at(origin), id: "my-genome-app"), vault: vault)
        await #expect(throws: HandshakeError.signInAbandoned(.closed)) {
            try await handshake.signIn(through: ClosedPage())
        }
        #expect(try await handshake.account() == nil)
        #expect(sandbox.requests(.sequencing).isEmpty)
        await sandbox.stop()
    }

    @Test("A15: who the user is comes from the service's own route, with the token in its URL and nowhere else")
    func identity() async throws {
        let town = try await Town(logsWholeRequests: true)
        let identity = try await town.genome.identity()
        #expect(identity.subject == "4711" && identity.name == "ada")
        let asked = try #require(town.sandbox.requests(.sequencing).only?.whole)
        let token = try await town.account.accessToken().reveal()
        #expect(asked.target == "/indexApi.php?q=js/custom_oauth2_server/custom-token-info/\(token)")
        #expect(asked.headers["authorization"] == nil)
        await town.sandbox.stop()
    }

    @Test("A15: an answer without a user means that the token is not accepted: it is refreshed once")
    func refreshedIdentity() async throws {
        let town = try await Town()
        town.sandbox.expireAccessTokens(.sequencing)
        #expect(try await town.genome.identity().name == "ada")
        #expect(town.paths == ["/indexApi.php", "/oauth2/token", "/indexApi.php"])
        try town.inject("sequencing /indexApi.php => body {}")
        guard case .account(.signInRequired) = await sequencingError({ _ = try await town.genome.identity() }) else {
            Issue.record("no sign-in required")
            return
        }
        await town.sandbox.stop()
    }

    @Test("A14: an account without the scope external is told that it lacks it, which the service does not name")
    func missingScope() async throws {
        let town = try await Town(scopes: ["demo"])
        #expect(
            await sequencingError { _ = try await town.genome.files(.uploaded) }
                == .account(.demanded(.scopes(["external"]), status: 403)))
        await town.sandbox.stop()
    }
}

extension Collection {
    /// The only element; nil when there are none or several.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
