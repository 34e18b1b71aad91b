import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Notices that a user has decided", .heavy)
struct BackchannelNoticeTests {
    @Test("M702: the right notice is 204 and brings one token request; another token and another request are 401")
    func notices() async throws {
        let sandbox = try await Sandbox.start()
        let known = try #require(sandbox.standard.clients.first { $0.id == "sandbox-confidential" })
        let user = try #require(sandbox.standard.users.first)
        let security = TransportSecurity.allowingInsecureLoopback
        let service = try Service(
            name: "standard",
            authorizationServer: .discovered(
                try Issuer(sandbox.standard.origin, security: security), security: security),
            defaultScopes: ["openid"])
        let client = Client.confidential(service: service, id: known.id, secret: Secret(try #require(known.secret)))
        // The clocks stand still: only a notice ends the wait for the first poll.
        let (clock, now) = (ManualClock(), 1_795_000_000.0)
        sandbox.holdClock(at: Date(timeIntervalSince1970: now))
        let handshake = try Handshake(
            client, vault: MemoryVault(), time: TimeSource(now: { now }, clock: clock))
        let notifications = BackchannelNotifications()
        let router = Router()
        BackchannelNotificationRoute<BasicRequestContext>(notifications).add(to: router, at: "ping")
        let server = try await RunningServer.start(router)
        let wire = try WireClient(origin: server.origin)
        func ping(_ token: String, _ id: String) async throws -> Int {
            try await wire.send(
                "POST", "/ping", headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                body: #"{"auth_req_id":"\#(id)"}"#
            ).status
        }
        func polls() -> Int {
            sandbox.requests(.standard).count { $0.grantType == "urn:openid:params:grant-type:ciba" }
        }
        let signingIn = Task {
            try await handshake.signInOnOwnDevice(of: .login(user.name), notifications: notifications)
        }
        await clock.sleeper(of: .seconds(5))
        let asked = try #require(try sandbox.approveBackchannel(as: user.name).first)
        let token = try #require(asked.token)
        #expect(try await ping(token + "x", asked.id) == 401)
        #expect(try await ping(token, asked.id + "x") == 401)
        #expect(polls() == 0)
        #expect(try await ping(token, asked.id) == 204)
        #expect(try await signingIn.value.status.identity?.subject == user.subject)
        #expect(polls() == 1)
        #expect(try await ping(token, asked.id) == 401, "nothing is waited for any more")
        await server.stop()
        await sandbox.stop()
    }
}
