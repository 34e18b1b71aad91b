import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Tokens that IFTTT refuses, on a server", .heavy)
struct RefusedTokenTests {
    private let path = "/v2/connections/mAnyFt05"
    private static let revoked = "utk_sandbox_revoked"

    /// A token that IFTTT takes: the user's, from turning the other connection on.
    private func goodToken(_ server: ButtonServer, _ world: World) async throws -> UserToken {
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        return try requireValue(try await server.routes.userTokens(for: .init(id: "new")).token())
    }

    @Test("W10: a late refusal of an old token leaves the newer one that another process has stored, and uses it")
    func late() async throws {
        let world = try await World.start()
        let one = try await world.buttons()
        let tokens = try one.routes.userTokens(for: .init(id: "new"))
        let (good, old) = (try await goodToken(one, world), try requireValue(UserToken(Secret(Self.revoked))))
        let transport = WatchedTransport { sent in
            // While the old one's question is on its way, the other process has the user back from IFTTT.
            if sent.token == Self.revoked { try await tokens.store(good) }
        }
        var settings = try world.standardSettings()
        settings.transport = transport
        let two = try await world.buttons(settings)
        try await tokens.store(old)
        #expect(try await two.state("new", "mAnyFt05").step == "connect")
        #expect(transport.tokens(path) == [Self.revoked, good.secret.reveal()])
        #expect(try await tokens.token() == good)
        await one.server.stop()
        await two.server.stop()
        await world.sandbox.stop()
    }

    @Test("W10: a partner's token that was refused is not taken again by any process, and a newer one is")
    func partner() async throws {
        let world = try await World.start()
        let first = try await world.buttons()
        let good = try await goodToken(first, world)
        try await first.routes.userTokens(for: .init(id: "new")).forget()
        let given = Mutex(Self.revoked)
        let transport = WatchedTransport()
        var settings = try world.standardSettings()
        settings.transport = transport
        settings.freshness = .zero
        settings.tokenDelivery = { _ in .redirectOrPartnerServer { UserToken(Secret(given.withLock { $0 })) } }
        let (one, two) = (try await world.buttons(settings), try await world.buttons(settings))
        try await one.look("new", "mAnyFt05")
        try await two.look("new", "mAnyFt05")
        #expect(transport.tokens(path).first == Self.revoked)
        #expect(transport.tokens(path).dropFirst().allSatisfy { $0 == nil } && transport.tokens(path).count > 1)
        given.withLock { $0 = good.secret.reveal() }
        try await two.look("new", "mAnyFt05")
        #expect(transport.tokens(path).last == good.secret.reveal())
        for server in [first, one, two] { await server.server.stop() }
        await world.sandbox.stop()
    }

    @Test("where the vault is stays with the server when a token cannot be read")
    func vaultFails() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        let server = try await world.buttons()
        vault.fail { $0.kind == .account ? .denied(what: "/srv/app/vault", reason: "its mode") : nil }
        let answer = try await server.state()
        #expect(answer.step == "loading_failed" && answer["state", "failure", "detail"] != nil)
        #expect(!answer.text.contains("/srv") && !answer.text.contains("\\/srv"))
        await server.server.stop()
        await world.sandbox.stop()
    }
}
