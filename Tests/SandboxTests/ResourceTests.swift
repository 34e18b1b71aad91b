import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("APIs that name their server, and issuers with a path", .heavy)
struct ResourceTests {
    private static let initialize =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#

    /// A token of the public client for an API.
    private static func token(_ sandbox: Sandbox, for resource: String?, scope: String = "api") async throws -> String {
        let steps = try OAuthSteps(sandbox, sandbox.standard)
        var changes: [String: String?] = ["scope": scope]
        changes["resource"] = resource
        return try await steps.signIn(changes).access
    }

    private static func call(
        _ sandbox: Sandbox, _ path: String, _ token: String?, _ body: String = initialize
    ) async throws -> WireClient.Answer {
        let wire = try WireClient(origin: sandbox.resources.origin)
        var headers = ["Content-Type": "application/json"]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        return try await wire.send("POST", path, headers: headers, body: body)
    }

    @Test("a refusal announces the API's document, which names the server; a quiet one announces nothing")
    func announced() async throws {
        try await withSandbox { sandbox in
            let origin = sandbox.resources.origin
            let wire = try WireClient(origin: origin)
            let refused = try await wire.send("GET", "/mcp")
            #expect(refused.status == 401)
            let challenge = try #require(refused["WWW-Authenticate"])
            let address = origin + "/.well-known/oauth-protected-resource/mcp"
            #expect(challenge.contains("resource_metadata=\"\(address)\"") && challenge.contains("scope=\"api\""))
            let document = try await wire.send("GET", "/.well-known/oauth-protected-resource/mcp")
            #expect(document.string("resource") == origin + "/mcp")
            #expect(document.json["authorization_servers"] as? [String] == [sandbox.standard.origin])
            let quiet = try await wire.send("GET", "/quiet/mcp")
            #expect(quiet.status == 401)
            #expect(quiet["WWW-Authenticate"]?.contains("resource_metadata") == false)
            let root = try await wire.send("GET", "/.well-known/oauth-protected-resource")
            #expect(root.string("resource") == origin)
            #expect(try await wire.send("GET", "/.well-known/oauth-protected-resource/root/mcp").status == 404)
        }
    }

    @Test("a token counts at the API alone that it was asked for, and not at the server's own APIs")
    func audience() async throws {
        try await withSandbox { sandbox in
            let origin = sandbox.resources.origin
            let token = try await Self.token(sandbox, for: origin + "/mcp")
            #expect(try await Self.call(sandbox, "/mcp", token).status == 200)
            #expect(try await Self.call(sandbox, "/quiet/mcp", token).status == 401)
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            #expect(try await steps.get("/api/whoami", bearer: token).status == 401)
            let free = try await Self.token(sandbox, for: nil)
            #expect(try await Self.call(sandbox, "/mcp", free).status == 401)
            let ignored = try await Self.token(sandbox, for: "https://unknown.example.test/")
            #expect(try await steps.get("/api/whoami", bearer: ignored).status == 200)
            let refused = try await steps.redirect(["resource": "urn:sandbox:refused"])
            #expect(OAuthSteps.parameter("error", of: refused) == "invalid_target")
        }
    }

    @Test("a token request names some of the APIs of its grant, and no other")
    func narrowed() async throws {
        try await withSandbox { sandbox in
            let origin = sandbox.resources.origin
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let target =
                steps.authorizationTarget(["resource": origin + "/mcp"]) + "&resource="
                + OAuthSteps.encoded(origin + "/quiet/mcp")
            let redirect = try await sandbox.approve(sandbox.standard.origin + target)
            var form = [
                "grant_type": "authorization_code", "code": OAuthSteps.parameter("code", of: redirect) ?? "",
                "redirect_uri": OAuthSteps.redirect, "code_verifier": OAuthSteps.verifier,
                "resource": origin + "/above",
            ]
            #expect(try await steps.token(form).string("error") == "invalid_target")
            form["resource"] = origin + "/quiet/mcp"
            let tokens = try await steps.token(form)
            let access = try #require(tokens.string("access_token"))
            #expect(try await Self.call(sandbox, "/quiet/mcp", access).status == 200)
            #expect(try await Self.call(sandbox, "/mcp", access).status == 401)
            let refreshed = try await steps.token([
                "grant_type": "refresh_token", "refresh_token": tokens.string("refresh_token") ?? "",
                "resource": origin + "/mcp",
            ])
            let other = try #require(refreshed.string("access_token"))
            #expect(try await Self.call(sandbox, "/mcp", other).status == 200)
        }
    }

