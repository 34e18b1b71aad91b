import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: who is the user, tokens and codes", .heavy)
struct IFTTTIdentityTests {
    @Test(
        "S4: the answer names the level, the service and the login as far as they are known",
        arguments: [
            (IFTTTSteps.Caller.anonymous, "none", nil, nil), (.ada, "user", "lumen_garden", "ada_l"),
            (.garden, "channel", "lumen_garden", nil),
        ] as [(IFTTTSteps.Caller, String, String?, String?)])
    func me(_ caller: IFTTTSteps.Caller, _ level: String, _ service: String?, _ login: String?) async throws {
        try await withSandbox { sandbox in
            let answer = try await IFTTTSteps(sandbox).send("GET", "/v2/me", as: caller)
            #expect(answer.text("type") == "me")
            #expect(answer.text("authentication_level") == level)
            #expect(answer.text("service_id") == service)
            #expect(answer.text("user_login") == login)
        }
    }

    @Test(
        "S5: 204 for an account, 404 for none, 422 for what is no address; a plus survives as %2B alone",
        arguments: [
            ("ada@example.test", "204"), ("ADA@example.test", "204"), ("new@example.test", "404 not_found"),
            ("ada%2Btest@example.com", "404 not_found"), ("ada+test@example.com", "422 invalid_parameters /email"),
            ("", "422 invalid_parameters /email"), ("no%20address", "422 invalid_parameters /email"),
        ])
    func find(_ email: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let answer = try await IFTTTSteps(sandbox).send("GET", "/v2/account/find?email=\(email)")
            #expect(answer.outcome == outcome)
            if answer.status == 204 { #expect(answer.wire.body.isEmpty) }
        }
    }

    @Test(
        "S6: the user's living token comes for the right key, user and access token",
        arguments: [
            (IFTTTSteps.key, "user_id=garden-1001&access_token=access_sandbox_ada", "200"),
            (IFTTTSteps.key, "user_id=garden-1001", "200"),
            (IFTTTSteps.key, "user_id=garden-1001&access_token=access_sandbox_grace", "401 unauthorized"),
            (IFTTTSteps.key, "user_id=garden-1001&access_token=nope", "401 unauthorized"),
            ("nope", "user_id=garden-1001&access_token=access_sandbox_ada", "401 unauthorized"),
            ("", "user_id=garden-1001&access_token=access_sandbox_ada", "401 unauthorized"),
            (IFTTTSteps.key, "user_id=garden-1005", "404 not_found"),
            (IFTTTSteps.key, "access_token=access_sandbox_ada", "422 invalid_parameters /user_id"),
        ])
    func userToken(_ key: String, _ query: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let caller: IFTTTSteps.Caller = key.isEmpty ? .anonymous : .partner(key)
            let answer = try await IFTTTSteps(sandbox).send("POST", "/v2/user_token?\(query)", as: caller)
            #expect(answer.outcome == outcome)
            if answer.status == 200 {
                #expect(answer.text("type") == "user_token")
                #expect(answer.text("user_token") == "utk_sandbox_ada")
                #expect(answer.wire["Cache-Control"] == "no-store")
            }
        }
    }

    @Test("S6: a revoked token is replaced by another one that works")
    func revoked() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            #expect(sandbox.revokeUserToken("utk_sandbox_ada"))
            #expect(!sandbox.revokeUserToken("utk_unknown"))
            #expect(try await steps.send("GET", "/v2/me", as: .ada).outcome == "401 unauthorized")
            let answer = try await steps.send("POST", "/v2/user_token?user_id=garden-1001", as: .garden)
            let token = try #require(answer.text("user_token"))
            #expect(token != "utk_sandbox_ada")
            #expect(try await steps.send("GET", "/v2/me", as: .user(token)).text("user_login") == "ada_l")
            #expect(try await steps.wire.send("POST", "/_sandbox/revoke-user-token").status == 204)
            #expect(try await steps.send("GET", "/v2/me", as: .user(token)).status == 401)
        }
    }

    @Test("S7: a provisional code comes with 201 for a code that still works")
    func provisionalCode() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let path = "/v2/provisional_access_code"
            let code = try sandbox.issueOAuthCode(for: "garden-1005")
            let body = #"{"oauth_code":"\#(code)"}"#
            let answer = try await steps.send("POST", path, as: .garden, body: body)
            #expect(answer.status == 201)
            #expect(answer.text("provisional_access_code")?.isEmpty == false)
            #expect(try await steps.send("POST", path, body: body).outcome == "401 unauthorized")
            #expect(try await steps.send("POST", path, as: .ada, body: body).outcome == "401 unauthorized")
            for bad in ["{}", #"{"oauth_code":"nope"}"#] {
                let answer = try await steps.send("POST", path, as: .garden, body: bad)
                #expect(answer.outcome == "422 invalid_parameters /oauth_code")
            }
            #expect(try await steps.send("POST", path, as: .garden, body: "[").outcome == "400 malformed_request")
            sandbox.advanceClock(by: 601)
            let late = try await steps.send("POST", path, as: .garden, body: body)
            #expect(late.outcome == "422 invalid_parameters /oauth_code")
        }
    }

    @Test("S22: the partner's back end gives its user's token for its own code, and 401 for any other")
    func partnerExchange() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let code = try sandbox.issueOAuthCode(for: "ada@example.test")
            let answer = try await steps.send("POST", "/partner/api/user_token?code=\(code)")
            #expect(answer.status == 200)
            #expect(answer.text("user_token") == "utk_sandbox_ada")
            #expect(try await steps.send("POST", "/partner/api/user_token?code=nope").outcome == "401 unauthorized")
            #expect(try await steps.send("POST", "/partner/api/user_token").outcome == "401 unauthorized")
            let stranger = try sandbox.issueOAuthCode(for: "garden-1005")
            let none = try await steps.send("POST", "/partner/api/user_token?code=\(stranger)")
            #expect(none.outcome == "404 not_found")
            #expect(throws: SandboxError.self) { _ = try sandbox.issueOAuthCode(for: "unknown") }
        }
    }
}
