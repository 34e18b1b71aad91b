import Crypto
import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Signed requests and responses of the standards-compliant server", .heavy)
struct SignedAuthorizationTests {
    private static let client = "sandbox-signing"

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func decoded(_ text: some StringProtocol) -> Data? {
        let plain = String(text).replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    private static func members(_ answer: WireClient.Answer) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] ?? [:]
    }

    /// Signs claims as the client does; a nil change leaves a member out.
    private static func object(
        _ sandbox: Sandbox, claims changes: [String: Any?] = [:], header more: [String: Any?] = [:],
        by other: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let registered = try #require(sandbox.standard.clients.first { $0.id == client })
        let jwk = try #require(
            try JSONSerialization.jsonObject(with: Data((registered.privateKey ?? "").utf8)) as? [String: String])
        let secret = try #require(decoded(jwk["d"] ?? ""))
        let key = try other ?? P256.Signing.PrivateKey(rawRepresentation: secret)
        let now = heldTime
        var claims: [String: Any?] = [
            "iss": client, "client_id": client, "aud": sandbox.standard.origin, "iat": now, "nbf": now,
            "exp": now + 300, "jti": UUID().uuidString, "response_type": "code", "redirect_uri": OAuthSteps.redirect,
            "state": "s-1", "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256", "scope": "api",
        ]
        claims.merge(changes) { $1 }
        var header: [String: Any?] = ["alg": "ES256", "kid": jwk["kid"], "typ": "oauth-authz-req+jwt"]
        header.merge(more) { $1 }
        let text =
            try encoded(JSONSerialization.data(withJSONObject: header.compactMapValues { $0 })) + "."
            + encoded(JSONSerialization.data(withJSONObject: claims.compactMapValues { $0 }))
        return text + "." + encoded(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func url(_ sandbox: Sandbox, _ parameters: [String: String]) -> String {
        sandbox.standard.origin + "/authorize?" + OAuthSteps.form(["client_id": client].merging(parameters) { $1 })
    }

    @Test("a signed request is answered, and what stands beside it counts for nothing")
    func signed() async throws {
        try await withHeldSandbox { sandbox in
            let object = try Self.object(
                sandbox,
                claims: [
                    "max_age": 600, "resource": ["https://a.example", "urn:b"], "claims": ["userinfo": [String: Any]()],
                ])
            let redirect = try await sandbox.approve(
                Self.url(sandbox, ["request": object, "state": "other", "redirect_uri": "https://evil.example/"]))
            #expect(redirect.hasPrefix(OAuthSteps.redirect))
            #expect(OAuthSteps.parameter("state", of: redirect) == "s-1")
            await #expect(throws: SandboxError.self) {
                try await sandbox.approve(
                    Self.url(
                        sandbox,
                        [
                            "response_type": "code", "redirect_uri": OAuthSteps.redirect,
                            "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256",
                        ]))
            }
        }
    }

    @Test("a request object that breaks a rule of RFC 9101 is refused on a page, and its redirect is not trusted")
    func rules() async throws {
        try await withHeldSandbox { sandbox in
            let now = heldTime
            let wrong: [(String, [String: Any?], [String: Any?])] = [
                ("audience", ["aud": "https://other.example"], [:]),
                ("audiences", ["aud": [sandbox.standard.origin]], [:]),
                ("issuer", ["iss": "sandbox-key"], [:]), ("client", ["client_id": "sandbox-key"], [:]),
                ("subject", ["sub": Self.client], [:]), ("request", ["request": "x"], [:]),
                ("request_uri", ["request_uri": "urn:x"], [:]), ("expired", ["nbf": now - 120, "exp": now - 60], [:]),
                ("no expiry", ["exp": nil], [:]), ("no start", ["nbf": nil], [:]),
                ("too long", ["exp": now + 4_000], [:]),
                ("future", ["nbf": now + 60], [:]), ("old", ["nbf": now - 4_000, "exp": now + 10], [:]),
                ("no jti", ["jti": nil], [:]), ("max_age", ["max_age": "600"], [:]), ("claims", ["claims": "{}"], [:]),
                ("a list", ["scope": ["api"]], [:]), ("typ", [:], ["typ": "JWT"]), ("no typ", [:], ["typ": nil]),
                ("none", [:], ["alg": "none"]), ("HS256", [:], ["alg": "HS256"]), ("kid", [:], ["kid": "other"]),
                ("crit", [:], ["crit": ["x"]]),
            ]
            for (name, claims, header) in wrong {
                let object = try Self.object(sandbox, claims: claims, header: header)
                await #expect(throws: SandboxError.self, "\(name)") {
                    try await sandbox.approve(Self.url(sandbox, ["request": object]))
                }
            }
            for text in [try Self.object(sandbox, by: P256.Signing.PrivateKey()), "a.b", "a.b.c", ".."] {
                await #expect(throws: SandboxError.self) {
                    try await sandbox.approve(Self.url(sandbox, ["request": text]))
                }
            }
        }
    }

    @Test("a signed response holds all parameters, for codes and for errors, and is signed by a published key")
    func response() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let keys = try Self.members(try await steps.wire.send("GET", "/jwks"))["keys"] as? [[String: String]]
            let jwk = try #require(keys?.last)
            let point = ["x", "y"].flatMap { Array(Self.decoded(jwk[$0] ?? "") ?? Data()) }
            let key = try P256.Signing.PublicKey(rawRepresentation: point)
            for mode in ["jwt", "query.jwt"] {
                let url = steps.service.origin + steps.authorizationTarget(["response_mode": mode])
                for redirect in [try await sandbox.approve(url), try await sandbox.refuse(url)] {
                    let text = try #require(OAuthSteps.parameter("response", of: redirect))
                    #expect(OAuthSteps.parameter("state", of: redirect) == nil)
                    let parts = text.split(separator: ".")
                    let signed = try #require(Self.decoded(parts[2]))
                    let signature = try P256.Signing.ECDSASignature(rawRepresentation: signed)
                    #expect(key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
                    let bytes = try #require(Self.decoded(parts[1]))
                    let claims = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
                    #expect(claims["iss"] as? String == sandbox.standard.origin)
                    #expect(claims["aud"] as? String == steps.client.id)
                    #expect(claims["state"] as? String == "s-1")
                    #expect((claims["code"] == nil) == (claims["error"] as? String == "access_denied"))
                }
            }
            let unknown = try await steps.redirect(["response_mode": "web_message"])
            #expect(OAuthSteps.parameter("error", of: unknown) == "invalid_request")
        }
    }

    @Test("what was asked for in detail comes back as it was granted, and unknown types are refused")
    func details() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let asked = #"[{"type":"account_information","actions":["read","delete"]}]"#
            let redirect = try await steps.redirect(["authorization_details": asked])
            let answer = try await steps.redeem(try #require(OAuthSteps.parameter("code", of: redirect)))
            let granted = try #require(try Self.members(answer)["authorization_details"] as? [[String: Any]])
            #expect(granted.count == 1)
            #expect(granted[0]["actions"] as? [String] == ["read"])
            #expect(granted[0]["sandbox_id"] as? String == "detail-1")
            for text in ["{}", "[]", "[1]", #"[{"type":"teleportation"}]"#, "["] {
                let refused = try await steps.redirect(["authorization_details": text])
                #expect(OAuthSteps.parameter("error", of: refused) == "invalid_authorization_details", "\(text)")
            }
        }
    }
}

