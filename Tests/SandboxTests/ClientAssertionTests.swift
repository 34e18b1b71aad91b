import Crypto
import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Assertions and pushed requests at the standards-compliant server", .heavy)
struct ClientAssertionTests {
    /// Signs claims as the sandbox's client with a key does; a nil change leaves a member out.
    private static func assertion(
        _ sandbox: Sandbox, claims changes: [String: Any?] = [:], header more: [String: Any?] = [:],
        by other: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let client = try #require(sandbox.standard.clients.first { $0.privateKey != nil })
        let jwk = try #require(
            try JSONSerialization.jsonObject(with: Data((client.privateKey ?? "").utf8)) as? [String: String])
        let key = try other ?? P256.Signing.PrivateKey(rawRepresentation: try #require(decoded(jwk["d"] ?? "")))
        let now = heldTime
        var claims: [String: Any?] = [
            "iss": client.id, "sub": client.id, "aud": sandbox.standard.origin, "iat": now, "exp": now + 60,
            "jti": UUID().uuidString,
        ]
        claims.merge(changes) { $1 }
        var header: [String: Any?] = ["alg": "ES256", "kid": jwk["kid"], "typ": "client-authentication+jwt"]
        header.merge(more) { $1 }
        let text =
            try encoded(JSONSerialization.data(withJSONObject: header.compactMapValues { $0 })) + "."
            + encoded(JSONSerialization.data(withJSONObject: claims.compactMapValues { $0 }))
        return text + "." + encoded(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func decoded(_ text: String) -> Data? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    private static func form(_ assertion: String) -> [String: String] {
        [
            "grant_type": "client_credentials", "client_assertion": assertion,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ]
    }

    @Test("an assertion counts once")
    func replay() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let form = Self.form(try Self.assertion(sandbox))
            #expect(try await steps.post("/token", form).status == 200)
            let again = try await steps.post("/token", form)
            #expect(again.status == 401)
            #expect(again.string("error") == "invalid_client")
        }
    }

