import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import ConnectButton

@Suite("A user who logs out while the vault fails", .heavy)
@MainActor struct SignOutTests {
    /// Leaves an attempt and a user token in the vault, as a process does that ends while the user is at IFTTT.
    private func leaveAttempt(in scene: ModelScene) async throws {
        let accounts = try scene.accounts()
        let model = try scene.model(of: accounts) { _ in nil }
        let running = Task { await model.run() }
        await scene.leaveForService(model)
        running.cancel()
        await running.value
        try await UserTokens(in: accounts).store(try #require(UserToken(Secret("token-of-the-first-user"))))
    }

    /// A model of the next process, whose vault refuses to change records of a kind.
    private func model(in scene: ModelScene, refusing kind: VaultKey.Kind?) throws -> ConnectButtonModel {
        let client = Client(
            service: try scene.service, id: "lumen_garden", redirect: .uri(try RedirectURI(ModelScene.callback)))
        let accounts = try Handshake(client, vault: RefusingVault(base: scene.vault, refused: kind))
        return try scene.model(of: accounts) { _ in nil }
    }

    @Test("the attempt is gone even if the token cannot be deleted, and the app is told", arguments: [false, true])
    func token(isRunning: Bool) async throws {
        try await ModelScene.run { scene in
            try await leaveAttempt(in: scene)
            let model = try model(in: scene, refusing: .account)
            let running = isRunning ? Task { await model.run() } : nil
            await #expect { try await model.signOut() } throws: { RefusingVault.isRefusal($0) }
            #expect(await scene.attempt() == nil)
            running?.cancel()
            await running?.value
            // The device's next user has nothing to go on with.
            #expect(await scene.attempt() == nil)
        }
    }

    @Test(
        "an attempt that cannot be deleted is told; the token is gone all the same, and a second call deletes the rest")
    func attempt() async throws {
        try await ModelScene.run { scene in
            try await leaveAttempt(in: scene)
            let model = try model(in: scene, refusing: .activation)
            await #expect { try await model.signOut() } throws: { RefusingVault.isRefusal($0) }
            let accounts = try scene.accounts()
            #expect(await scene.attempt() != nil)
            #expect(try await UserTokens(in: accounts).token() == nil)
            try await self.model(in: scene, refusing: nil).signOut()
            #expect(await scene.attempt() == nil)
        }
    }

    @Test("an update under way does not store the attempt again, and the next attempt is stored")
    func late() async throws {
        try await ModelScene.run { scene in
            try await leaveAttempt(in: scene)
            let connection = try ConnectionID(ModelScene.connection)
            let configuration = ConnectActivation.Configuration(
                connection, callback: try CallbackURL(ModelScene.callback), suggestedEmail: "", locale: "en")
            let stored = StoredActivation(of: connection, user: AccountID.defaultName, vault: scene.vault)
            let left = try #require(await stored.activation(for: configuration))
            #expect(left.awaitsRedirect)
            try await stored.remove()
            await stored.keep(left)
            #expect(await scene.attempt() == nil)
            await stored.keep(ConnectActivation(configuration))
            await stored.keep(left)
            #expect(await scene.attempt() != nil)
        }
    }

    @Test("a cancelled task logs the user out all the same")
    func cancelled() async throws {
        try await ModelScene.run { scene in
            try await leaveAttempt(in: scene)
            let model = try model(in: scene, refusing: nil)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await model.signOut()
            }
            try await task.value
            #expect(await scene.attempt() == nil)
        }
    }
}

/// A vault that refuses to change the records of one kind.
private struct RefusingVault: Vault {
    let base: MemoryVault
    let refused: VaultKey.Kind?

    static func isRefusal(_ error: any Error) -> Bool {
        if case ConnectError.account(.vault(.unavailable)) = error { true } else { false }
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        guard key.kind != refused else { throw VaultError.unavailable("the disk is full") }
        return try await base.update(key, body)
    }
}
