import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@Suite("Sign-in on another device", .heavy)
struct DeviceSignInTests {
    /// A provider with the device grant whose polls are answered by a script.
    private final class Device: Sendable {
        typealias Answer = @Sendable () async throws -> ResponseMessage

        let provider = ScriptedProvider()
        let clock = ManualClock()
        let vault = MemoryVault()
        let lines = LogLines()
        /// Seconds at which the polls came, by the manual clock.
        let polls = Mutex<[Double]>([])
        private let answers: Mutex<[Answer]>

        static var authorization: [String: Any] {
            [
                "device_code": "device-code-of-the-test", "user_code": "WDJB-MJHT",
                "verification_uri": ScriptedProvider.issuer + "/device",
                "verification_uri_complete": ScriptedProvider.issuer + "/device?user_code=WDJB-MJHT",
            ]
        }

        init(_ answers: [Answer], authorization: [String: Any] = [:]) throws {
            self.answers = Mutex(answers)
            let content = Self.authorization.merging(authorization) { $1 }
            let issued = try JSONSerialization.data(withJSONObject: content)
            let metadata = try JSONSerialization.data(withJSONObject: [
                "issuer": ScriptedProvider.issuer, "token_endpoint": ScriptedProvider.issuer + "/token",
                "jwks_uri": ScriptedProvider.issuer + "/jwks",
                "device_authorization_endpoint": ScriptedProvider.issuer + "/device_authorization",
            ])
            provider.change { state in
                state.overrides["/.well-known/openid-configuration"] = { _ in Self.message(200, [UInt8](metadata)) }
                state.overrides["/device_authorization"] = { _ in Self.message(200, [UInt8](issued)) }
                state.overrides["/token"] = { request in try await self.poll(request) }
            }
        }

        static func message(_ status: Int, _ content: [UInt8], _ fields: HTTPFields = [:]) -> ResponseMessage {
            var fields = fields
            fields[.contentType] = "application/json"
            return ResponseMessage(
                head: HTTPResponse(status: .init(code: status), headerFields: fields), content: content)
        }

