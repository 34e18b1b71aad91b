import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Requests with a key", .heavy)
struct DPoPRequestTests {
    private static func signedIn() async throws -> (ScriptedProvider, Account) {
        let provider = ScriptedProvider()
        provider.bindTokens()
        return (provider, try await provider.boundApp().signIn(through: provider.browser))
    }

    /// Answers a path by a script.
    private static func script(_ provider: ScriptedProvider, _ path: String, _ answers: [ResponseMessage]) -> Script {
        let script = Script(answers)
        provider.answer(path) { _ in await script.next() }
        return script
    }

    private static func nonces(_ provider: ScriptedProvider, _ path: String) throws -> [String?] {
        try SentProof.all(provider.requests, to: path).map { $0["nonce"] }
    }

    @Test(
        "M409, G6: a nonce challenge of an API is answered once, wherever it stands and however its scheme is spelled",
        arguments: [
            #"DPoP error="use_dpop_nonce""#, #"Bearer, dpop error="use_dpop_nonce""#,
            #"Basic realm="a", DPOP algs="ES256", error="use_dpop_nonce""#,
        ])
    func challenge(_ text: String) async throws {
        let (provider, account) = try await Self.signedIn()
        let script = Self.script(provider, "/me", [Script.challenge("n-1", text), .json(200, [:])])
        #expect(try await account.send(.get, "me").head.status == .ok)
        #expect(await script.count == 2)
        let proofs = try SentProof.all(provider.requests, to: "/me")
        #expect(proofs.map { $0["nonce"] } == [nil, "n-1"])
        #expect(proofs[0]["jti"] != proofs[1]["jti"])
        #expect(provider.count("/token") == 1, "no refresh")
    }

    @Test(
        "M406: a second challenge of an API, and one without a new nonce, is its error, and no refresh follows",
        arguments: [
            ([Script.challenge("a"), Script.challenge("b")], 2), ([Script.challenge(nil)], 1),
            ([Script.challenge("a b")], 1),
        ])
    func finalChallenges(_ answers: [ResponseMessage], _ count: Int) async throws {
        let (provider, account) = try await Self.signedIn()
        let script = Self.script(provider, "/me", answers)
        let error = await handshakeError { try await account.send(.get, "me") }
        #expect(error?.code == "use_dpop_nonce")
        #expect(await script.count == count)
        #expect(provider.count("/token") == 1)
        guard count == 2 else { return }
        provider.answer("/me") { _ in .json(200, [:]) }
        _ = try await account.send(.get, "me")
        #expect(try Self.nonces(provider, "/me").last == "b", "its nonce was remembered")
    }

    @Test("M407, G3: the nonce of a success, of a failure and of the answer to a retry is in the next proof")
    func newest() async throws {
        let (provider, account) = try await Self.signedIn()
        _ = Self.script(
            provider, "/me",
            [
                .json(200, [:], [.dpopNonce: "success"]), .json(500, [:], [.dpopNonce: "failure"]),
                Script.challenge("challenge"), .json(200, [:], [.dpopNonce: "retry"]), .json(200, [:]),
            ])
        for _ in 0..<4 { _ = try await account.send(.get, "me") }
        #expect(try Self.nonces(provider, "/me") == [nil, "success", "failure", "challenge", "retry"])
    }

    @Test("M411: a nonce that is none is ignored, and the one before stays")
    func unusable() async throws {
        let (provider, account) = try await Self.signedIn()
        var two: HTTPFields = [.dpopNonce: "b"]
        two.append(HTTPField(name: .dpopNonce, value: "c"))
        _ = Self.script(
            provider, "/me",
            [
                .json(200, [:], [.dpopNonce: "a"]), .json(200, [:], two),
                .json(200, [:], [.dpopNonce: String(repeating: "n", count: 2_048)]),
                .json(200, [:], [.dpopNonce: "d e"]), .json(200, [:]),
            ])
        for _ in 0..<5 { _ = try await account.send(.get, "me") }
        #expect(try Self.nonces(provider, "/me") == [nil, "a", "a", "a", "a"])
    }

