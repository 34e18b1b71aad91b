import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Sign-in with a key", .heavy)
struct DPoPSignInTests {
    private static func other() throws -> SigningKey {
        try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "k1")
    }

    @Test("E8, F4: one key proves sign-in, requests, user info, refresh and revocation, and no token is a bearer token")
    func life() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(try world.boundClient(), transport: transport)
        #expect(account.status.isBound)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        #expect(try await account.identity().subject == account.status.identity?.subject)
        try await account.refresh()
        #expect(account.status.isBound)
        #expect(try await account.send(.post, world.sandbox.standard.origin + "/api/echo?a=b").head.status == .ok)
        #expect(try await account.signOut().revoked == [.refreshToken, .accessToken])
        var thumbprints: Set<String> = []
        var identifiers: [String] = []
        for path in ["/par", "/token", "/api/whoami", "/userinfo", "/api/echo?a=b", "/revoke"] {
            for proof in try SentProof.all(transport.requests, to: path) {
                thumbprints.insert(proof.thumbprint)
                identifiers.append(proof["jti"] ?? "")
                #expect(
                    (proof["ath"] != nil) == ["/api/whoami", "/userinfo", "/api/echo?a=b"].contains(path), "\(path)")
                #expect(proof["htu"] == world.sandbox.standard.origin + path.prefix { $0 != "?" })
            }
        }
        #expect(thumbprints.count == 1)
        #expect(identifiers.count == 8)
        #expect(Set(identifiers).count == 8)
        for request in transport.requests {
            guard let field = request.head.headerFields[.authorization] else { continue }
            #expect(field.hasPrefix("DPoP "))
        }
        await world.sandbox.stop()
    }

    @Test("M414, G4: a pushed request has a proof and no dpop_jkt, and an unpushed one dpop_jkt")
    func codeBinding() async throws {
        for isPushed in [true, false] {
            let world = try await World(.standard)
            world.holdClocks()
            var client = try world.boundClient()
            client.options.pushedRequests = isPushed ? .always : .never
            let transport = TappedTransport()
            let (_, account) = try await world.signedIn(client, transport: transport)
            #expect(account.status.isBound)
            let pushes = transport.requests.filter { $0.head.path == "/par" }
            #expect(pushes.count == (isPushed ? 1 : 0))
            #expect(try pushes.allSatisfy { try SentProof($0) != nil })
            #expect(
                pushes.allSatisfy { push in
                    guard case .bytes(let bytes) = push.content else { return false }
                    return !String(decoding: bytes, as: UTF8.self).contains("dpop_jkt")
                })
            await world.sandbox.stop()
        }
        let provider = ScriptedProvider()
        let attempt = try await provider.boundApp().beginSignIn()
        let key = try #require(attempt.key)
        #expect(attempt.page.url.contains("dpop_jkt=\(key.thumbprint)"))
        provider.announce(["pushed_authorization_request_endpoint": ScriptedProvider.issuer + "/par"])
        provider.answer("/par") { _ in .json(201, ["request_uri": "urn:x", "expires_in": 60]) }
        let pushed = try await provider.boundApp().beginSignIn()
        #expect(!pushed.page.url.contains("dpop_jkt"))
        #expect(provider.forms("/par").allSatisfy { $0["dpop_jkt"] == nil })
        #expect(try SentProof.all(provider.requests, to: "/par").first?.thumbprint == pushed.key?.thumbprint)
    }

    @Test("4.4: every attempt has a key of its own")
    func keys() async throws {
        let provider = ScriptedProvider()
        let app = try provider.boundApp()
        let (one, two) = (try await app.beginSignIn(), try await app.beginSignIn())
        #expect(one.key != nil)
        #expect(one.key?.thumbprint != two.key?.thumbprint)
    }

    @Test("M412, G2: a bearer token where a bound one was asked for stops the sign-in, and nothing is stored")
    func bearerAnswer() async throws {
        let provider = ScriptedProvider()
        let app = try provider.boundApp()
        let error = await handshakeError { try await app.signIn(through: provider.browser) }
        guard case .exchange(.malformed(.token, "token_type", "DPoP", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await app.account() == nil)
    }

    @Test("M412: where only the refresh token may be bound, a bearer token is accepted, and refreshes are proven")
    func refreshOnly() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.boundApp(.refreshOnly).signIn(through: provider.browser)
        #expect(!account.status.isBound)
        provider.answer("/me") { _ in .json(200, [:]) }
        _ = try await account.send(.get, "me")
        let request = try #require(provider.requests.last)
        #expect(request.head.headerFields[.authorization] == "Bearer access-1")
        #expect(request.head.headerFields[.dpop] == nil)
        provider.bindTokens()
        try await account.refresh()
        #expect(account.status.isBound, "the server may bind the next one")
        let proofs = try SentProof.all(provider.requests, to: "/token")
        #expect(proofs.count == 2)
        #expect(Set(proofs.map(\.thumbprint)).count == 1)
    }

    @Test("4.2: a service whose APIs take only bound tokens gets them unasked, and a client that forbids it is told so")
    func required() async throws {
        let provider = ScriptedProvider()
        provider.bindTokens()
        let known = try provider.client()
        var deviations = known.service.deviations
        deviations.requiresDPoP = true
        deviations.authorization = .scheme("token")
        let service = try Service(
            name: "op", authorizationServer: known.service.authorizationServer, apiRoot: known.service.apiRoot,
            defaultScopes: known.service.defaultScopes, deviations: deviations)
        var client = Client(service: service, id: "app", redirect: known.redirect)
        func app() throws -> Handshake {
            try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
        }
        let account = try await app().signIn(through: provider.browser)
        #expect(account.status.isBound)
        provider.answer("/me") { _ in .json(200, [:]) }
        _ = try await account.send(.get, "me")
        #expect(provider.requests.last?.head.headerFields[.authorization] == "DPoP access-1")
        client.options.dpop = .never
        let error = await handshakeError { try await app().beginSignIn() }
        guard case .configuration("dpop", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a server that takes no pushed request without a proof gets one unasked, and an unbound client stays unbound")
    func demandedByPush() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce", .automatic))
        #expect(account.status.isBound)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        let (_, plain) = try await world.signedIn()
        #expect(!plain.status.isBound, "a server that can bind tokens is no server that demands it")
        let app = try world.app(try world.boundClient("sandbox-dpop-nonce", .never))
        let error = await handshakeError { try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox)) }
        #expect(error?.code == "invalid_dpop_proof")
        await world.sandbox.stop()
    }

    @Test("a server that takes no known algorithm is a configuration error before any request of the sign-in")
    func noAlgorithm() async throws {
        let provider = ScriptedProvider()
        provider.announce(["dpop_signing_alg_values_supported": ["ES256K"]])
        let error = await handshakeError { try await provider.boundApp().beginSignIn() }
        guard case .exchange(.configuration("dpop", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("4.2: the device grant proves its request and every poll")
    func device() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let clock = ManualClock()
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        let transport = TappedTransport()
        let app = try world.app(try world.boundClient("sandbox-dpop-changing"), transport: transport, clock: clock)
        let account = try await app.signInOnAnotherDevice { code in
            try world.sandbox.approveDevice(code.userCode)
        }
        passing.cancel()
        #expect(account.status.isBound)
        #expect(try SentProof.all(transport.requests, to: "/device_authorization").count == 2)
        #expect(try SentProof.all(transport.requests, to: "/token").count == 1)
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("4.2: a client's own token is bound, and its next one to the same key")
    func clientCredentials() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let known = try world.boundClient("sandbox-dpop-secret")
        var client = Client.confidential(
            service: known.service, id: known.id, secret: try #require(known.credential?.secret), scopes: ["api"])
        client.options.dpop = .always
        let transport = TappedTransport()
        let account = try await world.app(client, transport: transport).signInAsClient()
        #expect(account.status.isBound)
        try await account.refresh()
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        let proofs = try SentProof.all(transport.requests, to: "/token")
        #expect(Set(proofs.map(\.thumbprint)).count == 1)
        await world.sandbox.stop()
    }

    @Test("M405: a nonce challenge at the token endpoint is answered once, with new jti, nonce and assertion")
    func tokenChallenge() async throws {
        for status in [400, 401] {
            let provider = ScriptedProvider()
            let known = try provider.client()
            var client = Client.confidential(
                service: known.service, id: "app", key: try Self.other(), redirect: known.redirect)
            client.options.dpop = .always
            let script = Script([Script.demand("nonce-1", status: status), .json(200, [:])])
            provider.answer("/token") { request in
                let answer = await script.next()
                return answer.head.status.code == 200 ? try provider.boundTokens(request) : answer
            }
            let app = try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
            let account = try await app.signIn(through: provider.browser)
            #expect(account.status.isBound)
            let proofs = try SentProof.all(provider.requests, to: "/token")
            #expect(proofs.map { $0["nonce"] } == [nil, "nonce-1"])
            #expect(proofs[0]["jti"] != proofs[1]["jti"])
            let assertions = provider.forms("/token").compactMap { $0["client_assertion"] }
            #expect(assertions.count == 2)
            #expect(assertions[0] != assertions[1])
        }
    }

    @Test(
        "M406: a second challenge, and one without a new nonce, is the server's error",
        arguments: [
            ([Script.demand("a"), Script.demand("b")], 2), ([Script.demand(nil)], 1),
            ([Script.demand("a b")], 1),
        ])
    func finalChallenges(_ answers: [ResponseMessage], _ count: Int) async throws {
        let provider = ScriptedProvider()
        let script = Script(answers)
        provider.answer("/token") { _ in await script.next() }
        let error = await handshakeError { try await provider.boundApp().signIn(through: provider.browser) }
        #expect(error?.code == "use_dpop_nonce")
        #expect(await script.count == count)
    }

    @Test("M406: a challenge with the nonce just sent is the server's error immediately")
    func sameNonce() async throws {
        let provider = ScriptedProvider()
        provider.bindTokens()
        let account = try await provider.boundApp().signIn(through: provider.browser)
        let known = Script([Script.demand("a"), .json(200, [:])])
        provider.answer("/token") { request in
            let answer = await known.next()
            return answer.head.status.code == 200 ? try provider.boundTokens(request) : answer
        }
        try await account.refresh()
        let same = Script([Script.demand("a")])
        provider.answer("/token") { _ in await same.next() }
        let error = await handshakeError { try await account.refresh() }
        #expect(error?.code == "use_dpop_nonce")
        #expect(await same.count == 1)
        provider.bindTokens()
        try await account.refresh()
    }

    @Test("M416: a clock that is 40 s ahead is corrected by what servers say, and by no more than ten minutes")
    func clock() async throws {
        let world = try await World(.standard)
        world.time.advance(by: 40)
        let (_, account) = try await world.signedIn(try world.boundClient("sandbox-dpop-nonce"))
        #expect(try await account.send(.get, world.whoAmI).head.status == .ok)
        await world.sandbox.stop()
        let memory = ProofMemory()
        let origin = try EndpointURL("https://a.example").origin
        func note(_ date: String, sent: Double, received: Double) {
            memory.noteTime(
                in: HTTPResponse(status: .ok, headerFields: [.date: date]), of: origin, sent: sent, received: received)
        }
        // 784111777 is Sun, 06 Nov 1994 08:49:37 GMT.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        note(date, sent: 784_111_817, received: 784_111_817.5)
        #expect(memory.time(at: origin, now: 784_111_820) == 784_111_779.5, "40 s ahead, and never later than there")
        note(date, sent: 784_111_776, received: 784_111_777.5)
        #expect(memory.time(at: origin, now: 784_111_820) == 784_111_820, "the clocks agree")
        note(date, sent: 784_111_737, received: 784_111_737.5)
        #expect(memory.time(at: origin, now: 784_111_740) == 784_111_779.5, "40 s behind")
        note(date, sent: 784_111_000, received: 784_111_001)
        #expect(memory.time(at: origin, now: 0) == 39.5, "too far off to be believed")
        note(date, sent: 784_111_820, received: 784_111_826)
        #expect(memory.time(at: origin, now: 0) == 39.5, "an answer that took too long")
        note("yesterday", sent: 784_111_817, received: 784_111_817.5)
        #expect(memory.time(at: origin, now: 0) == 39.5)
    }

    @Test("M416: what a cache has kept says nothing of the server's clock", arguments: ["0", "30", "none"])
    func cachedClock(_ age: String) throws {
        let memory = ProofMemory()
        let origin = try EndpointURL("https://a.example").origin
        memory.noteTime(
            in: HTTPResponse(
                status: .ok, headerFields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .age: age]),
            of: origin, sent: 784_111_817, received: 784_111_817.5)
        #expect(memory.time(at: origin, now: 784_111_820) == 784_111_820)
    }

    @Test("G3: a nonce is its giver's and its key's: no other origin, port or key gets it")
    func nonceOfOne() throws {
        let memory = ProofMemory()
        let (key, other) = (try DPoPKey(), try DPoPKey())
        func origin(_ address: String) throws -> Origin { try EndpointURL(address).origin }
        func nonce(_ key: DPoPKey, _ address: String) throws -> String? {
            memory.nonce(for: key, at: try origin(address), as: .resource)?.string
        }
        for (key, address, text) in [
            (key, "https://a.example", "a"), (key, "https://b.example", "b"), (other, "https://a.example", "c"),
        ] {
            let nonce = try #require(DPoPNonce(in: [.dpopNonce: text]))
            memory.note(nonce, for: key, at: try origin(address), as: .resource)
        }
        #expect(try nonce(key, "https://a.example") == "a" && nonce(key, "https://b.example") == "b")
        #expect(try nonce(other, "https://a.example") == "c" && nonce(other, "https://b.example") == nil)
        #expect(try nonce(key, "https://a.example:8443") == nil && nonce(key, "https://c.a.example") == nil)
    }

    @Test("9: nonces are bounded, for each key and in all")
    func bounded() throws {
        let memory = ProofMemory()
        let nonce = try #require(DPoPNonce(in: [.dpopNonce: "n"]))
        let key = try DPoPKey()
        for number in 0...ProofMemory.maximumNonces {
            let origin = try EndpointURL("https://h\(number).example").origin
            memory.note(nonce, for: key, at: origin, as: .resource)
        }
        let known = try (0...ProofMemory.maximumNonces).count { number in
            memory.nonce(for: key, at: try EndpointURL("https://h\(number).example").origin, as: .resource) != nil
        }
        #expect((1...ProofMemory.maximumNonces).contains(known))
        let last = try EndpointURL("https://h\(ProofMemory.maximumNonces).example").origin
        #expect(memory.nonce(for: key, at: last, as: .resource) == nonce)
        #expect(memory.nonce(for: key, at: last, as: .authorizationServer) == nil)
        #expect(memory.nonce(for: try DPoPKey(), at: last, as: .resource) == nil)
    }

    @Test("9: the keys whose nonces are known, and the origins whose clocks are, are bounded")
    func boundedInAll() throws {
        let memory = ProofMemory()
        let nonce = try #require(DPoPNonce(in: [.dpopNonce: "n"]))
        let origin = try EndpointURL("https://a.example").origin
        let first = try DPoPKey()
        memory.note(nonce, for: first, at: origin, as: .resource)
        for _ in 1..<ProofMemory.maximumCount {
            memory.note(nonce, for: try DPoPKey(), at: origin, as: .resource)
        }
        #expect(memory.nonce(for: first, at: origin, as: .resource) == nonce)
        let last = try DPoPKey()
        memory.note(nonce, for: last, at: origin, as: .resource)
        #expect(memory.nonce(for: first, at: origin, as: .resource) == nil)
        #expect(memory.nonce(for: last, at: origin, as: .resource) == nonce)
        // 784111777 is Sun, 06 Nov 1994 08:49:37 GMT: each clock is 40 s behind.
        let head = HTTPResponse(status: .ok, headerFields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        func offset(_ number: Int) throws -> Double {
            memory.time(at: try EndpointURL("https://h\(number).example").origin, now: 0)
        }
        for number in 0...ProofMemory.maximumCount {
            if number == ProofMemory.maximumCount { #expect(try offset(0) == -40) }
            memory.noteTime(
                in: head, of: try EndpointURL("https://h\(number).example").origin, sent: 784_111_817,
                received: 784_111_817)
        }
        #expect(try offset(0) == 0)
        #expect(try offset(ProofMemory.maximumCount) == -40)
    }
}
