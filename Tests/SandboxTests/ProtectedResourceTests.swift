import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Protected resources and steering", .heavy)
struct ProtectedResourceTests {
    @Test(
        "a refusal carries the challenge of RFC 6750",
        arguments: [
            ("/api/whoami", nil, 401, "Bearer realm=\"sandbox\""),
            ("/api/whoami", "bad", 401, "error=\"invalid_token\""),
            ("/userinfo", "bad", 401, "error=\"invalid_token\""),
            ("/api/whoami?access_token=x", nil, 400, "error=\"invalid_request\""),
            ("/api/admin", "narrow", 403, "error=\"insufficient_scope\""),
            ("/api/admin", "narrow", 403, "scope=\"api\""),
            ("/api/stepup", "narrow", 401, "error=\"insufficient_user_authentication\""),
            ("/api/stepup", "narrow", 401, "acr_values=\"urn:sandbox:acr:strong\""),
        ])
    func challenges(_ path: String, _ token: String?, _ status: Int, _ challenge: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let narrow = try await steps.signIn(["scope": "openid"]).access
            let answer = try await steps.get(path, bearer: token == "narrow" ? narrow : token)
            #expect(answer.status == status)
            #expect(answer["WWW-Authenticate"]?.contains(challenge) == true)
            if token == nil, status == 401 { #expect(answer["WWW-Authenticate"]?.contains("error") == false) }
        }
    }

    @Test("who the token speaks for is told by userinfo, whoami and admin")
    func identity() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn(["scope": "openid email profile api"], as: "zoe@example.test")
            let userInfo = try await steps.get("/userinfo", bearer: tokens.access)
            #expect(userInfo.string("sub") == "248289761002")
            #expect(userInfo.string("name") == "Zoë Ångström")
            let whoAmI = try await steps.get("/api/whoami", bearer: tokens.access)
            #expect(whoAmI.string("scope") == "openid email profile api")
            #expect(try await steps.get("/api/admin", bearer: tokens.access).status == 200)
            let machine = try OAuthSteps(sandbox, sandbox.standard, client: 3)
            let own = try #require(try await machine.token(["grant_type": "client_credentials"]).string("access_token"))
            #expect(try await machine.get("/api/whoami", bearer: own).string("subject") == "sandbox-service")
            #expect(try await machine.get("/userinfo", bearer: own).status == 403)
        }
    }

    @Test("a sign-in that asks for the strong context class passes the step-up")
    func stepUp() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn(["acr_values": "urn:sandbox:acr:strong"])
            #expect(try await steps.get("/api/stepup", bearer: tokens.access).status == 200)
        }
    }

    @Test("echo tells method, content type and length, never the token", arguments: ["GET", "POST", "PUT", "DELETE"])
    func echo(_ method: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            let headers = ["Authorization": "Bearer \(tokens.access)", "Content-Type": "text/csv; charset=utf-8"]
            let answer = try await steps.wire.send(method, "/api/echo", headers: headers, body: "a,b,c")
            #expect(answer.text == "{\"method\":\"\(method)\",\"content_type\":\"text/csv\",\"body_length\":5}")
        }
    }

    @Test("tokens can be ended from inside and from outside, and later ones work", arguments: [false, true])
    func ending(_ fromOutside: Bool) async throws {
        try await withSandbox { sandbox in
            let paths = [
                "sequencing": "/DataSourceList?all=true", "recurse-center": "/api/v1/profiles/me",
                "standard": "/api/whoami",
            ]
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                let path = try #require(paths[service.name.rawValue])
                let tokens = try await steps.signIn()
                if fromOutside {
                    #expect(try await steps.control("POST", "/expire-access-tokens").status == 204)
                } else {
                    sandbox.expireAccessTokens(service.name)
                }
                #expect(try await steps.get(path, bearer: tokens.access).status == 401)
                let next = try await steps.refresh(tokens.refresh)
                #expect(try await steps.get(path, bearer: next.string("access_token")).status == 200)
                if fromOutside {
                    #expect(try await steps.control("POST", "/revoke-refresh-tokens").status == 204)
                } else {
                    sandbox.revokeRefreshTokens(service.name)
                }
                let last = try #require(next.string("refresh_token"))
                #expect(try await steps.refresh(last).string("error") == "invalid_grant")
                #expect(try await steps.get(path, bearer: try await steps.signIn().access).status == 200)
            }
        }
    }

    @Test(
        "the access token lifetime can be set for all services, and is never longer than a hundred years",
        arguments: [(1, 1), (Int.max, 3_155_760_000), (-1, 0)])
    func lifetime(_ configured: Int, _ expected: Int) async throws {
        try await withSandbox(.init(accessTokenLifetime: configured)) { sandbox in
            for service in [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard] {
                let steps = try OAuthSteps(sandbox, service)
                let answer = try await steps.redeem(try await steps.code())
                // Not only expected: at the last service an overflow would end this process.
                try #require(answer.number("expires_in") == expected || answer.string("expires_in") == "\(expected)")
            }
        }
    }

    @Test("another process injects and clears faults, reads the log and moves the clock")
    func controlRoutes() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            let rules = "/jwks => status 500\n\n  /userinfo => status 501 x1\r\n"
            #expect(try await steps.control("POST", "/faults", rules).status == 204)
            #expect(try await steps.wire.send("GET", "/jwks").status == 500)
            #expect(try await steps.wire.send("GET", "/userinfo").status == 501)
            let bad = try await steps.control("POST", "/faults", "/api/whoami => status 500\n/x => explode")
            #expect(bad.status == 400)
            #expect(bad.text.contains("explode"))
            #expect(try await steps.get("/api/whoami", bearer: tokens.access).status == 200)
            #expect(try await steps.control("DELETE", "/faults").status == 204)
            #expect(try await steps.wire.send("GET", "/jwks").status == 200)
            let log = try await steps.control("GET", "/requests").text.split(separator: "\n")
            #expect(log.count == 5)
            #expect(log.first?.contains(#""path":"/token""#) == true)
            #expect(try await steps.control("DELETE", "/requests").status == 204)
            #expect(sandbox.requests().isEmpty)
            #expect(try await steps.control("POST", "/clock", "3601\n").status == 204)
            #expect(try await steps.get("/api/whoami", bearer: tokens.access).status == 401)
            for body in ["", "-1", "soon", "inf", "nan"] {
                #expect(try await steps.control("POST", "/clock", body).status == 400)
            }
            #expect(try await steps.control("GET", "/nothing").status == 404)
            #expect(try await steps.control("PUT", "/faults").status == 405)
        }
    }

    @Test("unknown paths and wrong methods are answered as each service would")
    func unknownRoutes() async throws {
        try await withSandbox { sandbox in
            let expected: [(SandboxService, String, String, Int)] = [
                (sandbox.sequencing, "GET", "/nothing", 404), (sandbox.recurseCenter, "GET", "/nothing", 404),
                (sandbox.standard, "GET", "/nothing", 404), (sandbox.standard, "GET", "/token", 405),
                (sandbox.recurseCenter, "PUT", "/api/v1/people/me", 404), (sandbox.standard, "HEAD", "/", 200),
            ]
            for (service, method, path, status) in expected {
                let answer = try await WireClient(origin: service.origin).send(method, path)
                #expect(answer.status == status)
            }
        }
    }
}