    @Test("the MCP server speaks enough of its protocol to call a tool, and demands a scope for one of them")
    func protocolSteps() async throws {
        try await withSandbox { sandbox in
            let token = try await Self.token(sandbox, for: sandbox.resources.origin + "/mcp")
            let begun = try await Self.call(sandbox, "/mcp", token)
            #expect(begun.text.contains(#""protocolVersion":"2025-06-18""#))
            let noted = try await Self.call(
                sandbox, "/mcp", token, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            #expect(noted.status == 202)
            let listed = try await Self.call(sandbox, "/mcp", token, #"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)
            #expect(listed.text.contains(#""name":"whoami""#) && listed.text.contains(#""name":"email""#))
            func tool(_ name: String, _ token: String) async throws -> WireClient.Answer {
                try await Self.call(
                    sandbox, "/mcp", token,
                    #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\#(name)"}}"#)
            }
            #expect(try await tool("whoami", token).text.contains("Ada Example"))
            let refused = try await tool("email", token)
            #expect(refused.status == 403)
            #expect(refused["WWW-Authenticate"]?.contains(#"error="insufficient_scope""#) == true)
            #expect(refused["WWW-Authenticate"]?.contains(#"scope="email""#) == true)
            let wider = try await Self.token(sandbox, for: sandbox.resources.origin + "/mcp", scope: "api email")
            #expect(try await tool("email", wider).text.contains("ada@example.test"))
            #expect(try await Self.call(sandbox, "/mcp", token, "{").status == 400)
            let unknown = try await Self.call(sandbox, "/mcp", token, #"{"jsonrpc":"2.0","id":4,"method":"x"}"#)
            #expect(unknown.text.contains("-32601"))
            let wire = try WireClient(origin: sandbox.resources.origin)
            #expect(try await wire.send("GET", "/mcp", headers: ["Authorization": "Bearer \(token)"]).status == 405)
        }
    }

    @Test(
        "each issuer with a path has its metadata where its kind has them, and nowhere else",
        arguments: [
            ("/tenant1", "/tenant1", [true, true, true]), ("/tenant2", "/tenant2/", [false, false, true]),
            ("/tenant3", "/tenant3", [false, true, false]), ("/tenant4", "/tenant4", [true, false, false]),
        ])
    func metadata(_ prefix: String, _ issuer: String, _ found: [Bool]) async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let places = [
                "/.well-known/oauth-authorization-server" + prefix, "/.well-known/openid-configuration" + prefix,
                prefix + "/.well-known/openid-configuration",
            ]
            for (place, isFound) in zip(places, found) {
                let answer = try await wire.send("GET", place)
                #expect(answer.status == (isFound ? 200 : 404), "\(place)")
                guard isFound else { continue }
                #expect(answer.string("issuer") == sandbox.standard.origin + issuer)
                let names = answer.json.keys.filter { $0.hasSuffix("_endpoint") || $0 == "jwks_uri" }
                #expect(names.contains("token_endpoint") && names.contains("jwks_uri"))
                for name in names {
                    let endpoint = try #require(answer.string(name))
                    #expect(endpoint.hasPrefix(sandbox.standard.origin + prefix + "/"))
                    let path = String(endpoint.dropFirst(sandbox.standard.origin.count))
                    #expect(try await wire.send("GET", path).status != 404, "\(name)")
                }
            }
        }
    }

    @Test("a tenant's pages sign a user in, and its tokens and keys are its own")
    func tenant() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let target = steps.authorizationTarget(["scope": "openid"], path: "/tenant2/authorize")
            let page = try await steps.wire.send("GET", target)
            #expect(page.status == 200 && page.text.contains("action=\"/tenant2/authorize?"))
            let redirect = try await sandbox.approve(sandbox.standard.origin + target)
            #expect(OAuthSteps.parameter("iss", of: redirect) == sandbox.standard.origin + "/tenant2/")
            let form = [
                "grant_type": "authorization_code", "code": OAuthSteps.parameter("code", of: redirect) ?? "",
                "redirect_uri": OAuthSteps.redirect, "code_verifier": OAuthSteps.verifier,
            ]
            #expect(try await steps.token(form, path: "/token").string("error") == "invalid_grant")
            let tokens = try await steps.token(form, path: "/tenant2/token")
            let token = try IDToken(try #require(tokens.string("id_token")))
            #expect(token.claims["iss"] as? String == sandbox.standard.origin + "/tenant2/")
            #expect(try token.isSigned(by: try await steps.wire.send("GET", "/tenant2/jwks").body))
            #expect(try token.isSigned(by: try await steps.wire.send("GET", "/jwks").body) == false)
        }
    }

    @Test("the neighbour names another issuer in its responses")
    func neighbour() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let redirect = try await sandbox.approve(
                sandbox.standard.origin + steps.authorizationTarget(path: "/neighbour/authorize"))
            #expect(OAuthSteps.parameter("iss", of: redirect) == sandbox.standard.origin)
        }
    }
}
