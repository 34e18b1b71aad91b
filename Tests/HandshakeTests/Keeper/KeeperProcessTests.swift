import Foundation
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

#if os(Linux) || os(macOS)
@Suite("Keepers in several processes", .heavy, .ownThreads, .serialized)
struct KeeperProcessTests {
    @Test(
        "VL48: keepers in two processes, one of which is killed, refresh each account once, at a server that notices reuse"
    )
    func processes() async throws {
        let folder = try VaultFolder()
        let world = try await World(.standard, vault: try folder.open())
        let names = (0..<12).map { "user\($0)" }
        let app = try world.app()
        for name in names { _ = try await app.signIn(as: name, through: ApprovingBrowser(sandbox: world.sandbox)) }
        world.sandbox.clearRequests()
        world.time.advance(by: 3_400)
        world.sandbox.advanceClock(by: 3_400)
        let (origin, client, place) = (world.sandbox.standard.origin, try world.client().id, folder.place)
        var options = Keeper.Options()
        options.limit = Keeper.RateLimit(perSecond: 2)
        let keeper = Keeper(try world.app(), options: options)
        async let own = keeper.runOnce(horizon: 150)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [origin = origin as String, client = client as String, place = place as VaultPlace] in
            let vault = MortalVault(base: try place.open())
            _ = try await KeptWorld.keeper(at: origin, client: client, in: vault).runOnce(horizon: 150)
            // It did not come to its third account: then the end is as sudden.
            kill(getpid(), SIGKILL)
        }
        await #expect(processExitsWith: .success) {
            [origin = origin as String, client = client as String, place = place as VaultPlace] in
            let report = try await KeptWorld.keeper(at: origin, client: client, in: try place.open())
                .runOnce(horizon: 150)
            if report.ended > 0 { exit(3) }
        }
        let report = try await own
        #expect(report.ended == 0 && report.failed == 0)
        #expect(world.tokenRequests() == names.count)
        for name in names {
            let account = try #require(try await world.app().account(name))
            try await account.refresh()
        }
        await world.sandbox.stop()
    }
}

/// The sandbox's standard service, for a process that shares nothing but the vault.
enum KeptWorld {
    static func keeper(at origin: String, client: String, in vault: any Vault) throws -> Keeper {
        let security = TransportSecurity.allowingInsecureLoopback
        let service = try Service(
            name: "standard",
            authorizationServer: .discovered(try Issuer(origin, security: security), security: security),
            defaultScopes: ["openid", "profile", "offline_access", "api"])
        let time = AdjustableTime()
        time.advance(by: 3_400)
        let handshake = try Handshake(
            Client(service: service, id: client), vault: vault, time: time.source, limits: World.limits)
        // One after another: what else is on its way when a process is killed may be lost at any server that rotates.
        var options = Keeper.Options()
        options.limit = Keeper.RateLimit(perSecond: 1_000, concurrent: 1)
        return Keeper(handshake, options: options)
    }
}

/// A vault whose process dies when its third account was stored.
private struct MortalVault: ForwardingVault {
    let base: FileVault
    let stored = Shared(0)

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let result = try await base.update(key, body)
        if stored.change({ count in
            count += 1
            return count == 3
        }) {
            kill(getpid(), SIGKILL)
        }
        return result
    }
}
#endif
