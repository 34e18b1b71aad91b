import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in", .heavy)
struct SequencingTests {
    private static let legacy = 1

    @Test("a legacy client signs in with raw Basic authentication and gets expires_in as a string")
    func legacySignIn() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing, client: Self.legacy)
            let none: [String: String?] = [
                "code_challenge": nil, "code_challenge_method": nil, "scope": "demo,external",
            ]
            let answer = try await steps.redeem(try await steps.code(none), verifier: nil)
            #expect(answer.status == 200)
            #expect(answer.string("expires_in") == "3600")
            #expect(answer.string("token_type") == "Bearer")
            #expect(answer.string("scope") == "demo external")
            let access = try #require(answer.string("access_token"))
            #expect(access.utf8.count == 40)
            #expect(access.allSatisfy { $0.isHexDigit && !$0.isUppercase })
            #expect(answer["Cache-Control"] == "no-store")
        }
    }

    @Test("expires_in is a number when a fault asks for it")
    func numericLifetime() async throws {
        try await withSandbox(.init(faults: [try FaultRule(parsing: "/oauth2/token => strings-as-numbers")])) {
            sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            #expect(try await steps.redeem(try await steps.code()).number("expires_in") == 3600)
        }
    }

    @Test("a legacy refresh answers without a refresh token and the old one goes on working")
    func legacyRefresh() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing, client: Self.legacy)
            let tokens = try await steps.signIn()
            for path in ["/oauth2/token?q=oauth2/token", "/oauth2/token", "/indexApi.php?q=oauth2/token"] {
                let answer = try await steps.refresh(tokens.refresh, path: path)
                #expect(answer.status == 200)
                #expect(answer.string("refresh_token") == nil)
                #expect(answer.string("access_token") != tokens.access)
            }
        }
    }

    @Test("a public client's refresh token rotates, and reuse ends the whole grant")
    func publicRefresh() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let tokens = try await steps.signIn()
            let first = try await steps.refresh(tokens.refresh)
            let next = try #require(first.string("refresh_token"))
            #expect(next != tokens.refresh)
            #expect(try await steps.refresh(tokens.refresh).string("error") == "invalid_grant")
            #expect(try await steps.refresh(next).string("error") == "invalid_grant")
        }
    }

    @Test("a form-encoded id in Basic is refused, since this server does not decode")
    func encodedBasic() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing, client: Self.legacy)
            let basic = OAuthSteps.basic(OAuthSteps.encoded(steps.client.id), steps.client.secret ?? "")
            let answer = try await steps.post(
                "/oauth2/token", ["grant_type": "refresh_token", "refresh_token": "x"],
                headers: ["Authorization": basic])
            #expect(answer.status == 401)
            #expect(answer.string("error") == "invalid_client")
            #expect(answer["WWW-Authenticate"]?.hasPrefix("Basic") == true)
        }
    }

    @Test(
        "client authentication that does not fit is invalid_client",
        arguments: [
            (["client_id": "my-genome-app", "client_secret": ""], "", 400),
            ([:], "", 401),
            (["client_id": "unknown"], "", 401),
            (["client_id": "My Genome App (iPhone)"], "", 401),
            ([:], OAuthSteps.basic("My Genome App (iPhone)", "wrong"), 401),
            ([:], OAuthSteps.basic("my-genome-app", "any"), 401),
            ([:], "Basic !!!", 401),
        ])
    func clientAuthentication(_ parameters: [String: String], _ authorization: String, _ status: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let form = parameters.merging(["grant_type": "refresh_token", "refresh_token": "unknown"]) { $1 }
            let headers = authorization.isEmpty ? [:] : ["Authorization": authorization]
            let answer = try await steps.post("/oauth2/token", form, headers: headers)
            #expect(answer.status == status)
            #expect(answer.string("error") == (status == 401 ? "invalid_client" : "invalid_grant"))
        }
    }

    @Test(
        "scopes may be parted by space, comma, bar or plus",
        arguments: [
            ("demo external", "demo external"), ("demo,external", "demo external"), ("external|demo", "external demo"),
            ("demo+external", "demo external"), ("demo,demo", "demo"), (nil, "demo"), ("external", "external"),
        ])
    func scopes(_ asked: String?, _ granted: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let answer = try await steps.redeem(try await steps.code(["scope": asked]))
            #expect(answer.string("scope") == granted)
        }
    }

    @Test(
        "a request that a client may be told about redirects with an error and the state",
        arguments: [
            (["scope": "test"], "invalid_scope"), (["response_type": nil], "invalid_request"),
            (["response_type": "token"], "unsupported_response_type"), (["code_challenge": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
        ] as [([String: String?], String)])
    func redirectErrors(_ changes: [String: String?], _ error: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            for path in ["/oauth2/authorize", "/indexApi.php?q=oauth2/authorize"] {
                let answer = try await steps.wire.send("GET", steps.authorizationTarget(changes, path: path))
                let location = try #require(answer["Location"])
                #expect(answer.status == 302)
                #expect(location.hasPrefix(OAuthSteps.redirect + "?"))
                #expect(OAuthSteps.parameter("error", of: location) == error)
                #expect(OAuthSteps.parameter("state", of: location) == "s-1")
                #expect(OAuthSteps.parameter("iss", of: location) == nil)
            }
        }
    }

    @Test("a code works once, for sixty seconds, for its client, redirect and verifier only")
    func codes() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let legacy = try OAuthSteps(sandbox, sandbox.sequencing, client: Self.legacy)
            let code = try await steps.code()
            for answer in [
                try await steps.redeem("unknown"), try await legacy.redeem(code),
                try await steps.redeem(code, redirect: "http://127.0.0.1:49153/callback"),
                try await steps.redeem(code, verifier: nil),
                try await steps.redeem(code, verifier: String(repeating: "a", count: 43)),
            ] {
                #expect(answer.status == 400)
                #expect(answer.string("error") == "invalid_grant")
            }
            #expect(try await steps.redeem(code).status == 200)
            #expect(try await steps.redeem(code).string("error") == "invalid_grant")
            let late = try await steps.code()
            sandbox.advanceClock(by: 61)
            #expect(try await steps.redeem(late).string("error") == "invalid_grant")
        }
    }

    @Test("an unknown grant type is unsupported_grant_type and a missing one invalid_request")
    func grantTypes() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            #expect(try await steps.token(["grant_type": "password"]).string("error") == "unsupported_grant_type")
            #expect(try await steps.token([:]).string("error") == "invalid_request")
            #expect(try await steps.wire.send("GET", "/oauth2/token").status == 405)
        }
    }

    @Test("identity comes with the token in the path, and an empty object for a bad one")
    func tokenInfo() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let tokens = try await steps.signIn()
            let path = "/indexApi.php?q=js/custom_oauth2_server/custom-token-info/"
            let answer = try await steps.wire.send("GET", path + tokens.access)
            #expect(answer.text == #"{"uid":"4711","username":"ada","email":"ada@example.test"}"#)
            #expect(try await steps.wire.send("GET", path + "bad").text == "{}")
            #expect(try await steps.wire.send("GET", "/indexApi.php?q=elsewhere").status == 404)
        }
    }

    @Test("a token that has expired or was revoked has no identity, and there is no other route for it")
    func endedTokenInfo() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.sequencing)
            let tokens = try await steps.signIn(as: "charles@example.test")
            let path = "/indexApi.php?q=js/custom_oauth2_server/custom-token-info/"
            #expect(try await steps.wire.send("GET", path + tokens.access).string("uid") == "4712")
            let revoked = try await steps.post(
                "/oauth2/revoke", ["client_id": steps.client.id, "token": tokens.access])
            #expect(revoked.status == 200)
            #expect(try await steps.wire.send("GET", path + tokens.access).text == "{}")
            let fresh = try #require(try await steps.refresh(tokens.refresh).string("access_token"))
            #expect(try await steps.wire.send("GET", path + fresh).string("uid") == "4712")
            sandbox.advanceClock(by: 3600)
            #expect(try await steps.wire.send("GET", path + fresh).text == "{}")
            #expect(try await steps.get("/me", bearer: fresh).status == 404)
        }
    }
}
