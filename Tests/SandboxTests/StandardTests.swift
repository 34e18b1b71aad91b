import Crypto
import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The standards-compliant server", .heavy)
struct StandardTests {
    private static let everything = "openid profile email offline_access api"

    @Test("both metadata documents name the issuer and every endpoint, all of which exist")
    func metadata() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let oauth = try await wire.send("GET", "/.well-known/oauth-authorization-server")
            let openID = try await wire.send("GET", "/.well-known/openid-configuration")
            #expect(oauth.text == openID.text)
            #expect(oauth.string("issuer") == sandbox.standard.origin)
            #expect(oauth.number("authorization_response_iss_parameter_supported") == 1)
            #expect(oauth.json["code_challenge_methods_supported"] as? [String] == ["S256"])
            for name in oauth.json.keys where name.hasSuffix("_endpoint") || name == "jwks_uri" {
                let endpoint = try #require(oauth.string(name))
                #expect(endpoint.hasPrefix(sandbox.standard.origin + "/"))
                let answer = try await wire.send("GET", String(endpoint.dropFirst(sandbox.standard.origin.count)))
                #expect(answer.status != 404, "\(name)")
            }
        }
    }

    @Test("the ID token is signed with ES256, its claims fit, and the key set holds a key to skip")
    func idToken() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let code = try await steps.code(["scope": Self.everything, "nonce": "n-1"])
            let answer = try await steps.redeem(code)
            let token = try IDToken(try #require(answer.string("id_token")))
            let keys = try await steps.wire.send("GET", "/jwks")
            #expect(try token.isSigned(by: keys.body))
            #expect(token.header["alg"] as? String == "ES256")
            #expect(token.claims["iss"] as? String == sandbox.standard.origin)
            #expect(token.claims["aud"] as? String == "sandbox-public")
            #expect(token.claims["sub"] as? String == sandbox.standard.users.first?.subject)
            #expect(token.claims["nonce"] as? String == "n-1")
            #expect(token.claims["email"] as? String == "ada@example.test")
            let access = try #require(answer.string("access_token"))
            let half = Data(SHA256.hash(data: Data(access.utf8)).prefix(16)).base64EncodedString()
            #expect(token.claims["at_hash"] as? String == IDToken.urlAlphabet(half))
            let refreshed = try await steps.refresh(try #require(answer.string("refresh_token")))
            let second = try IDToken(try #require(refreshed.string("id_token")))
            #expect(second.claims["nonce"] == nil)
            #expect(second.claims["auth_time"] as? Int == token.claims["auth_time"] as? Int)
        }
    }

    @Test(
        "a refresh token comes with offline_access, or without OpenID",
        arguments: [(nil, true), ("api", true), ("openid", false), ("openid offline_access", true)])
    func offlineAccess(_ scope: String?, _ refreshes: Bool) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let answer = try await steps.redeem(try await steps.code(["scope": scope]))
            #expect((answer.string("refresh_token") != nil) == refreshes)
            #expect(answer["Cache-Control"] == "no-store")
            #expect(answer.number("expires_in") == 3600)
        }
    }

    @Test(
        "authorization errors redirect with iss",
        arguments: [
            (["scope": "api unknown"], "invalid_scope"), (["code_challenge": nil], "invalid_request"),
            (["prompt": "none"], "login_required"), (["response_type": "code id_token"], "unsupported_response_type"),
        ] as [([String: String?], String)], [0, 1])
    func authorizationErrors(_ expected: ([String: String?], String), _ client: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard, client: client)
            let answer = try await steps.wire.send("GET", steps.authorizationTarget(expected.0))
            let location = try #require(answer["Location"])
            #expect(OAuthSteps.parameter("error", of: location) == expected.1)
            #expect(OAuthSteps.parameter("iss", of: location) == sandbox.standard.origin)
        }
    }

    @Test("a doubled parameter is invalid_request, and on a page when the redirect itself is doubled")
    func doubledParameters() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let twice = try await steps.wire.send("GET", steps.authorizationTarget() + "&state=again")
            #expect(twice["Location"].flatMap { OAuthSteps.parameter("error", of: $0) } == "invalid_request")
            let page = try await steps.wire.send("GET", steps.authorizationTarget() + "&redirect_uri=x")
            #expect(page.status == 400)
            let token = try await steps.wire.send(
                "POST", "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "grant_type=refresh_token&grant_type=refresh_token&client_id=sandbox-public")
            #expect(token.string("error") == "invalid_request")
        }
    }

    @Test("Basic is form-decoded, so reserved and non-ASCII characters work only when encoded")
    func basicDecoding() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard, client: 2)
            #expect(try await steps.token(["grant_type": "client_credentials"]).status == 200)
            let raw = OAuthSteps.basic(steps.client.id, steps.client.secret ?? "")
            let answer = try await steps.post(
                "/token", ["grant_type": "client_credentials"], headers: ["Authorization": raw])
            #expect(answer.status == 401)
            #expect(answer["WWW-Authenticate"]?.hasPrefix("Basic") == true)
            let body = ["client_id": steps.client.id, "client_secret": steps.client.secret ?? ""]
            let post = try await steps.post("/token", body.merging(["grant_type": "client_credentials"]) { $1 })
            #expect(post.status == 200)
            #expect(post.string("refresh_token") == nil)
        }
    }

    @Test(
        "token requests that break a rule get the error of that rule",
        arguments: [
            (["grant_type": "client_credentials", "client_id": "sandbox-public"], "", 400, "unauthorized_client"),
            (["grant_type": "client_credentials", "client_secret": "x"], "sandbox-service", 400, "invalid_request"),
            (["grant_type": "client_credentials", "client_id": "other"], "sandbox-service", 400, "invalid_request"),
            (["grant_type": "client_credentials", "scope": "openid"], "sandbox-service", 400, "invalid_scope"),
            (["grant_type": "client_credentials", "scope": "nothing"], "sandbox-service", 400, "invalid_scope"),
            (["grant_type": "refresh_token", "refresh_token": "x"], "sandbox-service", 400, "unauthorized_client"),
            (["grant_type": "password"], "sandbox-service", 400, "unsupported_grant_type"),
            (
                ["grant_type": "client_credentials", "client_id": "sandbox-public", "client_secret": "x"], "", 401,
                "invalid_client"
            ),
            (["grant_type": "client_credentials"], "", 401, "invalid_client"),
        ])
    func tokenErrors(_ form: [String: String], _ basic: String, _ status: Int, _ error: String) async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let headers = basic.isEmpty ? [:] : ["Authorization": OAuthSteps.basic(basic, basic + "-secret")]
            let answer = try await steps.post("/token", form, headers: headers)
            #expect(answer.status == status)
            #expect(answer.string("error") == error)
        }
    }

    @Test("reuse of a refresh token or a code ends everything that came from that sign-in")
    func reuse() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let bystander = try await steps.signIn()
            let tokens = try await steps.signIn()
            let next = try await steps.refresh(tokens.refresh)
            let access = try #require(next.string("access_token"))
            #expect(try await steps.get("/api/whoami", bearer: access).status == 200)
            #expect(try await steps.refresh(tokens.refresh).string("error") == "invalid_grant")
            #expect(try await steps.get("/api/whoami", bearer: access).status == 401)
            #expect(try await steps.refresh(try #require(next.string("refresh_token"))).status == 400)
            let code = try await steps.code()
            let fromCode = try #require(try await steps.redeem(code).string("access_token"))
            #expect(try await steps.redeem(code).string("error") == "invalid_grant")
            #expect(try await steps.get("/api/whoami", bearer: fromCode).status == 401)
            #expect(try await steps.get("/api/whoami", bearer: bystander.access).status == 200)
        }
    }

    @Test("a refresh may narrow the scope of its access token but not widen it")
    func narrowing() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn(["scope": "openid offline_access api"])
            func refresh(_ token: String, _ scope: String) async throws -> WireClient.Answer {
                try await steps.token(["grant_type": "refresh_token", "refresh_token": token, "scope": scope])
            }
            #expect(try await refresh(tokens.refresh, "openid email").string("error") == "invalid_scope")
            let narrow = try await refresh(tokens.refresh, "openid")
            #expect(narrow.string("scope") == "openid")
            let next = try #require(narrow.string("refresh_token"))
            #expect(try await steps.refresh(next).string("scope") == "openid offline_access api")
        }
    }

    @Test("introspection needs a client with a secret and says active: false of everything that is not alive")
    func introspection() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            let basic = ["Authorization": OAuthSteps.basic("sandbox-confidential", "sandbox-confidential-secret")]
            let access = try await steps.post("/introspect", ["token": tokens.access], headers: basic)
            #expect(access.number("active") == 1)
            #expect(access.string("client_id") == "sandbox-public")
            #expect(access.string("username") == "ada@example.test")
            #expect((access.number("exp") ?? 0) - (access.number("iat") ?? 0) == 3600)
            let refresh = try await steps.post("/introspect", ["token": tokens.refresh], headers: basic)
            #expect(refresh.number("active") == 1)
            #expect(try await steps.post("/introspect", ["token": "x"], headers: basic).text == #"{"active":false}"#)
            #expect(try await steps.post("/introspect", ["token": "x"]).status == 401)
            let open = try await steps.post("/introspect", ["token": "x", "client_id": "sandbox-public"])
            #expect(open.status == 401)
        }
    }

    @Test("revoking an access token ends it alone, revoking a refresh token ends the family")
    func revocation() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let tokens = try await steps.signIn()
            let client = ["client_id": "sandbox-public"]
            func revoke(_ token: String) async throws -> Int {
                try await steps.post("/revoke", client.merging(["token": token]) { $1 }).status
            }
            #expect(try await revoke(tokens.access) == 200)
            #expect(try await steps.get("/api/whoami", bearer: tokens.access).status == 401)
            let next = try await steps.refresh(tokens.refresh)
            let access = try #require(next.string("access_token"))
            #expect(try await revoke(try #require(next.string("refresh_token"))) == 200)
            #expect(try await steps.get("/api/whoami", bearer: access).status == 401)
            #expect(try await revoke("unknown") == 200)
            #expect(try await steps.post("/revoke", client).string("error") == "invalid_request")
        }
    }
}

/// A compact JWS, taken apart and checked by the test itself.
struct IDToken {
    let header: [String: Any]
    let claims: [String: Any]
    private let input: Data
    private let signature: Data

    init(_ text: String) throws {
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        header = try Self.object(try #require(Self.decoded(parts[0])))
        claims = try Self.object(try #require(Self.decoded(parts[1])))
        input = Data("\(parts[0]).\(parts[1])".utf8)
        signature = try #require(Self.decoded(parts[2]))
    }

    /// Whether one of the set's EC keys with the token's `kid` made the signature; the set must hold a stranger too.
    func isSigned(by keySet: [UInt8]) throws -> Bool {
        let keys = try #require(try Self.object(Data(keySet))["keys"] as? [[String: String]])
        #expect(keys.contains { $0["kty"] != "EC" })
        let key = try #require(keys.first { $0["kid"] == header["kid"] as? String })
        let x = try #require(Self.decoded(key["x"] ?? ""))
        let y = try #require(Self.decoded(key["y"] ?? ""))
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: x + y)
        return publicKey.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: input)
    }

    static func urlAlphabet(_ base64: String) -> String {
        base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func decoded(_ text: String) -> Data? {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
    }

    private static func object(_ data: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}
