import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Refresh with a key", .heavy)
struct DPoPRefreshTests {
    @Test("E2, G3: a nonce challenge is no second use of the refresh token: a thousand callers make one refresh")
    func once() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce"), transport: transport)
        for _ in 0..<3 {
            world.sandbox.rotateNonces()
            world.sandbox.expireAccessTokens(.standard)
            world.sandbox.clearRequests()
            let refused = account.record.grant.accessToken
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<1_000 {
                    group.addTask { try await account.credential(after: refused).token.reveal() }
                }
                var tokens: Set<String> = []
                for try await token in group { tokens.insert(token) }
                #expect(tokens.count == 1)
            }
            #expect(world.statuses("/token") == [400, 200])
            // The server revokes the whole sign-in when a refresh token comes twice to be used.
            #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        }
        let forms = transport.requests.filter { $0.head.path == "/token" }.map { "\($0.bytes)" }
        #expect(forms.count == 7, "the code, and three refreshes of two sendings")
        #expect(Set(forms).count == 4, "both sendings of a refresh are of one refresh token")
        await world.sandbox.stop()
    }

    @Test(
        "E4: an answer that is lost after a nonce challenge leaves the session open to another attempt",
        arguments: [("status 503 x1", true), ("drop x1", false)])
    func lostAnswer(_ fault: String, _ survives: Bool) async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce"))
        world.sandbox.rotateNonces()
        // The first sending is challenged; the fault is for the second one.
        try world.inject("standard POST /token => \(fault.replacing(" x1", with: " #2"))")
        let first = await handshakeError { try await account.refresh() }
        #expect(first != nil)
        let second = await handshakeError { try await account.refresh() }
        #expect((second == nil) == survives, "\(String(describing: second))")
        await world.sandbox.stop()
    }

    @Test(
        "VL14: a refresh is not sent a second time, with a nonce, while the vault cannot say that the record stays held"
    )
    func unconfirmed() async throws {
        let vault = FlakyVault()
        let world = try await World(.standard, vault: vault)
        world.holdClocks()
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce"))
        world.sandbox.rotateNonces()
        world.sandbox.clearRequests()
        vault.failConfirmation(number: 2)
        #expect(await handshakeError { try await account.refresh() }?.code == "vault_unavailable")
        #expect(world.statuses("/token") == [400], "only the first sending, which was challenged")
        #expect(account.record.state == .signedIn, "no journal entry stays")
        try await account.refresh()
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
    }

    @Test(
        "G2: an account whose refresh token alone is bound stays usable under other options, and a bound one stays bound",
        arguments: [Client.Options.Binding.automatic, .always, .never])
    func refreshOnly(_ later: Client.Options.Binding) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        _ = try await provider.boundApp(.refreshOnly, vault: vault).signIn(through: provider.browser)
        let account = try #require(try await provider.boundApp(later, vault: vault).account())
        try await account.refresh()
        #expect(account.record.grant.accessToken.reveal() == "access-2")
        #expect(account.record.binding?.bindsAccessToken == false)
        #expect(try SentProof.all(provider.requests, to: "/token").count == 2)
        provider.bindTokens()
        let bound = try await provider.boundApp(.always, vault: vault).signIn(as: "bound", through: provider.browser)
        provider.answer("/token") { try provider.answer("/token", $0) }
        let again = try #require(try await provider.boundApp(later, vault: vault).account("bound"))
        #expect(await handshakeError { try await again.refresh() } != nil, "a bearer token in place of a bound one")
        #expect(bound.id == again.id)
    }

    @Test("M417: where the key was lost, a confidential client goes on with a new one")
    func lostKey() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let client = try world.boundClient("sandbox-dpop-secret")
        let (_, account) = try await world.signedIn(client)
        let before = account.record.binding?.key?.thumbprint
        try await Self.damageKey(of: account.id, in: world.vault)
        let again = try #require(try await world.app(client).account())
        #expect(again.record.hasLostKey)
        #expect(try await again.send(.get, world.whoAmI).head.status == .ok)
        let after = again.record.binding?.key?.thumbprint
        #expect(after != nil)
        #expect(after != before)
        #expect(world.tokenRequests() == 2, "one is challenged")
        let third = try #require(try await world.app(client).account())
        #expect(third.record.binding?.key?.thumbprint == after)
        #expect(try await third.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("M417: where the key was lost, a public client has to sign in, and its grant stays stored")
    func lostKeyOfPublicClient() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let client = try world.boundClient()
        let (_, account) = try await world.signedIn(client)
        try await Self.damageKey(of: account.id, in: world.vault)
        let stored = try await world.vault.record(account.id.vaultKey)
        let transport = TappedTransport()
        let again = try #require(try await world.app(client, transport: transport).account())
        for _ in 0..<2 {
            let error = await handshakeError { try await again.send(.get, world.whoAmI) }
            #expect(error == .signInRequired(again.id, .keyLost))
        }
        #expect(await handshakeError { try await again.refresh() } == .signInRequired(again.id, .keyLost))
        #expect(try await world.vault.record(account.id.vaultKey) == stored)
        #expect(transport.requests.isEmpty, "nothing was sent, and no token as a bearer token")
        let (_, new) = try await world.signedIn(client)
        #expect(try await new.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
    }

    /// Makes the key in an account's record unreadable, as after a loss.
    private static func damageKey(of id: AccountID, in vault: any Vault) async throws {
        try await vault.update(id.vaultKey) { locked in
            let contents = await locked.contents
            let bytes = try #require(contents)
            var record = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            var key = try #require(record["dpopKey"] as? [String: Any])
            key["source"] = "lost"
            record["dpopKey"] = key
            try await locked.replace(with: Array(try JSONSerialization.data(withJSONObject: record)))
        }
    }

    @Test(
        "E6: a record of before there were keys is a bearer account, and options of before there were keys read the same"
    )
    func olderRecords() async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let account = try await provider.app(vault: vault).signIn(through: provider.browser)
        let bytes = try #require(try await vault.record(account.id.vaultKey))
        let members = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(members["dpopKey"] == nil)
        #expect(members["isBound"] == nil)
        #expect(try AccountRecord(stored: bytes, expected: account.id).binding == nil)
        let again = try #require(try await provider.app(vault: vault).account())
        provider.answer("/me") { _ in .json(200, [:]) }
        _ = try await again.send(.get, "me")
        #expect(provider.requests.last?.head.headerFields[.authorization] == "Bearer access-1")
        let options = try JSONDecoder().decode(
            Client.Options.self, from: Data(#"{"pushedRequests":"always"}"#.utf8))
        #expect(options.pushedRequests == .always)
        #expect(options.dpop == .automatic)
        var bound = Client.Options()
        bound.dpop = .refreshOnly
        #expect(try JSONDecoder().decode(Client.Options.self, from: JSONEncoder().encode(bound)) == bound)
    }

    @Test("G5, L1: the key lies sealed with the tokens, and no file, description or dump shows it")
    func sealed() async throws {
        let folder = try VaultFolder()
        let world = try await World(vault: try folder.open())
        let standard = try await World(.standard, vault: world.vault)
        let (_, account) = try await standard.signedIn(try standard.boundClient())
        let source = try #require(account.record.binding?.key).source.reveal()
        let secret = source.split(separator: "\n")[1]
        for file in folder.files() {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
        }
        var dumped = "\(account.record) \(account.status)"
        dump(account.record, to: &dumped)
        #expect(!dumped.contains(secret))
        await standard.sandbox.stop()
        await world.sandbox.stop()
    }
}

