import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// The sandbox, and an app on a clock that moves only while the app waits for its next poll. All other clocks move with it.
private struct PolledSandbox: Sendable {
    let world: World
    let clock = ManualClock()
    private let start: Double

    /// - Parameter faults: rules for POST requests to the standard server, without that.
    init(_ faults: [String] = [], configuration: Sandbox.Configuration = .init()) async throws {
        world = try await World(.standard, configuration: configuration)
        world.holdClocks()
        start = world.time.source.now()
        for fault in faults { try world.inject("standard POST " + fault) }
    }

    func app(_ client: Client? = nil, transport: any Transport = .platform) throws -> Handshake {
        try world.app(client, transport: transport, clock: clock)
    }

    /// The seconds after which the polls came, by the sandbox's own log.
    var polls: [Double] {
        world.sandbox.requests(.standard).filter { $0.path == "/token" }
            .map { ($0.at.timeIntervalSince1970 - start).rounded() }
    }

    /// Lets a second pass whenever a deadline and a wait are both awaited, until the returned task is cancelled.
    ///
    /// - Parameter user: what the user does after so many seconds.
    func pass(_ user: @escaping @Sendable (Double) throws -> Void) -> Task<Void, Never> {
        Task {
            var seconds = 0.0
            while !Task.isCancelled {
                if clock.sleeperCount >= 2 {
                    seconds += 1
                    world.time.advance(by: 1)
                    world.sandbox.advanceClock(by: 1)
                    do { try user(seconds) } catch { Issue.record("\(error)") }
                    clock.advance(by: .seconds(1))
                }
                await Task.yield()
            }
        }
    }

    /// Signs in a user who enters the code after so many seconds, or never.
    func signIn(
        approved moment: Double? = nil, showing: @escaping @Sendable (DeviceCode) -> Void = { _ in }
    ) async throws -> Account {
        let shown = Shared<DeviceCode?>(nil)
        let passing = pass { seconds in
            guard seconds == moment, let code = shown.value else { return }
            try world.sandbox.approveDevice(code.userCode)
        }
        defer { passing.cancel() }
        return try await app().signInOnAnotherDevice { code in
            shown.change { $0 = code }
            showing(code)
        }
    }
}

/// Rows of `any-server.md` 10 about polls, at the sandbox's standard server.
@Suite("Rows about polls at the sandbox's standard server", .heavy)
struct StandardPollRowTests {
    @Test("M101, J1: the sandbox's answers of the check sum lead to polls at 5, 10, 20, 30, 50 and 70 s")
    func checkSum() async throws {
        let polled = try await PolledSandbox([
            "/device_authorization => without interval", #"/token => status 400 {"error":"slow_down"} #2"#,
            "/token => drop #4", #"/token => status 400 {"error":"slow_down","interval":20} #5"#,
        ])
        let account = try await polled.signIn(approved: 60)
        #expect(account.status.identity?.subject == polled.world.sandbox.standard.users.first?.subject)
        #expect(polled.polls == [5, 10, 20, 30, 50, 70])
        #expect(polled.world.statuses("/token") == [400, 400, 400, nil, 400, 200])
        await polled.world.sandbox.stop()
    }

    @Test(
        "M102, J1: where the sandbox's interval is absent or unusable it is 5 s, and slow_down adds 5 s for good",
        arguments: [
            ("without interval", 5), ("null interval", 5), ("member interval 0", 5), ("member interval -5", 5),
            ("member interval 7", 7),
        ])
    func interval(_ fault: String, _ first: Double) async throws {
        let polled = try await PolledSandbox([
            "/device_authorization => \(fault)", #"/token => status 400 {"error":"slow_down"} x2"#,
        ])
        _ = try await polled.signIn(approved: 40)
        #expect(polled.polls == [first, 2 * first + 5, 3 * first + 15, 4 * first + 25])
        await polled.world.sandbox.stop()
    }

