import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("Sign-in on the user's own device", .heavy)
struct BackchannelSignInTests {
    /// A provider whose polls are answered by a script, at times of a manual clock.
    private final class Provider: Sendable {
        typealias Answer = @Sendable (Provider) async throws -> ResponseMessage

        let provider = ScriptedProvider()
        let clock = ManualClock()
        let lines = LogLines()
        let polls = Mutex<[Double]>([])
        let requests = Mutex<[[String: String]]>([])
        private let answers: Mutex<[Answer]>

        init(_ answers: [Answer], interval: Int = 5) throws {
            self.answers = Mutex(answers)
            // Only the manual clock moves.
            _ = provider.time.hold()
            let metadata = try JSONSerialization.data(withJSONObject: [
                "issuer": ScriptedProvider.issuer, "token_endpoint": ScriptedProvider.issuer + "/token",
                "jwks_uri": ScriptedProvider.issuer + "/jwks",
                "backchannel_authentication_endpoint": ScriptedProvider.issuer + "/bc",
            ])
            provider.change { state in
                state.overrides["/.well-known/openid-configuration"] = { _ in .bytes(200, [UInt8](metadata)) }
                state.overrides["/bc"] = { _ in
                    .json(200, ["auth_req_id": "the-request", "expires_in": 120, "interval": interval])
                }
                state.overrides["/token"] = { request in try await self.poll(request) }
            }
        }

        static func error(_ code: String, _ status: Int = 400) -> Answer {
            { _ in .json(status, ["error": code]) }
        }

        private func poll(_ request: RequestMessage) async throws -> ResponseMessage {
            polls.withLock { $0.append(clock.now.offset / .seconds(1)) }
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try await answer?(self) ?? provider.answer("/token", request)
        }

        func app(_ parameters: [String: String] = [:], isDemanded: Bool = true) throws -> Handshake {
            let client = try provider.client()
            var confidential = Client.confidential(
                service: client.service, id: client.id, secret: Secret("client-secret-of-the-test"),
                parameters: parameters)
            confidential.options.requiresAuthenticationContext = isDemanded && !parameters.isEmpty
            return try Handshake(
                confidential, vault: MemoryVault(), transport: provider,
                time: TimeSource(
                    now: { self.provider.time.source.now() + self.clock.now.offset / .seconds(1) }, clock: clock),
                log: lines.logger)
        }

        func signIn(
            _ notifications: BackchannelNotifications? = nil, asking parameters: [String: String] = [:],
            isDemanded: Bool = true
        ) async -> HandshakeError? {
            let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
            defer { passing.cancel() }
            return await handshakeError {
                try await app(parameters, isDemanded: isDemanded).signInOnOwnDevice(
                    of: .login("alice"), bindingMessage: "W4SCT", notifications: notifications)
            }
        }
    }

    @Test("J5: polls come in the interval of the server, and slow_down lengthens it")
    func polls() async throws {
        let provider = try Provider([Provider.error("authorization_pending"), Provider.error("slow_down")])
        #expect(await provider.signIn() == nil)
        #expect(provider.polls.withLock { $0 }.map { $0.rounded() } == [5, 10, 20])
    }

    @Test(
        "M701: after a poll that was held longer than the interval the next one is sent immediately, and never two are open"
    )
    func held() async throws {
        let provider = try Provider([
            { provider in
                try await provider.clock.sleep(for: .seconds(12))
                return .json(400, ["error": "authorization_pending"])
            }, Provider.error("authorization_pending"),
        ])
        #expect(await provider.signIn() == nil)
        #expect(provider.polls.withLock { $0 }.map { $0.rounded() } == [5, 17, 22])
    }

    @Test("J5: a clock that is set back while a poll is open does not put off the next one")
    func setBack() async throws {
        let provider = try Provider([
            { provider in
                provider.provider.time.advance(by: -60)
                return .json(400, ["error": "authorization_pending"])
            }
        ])
        #expect(await provider.signIn() == nil)
        #expect(provider.polls.withLock { $0 }.map { $0.rounded() } == [5, 10])
    }

