import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

#if os(Linux) || os(macOS)
/// Kills a real process between every two steps of a refresh.
@Suite("E1: a crash at any point of a refresh", .heavy, .ownThreads, .serialized)
struct CrashTests {
    /// Where the process dies, and whether the session can have survived at a service whose refresh tokens work
    /// once.
    struct Row: Sendable, CustomTestStringConvertible {
        let point: String
        let survives: Bool
        var testDescription: String { "\(point): \(survives ? "the session goes on" : "sign in again")" }
    }

    @Test(
        "ends in the working session or in a plain request to sign in",
        arguments: [
            Row(point: "before-journal", survives: true), Row(point: "after-journal", survives: true),
            Row(point: "before-store", survives: false), Row(point: "after-store", survives: true),
        ])
    func crash(_ row: Row) async throws {
        let folder = try VaultFolder()
        let world = try await World(vault: try folder.open())
        let (_, account) = try await world.signedIn()
        let origin = world.sandbox.recurseCenter.origin
        let client = account.id.client
        let (place, point) = (folder.place, row.point)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                origin = origin as String, client = client as String, place = place as VaultPlace,
                point = point as String
            ] in
            let vault = DyingVault(base: try place.open(), point: point)
            let account = try await Refresher.account(at: origin, client: client, in: vault)
            try await account?.refresh()
        }
        let survivor = try #require(try await world.app().account())
        world.time.advance(by: 8_000)
        let error = await handshakeError { try await survivor.accessToken() }
        #expect(error == (row.survives ? nil : .signInRequired(survivor.id, .answerLost)))
        let calls = world.tokenRequests()
        let again = await handshakeError { try await survivor.accessToken() }
        #expect(again == error)
        #expect(world.tokenRequests() == calls, "nothing is asked twice")
        await world.sandbox.stop()
    }

    @Test("E2: two processes whose token is refused at the same time make one refresh")
    func processes() async throws {
        let folder = try VaultFolder()
        let world = try await World(vault: try folder.open())
        let (_, account) = try await world.signedIn()
        world.sandbox.expireAccessTokens(.recurseCenter)
        let origin = world.sandbox.recurseCenter.origin
        let client = account.id.client
        let place = folder.place
        // The second caller finds the first one running: the answer takes its time.
        try world.inject("POST /oauth/token => delay 1")
        async let own = account.send(.get, "profiles/me", limits: World.limits)
        await #expect(processExitsWith: .success) {
            [origin = origin as String, client = client as String, place = place as VaultPlace] in
            let vault = try place.open()
            guard let account = try await Refresher.account(at: origin, client: client, in: vault),
                try await account.send(.get, "profiles/me", limits: World.limits).head.status == .ok
            else { exit(3) }
        }
        #expect(try await own.head.status == .ok)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }
}

/// An account of the sandbox's Recurse Center, opened in a process that shares nothing but the vault.
enum Refresher {
    static func account(at origin: String, client: String, in vault: any Vault) async throws -> Account? {
        let service = Service.recurseCenter.at(try EndpointURL(origin, security: .allowingInsecureLoopback))
        return try await Handshake(Client(service: service, id: client), vault: vault, limits: World.limits).account()
    }
}

/// A vault that kills its own process at a point of the refresh.
private struct DyingVault: ForwardingVault {
    let base: FileVault
    let point: String

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { try await body(DyingRecord(base: $0, point: point)) }
    }
}

private actor DyingRecord: LockedRecord {
    private let base: any LockedRecord
    private let point: String
    private var replacements = 0

    init(base: any LockedRecord, point: String) {
        self.base = base
        self.point = point
    }

    var contents: [UInt8]? { get async { await base.contents } }

    func replace(with contents: [UInt8]) async throws {
        let step = replacements == 0 ? "journal" : "store"
        replacements += 1
        die(at: "before-\(step)")
        try await base.replace(with: contents)
        die(at: "after-\(step)")
    }

    func remove() async throws { try await base.remove() }

    private func die(at point: String) {
        if point == self.point { kill(getpid(), SIGKILL) }
    }
}
#endif
