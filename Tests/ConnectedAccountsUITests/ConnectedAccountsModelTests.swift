import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import ConnectedAccountsUI

@MainActor @Suite("The model of a list of accounts", .heavy)
struct ConnectedAccountsModelTests {
    private struct Approving: Browser {
        let sandbox: Sandbox
        func show(_ page: SignInPage) async throws -> String? { try await sandbox.approve(page.url) }
    }

    private struct Closing: Browser {
        func show(_ page: SignInPage) async throws -> String? { throw HandshakeError.signInAbandoned(.closed) }
    }

    private struct Waiting: Browser {
        func show(_ page: SignInPage) async throws -> String? {
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw CancellationError()
        }
    }

    private func model(_ sandbox: Sandbox) throws -> ConnectedAccountsModel {
        let issuer = try Issuer(sandbox.standard.origin, security: .allowingInsecureLoopback)
        let service = try Service(
            name: "standard", authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
            defaultScopes: ["openid", "profile", "offline_access"])
        return ConnectedAccountsModel(
            try Handshake(Client(service: service, id: "sandbox-public"), vault: MemoryVault()))
    }

    @Test("an account is connected, named and disconnected")
    func whole() async throws {
        let sandbox = try await Sandbox.start()
        let model = try model(sandbox)
        await model.load()
        #expect(model.accounts.map(\.state) == [.absent])
        model.connect("standard", through: Approving(sandbox: sandbox))
        #expect(model.running["standard"] == .connecting)
        await model.finish("standard")
        #expect(model.running.isEmpty && model.outcomes["standard"] == .connected)
        #expect(model.accounts.map(\.state) == [.signedIn] && model.accounts.first?.userName != nil)
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnected && model.accounts.map(\.state) == [.absent])
        await sandbox.stop()
    }

    @Test("what the user does not go through with changes nothing, and a wait ends when it is cancelled")
    func cancelled() async throws {
        let sandbox = try await Sandbox.start()
        let model = try model(sandbox)
        model.connect("standard", through: Closing())
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .cancelled && model.accounts.map(\.state) == [.absent])
        model.connect("standard", through: Waiting())
        model.cancel("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .cancelled && model.running.isEmpty)
        await sandbox.stop()
    }

    @Test("a service that does not confirm leaves an account that needs attention, and a second try ends it")
    func unfinished() async throws {
        let sandbox = try await Sandbox.start()
        let model = try model(sandbox)
        model.connect("standard", through: Approving(sandbox: sandbox))
        await model.finish("standard")
        sandbox.inject(try FaultRule(parsing: "standard POST /revoke => status 503 x1"))
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnectFailed && model.accounts.map(\.state) == [.signingOut])
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnected && model.accounts.map(\.state) == [.absent])
        await sandbox.stop()
    }
}