@Suite("Misbehaving signed texts of the standards-compliant server", .heavy)
struct SpoiledTextTests {
    private static func parts(_ token: String) throws -> (header: String, claims: String, signature: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        func text(_ part: String) -> String {
            let plain = part.replacing("-", with: "+").replacing("_", with: "/")
            return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
                .map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        return (text(parts[0]), text(parts[1]), parts[2])
    }

    private static func idToken(_ sandbox: Sandbox) async throws -> String {
        let steps = try OAuthSteps(sandbox, sandbox.standard)
        let redirect = try await steps.redirect(["scope": "openid api", "nonce": "n-1"])
        let answer = try await steps.redeem(try #require(OAuthSteps.parameter("code", of: redirect)))
        return try #require(answer.string("id_token"))
    }

    @Test(
        "an ID token is changed as the rule says, and the next one is whole again",
        arguments: [
            ("claim nonce wrong", #""nonce":"wrong""#), ("claim nonce x2", #""nonce":"n-1","nonce":"n-1""#),
            ("claim extra {\"a\":[1]}", #""extra":{"a":[1]}"#), ("claim exp 1", #""exp":1,"#),
            ("header typ at+jwt", #""typ":"at+jwt""#), ("header kid -", #"{"alg":"ES256","typ":"JWT"}"#),
            ("sign none", #"{"alg":"none","typ":"JWT"}"#), ("sign HS256", #""alg":"HS256""#),
            ("sign RS256", #""kid":"sandbox-rsa-1""#), ("sign PS256", #""alg":"PS256""#),
            ("sign EdDSA", #""alg":"EdDSA""#), ("sign ES384", #""alg":"ES384""#),
            ("sign unknown", #""kid":"sandbox-unpublished-1""#), ("sign other", #""kid":"sandbox-es256-1""#),
        ])
    func changed(_ change: String, _ found: String) async throws {
        try await withHeldSandbox { sandbox in
            sandbox.inject(try FaultRule(parsing: "standard POST /token => id_token \(change) x1"))
            let token = try Self.parts(try await Self.idToken(sandbox))
            #expect((token.header + token.claims).contains(found), "\(token.header) \(token.claims)")
            #expect(token.signature.isEmpty == (change == "sign none"))
            let whole = try Self.parts(try await Self.idToken(sandbox))
            #expect(!(whole.header + whole.claims).contains(found) || change == "sign other")
        }
    }

    @Test("a claim can be left out, times can be late, and other texts of the answer stay as they are")
    func leftOut() async throws {
        try await withHeldSandbox { sandbox in
            sandbox.inject(try FaultRule(parsing: "id-token:no-nonce"))
            sandbox.inject(try FaultRule(parsing: "/token => id_token late 100000"))
            sandbox.inject(try FaultRule(parsing: "/token => userinfo claim sub other"))
            let token = try Self.parts(try await Self.idToken(sandbox))
            #expect(!token.claims.contains("nonce"))
            #expect(token.claims.contains(#""sub":"248289761001""#))
            let issuedAt = try #require(token.claims.firstMatch(of: /"iat":([0-9]+)/).flatMap { Double($0.1) })
            #expect(abs(Double(heldTime) - 100_000 - issuedAt) < 1_000)
        }
    }

    @Test("the logout token of the control route and of the function has the faults of its name, and no others")
    func logoutToken() async throws {
        try await withHeldSandbox { sandbox in
            sandbox.inject(try FaultRule(parsing: "logout-token:no-event x1"))
            sandbox.inject(try FaultRule(parsing: "* => status 503"))
            let client = sandbox.standard.clients[0].id
            #expect(!(try Self.parts(sandbox.logoutToken(for: client, subject: "1")).claims.contains("events")))
            #expect(try Self.parts(sandbox.logoutToken(for: client, subject: "1")).claims.contains("events"))
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let wire = steps.wire
            let added = try await wire.send("POST", "/_sandbox/faults", body: "logout-token:id-token\n")
            #expect(added.status == 204)
            let answer = try await wire.send(
                "POST", "/_sandbox/logout-token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "client_id=\(client)&sub=1")
            let token = try Self.parts(answer.text)
            #expect(token.header.contains(#""typ":"JWT""#))
            #expect(token.claims.contains(#""nonce":"n-1""#) && !token.claims.contains("events"))
        }
    }

    @Test("the console lists the named faults, and refuses a name that there is not")
    func console() async throws {
        try await withHeldSandbox { sandbox in
            let wire = try OAuthSteps(sandbox, sandbox.standard).wire
            let list = try await wire.send("GET", "/_sandbox/faults")
            for fault in NamedFault.all { #expect(list.text.contains("\"\(fault.name)\"")) }
            let refused = try await wire.send("POST", "/_sandbox/faults", body: "id-token:nonsense")
            #expect(refused.status == 400 && refused.text.contains("--faults"))
        }
    }

    @Test("the key that signs rotates, the one before stays published, and its ID tokens stay hints")
    func rotation() async throws {
        try await withHeldSandbox { sandbox in
            let wire = try OAuthSteps(sandbox, sandbox.standard).wire
            let old = try await Self.idToken(sandbox)
            sandbox.rotateSigningKeys()
            let names = try await wire.send("GET", "/jwks").text
            #expect(names.contains("sandbox-es256-1") && names.contains("sandbox-es256-2"))
            #expect(try Self.parts(try await Self.idToken(sandbox)).header.contains("sandbox-es256-2"))
            #expect(try await wire.send("POST", "/_sandbox/rotate-keys").status == 204)
            let later = try await wire.send("GET", "/jwks").text
            #expect(!later.contains("sandbox-es256-1") && later.contains("sandbox-es256-3"))
            #expect(try await wire.send("GET", "/end_session?id_token_hint=\(old)").status == 200)
        }
    }
}