    @Test("M408: server and API on one origin have nonces of their own, and each serves as soon as it is known")
    func roles() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(
            try world.boundClient("sandbox-dpop-changing"), transport: transport)
        for _ in 0..<3 { #expect(try await account.send(.get, world.whoAmI).head.status == .ok) }
        try await account.refresh()
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        #expect(world.statuses("/api/whoami") == [401, 200, 200, 200, 200])
        #expect(world.statuses("/token") == [200], "the log was cleared after the sign-in")
        let server = try SentProof.all(transport.requests, to: "/token").compactMap { $0["nonce"] }
        let api = try SentProof.all(transport.requests, to: "/api/whoami").compactMap { $0["nonce"] }
        #expect(server.count == 2)
        #expect(api.count == 4)
        #expect(Set(server).isDisjoint(with: api))
        await world.sandbox.stop()
    }

    @Test("M407, G3: where every third answer of the sandbox changes the nonce, one challenge is the only one")
    func countedNonces() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(
            try world.boundClient("sandbox-dpop-counted"), transport: transport)
        for _ in 0..<7 { #expect(try await account.send(.get, world.whoAmI).head.status == .ok) }
        for _ in 0..<4 { try await account.refresh() }
        #expect(world.statuses("/api/whoami") == [401] + Array(repeating: 200, count: 7))
        #expect(world.statuses("/token") == Array(repeating: 200, count: 4))
        let api = try SentProof.all(transport.requests, to: "/api/whoami").compactMap { $0["nonce"] }
        #expect(api.count == 7 && Set(api).count == 3)
        #expect(Set(api.prefix(3)).count == 1 && Set(api.dropFirst(3).prefix(3)).count == 1, "\(api)")
        let server = try SentProof.all(transport.requests, to: "/token").compactMap { $0["nonce"] }
        #expect(Set(server).count == 2)
        await world.sandbox.stop()
    }