        static func error(_ code: String, _ status: Int = 400) -> Answer {
            { message(status, Array(#"{"error":"\#(code)"}"#.utf8)) }
        }

        private func poll(_ request: RequestMessage) async throws -> ResponseMessage {
            polls.withLock { $0.append(clock.now.offset / .seconds(1)) }
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try await answer?() ?? provider.answer("/token", request)
        }

        func app(_ client: Client? = nil) throws -> Handshake {
            try Handshake(
                client ?? provider.client(), vault: vault, transport: provider,
                time: TimeSource(now: provider.time.source.now, clock: clock), log: lines.logger)
        }

        /// Signs in. Whenever both the deadline and a wait are awaited, a second passes.
        func signIn(
            _ client: Client? = nil, timeout: Duration = .seconds(900),
            show: @escaping @Sendable (DeviceCode) async throws -> Void = { _ in }
        ) async -> HandshakeError? {
            let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
            defer { passing.cancel() }
            return await handshakeError {
                try await app(client).signInOnAnotherDevice(timeout: timeout, show: show)
            }
        }
    }

    @Test("a user approves a device in the sandbox, and the account is like any other")
    func sandbox() async throws {
        let world = try await World(.standard)
        let clock = ManualClock()
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        let shown = Mutex<DeviceCode?>(nil)
        let handshake = try world.app(clock: clock)
        let account = try await handshake.signInOnAnotherDevice { code in
            shown.withLock { $0 = code }
            world.sandbox.advanceClock(by: 60)
            try world.sandbox.approveDevice(code.userCode)
        }
        passing.cancel()
        let code = try #require(shown.withLock { $0 })
        #expect(code.verificationURI.string == world.sandbox.standard.origin + "/device")
        #expect(code.minutes == 10)
        #expect(account.status.state == .signedIn)
        #expect(account.status.isRefreshable)
        #expect(account.status.identity?.subject == world.sandbox.standard.users.first?.subject)
        #expect(try await account.identity().subject == account.status.identity?.subject)
        let request = try #require(world.sandbox.requests(.standard).first { $0.path == "/device_authorization" })
        #expect(Set(request.formParameterNames) == ["client_id", "scope"])
        let poll = try #require(world.sandbox.requests(.standard).first { $0.path == "/token" })
        #expect(Set(poll.formParameterNames) == ["grant_type", "device_code", "client_id"])
        try await account.refresh()
        #expect(try await handshake.account() != nil)
        await world.sandbox.stop()
    }

    @Test("M101, J1: polls come at the times of the check sum, and the account is stored")
    func checkSum() async throws {
        let device = try Device([
            Device.error("authorization_pending"), Device.error("slow_down"), Device.error("authorization_pending"),
            { throw TransportError.timedOut(host: "op.example") },
            { Device.message(400, Array(#"{"error":"slow_down","interval":20}"#.utf8)) },
        ])
        #expect(await device.signIn() == nil)
        #expect(device.polls.withLock { $0 } == [5, 10, 20, 30, 50, 70])
        #expect(try await device.app().account()?.status.identity?.subject == "alice")
    }

    @Test(
        "D8: who authenticated on another device too long ago, too weakly or unnamed is refused and not stored",
        arguments: [
            (["max_age": "86400"], 500, nil as String?, nil as String?),
            (["max_age": "600"], 700, nil, "authentication_insufficient"), (["acr_values": "gold"], 0, "gold", nil),
            (["acr_values": "gold"], 0, "silver", "authentication_insufficient"),
            (["acr_values": "gold"], 0, nil, "authentication_insufficient"),
            (["acr_values": "gold"], 0, "no ID token", "authentication_insufficient"),
            (["max_age": "600"], 0, "no ID token", "authentication_insufficient"),
        ])
    func authentication(_ asked: [String: String], _ age: Int, _ context: String?, _ code: String?) async throws {
        let unnamed: Device.Answer = {
            Device.message(200, Array(#"{"access_token":"access-token","token_type":"Bearer"}"#.utf8))
        }
        let device = try Device(context == "no ID token" ? [unnamed] : [])
        let now = Int(device.provider.time.source.now())
        device.provider.change { state in
            state.claims["auth_time"] = now - age
            state.claims["acr"] = context
        }
        let known = try device.provider.client()
        var client = Client(service: known.service, id: known.id, redirect: known.redirect, parameters: asked)
        client.options.requiresAuthenticationContext = true
        #expect(await device.signIn(client)?.code == code)
        #expect(try await device.vault.keys(of: .account).keys.isEmpty == (code != nil))
    }

    @Test(
        "D8: where no ID token can be checked, a demanded age or context is refused before a code is asked for",
        arguments: [
            (["max_age": "600"], "authentication_insufficient"),
            (["acr_values": "gold"], "authentication_insufficient"), ([:], nil),
        ] as [([String: String], String?)])
    func ignoredIDToken(_ asked: [String: String], _ code: String?) async throws {
        let device = try Device([])
        let known = try device.provider.client()
        var deviations = Service.Deviations()
        deviations.token.ignoresIDToken = true
        let service = try Service(
            name: "op", authorizationServer: known.service.authorizationServer, deviations: deviations)
        var client = Client(service: service, id: known.id, redirect: known.redirect, parameters: asked)
        client.options.requiresAuthenticationContext = true
        #expect(await device.signIn(client)?.code == code)
        #expect(device.provider.count("/device_authorization") == (code == nil ? 1 : 0))
    }

    @Test(
        "D8, 6.5: a user of another device in none of the contexts that are only wished for is told of in the log",
        arguments: ["gold", "silver", "no ID token"])
    func wishedContext(_ context: String) async throws {
        let unnamed: Device.Answer = {
            Device.message(200, Array(#"{"access_token":"access-token","token_type":"Bearer"}"#.utf8))
        }
        let device = try Device(context == "no ID token" ? [unnamed] : [])
        device.provider.change { $0.claims["acr"] = context }
        let known = try device.provider.client()
        let client = Client(
            service: known.service, id: known.id, redirect: known.redirect, parameters: ["acr_values": "gold"])
        #expect(await device.signIn(client) == nil)
        let notices = device.lines.all.filter { $0.contains("in none of the contexts") }
        #expect(notices.count == (context == "silver" ? 1 : 0))
    }

    @Test(
        "M105, J2: refused and lost connections lengthen the wait until an answer comes",
        arguments: [
            TransportError.unreachable(host: "op.example", reason: "refused"), .timedOut(host: "op.example"),
            .cut(host: "op.example", reason: "reset"), .unknownHost(host: "op.example"),
        ])
    func unreachable(_ error: TransportError) async throws {
        let device = try Device(
            [{ throw error }, { throw error }, { throw error }, Device.error("authorization_pending")],
            authorization: ["expires_in": 900])
        #expect(await device.signIn() == nil)
        #expect(device.polls.withLock { $0 } == [5, 15, 35, 75, 80])
    }

    @Test("an insecure connection ends the sign-in")
    func insecure() async throws {
        let error = TransportError.insecure(host: "op.example", reason: "certificate")
        let device = try Device([{ throw error }])
        #expect(await device.signIn() == .network(error))
        #expect(device.polls.withLock { $0 } == [5])
    }

    @Test("J4: Retry-After is honored in its date form too")
    func retryAfter() async throws {
        let device = try Device([
            { Device.message(503, [], [.retryAfter: "42"]) },
            {
                Device.message(
                    400, Array(#"{"error":"authorization_pending"}"#.utf8),
                    [.retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"])
            },
        ])
        #expect(await device.signIn() == nil)
        #expect(device.polls.withLock { $0 } == [5, 47, 57])
    }

    @Test(
        "M106: a refusal, an expired code and an error end the polling",
        arguments: [
            ("access_denied", HandshakeError.signInAbandoned(.denied)),
            ("authorization_declined", .signInAbandoned(.denied)), ("expired_token", .signInAbandoned(.timedOut)),
        ])
    func ends(_ code: String, _ expected: HandshakeError) async throws {
        let device = try Device([Device.error("authorization_pending"), Device.error(code)])
        #expect(await device.signIn() == expected)
        #expect(device.polls.withLock { $0.count } == 2)
        #expect(try await device.app().account() == nil)
    }

    @Test("M106: any other error is the service's")
    func serverError() async throws {
        let device = try Device([Device.error("invalid_grant")])
        #expect(await device.signIn()?.code == "invalid_grant")
        #expect(device.polls.withLock { $0.count } == 1)
    }

    @Test("M107, J4: after the code's lifetime, or the caller's timeout, no request is sent")
    func deadline() async throws {
        let pending = Array(repeating: Device.error("authorization_pending"), count: 50)
        let short = try Device(pending, authorization: ["expires_in": 12])
        #expect(await short.signIn() == .signInAbandoned(.timedOut))
        #expect(short.polls.withLock { $0 } == [5, 10])
        let impatient = try Device(pending, authorization: ["expires_in": 900])
        #expect(await impatient.signIn(timeout: .seconds(17)) == .signInAbandoned(.timedOut))
        #expect(impatient.polls.withLock { $0 } == [5, 10, 15])
    }

    @Test("M107, J4: a machine that slept past the lifetime sends no further request")
    func sleepingMachine() async throws {
        let device = try Device([], authorization: ["expires_in": 10])
        let time = device.provider.time
        #expect(await device.signIn { _ in time.advance(by: 3_600) } == .signInAbandoned(.timedOut))
        #expect(device.polls.withLock { $0 }.isEmpty)
        #expect(try await device.app().account() == nil)
    }

    @Test("M107, J4: cancelled while it waits, the sign-in ends immediately and sends nothing more")
    func cancelledWaiting() async throws {
        let device = try Device([])
        let app = try device.app()
        let task = Task { try await app.signInOnAnotherDevice { _ in } }
        await device.clock.sleeper(of: .seconds(5))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(device.polls.withLock { $0 }.isEmpty)
    }

    @Test("M107, J4: cancelled while it polls, the sign-in ends immediately and stores nothing")
    func cancelledPolling() async throws {
        let polled = Gate()
        let device = try Device([
            {
                polled.open()
                try await waitForCancellation()
                return Device.message(500, [])
            }
        ])
        let app = try device.app()
        let task = Task { try await app.signInOnAnotherDevice { _ in } }
        await device.clock.sleeper(of: .seconds(5))
        device.clock.advance(by: .seconds(5))
        await polled.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(device.polls.withLock { $0 } == [5])
        #expect(try await app.account() == nil)
    }

    @Test(
        "M108: an address that must not be shown is refused before anything is shown",
        arguments: [
            "javascript:alert(1)", "http://op.example/device", "https://127.0.0.1/device", "https://10.0.0.1/d",
        ])
    func hostileAddress(_ address: String) async throws {
        let device = try Device([], authorization: ["verification_uri": address])
        let isShown = Mutex(false)
        let error = await device.signIn { _ in isShown.withLock { $0 = true } }
        #expect(error?.code == (address.hasPrefix("http:") ? "insecure_transport" : "malformed_response"))
        #expect(!isShown.withLock { $0 })
        #expect(device.polls.withLock { $0 }.isEmpty)
    }

    @Test("M110: an ID token with a nonce is refused, and nothing is stored")
    func nonce() async throws {
        let device = try Device([])
        device.provider.change { $0.claims = ["nonce": "of another sign-in"] }
        #expect(await device.signIn()?.code == "nonce_mismatch")
        #expect(try await device.app().account() == nil)
        let wrong = try Device([])
        wrong.provider.change { $0.claims = ["aud": "another"] }
        #expect(await wrong.signIn()?.code == "audience_mismatch")
    }

    @Test(
        "M109, J3: the prompt names the page's host, the server's and the minutes; the picture is the complete address")
    func texts() async throws {
        let device = try Device([], authorization: ["expires_in": 125])
        let shown = Mutex<DeviceCode?>(nil)
        #expect(await device.signIn { code in shown.withLock { $0 = code } } == nil)
        let code = try #require(shown.withLock { $0 })
        for language in ["en", "de", "es", "fr", "ja", "pt-BR"].map({ Language(preferred: [$0]) }) {
            let prompt = code.prompt(in: language)
            #expect(prompt.contains("op.example") && prompt.contains("2"), "\(language)")
            #expect(!code.warning(in: language).isEmpty)
        }
        #expect(code.warning(in: Language(preferred: ["en"])) == "Go on only if you started this sign-in yourself.")
        #expect(code.pictured.string == "https://op.example/device?user_code=WDJB-MJHT")
        #expect(!"\(code)".contains("WDJB"))
    }

    @Test("a service without the grant is the configuration's fault, and nothing is sent")
    func unsupported() async throws {
        let provider = ScriptedProvider()
        let error = await handshakeError { try await provider.app().signInOnAnotherDevice { _ in } }
        #expect(error?.code == "invalid_configuration")
        #expect(provider.count("/device_authorization") == 0)
    }

    @Test("what cannot be shown ends the sign-in before the first poll")
    func cannotShow() async throws {
        let device = try Device([])
        #expect(await device.signIn { _ in throw HandshakeError.signInAbandoned(.closed) } == .signInAbandoned(.closed))
        #expect(device.polls.withLock { $0 }.isEmpty)
    }
}
