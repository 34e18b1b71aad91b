import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The standard server's device grant", .heavy)
struct DeviceTests {
    private static let grant = "urn:ietf:params:oauth:grant-type:device_code"

    /// The last client, which has no other grant.
    private func steps(_ sandbox: Sandbox) throws -> OAuthSteps {
        let index = try #require(sandbox.standard.clients.firstIndex { $0.id == "sandbox-device" })
        return try OAuthSteps(sandbox, sandbox.standard, client: index)
    }

    private func begin(_ steps: OAuthSteps, scope: String = "openid offline_access") async throws -> (
        device: String, user: String
    ) {
        let answer = try await steps.token(["scope": scope], path: "/device_authorization")
        #expect(answer.status == 200)
        #expect(answer.number("expires_in") == 600)
        #expect(answer.number("interval") == 5)
        let user = try #require(answer.string("user_code"))
        #expect(answer.string("verification_uri") == steps.service.origin + "/device")
        #expect(answer.string("verification_uri_complete") == steps.service.origin + "/device?user_code=" + user)
        return (try #require(answer.string("device_code")), user)
    }

    private func poll(_ steps: OAuthSteps, _ code: String) async throws -> WireClient.Answer {
        try await steps.token(["grant_type": Self.grant, "device_code": code])
    }

    @Test("a code brings tokens once it is approved, and once only")
    func approved() async throws {
        try await withSandbox { sandbox in
            let steps = try steps(sandbox)
            let (device, user) = try await begin(steps)
            sandbox.advanceClock(by: 5)
            #expect(try await poll(steps, device).string("error") == "authorization_pending")
            try sandbox.approveDevice(user)
            sandbox.advanceClock(by: 5)
            let tokens = try await poll(steps, device)
            #expect(tokens.status == 200)
            #expect(tokens.string("refresh_token") != nil)
            let idToken = try IDToken(try #require(tokens.string("id_token")))
            #expect(idToken.claims["nonce"] == nil)
            #expect(idToken.claims["sub"] as? String == sandbox.standard.users.first?.subject)
            #expect(try await steps.refresh(try #require(tokens.string("refresh_token"))).status == 200)
            #expect(try await poll(steps, device).string("error") == "invalid_grant")
        }
    }

    @Test("who polls too often is told to slow down, by 5 s each time")
    func slowDown() async throws {
        try await withSandbox { sandbox in
            let steps = try steps(sandbox)
            let (device, _) = try await begin(steps)
            #expect(try await poll(steps, device).string("error") == "slow_down")
            sandbox.advanceClock(by: 8)
            #expect(try await poll(steps, device).string("error") == "slow_down")
            sandbox.advanceClock(by: 15)
            #expect(try await poll(steps, device).string("error") == "authorization_pending")
        }
    }

    @Test("a refused code, an expired one and another client's are three errors")
    func ends() async throws {
        try await withSandbox { sandbox in
            let steps = try steps(sandbox)
            let (refused, user) = try await begin(steps)
            try sandbox.refuseDevice(user)
            #expect(throws: SandboxError.self) { try sandbox.approveDevice(user) }
            #expect(try await poll(steps, refused).string("error") == "access_denied")
            let (expired, _) = try await begin(steps)
            #expect(
                try await OAuthSteps(sandbox, sandbox.standard).token([
                    "grant_type": Self.grant, "device_code": expired,
                ])
                .string("error") == "invalid_grant")
            sandbox.advanceClock(by: 601)
            #expect(try await poll(steps, expired).string("error") == "expired_token")
            let service = try OAuthSteps(sandbox, sandbox.standard, client: 3)
            #expect(
                try await service.token(["scope": "api"], path: "/device_authorization").string("error")
                    == "unauthorized_client")
        }
    }

    @Test("the pages take the code in any spelling, want the password, and allow or refuse", arguments: [true, false])
    func pages(_ isAllowed: Bool) async throws {
        try await withSandbox { sandbox in
            let steps = try steps(sandbox)
            let (device, code) = try await begin(steps, scope: "api")
            let page = try await steps.wire.send("GET", "/device")
            #expect(page.text.contains("Enter your code"))
            let typed = code.lowercased().replacing("-", with: " ")
            let approval = try await steps.post("/device", ["user_code": typed])
            #expect(approval.text.contains(code) && approval.text.contains("sandbox-device"))
            #expect(try await steps.wire.send("GET", "/device?user_code=\(code)").text.contains("use the example API"))
            #expect(try await steps.post("/device", ["user_code": "BBBB-BBBB"]).text.contains("unknown"))
            let user = try #require(sandbox.standard.users.first)
            var form = [
                "user_code": code, "op": isAllowed ? "Allow" : "Do not allow", "email": user.name, "password": "no",
            ]
            #expect(try await steps.post("/device", form).text.contains("Wrong email address or password"))
            form["password"] = user.password
            let done = try await steps.post("/device", form)
            #expect(done.text.contains(isAllowed ? "Access allowed" : "Access refused"))
            #expect(try await steps.post("/device", form).text.contains("unknown"))
            let poll = try await poll(steps, device)
            #expect(poll.string("error") == (isAllowed ? nil : "access_denied"))
        }
    }

    @Test("faults reach the device endpoint and the polls")
    func faults() async throws {
        try await withSandbox { sandbox in
            let steps = try steps(sandbox)
            sandbox.inject(try FaultRule(parsing: "standard POST /device_authorization => status 503 x1"))
            #expect(try await steps.token(["scope": "api"], path: "/device_authorization").status == 503)
            let (device, user) = try await begin(steps)
            try sandbox.approveDevice(user)
            sandbox.inject(try FaultRule(parsing: "standard POST /token => status 429 x1"))
            #expect(try await poll(steps, device).status == 429)
            #expect(try await poll(steps, device).status == 200)
        }
    }
}
