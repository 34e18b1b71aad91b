import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Clients that register themselves", .heavy)
struct RegistrationTests {
    private static let json = ["Content-Type": "application/json"]

    private static func body(_ changes: [String: (any Sendable)?] = [:]) throws -> String {
        var members: [String: (any Sendable)?] = [
            "redirect_uris": [OAuthSteps.redirect], "application_type": "native", "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"], "client_name": "Mine",
        ]
        for (name, value) in changes { members[name] = value }
        let data = try JSONSerialization.data(withJSONObject: members.compactMapValues { $0 } as [String: Any])
        return String(decoding: data, as: UTF8.self)
    }

    /// The query of an authorization request of a registered client.
    private static func target(_ client: String, _ changes: [String: String] = [:]) -> String {
        let usual = [
            "response_type": "code", "client_id": client, "redirect_uri": OAuthSteps.redirect, "state": "s",
            "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256", "scope": "api",
        ]
        return "/authorize?" + OAuthSteps.form(usual.merging(changes) { $1 })
    }

    @Test("a registered client signs in at the port that it registered and at no other, and refreshes")
    func signIn() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let answer = try await wire.send("POST", "/register", headers: Self.json, body: try Self.body())
            #expect(answer.status == 201)
            #expect(answer.string("client_secret") == nil)
            #expect(answer.string("client_name") == "Mine")
            let client = try #require(answer.string("client_id"))
            let redirect = try await sandbox.approve(sandbox.standard.origin + Self.target(client))
            let form = [
                "grant_type": "authorization_code", "code": OAuthSteps.parameter("code", of: redirect) ?? "",
                "redirect_uri": OAuthSteps.redirect, "code_verifier": OAuthSteps.verifier, "client_id": client,
            ]
            let type = ["Content-Type": "application/x-www-form-urlencoded"]
            let tokens = try await wire.send("POST", "/token", headers: type, body: OAuthSteps.form(form))
            #expect(tokens.status == 200)
            #expect(tokens.string("refresh_token") != nil)
            await #expect(throws: SandboxError.self) {
                let other = Self.target(client, ["redirect_uri": "http://127.0.0.1:49153/callback"])
                _ = try await sandbox.approve(sandbox.standard.origin + other)
            }
            sandbox.purgeClients()
            let gone = try await wire.send(
                "POST", "/token", headers: type,
                body: OAuthSteps.form([
                    "grant_type": "refresh_token", "refresh_token": tokens.string("refresh_token") ?? "",
                    "client_id": client,
                ]))
            #expect(gone.status == 401 && gone.string("error") == "invalid_client")
        }
    }

    @Test(
        "what cannot be registered is refused with the code of RFC 7591, section 3.2.2",
        arguments: [
            (["redirect_uris": nil], "invalid_redirect_uri"), (["application_type": nil], "invalid_redirect_uri"),
            (["redirect_uris": ["app:/callback"]], "invalid_redirect_uri"),
            (["redirect_uris": "x"], "invalid_client_metadata"),
            (["token_endpoint_auth_method": "tls_client_auth"], "invalid_client_metadata"),
            (["token_endpoint_auth_method": "private_key_jwt"], "invalid_client_metadata"),
            (["grant_types": ["password"]], "invalid_client_metadata"),
            (["response_types": ["token"]], "invalid_client_metadata"),
        ] as [([String: (any Sendable)?], String)])
    func refused(_ changes: [String: (any Sendable)?], _ code: String) async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let answer = try await wire.send("POST", "/register", headers: Self.json, body: try Self.body(changes))
            #expect(answer.status == 400)
            #expect(answer.string("error") == code)
        }
    }

    @Test("a client gets the scopes alone that it has registered, and a secret where it names no method")
    func defaults() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let body = try Self.body(["scope": "api", "token_endpoint_auth_method": nil, "grant_types": nil])
            let answer = try await wire.send("POST", "/register", headers: Self.json, body: body)
            #expect(answer.string("token_endpoint_auth_method") == "client_secret_basic")
            #expect(answer.string("client_secret") != nil && answer.number("client_secret_expires_at") == 0)
            #expect(answer.json["grant_types"] as? [String] == ["authorization_code"])
            let client = try #require(answer.string("client_id"))
            let wider = try await sandbox.approve(
                sandbox.standard.origin + Self.target(client, ["scope": "api email"]))
            #expect(OAuthSteps.parameter("error", of: wider) == "invalid_scope")
        }
    }

    @Test("a registration is read, changed and deleted by its own token, and each change brings another one")
    func management() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            _ = try await wire.send("POST", "/_sandbox/secret-lifetime", body: "100")
            let body = try Self.body(["token_endpoint_auth_method": "client_secret_post"])
            let first = try await wire.send("POST", "/register", headers: Self.json, body: body)
            let client = try #require(first.string("client_id"))
            let address = try #require(first.string("registration_client_uri"))
            #expect(address == "\(sandbox.standard.origin)/register/\(client)")
            func manage(_ method: String, _ token: String?, _ body: String = "") async throws -> WireClient.Answer {
                try await wire.send(
                    method, "/register/\(client)",
                    headers: Self.json.merging(["Authorization": "Bearer \(token ?? "")"]) { $1 }, body: body)
            }
            #expect(try await manage("GET", "x").status == 401)
            let token = first.string("registration_access_token")
            let same = try await manage("GET", token)
            #expect(same.string("client_secret") == first.string("client_secret"))
            sandbox.advanceClock(by: 101)
            let renewed = try await manage("GET", token)
            #expect(renewed.string("client_secret") != first.string("client_secret"))
            let next = renewed.string("registration_access_token")
            #expect(next != token)
            #expect(try await manage("GET", token).status == 401, "the token of before has ended")
            let foreign = try await manage("PUT", next, try Self.body(["client_id": "another"]))
            #expect(foreign.string("error") == "invalid_request")
            let changed = try await manage("PUT", next, try Self.body(["client_id": client, "client_name": "Ours"]))
            #expect(changed.string("client_name") == "Ours" && changed.string("client_secret") == nil)
            let last = changed.string("registration_access_token")
            #expect(try await manage("DELETE", last).status == 204)
            #expect(try await manage("GET", last).status == 401)
        }
    }

    @Test("M503: a lifetime of secrets that no time can hold is refused, and clients go on registering")
    func longestSecret() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let body = try Self.body(["token_endpoint_auth_method": "client_secret_post"])
            for (lifetime, status) in [("\(Int.max)", 400), ("3155760001", 400), ("-1", 400), ("3155760000", 204)] {
                // Not only expected: after a lifetime too long the registration would end this process.
                let answer = try await wire.send("POST", "/_sandbox/secret-lifetime", body: lifetime)
                try #require(answer.status == status, "\(lifetime)")
                let registration = try await wire.send("POST", "/register", headers: Self.json, body: body)
                #expect(registration.status == 201)
            }
        }
    }

    @Test("a client that registered a key authenticates by its signature, and in no other way")
    func key() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let jwks: [String: any Sendable] = ["keys": [["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]]]
            let body = try Self.body([
                "token_endpoint_auth_method": "private_key_jwt", "jwks": jwks, "grant_types": ["client_credentials"],
                "redirect_uris": [String](),
            ])
            let answer = try await wire.send("POST", "/register", headers: Self.json, body: body)
            #expect(answer.status == 201)
            let client = try #require(answer.string("client_id"))
            for form in [["client_id": client], ["client_id": client, "client_secret": "x"]] {
                let type = ["Content-Type": "application/x-www-form-urlencoded"]
                let token = try await wire.send(
                    "POST", "/token", headers: type,
                    body: OAuthSteps.form(form.merging(["grant_type": "client_credentials"]) { $1 }))
                #expect(token.string("error") == "invalid_client")
            }
        }
    }
}