    @Test("M103, J4: the sandbox's 429 and 503 make polls slower, and Retry-After lengthens one wait")
    func busy() async throws {
        let polled = try await PolledSandbox([
            "/token => status 429 #1", "/token => header Retry-After 42 #2", "/token => status 503 #2",
        ])
        _ = try await polled.signIn(approved: 60)
        #expect(polled.polls == [5, 15, 57, 72])
        #expect(polled.world.statuses("/token") == [429, 503, 400, 200])
        await polled.world.sandbox.stop()
    }

    @Test("M104: the code of the sandbox's answer decides, whatever its status")
    func codes() async throws {
        let polled = try await PolledSandbox([
            #"/token => body {"error":"authorization_pending"} #1"#,
            #"/token => status 428 {"error":"authorization_pending"} #2"#,
            #"/token => status 403 {"error":"slow_down"} #3"#,
        ])
        _ = try await polled.signIn(approved: 20)
        #expect(polled.polls == [5, 10, 15, 25])
        #expect(polled.world.statuses("/token") == [200, 428, 403, 200])
        await polled.world.sandbox.stop()
    }

    @Test("M105, J2: where the sandbox answers nothing the waits double, and its next answer restores the interval")
    func unanswered() async throws {
        let polled = try await PolledSandbox(["/token => drop x3"])
        _ = try await polled.signIn(approved: 76)
        #expect(polled.polls == [5, 15, 35, 75, 80])
        #expect(polled.world.statuses("/token") == [nil, nil, nil, 400, 200])
        await polled.world.sandbox.stop()
    }

    @Test("M107, J4: after the lifetime of the sandbox's code, or a sleep of the machine, no request is sent")
    func lifetime() async throws {
        for (isAsleep, polls) in [(false, [5, 10]), (true, [])] as [(Bool, [Double])] {
            let polled = try await PolledSandbox(["/device_authorization => member expires_in 12"])
            let error = await handshakeError {
                try await polled.signIn { _ in
                    if isAsleep { polled.world.time.advance(by: 3_600) }
                }
            }
            #expect(error == .signInAbandoned(.timedOut))
            #expect(polled.polls == polls)
            #expect(try await polled.app().account() == nil)
            await polled.world.sandbox.stop()
        }
    }

