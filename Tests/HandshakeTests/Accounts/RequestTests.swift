import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Authorized requests", .heavy)
struct RequestTests {
    @Test("F1: the token goes into the Authorization field, and a field that the caller set is replaced")
    func authorizationField() async throws {
        let world = try await World()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(transport: transport)
        var request = RequestMessage(.get, try account.resolve("profiles/me"))
        request.head.headerFields[.authorization] = "Basic abc"
        _ = try await account.send(request)
        let sent = try #require(transport.requests.last)
        let token = try await account.accessToken().reveal()
        #expect(sent.head.headerFields[values: .authorization] == ["Bearer \(token)"])
        #expect(sent.head.path == "/api/v1/profiles/me")
        await world.sandbox.stop()
    }

    @Test(
        "F2: a foreign origin is refused before anything is sent",
        arguments: [
            "https://evil.example/api", "http://127.0.0.1:1/api", "https://www.recurse.com.evil.example/",
        ])
    func foreignOrigin(_ address: String) async throws {
        let world = try await World()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(transport: transport)
        let count = transport.requests.count
        #expect(await handshakeError { try await account.send(.get, address) }?.code == "foreign_origin")
        #expect(transport.requests.count == count)
        await world.sandbox.stop()
    }

    @Test(
        "F2: an address that would take the token in the clear or hide its host is refused before anything is sent",
        arguments: [
            ("http://op.example/", "insecure_transport"), ("https://user@op.example/", "invalid_configuration"),
            ("https://op.example@evil.example/", "invalid_configuration"),
            ("https://op.example\\@evil.example/", "invalid_configuration"),
            ("https://op.example:444/", "foreign_origin"), ("https://op.example.evil.example/", "foreign_origin"),
            ("ftp://op.example/", "invalid_configuration"),
            ("https://op.example/ HTTP/1.1\r\nX: y", "invalid_configuration"),
        ])
    func hostileAddress(_ address: String, _ code: String) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(
            try await account.send(.get, "https://op.example/").head.status == .notFound, "the origin is the service's")
        let count = provider.count("/")
        #expect(await handshakeError { try await account.send(.get, address) }?.code == code)
        #expect(provider.count("/") == count)
    }

    @Test(
        "F2: a redirect to another origin is followed without the token and without any field that may be a credential")
    func crossOriginRedirect() async throws {
        let world = try await World()
        let other = try await Sandbox.start()
        let transport = TappedTransport()
        let (_, account) = try await world.signedIn(transport: transport)
        try world.inject("GET /api/v1/profiles/me => redirect \(other.standard.origin)/api/whoami 302 x1")
        let secrets: HTTPFields = [
            .cookie: "session=canary", .proxyAuthorization: "Basic canary", .referer: "https://canary.example/",
            HTTPField.Name("X-Api-Key") ?? .cookie: "canary", HTTPField.Name("DPoP") ?? .cookie: "canary",
        ]
        let plain: HTTPFields = [.accept: "text/plain", .acceptLanguage: "de", .userAgent: "test/1"]
        let response = try await account.send(.get, "profiles/me", headers: HTTPFields(Array(secrets) + Array(plain)))
        #expect(response.head.status == .unauthorized)
        #expect(
            world.tokenRequests() == 0, "the refusal of a host that never received the token is no reason to refresh")
        let foreign = transport.requests.filter {
            $0.head.authority == other.standard.origin.replacing("http://", with: "")
        }
        #expect(foreign.map(\.head.headerFields) == [plain])
        await other.stop()
        await world.sandbox.stop()
    }

    @Test("F2: an address that another origin has chosen gets no token, also at the service itself")
    func thereAndBack() async throws {
        let world = try await World()
        let other = try await Sandbox.start()
        let (_, account) = try await world.signedIn()
        let origin = world.sandbox.recurseCenter.origin
        try world.inject("GET /api/v1/profiles/me => redirect \(other.standard.origin)/api/whoami 302 x1")
        other.inject(try FaultRule(parsing: "GET /api/whoami => redirect \(origin)/api/v1/profiles/759 302 x1"))
        #expect(try await account.send(.get, "profiles/me").head.status == .unauthorized)
        let last = try #require(world.sandbox.requests().last { $0.path == "/api/v1/profiles/759" })
        #expect(last.authorizationScheme == nil)
        await other.stop()
        await world.sandbox.stop()
    }

    @Test(
        "a redirect to what is no address of the web is the service's mistake", arguments: ["ftp://x/", "javascript:1"])
    func wrongLocation(_ location: String) async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        try world.inject("GET /api/v1/profiles/me => redirect \(location) 302 x1")
        let error = await handshakeError { try await account.send(.get, "profiles/me") }
        guard case .exchange(.malformed(.resource, "Location", _, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await world.sandbox.stop()
    }

    @Test("a caller that follows no redirects gets the redirect, and the second origin receives nothing")
    func stop() async throws {
        let world = try await World()
        let other = try await Sandbox.start()
        let (_, account) = try await world.signedIn()
        try world.inject("GET /api/v1/profiles/me => redirect \(other.standard.origin)/api/whoami 302 x1")
        let response = try await account.send(.get, "profiles/me", redirects: .stop)
        #expect(response.head.status.code == 302)
        #expect(other.requests().isEmpty)
        await other.stop()
        await world.sandbox.stop()
    }

    @Test("a redirect within the service keeps the token, and one that goes round in circles ends")
    func redirects() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        let origin = world.sandbox.recurseCenter.origin
        try world.inject("GET /api/v1/profiles/759 => redirect \(origin)/api/v1/profiles/me 302 x1")
        #expect(try await account.send(.get, "profiles/759").head.status == .ok)
        try world.inject("GET /api/v1/profiles/me => redirect \(origin)/api/v1/profiles/me 302")
        #expect(await handshakeError { try await account.send(.get, "profiles/me") }?.code == "too_many_redirects")
        await world.sandbox.stop()
    }

    @Test("a redirect of a request that changes something is the caller's to judge")
    func unsafeRedirect() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        try world.inject("POST /api/echo => redirect \(world.sandbox.standard.origin)/api/whoami 307 x1")
        let response = try await account.send(.post, world.sandbox.standard.origin + "/api/echo", content: .bytes([1]))
        #expect(response.head.status.code == 307)
        await world.sandbox.stop()
    }

    @Test(
        "F5: a service that says no with another status and its own words is understood",
        arguments: [
            UnauthorizedAnswer.status401, .legacy200,
        ])
    func disguises(_ answer: UnauthorizedAnswer) async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.sandbox.answerUnauthorized(with: answer)
        world.sandbox.expireAccessTokens(.recurseCenter)
        #expect(try await account.identity().subject == "759")
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("F5: a service that refuses even the new token is asked twice and no more")
    func stillUnauthorized() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        try world.inject("GET /api/v1/profiles/me => status 401 {\"message\":\"unauthorized\"}")
        #expect(
            await handshakeError { try await account.send(.get, "profiles/me") }
                == .signInRequired(account.id, .stillUnauthorized))
        #expect(world.sandbox.requests(.recurseCenter).count { $0.path == "/api/v1/profiles/me" } == 2)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("F5: a wider scope and a stronger sign-in are demands for the caller, not reasons to refresh")
    func demands() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn(try world.client(scopes: ["openid", "profile", "offline_access"]))
        let origin = world.sandbox.standard.origin
        #expect(
            await handshakeError { try await account.send(.get, origin + "/api/admin") }?.code == "insufficient_scope")
        #expect(
            await handshakeError { try await account.send(.get, origin + "/api/stepup") }?.code
                == "insufficient_user_authentication")
        #expect(world.tokenRequests() == 0)
        await world.sandbox.stop()
    }

    @Test("F6: bytes are sent again after a refresh, a stream is not")
    func replay() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        let address = world.sandbox.standard.origin + "/api/echo"
        world.sandbox.expireAccessTokens(.standard)
        #expect(try await account.send(.post, address, content: .bytes(Array("hello".utf8))).head.status == .ok)
        world.sandbox.expireAccessTokens(.standard)
        world.sandbox.clearRequests()
        func stream() -> RequestMessage.Content {
            .stream(
                AsyncStream {
                    $0.yield(Array("hello".utf8))
                    $0.finish()
                }, length: 5)
        }
        #expect(
            await handshakeError { try await account.send(.post, address, content: stream()) } == .contentNotReplayable)
        #expect(world.sandbox.requests(.standard).count { $0.path == "/api/echo" } == 1)
        #expect(try await account.send(.post, address, content: stream()).head.status == .ok, "the token is new by now")
        await world.sandbox.stop()
    }

    @Test("F3: tokens for different APIs are different accounts")
    func resources() async throws {
        let world = try await World()
        let plain = try world.client()
        let narrow = Client(
            service: plain.service, id: plain.id, resources: [try ResourceIndicator("https://api.example/")])
        #expect(AccountID(plain) != AccountID(narrow))
        let transport = TappedTransport()
        let (_, first) = try await world.signedIn(plain, transport: transport)
        let (_, second) = try await world.signedIn(narrow, transport: transport)
        #expect(try await !first.accessToken().matches(second.accessToken()))
        #expect(try await world.vault.keys(of: .account).keys.count == 2)
        let forms = transport.requests.compactMap { request -> String? in
            guard case .bytes(let bytes) = request.content else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        let resource = "resource=https%3A%2F%2Fapi.example%2F"
        #expect(forms.map { $0.split(separator: "&").contains(resource[...]) } == [false, true])
        await world.sandbox.stop()
    }

    private struct Profile: Decodable, Equatable {
        let id: Int
        let name: String
    }

    @Test("a successful answer is decoded")
    func decoded() async throws {
        let provider = ScriptedProvider()
        provider.change { $0.overrides["/me"] = { _ in .json(200, ["id": 759, "name": "Ada"]) } }
        let account = try await provider.app().signIn(through: provider.browser)
        let profile: Profile = try await account.send(.get, "me")
        #expect(profile == Profile(id: 759, name: "Ada"))
    }

    @Test("an error status comes with the service's error body, which is not printed")
    func rejected() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/me"] = { _ in
                .json(
                    422, ["id": 1, "name": "canary", "error": "invalid_name", "message": "use letters"],
                    [.retryAfter: "7"])
            }
        }
        let error = await handshakeError { try await account.send(.get, "me", as: Profile.self) }
        guard case .rejected(let response) = try #require(error) else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(response.status == 422)
        #expect(response.retryAfter == 7)
        #expect(try response.decoded(as: Profile.self) == Profile(id: 1, name: "canary"))
        #expect(error?.code == "invalid_name")
        #expect(error?.description.contains("use letters") == true)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!(dumped + "\(response)" + String(reflecting: response)).contains("canary"))
    }

    @Test(
        "a value of another form is a typed error that names the member",
        arguments: [
            (#"{"name":"Ada"}"#, "id"), (#"{"id":"759","name":"Ada"}"#, "id"), (#"{"id":null,"name":"Ada"}"#, "id"),
            ("<html>", "content"), ("", "content"),
        ])
    func malformed(_ content: String, _ member: String) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/me"] = { _ in
                ResponseMessage(head: HTTPResponse(status: .ok), content: Array(content.utf8))
            }
        }
        let error = await handshakeError { try await account.send(.get, "me", as: Profile.self) }
        guard case .exchange(.malformed(.resource, member, _, _)) = try #require(error) else {
            Issue.record("found \(String(describing: error))")
            return
        }
    }

    private static let costlyNames: [[UInt8]] = [
        Array(("{\"" + String(repeating: "\u{301}\u{323}", count: 16) + "\":1,\"id\":1,\"name\":\"Ada\"}").utf8),
        Array((#"{"id":1,"name":"Ada","x":{"a"# + String(repeating: #"\u0301"#, count: 31) + #"" : 1}}"#).utf8),
        Array((#"{"id":1,"name":"Ada","x":{"a"# + String(repeating: #"\uD834\uDD65"#, count: 31) + #"": 1}}"#).utf8),
        #"{"id":1,"name":"Ada"}"#.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), 0] },
    ]

    @Test(
        "names that cost a decoder quadratic time, and other encodings than UTF-8, do not reach it",
        arguments: costlyNames)
    func boundedNames(_ content: [UInt8]) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        for status in [200, 400] {
            provider.change { state in
                state.overrides["/me"] = { _ in
                    ResponseMessage(head: HTTPResponse(status: .init(code: status)), content: content)
                }
            }
            let error = await handshakeError { try await account.send(.get, "me", as: Profile.self) }
            switch try #require(error) {
            case .exchange(.malformed(.resource, "content", _, _)): #expect(status == 200)
            case .rejected(let response):
                #expect(status == 400)
                #expect(throws: DecodingError.self) { try response.decoded(as: Profile.self) }
            case let other: Issue.record("found \(other)")
            }
        }
    }

    @Test(
        "names of people and marks in texts are decoded as they are",
        arguments: [
            #"{"id":1,"name":"Zoë"}"#, #"{"id":1,"name":"Zoe\u0308"}"#, #"{"id":1,"name":"Ada","naïve 😀😀":1}"#,
            #"{"id":1,"name":"Ada","# + "\"" + String(repeating: #"\uD83D\uDE00"#, count: 40) + "\":1}",
            "{\"id\":1,\"name\":\"Ada\",\"text\":\"" + String(repeating: "\u{301}", count: 40) + "\"}",
            #"{"id":1,"name":"\"}: \\ "}"#,
        ])
    func ordinaryNames(_ content: String) throws {
        let profile = try JSONDecoder().decode(Profile.self, fromUntrusted: Array(content.utf8))
        #expect(profile.id == 1)
    }

    @Test("F2: a redirect does not lead from the internet to this machine or its network")
    func inward() async throws {
        for target in [
            "https://127.0.0.1/x", "https://localhost/x", "https://10.0.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/", "https://0x7f.1/", "https://[::ffff:10.0.0.1]/",
        ] {
            let provider = ScriptedProvider()
            provider.change { $0.overrides["/me"] = { _ in .json(302, [:], [.location: target]) } }
            let account = try await provider.app().signIn(through: provider.browser)
            let before = provider.count
            let error = await handshakeError { try await account.send(.get, "me") }
            guard case .exchange(.malformed(.resource, "Location", _, _))? = error else {
                Issue.record("\(target): \(String(describing: error))")
                continue
            }
            #expect(before("/x") + before("/") + before("/latest/meta-data") == 0)
        }
    }

    @Test("an answer with an error status is an answer")
    func errorStatus() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        #expect(try await account.send(.get, "profiles/999999").head.status == .notFound)
        #expect(world.tokenRequests() == 0, "a 404 is no reason to refresh")
        await world.sandbox.stop()
    }
}
