import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Recurse Center stand-in", .heavy)
struct RecurseCenterTests {
    private static let app = 1

    @Test("a confidential client signs in with its secret in a form or a JSON body", arguments: [false, true])
    func signIn(_ asJSON: Bool) async throws {
        try await withSandbox { sandbox in
            sandbox.holdClock(at: Date(timeIntervalSince1970: 1_795_000_000))
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter, client: Self.app)
            let code = try await steps.code(["code_challenge": nil, "code_challenge_method": nil])
            let parameters = [
                "grant_type": "authorization_code", "client_id": steps.client.id,
                "client_secret": steps.client.secret ?? "", "redirect_uri": OAuthSteps.redirect, "code": code,
            ]
            let json = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
            let answer =
                asJSON
                ? try await steps.wire.send(
                    "POST", "/oauth/token", headers: ["Content-Type": "application/json; charset=utf-8"], body: json)
                : try await steps.post("/oauth/token", parameters)
            #expect(answer.status == 200)
            #expect(answer.string("token_type") == "bearer")
            #expect(answer.number("expires_in") == 7200)
            #expect(answer.string("scope") == "public")
            let created = try #require(answer.number("created_at"))
            #expect(created == 1_795_000_000)
            #expect(answer.string("refresh_token") != nil)
        }
    }

    @Test("a JSON body that is no flat object is invalid_request", arguments: ["", "[]", "{\"a\":{}}", "nonsense"])
    func badJSON(_ body: String) async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.recurseCenter.origin)
            let answer = try await wire.send(
                "POST", "/oauth/token", headers: ["Content-Type": "application/json"], body: body)
            #expect(answer.status == 400)
            #expect(answer.string("error") == "invalid_request")
        }
    }

    @Test("a refresh token works once, and its reuse kills nothing else")
    func refresh() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter, client: Self.app)
            let tokens = try await steps.signIn()
            let first = try await steps.refresh(tokens.refresh)
            let next = try #require(first.string("refresh_token"))
            let reuse = try await steps.refresh(tokens.refresh)
            #expect(reuse.status == 400)
            #expect(reuse.string("error") == "invalid_grant")
            #expect(try await steps.refresh(next).status == 200)
            let access = try #require(first.string("access_token"))
            #expect(try await steps.get("/api/v1/profiles/me", bearer: access).status == 200)
        }
    }

    @Test(
        "the token endpoint's errors have Doorkeeper's statuses",
        arguments: [
            (["grant_type": "password"], 400, "unsupported_grant_type"), ([:], 400, "invalid_request"),
            (["grant_type": "refresh_token", "refresh_token": "unknown"], 400, "invalid_grant"),
            (["grant_type": "authorization_code", "code": "unknown"], 400, "invalid_grant"),
            (["grant_type": "refresh_token", "client_secret": "wrong"], 401, "invalid_client"),
            (["grant_type": "refresh_token", "client_id": "unknown"], 401, "invalid_client"),
        ])
    func errors(_ changes: [String: String], _ status: Int, _ error: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter, client: Self.app)
            let client = ["client_id": steps.client.id, "client_secret": steps.client.secret ?? ""]
            let answer = try await steps.post("/oauth/token", client.merging(changes) { $1 })
            #expect(answer.status == status)
            #expect(answer.string("error") == error)
            #expect(answer.string("error_description") != nil)
            #expect(try await steps.wire.send("GET", "/oauth/token").status == 404)
        }
    }

    @Test("the out-of-band redirect shows the code on a page")
    func outOfBand() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let oob = "urn:ietf:wg:oauth:2.0:oob"
            let page = try await steps.wire.send("GET", steps.authorizationTarget(["redirect_uri": oob, "as": "759"]))
            #expect(page.status == 200)
            let match = try #require(page.text.firstMatch(of: /id="code">([^<]+)</))
            #expect(try await steps.redeem(String(match.1), redirect: oob).status == 200)
            let inProcess = try await steps.redirect(["redirect_uri": oob])
            #expect(inProcess.hasPrefix(oob + "?code="))
        }
    }

    @Test("as=ID consents without a page, deny=1 refuses, and an unknown person is rejected on a page")
    func headless() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let allowed = try await steps.wire.send("GET", steps.authorizationTarget(["as": "65535"]))
            let location = try #require(allowed["Location"])
            #expect(OAuthSteps.parameter("state", of: location) == "s-1")
            let code = try #require(OAuthSteps.parameter("code", of: location))
            let access = try #require(try await steps.redeem(code).string("access_token"))
            #expect(try await steps.get("/api/v1/profiles/me", bearer: access).number("id") == 65_535)
            let denied = try await steps.wire.send("GET", steps.authorizationTarget(["deny": "1"]))
            #expect(denied["Location"].flatMap { OAuthSteps.parameter("error", of: $0) } == "access_denied")
            let stranger = try await steps.wire.send("GET", steps.authorizationTarget(["as": "1"]))
            #expect(stranger.status == 400)
            #expect(stranger["Location"] == nil)
        }
    }

    @Test("profile and legacy person have the members of the dossier, null where something is missing")
    func people() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let ada = try await steps.signIn()
            let profile = try await steps.get("/api/v1/profiles/me", bearer: ada.access)
            #expect(profile.string("name") == "Ada Example")
            #expect(profile.string("slug") == "759-ada-example")
            #expect(profile.text.contains(#""short_name":"S1'14""#))
            #expect(profile.string("image_path")?.hasPrefix(sandbox.recurseCenter.origin) == true)
            let person = try await steps.wire.send("GET", "/api/v1/people/me?access_token=\(ada.access)")
            #expect(person.number("batch_id") == 11)
            #expect(person.text.contains(#""batch":{"id":11,"name":"Summer 1, 2014","start_date":"2014-06-09""#))
            let zoe = try await steps.signIn(as: "zoe@example.test")
            let bare = try await steps.get("/api/v1/profiles/me", bearer: zoe.access)
            #expect(bare.string("first_name") == "Zoë")
            #expect(bare.text.contains(#""email":null"#))
            #expect(bare.text.contains(#""image_path":null"#))
            let legacy = try await steps.get("/api/v1/people/me", bearer: zoe.access)
            #expect(legacy.text.contains(#""batch":null"#))
            #expect(legacy.string("image")?.contains("no_photo") == true)
        }
    }

    @Test(
        "unauthorized has three switchable forms",
        arguments: [("401", 401, "unauthorized"), ("200", 200, "unauthorized"), ("404", 404, "not_found")])
    func unauthorized(_ style: String, _ status: Int, _ message: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            #expect(try await steps.control("POST", "/unauthorized", style).status == 204)
            for token in [nil, "bad"] {
                for path in ["/api/v1/profiles/me", "/api/v1/people/me"] {
                    let answer = try await steps.get(path, bearer: token)
                    #expect(answer.status == status)
                    #expect(answer.text == "{\"message\":\"\(message)\"}")
                }
            }
            #expect(try await steps.control("POST", "/unauthorized", "500").status == 400)
            sandbox.answerUnauthorized(with: .status401)
            #expect(try await steps.get("/api/v1/people/me", bearer: nil).status == 401)
        }
    }

    @Test("codes live 600 seconds and work once", arguments: [(570.0, 200), (601.0, 400)])
    func codes(_ age: Double, _ status: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let code = try await steps.code()
            sandbox.advanceClock(by: age)
            #expect(try await steps.redeem(code).status == status)
            #expect(try await steps.redeem(code).string("error") == "invalid_grant")
        }
    }

    @Test("access tokens live 7200 seconds, the personal access token for ever")
    func lifetimes() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let tokens = try await steps.signIn()
            let personal = try #require(sandbox.recurseCenter.personalAccessToken)
            sandbox.advanceClock(by: 7190)
            #expect(try await steps.get("/api/v1/profiles/me", bearer: tokens.access).status == 200)
            sandbox.advanceClock(by: 11)
            #expect(try await steps.get("/api/v1/profiles/me", bearer: tokens.access).status == 401)
            sandbox.expireAccessTokens(.recurseCenter)
            sandbox.advanceClock(by: 1e9)
            #expect(try await steps.get("/api/v1/profiles/me", bearer: personal).number("id") == 759)
        }
    }

    @Test("revocation ends the token, answers {} to an unknown one and 403 to another client's")
    func revocation() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            let tokens = try await steps.signIn()
            let other = ["client_id": "recurse-app", "client_secret": "recurse-app-secret"]
            let foreign = try await steps.post("/oauth/revoke", other.merging(["token": tokens.access]) { $1 })
            #expect(foreign.status == 403)
            #expect(try await steps.get("/api/v1/profiles/me", bearer: tokens.access).status == 200)
            for token in [tokens.access, tokens.refresh, "unknown"] {
                let answer = try await steps.post("/oauth/revoke", ["client_id": steps.client.id, "token": token])
                #expect(answer.status == 200)
                #expect(answer.text == "{}")
            }
            #expect(try await steps.get("/api/v1/profiles/me", bearer: tokens.access).status == 401)
            #expect(try await steps.refresh(tokens.refresh).string("error") == "invalid_grant")
        }
    }
}
