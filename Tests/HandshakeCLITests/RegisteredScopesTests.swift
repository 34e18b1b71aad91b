#if CommandLine
import ArgumentParser
import Foundation
import OAuth
import TestFixtures
import Testing

@testable import Handshake
@testable import HandshakeCLI

@Suite("What a new sign-in registers")
struct RegisteredScopesTests {
    private func client(registeredFor scopes: [String]) throws -> Client {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        var client = Client(service: try Service(name: "bank", authorizationServer: .described(server)), id: "app")
        client.registration = ClientRegistration(
            name: "App", endpoint: try EndpointURL("https://op.example/register"), scopes: scopes,
            redirect: client.redirect, redirectURI: try RedirectURI("http://127.0.0.1/callback"), isForDevices: false,
            expiresAt: nil, management: nil)
        return client
    }

    @Test("M518: no new sign-in is advised where the app is registered already for what a server refuses")
    func registersMore() async throws {
        let vault = MemoryVault()
        let client = try client(registeredFor: ["a"])
        let handshake = try Handshake(client, vault: vault)
        let grant = Grant(accessToken: Secret("token"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: ["a"])
        let known = KnownAccount(
            account: try await handshake.adopt(grant, as: "bank"), client: client, handshake: handshake)
        let registrations = Registrations(in: vault)
        try await registrations.remember(client, as: "bank")
        #expect(try await known.registersMore(for: ["a", "b"], in: vault))
        // As a step-up stores it.
        try await registrations.remember(self.client(registeredFor: ["a", "b"]), as: "bank")
        #expect(try await known.registersMore(for: ["a", "b"], in: vault) == false)
        #expect(try await known.registersMore(for: ["a", "b", "c"], in: vault))
    }

    private func plan(_ arguments: [String], after previous: Client) async throws -> LoginPlan {
        let login = try #require(try HandshakeCommand.parseAsRoot(["login", "bank"] + arguments) as? Login)
        let settings = Settings(home: "/nowhere", environment: [:], file: Settings.File())
        return try await LoginPlan(service: "bank", options: login.options, settings: settings, previous: previous)
    }

    @Test("M503: where a server refuses a secret that the user states, its app is not registered again")
    func stated() async throws {
        let previous = try client(registeredFor: ["a"])
        let refusal = HandshakeError.exchange(.server(ServerError(step: .token, code: "invalid_client", status: 401)))
        let usual = try await plan([], after: previous).client
        #expect(!usual.hasStatedCredential && usual.wasPurged(refusal))
        let folder = try TemporaryFolder()
        let file = folder.path + "/secret"
        let isMade = FileManager.default.createFile(
            atPath: file, contents: Data("stated".utf8), attributes: [.posixPermissions: 0o600])
        #expect(isMade)
        let own = try await plan(["--client-secret-file", file], after: previous).client
        #expect(own.credential?.secret?.reveal() == "stated" && own.registration != nil)
        #expect(own.hasStatedCredential && !own.wasPurged(refusal))
    }
}
#endif
