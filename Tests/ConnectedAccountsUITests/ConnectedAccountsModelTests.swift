import Handshake
import OAuth
import Sandbox
import Synchronization
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

    private func model(
        _ sandbox: Sandbox, _ vault: any Vault = MemoryVault(),
        lastUse: @escaping @Sendable (AccountID) async -> Double? = { _ in nil }
    ) throws -> ConnectedAccountsModel {
        let issuer = try Issuer(sandbox.standard.origin, security: .allowingInsecureLoopback)
        let service = try Service(
            name: "standard", authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
            defaultScopes: ["openid", "profile", "offline_access"])
        return ConnectedAccountsModel(
            try Handshake(Client(service: service, id: "sandbox-public"), vault: vault), lastUse: lastUse)
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

    @Test("the question stays open whatever becomes known about the account, until there is nothing to disconnect")
    func asked() async throws {
        let sandbox = try await Sandbox.start()
        let uses = Mutex<Double>(0)
        let model = try model(sandbox, lastUse: { _ in uses.withLock { $0 } })
        model.askToDisconnect("standard")
        #expect(model.asked == nil, "there is nothing to disconnect")
        model.connect("standard", through: Approving(sandbox: sandbox))
        await model.finish("standard")
        let before = try #require(model.accounts.first)
        model.askToDisconnect("standard")
        #expect(model.asked == "standard")
        // Meanwhile the app uses it.
        uses.withLock { $0 = 9e9 }
        await model.load()
        let after = try #require(model.accounts.first)
        #expect(after != before && after.lastUse == 9e9)
        #expect(model.asked == "standard", "the question is still about this account")
        model.keep()
        #expect(model.asked == nil && model.accounts.map(\.state) == [.signedIn])
        model.askToDisconnect("standard")
        model.disconnect("standard")
        #expect(model.asked == nil)
        await model.finish("standard")
        #expect(model.outcomes["standard"] == .disconnected)
        await sandbox.stop()
    }

    @Test("the question closes when the account is gone")
    func askedAndGone() async throws {
        let sandbox = try await Sandbox.start()
        let vault = MemoryVault()
        let (model, other) = (try model(sandbox, vault), try self.model(sandbox, vault))
        model.connect("standard", through: Approving(sandbox: sandbox))
        await model.finish("standard")
        model.askToDisconnect("standard")
        other.disconnect("standard")
        await other.finish("standard")
        await model.load()
        #expect(model.asked == nil && model.accounts.map(\.state) == [.absent])
        await sandbox.stop()
    }

    /// A vault whose next read waits, and which answers a cancelled task with its cancellation, as databases do.
    private final class SlowVault: Vault {
        let inner = MemoryVault()
        private let hold = Mutex<(reached: Gate, leaving: Gate)?>(nil)

        /// Holds the next read until the second gate is opened; the first one opens when it is held.
        func holdNextRead() -> (reached: Gate, leaving: Gate) {
            let gates = (reached: Gate(), leaving: Gate())
            hold.withLock { $0 = gates }
            return gates
        }

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            try Task.checkCancellation()
            let found = try await inner.record(key)
            let held = hold.withLock { hold in
                defer { hold = nil }
                return hold
            }
            held?.reached.open()
            await held?.leaving.wait()
            return found
        }
        func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await inner.keys(of: kind) }
        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result { try await inner.update(key, body) }
        func remove(_ key: VaultKey) async throws -> Bool { try await inner.remove(key) }
    }

    @Test("a read that is slower than a newer one is not shown")
    func stale() async throws {
        let sandbox = try await Sandbox.start()
        let vault = SlowVault()
        let model = try model(sandbox, vault)
        model.connect("standard", through: Approving(sandbox: sandbox))
        await model.finish("standard")
        let gate = vault.holdNextRead()
        // It has read the account, and waits.
        let slow = Task { await model.load() }
        await gate.reached.wait()
        model.disconnect("standard")
        await model.finish("standard")
        #expect(model.accounts.map(\.state) == [.absent])
        gate.leaving.open()
        await slow.value
        #expect(model.accounts.map(\.state) == [.absent], "what was read before the disconnection is old")
        await sandbox.stop()
    }

    @Test("a wait that is cancelled leaves the list as the vault has it")
    func cancelledRead() async throws {
        let sandbox = try await Sandbox.start()
        let model = try model(sandbox, SlowVault())
        model.connect("standard", through: Waiting())
        model.cancel("standard")
        await model.finish("standard")
        #expect(model.failure == nil && model.accounts.map(\.state) == [.absent])
        #expect(model.outcomes["standard"] == .cancelled)
        await sandbox.stop()
    }
}