    @Test("an assertion that breaks a rule of RFC 7523 is refused")
    func rules() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let now = heldTime
            let wrong: [(String, [String: Any?], [String: Any?])] = [
                ("audience", ["aud": sandbox.standard.origin + "/token"], [:]),
                ("audiences", ["aud": [sandbox.standard.origin]], [:]), ("no audience", ["aud": nil], [:]),
                ("issuer", ["iss": "sandbox-service"], [:]), ("subject", ["sub": "sandbox-service"], [:]),
                ("expired", ["iat": now - 120, "exp": now - 60], [:]), ("no expiry", ["exp": nil], [:]),
                ("future", ["iat": now + 60, "exp": now + 90], [:]), ("too long", ["exp": now + 4000], [:]),
                ("huge", ["iat": -1, "exp": Int.max], [:]), ("no jti", ["jti": nil], [:]), ("jti", ["jti": "1"], [:]),
                ("none", [:], ["alg": "none"]), ("HS256", [:], ["alg": "HS256"]), ("kid", [:], ["kid": "other"]),
                ("typ", [:], ["typ": "dpop+jwt"]), ("crit", [:], ["crit": ["x"]]),
            ]
            for (name, claims, header) in wrong {
                let form = Self.form(try Self.assertion(sandbox, claims: claims, header: header))
                #expect(try await steps.post("/token", form).string("error") == "invalid_client", "\(name)")
            }
            let foreign = Self.form(try Self.assertion(sandbox, by: P256.Signing.PrivateKey()))
            #expect(try await steps.post("/token", foreign).string("error") == "invalid_client")
            for text in ["", "a.b", "a.b.c", "..", String(repeating: "a.", count: 40_000)] {
                #expect(try await steps.post("/token", Self.form(text)).status != 200)
            }
        }
    }

    @Test(
        "M301: an assertion is for what its client's server takes, as one string, and for nothing else",
        arguments: [
            ("sandbox-key", [""]), ("sandbox-key-token-endpoint", ["/token"]), ("sandbox-key-endpoint", ["/revoke"]),
            ("sandbox-key-either", ["", "/token", "/revoke"]),
        ])
    func audiences(_ id: String, _ paths: [String]) async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let origin = sandbox.standard.origin
            let own = ["", "/token", "/revoke"].map { origin + $0 }
            let foreign = [origin + "/par", origin + "/", sandbox.resources.origin, "https://third.example/token"]
            var audiences = (own + foreign).map { $0 as Any? }
            audiences += [own, [own[0]], nil] as [Any?]
            let taken = paths.map { origin + $0 }
            for audience in audiences {
                let assertion = try Self.assertion(sandbox, claims: ["iss": id, "sub": id, "aud": audience])
                var form = Self.form(assertion)
                form["token"] = "unknown"
                let status = try await steps.post("/revoke", form).status
                let isTaken = (audience as? String).map { taken.contains($0) } ?? false
                #expect(status == (isTaken ? 200 : 401), "\(String(describing: audience))")
            }
        }
    }

    @Test("clients that sign cannot show a secret or nothing instead")
    func nothingElse() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let hashed = try #require(sandbox.standard.clients.first { $0.id == "sandbox-hmac" })
            for form in [
                ["client_id": "sandbox-key"], ["client_id": "sandbox-key", "client_secret": "x"],
                ["client_id": "sandbox-hmac", "client_secret": hashed.secret ?? ""],
            ] {
                let answer = try await steps.post("/token", form.merging(["grant_type": "client_credentials"]) { $1 })
                #expect(answer.string("error") == "invalid_client", "\(form)")
            }
        }
    }

    private static let pushed: [String: String] = [
        "response_type": "code", "client_id": "sandbox-public", "redirect_uri": OAuthSteps.redirect, "state": "s-1",
        "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256", "scope": "api",
    ]

    @Test("a pushed request is answered by its reference, once, and only for its client")
    func push() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let answer = try await steps.post("/par", Self.pushed)
            #expect(answer.status == 201)
            #expect(answer.number("expires_in") == 60)
            let reference = try #require(answer.string("request_uri"))
            let url = { (client: String) in
                sandbox.standard.origin + "/authorize?"
                    + OAuthSteps.form(["client_id": client, "request_uri": reference])
            }
            await #expect(throws: SandboxError.self) { try await sandbox.approve(url("sandbox-confidential")) }
            let redirect = try await sandbox.approve(url("sandbox-public"))
            #expect(OAuthSteps.parameter("state", of: redirect) == "s-1")
            let code = try #require(OAuthSteps.parameter("code", of: redirect))
            #expect(try await steps.redeem(code).status == 200)
            await #expect(throws: SandboxError.self) { try await sandbox.approve(url("sandbox-public")) }
        }
    }

    @Test(
        "a push that is no valid request is refused where it comes",
        arguments: [
            ["redirect_uri": "https://evil.example/"], ["code_challenge": ""], ["scope": "moon"],
            ["request_uri": "urn:x"], ["response_type": "token"], ["client_id": "unknown"],
        ])
    func invalidPush(_ changes: [String: String]) async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let answer = try await steps.post("/par", Self.pushed.merging(changes) { $1 })
            #expect([400, 401].contains(answer.status))
            #expect(answer.string("request_uri") == nil)
        }
    }

    @Test("a client that has to push gets a page when it does not")
    func pushesOnly() async throws {
        try await withHeldSandbox { sandbox in
            let index = try #require(sandbox.standard.clients.firstIndex { $0.pushesOnly })
            let steps = try OAuthSteps(sandbox, sandbox.standard, client: index)
            let answer = try await steps.wire.send("GET", steps.authorizationTarget())
            #expect(answer.status == 400)
        }
    }

    @Test("a reference that was not opened in time is no longer valid")
    func late() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let reference = try #require(try await steps.post("/par", Self.pushed).string("request_uri"))
            sandbox.advanceClock(by: 61)
            let url =
                sandbox.standard.origin + "/authorize?"
                + OAuthSteps.form(["client_id": "sandbox-public", "request_uri": reference])
            await #expect(throws: SandboxError.self) { try await sandbox.approve(url) }
        }
    }
}