    @Test(
        "M107, J4: cancelled while it waits for the sandbox, or polls it, the sign-in ends immediately",
        arguments: [false, true])
    func cancelled(_ isPolling: Bool) async throws {
        let polled = try await PolledSandbox(["/token => delay 3600"])
        let app = try polled.app()
        let ended = Gate()
        let task = Task {
            defer { ended.open() }
            return try await app.signInOnAnotherDevice { _ in }
        }
        await polled.clock.sleeper(of: .seconds(5))
        if isPolling {
            polled.clock.advance(by: .seconds(5))
            // Beside the deadline nothing sleeps until the poll is answered: another wait would mean that none was sent.
            let isWaiting = { polled.clock.sleeperCount < 2 && !ended.isOpen }
            while polled.world.statuses("/token").isEmpty, isWaiting() { await Task.yield() }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(polled.world.statuses("/token").count == (isPolling ? 1 : 0))
        #expect(try await app.account() == nil)
        await polled.world.sandbox.stop()
    }

    @Test(
        "M108: an address of the sandbox's that must not be shown is refused before anything is shown",
        arguments: [
            ("javascript:alert(1)", "malformed_response"), ("http://op.example/device", "insecure_transport"),
            ("https://op.example/" + String(repeating: "a", count: 3_000), "malformed_response"),
        ])
    func hostileAddress(_ address: String, _ code: String) async throws {
        let polled = try await PolledSandbox(["/device_authorization => member verification_uri \(address)"])
        let isShown = Shared(false)
        let error = await handshakeError {
            try await polled.signIn { _ in isShown.change { $0 = true } }
        }
        #expect(error?.code == code)
        #expect(!isShown.value && polled.polls.isEmpty)
        await polled.world.sandbox.stop()
    }

    @Test("M109, J3: the sandbox's code, its host and the warning stand together, and the picture is its whole address")
    func texts() async throws {
        for isForeign in [false, true] {
            let foreign = "/device_authorization => member verification_uri_complete https://evil.example/device"
            let polled = try await PolledSandbox(isForeign ? [foreign] : [])
            let shown = Shared<DeviceCode?>(nil)
            _ = try await polled.signIn(approved: 3) { code in shown.change { $0 = code } }
            let code = try #require(shown.value)
            let server = polled.world.sandbox.standard.origin
            #expect(code.verificationURI.string == server + "/device")
            #expect(code.pictured.string == server + "/device" + (isForeign ? "" : "?user_code=" + code.userCode))
            let english = Language(preferred: ["en"])
            #expect(code.prompt(in: english).contains(String(server.dropFirst("http://".count))))
            #expect(code.minutes == 10 && code.prompt(in: english).contains("10"))
            #expect(code.warning(in: english) == "Go on only if you started this sign-in yourself.")
            await polled.world.sandbox.stop()
        }
    }

    @Test("M110: an ID token of the sandbox's with a nonce that was not sent is refused, and nothing is stored")
    func nonce() async throws {
        let polled = try await PolledSandbox(["/token => id_token claim nonce another"])
        #expect(await handshakeError { try await polled.signIn(approved: 3) }?.code == "nonce_mismatch")
        #expect(polled.world.statuses("/token") == [200])
        #expect(try await polled.app().account() == nil)
        await polled.world.sandbox.stop()
    }

    @Test("M701: while the sandbox's answer to a poll is held for 12 s no other is sent, and the next one immediately")
    func held() async throws {
        let polled = try await PolledSandbox()
        let isHeld = Shared(false)
        let transport = TappedTransport { request, base, limits in
            let response = try await base.send(request, limits: limits)
            let isFirst = request.head.path == "/token" && !isHeld.value
            guard isFirst else { return response }
            isHeld.change { $0 = true }
            try await polled.clock.sleep(for: .seconds(12))
            return response
        }
        try await askOnOwnDevice(
            polled, as: try polled.world.confidentialClient(scopes: ["openid"]), transport, approved: 20)
        #expect(polled.polls == [5, 17, 22])
        #expect(polled.world.statuses("/token") == [400, 400, 200])
        await polled.world.sandbox.stop()
    }

    @Test("M302, C5: each poll of the sandbox, and each repeat for a nonce, has an assertion with a jti of its own")
    func assertions() async throws {
        let polled = try await PolledSandbox(configuration: Sandbox.Configuration(logsWholeRequests: true))
        let world = polled.world
        try await askOnOwnDevice(polled, as: try world.keyedClient("sandbox-key", scopes: ["openid"]), approved: 7)
        #expect(polled.polls == [5, 10])
        var client = try world.keyedClient("sandbox-fapi")
        client.options.fapi2 = true
        _ = try await world.app(client, vault: MemoryVault()).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(world.statuses("/par") == [400, 201], "the second one has the nonce")
        let sent = world.sandbox.requests(.standard).filter { $0.method == "POST" }
        let identifiers = try sent.map { request -> String in
            let assertion = try #require(request.sentForm["client_assertion"])
            return try #require(try claims(of: assertion)["jti"] as? String)
        }
        #expect(identifiers.count >= 6 && Set(identifiers).count == identifiers.count)
        await world.sandbox.stop()
    }

    /// Signs in the sandbox's first user, who approves on their own device after so many seconds.
    private func askOnOwnDevice(
        _ polled: PolledSandbox, as client: Client, _ transport: any Transport = .platform, approved moment: Double
    ) async throws {
        let user = try #require(polled.world.sandbox.standard.users.first)
        let passing = polled.pass { seconds in
            if seconds == moment { try polled.world.sandbox.approveBackchannel(as: user.name) }
        }
        defer { passing.cancel() }
        let account = try await polled.app(client, transport: transport).signInOnOwnDevice(of: .login(user.name))
        #expect(account.status.identity?.subject == user.subject)
    }
}
