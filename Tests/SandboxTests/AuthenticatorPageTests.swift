import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The page of a user's own device", .heavy)
struct AuthenticatorPageTests {
    private static let basic = [
        "Authorization": OAuthSteps.basic("sandbox-confidential", "sandbox-confidential-secret")
    ]

    private func begin(_ steps: OAuthSteps, _ user: SandboxUser, _ message: String) async throws -> String {
        let form = ["scope": "openid api", "login_hint": user.name, "binding_message": message]
        let answer = try await steps.post("/backchannel_authentication", form, headers: Self.basic)
        return try #require(answer.string("auth_req_id"))
    }

    private func poll(_ steps: OAuthSteps, _ id: String) async throws -> WireClient.Answer {
        let form = ["grant_type": "urn:openid:params:grant-type:ciba", "auth_req_id": id]
        return try await steps.post("/token", form, headers: Self.basic)
    }

    @Test("a user sees what they alone are asked, waits, and allows or refuses one request", arguments: [true, false])
    func decided(_ isAllowed: Bool) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let (user, other) = (sandbox.standard.users[0], sandbox.standard.users[1])
            let asked = try await begin(steps, user, "W4SCT")
            let kept = try await begin(steps, user, "K2PQR")
            #expect(try await steps.wire.send("GET", "/authenticator").text.contains("Your device"))
            var form = ["email": user.name, "password": "no"]
            let refused = try await steps.post("/authenticator", form)
            #expect(refused.text.contains("Wrong email address") && !refused.text.contains("W4SCT"))
            let foreign = try await steps.post("/authenticator", ["email": other.name, "password": other.password])
            #expect(foreign.text.contains("No requests are pending"))
            form["password"] = user.password
            let page = try await steps.post("/authenticator", form).text
            #expect(page.contains("W4SCT") && page.contains("K2PQR") && page.contains("sandbox-confidential"))
            #expect(!page.contains(asked) && page.contains("use the example API"))
            sandbox.advanceClock(by: 5)
            #expect(try await poll(steps, asked).string("error") == "authorization_pending", "looking decides nothing")
            let section = try #require(page.components(separatedBy: "<section").first { $0.contains("W4SCT") })
            let id = section.components(separatedBy: #"name="request" value=""#).last ?? ""
            form["request"] = String(id.prefix { $0 != "\"" })
            form["op"] = isAllowed ? "Allow" : "Do not allow"
            let byOther = form.merging(["email": other.name, "password": other.password]) { $1 }
            #expect(try await steps.post("/authenticator", byOther).text.contains("unknown"))
            #expect(
                try await steps.post("/authenticator", form).text.contains(
                    isAllowed ? "Access allowed" : "Access refused"))
            #expect(try await steps.post("/authenticator", form).text.contains("unknown"))
            sandbox.advanceClock(by: 5)
            let answer = try await poll(steps, asked)
            #expect(answer.string("error") == (isAllowed ? nil : "access_denied"))
            #expect((answer.string("access_token") != nil) == isAllowed)
            #expect(try await poll(steps, kept).string("error") == "authorization_pending")
        }
    }

    @Test("what a user has decided is not decided a second time, nor is what has expired")
    func decidedOnce() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let user = sandbox.standard.users[0]
            let refused = try await begin(steps, user, "W4SCT")
            let refusals = try sandbox.refuseBackchannel(as: user.name)
            #expect(refusals.map { $0.id } == [refused])
            let allowed = try await begin(steps, user, "K2PQR")
            let approvals = try sandbox.approveBackchannel(as: user.name)
            #expect(approvals.map { $0.id } == [allowed])
            sandbox.advanceClock(by: 5)
            #expect(try await poll(steps, refused).string("error") == "access_denied")
            #expect(try await poll(steps, allowed).string("access_token") != nil)
            _ = try await begin(steps, user, "M7XYZ")
            sandbox.advanceClock(by: 121)
            let late = try sandbox.approveBackchannel(as: user.name)
            #expect(late.isEmpty)
        }
    }
}