    @Test(
        "J5: what ends the request ends the polling",
        arguments: [
            ("access_denied", 403, HandshakeError.signInAbandoned(.denied)),
            ("expired_token", 400, .signInAbandoned(.timedOut)), ("invalid_request", 400, nil),
            ("invalid_grant", 400, nil),
        ])
    func ends(code: String, status: Int, expected: HandshakeError?) async throws {
        let provider = try Provider([Provider.error(code, status)])
        let error = await provider.signIn()
        if let expected { #expect(error == expected) } else { #expect(error?.code == code) }
        #expect(provider.polls.withLock { $0 }.count == 1)
    }

    @Test(
        "M702, J5: a notification brings one poll early; a wrong token and an unknown request are refused; a second is taken"
    )
    func ping() async throws {
        let notifications = BackchannelNotifications()
        let (checks, checked) = AsyncStream<Void>.makeStream()
        // The poll is answered when all notices were tried.
        let provider = try Provider([
            { provider in
                for await _ in checks {}
                return try provider.provider.answer(
                    "/token", RequestMessage(.post, EndpointURL("https://op.example/token")))
            }
        ])
        provider.provider.change { state in
            state.overrides["/bc"] = { request in
                guard case .bytes(let bytes) = request.content else { return .json(400, [:]) }
                var form = URLComponents()
                form.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
                let token = form.queryItems?.first { $0.name == "client_notification_token" }?.value ?? ""
                Task {
                    // Until the sign-in waits, no notice is for anyone.
                    while !notifications.receive(notice: "Bearer \(token)") { await Task.yield() }
                    #expect(notifications.receive(notice: "Bearer \(token)"))
                    #expect(!notifications.receive(notice: "Bearer \(token)x"))
                    #expect(!notifications.receive(notice: "Bearer \(token)", "another"))
                    checked.finish()
                }
                return .json(200, ["auth_req_id": "the-request", "expires_in": 120, "interval": 60])
            }
        }
        // The clock stands still: only the notice ends the wait.
        _ = try await provider.app().signInOnOwnDevice(of: .login("alice"), notifications: notifications)
        #expect(provider.polls.withLock { $0 } == [0])
        #expect(!notifications.receive(notice: "Bearer x"), "nothing is waited for any more")
    }

    @Test("D8, J5: a context is asked for, and a user of another one is refused", arguments: ["gold", "silver"])
    func context(_ context: String) async throws {
        let provider = try Provider([])
        provider.provider.change { state in
            state.claims["acr"] = context
            state.overrides["/bc"] = { request in
                if case .bytes(let bytes) = request.content {
                    provider.requests.withLock { $0.append(["form": String(decoding: bytes, as: UTF8.self)]) }
                }
                return .json(200, ["auth_req_id": "the-request", "expires_in": 120, "interval": 5])
            }
        }
        let error = await provider.signIn(asking: ["acr_values": "gold"])
        #expect(error?.code == (context == "gold" ? nil : "authentication_insufficient"))
        let form = try #require(provider.requests.withLock { $0 }.first?["form"])
        #expect(form.split(separator: "&").contains("acr_values=gold"))
    }

    @Test(
        "D8, J5: a user in none of the contexts that are only wished for is told of in the log",
        arguments: ["gold", "silver"])
    func wishedContext(_ context: String) async throws {
        let provider = try Provider([])
        provider.provider.change { $0.claims["acr"] = context }
        #expect(await provider.signIn(asking: ["acr_values": "gold"], isDemanded: false) == nil)
        let notices = provider.lines.all.filter { $0.contains("in none of the contexts") }
        #expect(notices.count == (context == "silver" ? 1 : 0))
    }

    @Test("J5: an ID token about another user than the hint's is refused, and nothing is stored")
    func otherUser() async throws {
        let provider = try Provider([])
        let app = try provider.app()
        let payload = Base64URL.encode(#"{"sub":"bob"}"#.utf8)
        let passing = provider.clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        let error = await handshakeError {
            try await app.signInOnOwnDevice(of: .idToken(Secret("e30.\(payload).c2ln")))
        }
        passing.cancel()
        #expect(error?.code == "subject_mismatch")
        #expect(try await app.account() == nil)
    }

    @Test("a user approves on their own device in the sandbox, and the account is like any other")
    func approved() async throws {
        let world = try await World(.standard)
        let user = try #require(world.sandbox.standard.users.first)
        let account = try await Self.signIn(user.name, to: world) {
            try world.sandbox.approveBackchannel(as: user.name)
        }
        #expect(account.status.identity?.subject == user.subject && account.status.isRefreshable)
        try await account.refresh()
        await world.sandbox.stop()
    }

    @Test("J5: a client that signs its requests asks for a user in one signed text, and in no other way")
    func signed() async throws {
        let world = try await World(.standard)
        let user = try #require(world.sandbox.standard.users.first)
        var client = try world.keyedClient("sandbox-key", scopes: ["openid", "offline_access"])
        client.options.signedRequests = .always
        let account = try await Self.signIn(user.name, to: world, as: client) {
            try world.sandbox.approveBackchannel(as: user.name)
        }
        #expect(account.status.identity?.subject == user.subject)
        let asked = try #require(world.sandbox.requests(.standard).first { $0.path == "/backchannel_authentication" })
        #expect(
            Set(asked.formParameterNames) == ["request", "client_id", "client_assertion", "client_assertion_type"])
        await world.sandbox.stop()
    }

    @Test("J5: a user declines on their own device in the sandbox, which ends the sign-in, and nothing is stored")
    func declined() async throws {
        let world = try await World(.standard)
        let user = try #require(world.sandbox.standard.users.first)
        let error = await handshakeError {
            try await Self.signIn(user.name, to: world) { try world.sandbox.refuseBackchannel(as: user.name) }
        }
        #expect(error == .signInAbandoned(.denied))
        #expect(try await world.vault.keys(of: .account).keys.isEmpty)
        await world.sandbox.stop()
    }

    /// Signs a user in at the sandbox.
    ///
    /// - Parameter decide: the user's decision about all that they are asked; returns what that was.
    private static func signIn(
        _ user: String, to world: World, as client: Client? = nil,
        decide: @escaping @Sendable () throws -> [(id: String, token: String?)]
    ) async throws -> Account {
        let clock = ManualClock()
        let usual = try world.confidentialClient("sandbox-confidential", scopes: ["openid", "offline_access"])
        let handshake = try world.app(client ?? usual, clock: clock)
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        defer { passing.cancel() }
        let deciding = Task {
            while try !Task.isCancelled && decide().isEmpty { await Task.yield() }
            world.sandbox.advanceClock(by: 60)
        }
        defer { deciding.cancel() }
        let account = try await handshake.signInOnOwnDevice(of: .login(user), bindingMessage: "W4SCT")
        _ = try await deciding.value
        return account
    }
}

extension ResponseMessage {
    fileprivate static func bytes(_ status: Int, _ content: [UInt8]) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            content: content)
    }
}

extension BackchannelNotifications {
    /// Whether a notice of these words is taken.
    fileprivate func receive(notice authorization: String, _ id: String = "the-request") -> Bool {
        let content = Array(#"{"auth_req_id":"\#(id)"}"#.utf8)
        return BackchannelNotification(authorization: authorization, content: content).map(receive) ?? false
    }
}