    @Test("M405, M409, G3: a nonce of the sandbox's that has expired costs one challenge each, and the next is cached")
    func expiringNonces() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(
            try world.boundClient("sandbox-dpop-expiring"), transport: transport)
        func use() async throws {
            #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
            try await account.refresh()
        }
        for pause in [0.0, 58, 3, 30] {
            world.time.advance(by: pause)
            world.sandbox.advanceClock(by: pause)
            try await use()
        }
        #expect(world.statuses("/api/whoami") == [401, 200, 200, 401, 200, 200])
        #expect(world.statuses("/token") == [200, 200, 400, 200, 200])
        let nonces = try SentProof.all(transport.requests, to: "/api/whoami").compactMap { $0["nonce"] }
        #expect(Set(nonces).count == 2)
        await world.sandbox.stop()
    }

    @Test("M410: a nonce challenge and a dead token in one request cost three sendings and one refresh")
    func both() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce"))
        world.sandbox.expireAccessTokens(.standard)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        #expect(world.statuses("/api/whoami") == [401, 401, 200])
        #expect(world.statuses("/token") == [200])
        await world.sandbox.stop()
        let dead = ResponseMessage.json(401, [:], [.wwwAuthenticate: #"DPoP error="invalid_token""#])
        for answers in [
            [Script.challenge("a"), dead, .json(200, [:])], [dead, Script.challenge("a"), .json(200, [:])],
        ] {
            let (provider, account) = try await Self.signedIn()
            let script = Self.script(provider, "/me", answers)
            #expect(try await account.send(.get, "me").head.status == .ok)
            #expect(await script.count == 3)
            #expect(provider.count("/token") == 2)
        }
        let (provider, other) = try await Self.signedIn()
        let script = Self.script(
            provider, "/me", [Script.challenge("a"), dead, Script.challenge("b"), .json(200, [:])])
        let error = await handshakeError { try await other.send(.get, "me") }
        #expect(error?.code == "use_dpop_nonce")
        #expect(await script.count == 3, "never a fourth sending")
        #expect(provider.count("/token") == 2)
    }

    @Test("F6: content that exists once is not sent again for a nonce, which serves the next request")
    func streamed() async throws {
        let (provider, account) = try await Self.signedIn()
        let script = Self.script(provider, "/me", [Script.challenge("n-1"), .json(200, [:])])
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.finish()
        let response = try await account.send(.post, "me", content: .stream(stream, length: 0))
        #expect(response.head.status == .unauthorized)
        #expect(await script.count == 1)
        #expect(try await account.send(.get, "me").head.status == .ok)
        #expect(try Self.nonces(provider, "/me") == [nil, "n-1"])
        #expect(provider.count("/token") == 1)
    }

    @Test("M415, F2: a redirect at the same origin has a proof of its own, and one to another origin neither field")
    func redirects() async throws {
        let (provider, account) = try await Self.signedIn()
        provider.answer("/old?a=b") { _ in
            ResponseMessage(head: HTTPResponse(status: .found, headerFields: [.location: "/new?c=d"]))
        }
        provider.answer("/new?c=d") { _ in
            ResponseMessage(
                head: HTTPResponse(status: .found, headerFields: [.location: "https://other.example/there"]))
        }
        provider.answer("/there") { _ in .json(401, [:]) }
        #expect(try await account.send(.get, "old?a=b").head.status == .unauthorized)
        let old = try #require(try SentProof.all(provider.requests, to: "/old?a=b").first)
        let new = try #require(try SentProof.all(provider.requests, to: "/new?c=d").first)
        #expect(old["htu"] == "https://op.example/old")
        #expect(new["htu"] == "https://op.example/new")
        #expect(old["jti"] != new["jti"])
        let there = try #require(provider.requests.last)
        #expect(there.head.authority == "other.example")
        #expect(there.head.headerFields[.authorization] == nil)
        #expect(there.head.headerFields[.dpop] == nil)
        #expect(provider.count("/token") == 1)
    }

    @Test("M406, G3: each request of a chain of redirects is sent again once for a nonce")
    func redirectedChallenges() async throws {
        let (provider, account) = try await Self.signedIn()
        let moved = ResponseMessage(head: HTTPResponse(status: .found, headerFields: [.location: "/new"]))
        let old = Self.script(provider, "/old", [Script.challenge("a"), moved])
        let new = Self.script(provider, "/new", [Script.challenge("b"), .json(200, [:])])
        #expect(try await account.send(.get, "old").head.status == .ok)
        #expect(await old.count == 2)
        #expect(await new.count == 2)
        let twice = Self.script(provider, "/new", [Script.challenge("c"), Script.challenge("d"), .json(200, [:])])
        #expect(await handshakeError { try await account.send(.get, "old") }?.code == "use_dpop_nonce")
        #expect(await twice.count == 2)
        #expect(provider.count("/token") == 1)
    }

    @Test("4.2: a token that is bound is handed out as header fields to no other program")
    func headers() async throws {
        let (_, account) = try await Self.signedIn()
        let error = await handshakeError { try await account.authorizationFields() }
        guard case .configuration("headers", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("DPoP") == true)
        #expect(error?.description.contains("access-1") == false)
    }

    @Test("7.1: an API that takes no bearer token is a typed demand, and no reason to refresh")
    func boundTokensOnly() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.answer("/me") { _ in .json(401, [:], [.wwwAuthenticate: #"DPoP algs="ES256""#]) }
        let error = await handshakeError { try await account.send(.get, "me") }
        #expect(error == .demanded(.boundToken, status: 401))
        #expect(error?.code == "dpop_required")
        #expect(provider.count("/token") == 1)
    }
}