extension RequestMessage {
    /// The content.
    fileprivate var bytes: [UInt8] {
        if case .bytes(let bytes) = content { bytes } else { [] }
    }
}

#if os(Linux) || os(macOS)
/// Sign-ins and sessions that one process begins and another goes on with.
@Suite("M413: a key and the processes of one vault", .heavy, .ownThreads, .serialized)
struct DPoPProcessTests {
    private struct Begun: Codable {
        let url: String
    }

    @Test("M413: a sign-in that a killed process began is finished by another, refreshed by a third, and has one key")
    func killed() async throws {
        let folder = try VaultFolder()
        let world = try await World(
            .standard, vault: try folder.open(), configuration: .init(logsWholeRequests: true))
        let (place, origin) = (folder.place, world.sandbox.standard.origin)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as VaultPlace, origin = origin as String] in
            let attempt = try await Self.app(at: origin, in: place.open()).beginSignIn()
            try Data(attempt.page.url.utf8).write(to: URL(fileURLWithPath: place.parent + "/url"))
            kill(getpid(), SIGKILL)
        }
        let url = try String(contentsOfFile: place.parent + "/url", encoding: .utf8)
        let redirect = try await world.sandbox.approve(url)
        let account = try await Self.app(at: origin, in: world.vault).finishSignIn(redirectURL: redirect)
        #expect(account.status.isBound)
        let refused = account.record.grant.accessToken.reveal()
        await #expect(processExitsWith: .success) {
            [place = place as VaultPlace, origin = origin as String] in
            guard let account = try await Self.app(at: origin, in: place.open()).account() else { exit(3) }
            try await account.refresh()
            let response = try await account.send(.get, origin + "/api/whoami", limits: World.limits)
            guard response.head.status == .ok else { exit(4) }
        }
        try await account.refresh()
        #expect(account.record.grant.accessToken.reveal() != refused)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        var thumbprints: Set<String> = []
        var count = 0
        for request in world.sandbox.requests(.standard) {
            for proof in request.whole?.headers["dpop"] ?? [] {
                let header = try SentProof.object(try #require(proof.split(separator: ".").first))
                thumbprints.insert(try #require(header["jwk"]?.object?.thumbprint))
                count += 1
            }
        }
        #expect(count >= 5)
        #expect(thumbprints.count == 1)
        await world.sandbox.stop()
    }

    private static func app(at origin: String, in vault: any Vault) throws -> Handshake {
        let security = TransportSecurity.allowingInsecureLoopback
        let service = try Service(
            name: "standard",
            authorizationServer: .discovered(try Issuer(origin, security: security), security: security),
            defaultScopes: ["openid", "offline_access", "api"])
        var client = Client(
            service: service, id: "sandbox-dpop",
            redirect: .uri(try RedirectURI("http://127.0.0.1:1/callback")))
        client.options.dpop = .always
        return try Handshake(client, vault: vault, limits: World.limits)
    }
}
#endif
