import Crypto
import Foundation
import HTTPTypes
import Sandbox
import TestFixtures
import Testing

@Suite("Proofs of keys at the standards-compliant server", .heavy)
struct ProofTests {
    /// A client's key.
    private struct Key {
        let key = P256.Signing.PrivateKey()

        var members: [String: String] {
            let point = key.publicKey.rawRepresentation
            return [
                "kty": "EC", "crv": "P-256", "x": ProofTests.encoded(point.prefix(32)),
                "y": ProofTests.encoded(point.suffix(32)),
            ]
        }

        /// The SHA-256 of the required members (RFC 7638).
        var thumbprint: String {
            let text = ["crv", "kty", "x", "y"].map { "\"\($0)\":\"\(members[$0] ?? "")\"" }.joined(separator: ",")
            return ProofTests.encoded(Data(SHA256.hash(data: Data("{\(text)}".utf8))))
        }

        /// A proof; a nil change leaves a member out.
        func proof(
            _ method: String, _ address: String, token: String? = nil, nonce: String? = nil,
            claims changes: [String: Any?] = [:], header more: [String: Any?] = [:]
        ) throws -> String {
            var claims: [String: Any?] = [
                "htm": method, "htu": address, "iat": heldTime, "jti": UUID().uuidString,
                "nonce": nonce,
                "ath": token.map { ProofTests.encoded(Data(SHA256.hash(data: Data($0.utf8)))) },
            ]
            claims.merge(changes) { $1 }
            var header: [String: Any?] = ["typ": "dpop+jwt", "alg": "ES256", "jwk": members]
            header.merge(more) { $1 }
            let text =
                try ProofTests.encoded(JSONSerialization.data(withJSONObject: header.compactMapValues { $0 })) + "."
                + ProofTests.encoded(JSONSerialization.data(withJSONObject: claims.compactMapValues { $0 }))
            return text + "." + ProofTests.encoded(try key.signature(for: Data(text.utf8)).rawRepresentation)
        }
    }

    private static func encoded(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Asks for a token of the client itself, with proofs.
    private static func token(
        _ steps: OAuthSteps, _ proofs: [String], client: String = "sandbox-confidential"
    ) async throws -> WireClient.Answer {
        let secret = try #require(steps.sandbox.standard.clients.first { $0.id == client }?.secret)
        return try await steps.post(
            "/token",
            ["grant_type": "client_credentials", "scope": "api", "client_id": client, "client_secret": secret],
            headers: proofs.isEmpty ? [:] : ["DPoP": proofs.joined(separator: ", ")])
    }

    private static func resource(
        _ steps: OAuthSteps, _ authorization: String, _ proof: String?, path: String = "/api/whoami"
    ) async throws -> WireClient.Answer {
        var headers = ["Authorization": authorization]
        headers["DPoP"] = proof
        return try await steps.wire.send("GET", path, headers: headers)
    }

    @Test("a proof binds the token to its key, and the resource takes it by that key alone")
    func binding() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let key = Key()
            let (origin, address) = (sandbox.standard.origin, sandbox.standard.origin + "/api/whoami")
            let answer = try await Self.token(steps, [key.proof("POST", origin + "/token")])
            #expect(answer.string("token_type") == "DPoP")
            let token = try #require(answer.string("access_token"))
            let good = try key.proof("GET", address, token: token)
            #expect(try await Self.resource(steps, "DPoP \(token)", good).status == 200)
            let again = try await Self.resource(steps, "DPoP \(token)", good)
            #expect(again.status == 401, "a proof counts once")
            #expect(again["WWW-Authenticate"]?.hasPrefix("DPoP ") == true)
            let other = Key()
            for (name, authorization, proof) in [
                ("bearer", "Bearer \(token)", nil), ("no proof", "DPoP \(token)", nil),
                ("bearer with proof", "Bearer \(token)", try key.proof("GET", address, token: token)),
                ("key", "DPoP \(token)", try other.proof("GET", address, token: token)),
                ("no ath", "DPoP \(token)", try key.proof("GET", address)),
                ("ath", "DPoP \(token)", try key.proof("GET", address, token: "other")),
                ("htu", "DPoP \(token)", try key.proof("GET", origin + "/api/echo", token: token)),
                ("query", "DPoP \(token)", try key.proof("GET", address + "?a=b", token: token)),
                ("htm", "DPoP \(token)", try key.proof("POST", address, token: token)),
                ("token", "DPoP unknown", try key.proof("GET", address, token: "unknown")),
            ] {
                #expect(try await Self.resource(steps, authorization, proof).status == 401, "\(name)")
            }
            let proof = try key.proof("GET", address, token: token)
            #expect(try await Self.resource(steps, "dpop \(token)", proof, path: "/api/whoami?a=b").status == 200)
            let plain = try #require(try await Self.token(steps, []).string("access_token"))
            let bound = try key.proof("GET", address, token: plain)
            #expect(try await Self.resource(steps, "DPoP \(plain)", bound).status == 401, "a bearer token is not bound")
            #expect(try await Self.resource(steps, "Bearer \(plain)", nil).status == 200)
        }
    }

    @Test("a proof that breaks a rule of RFC 9449, section 4.3 is refused")
    func rules() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let (key, other) = (Key(), Key())
            let address = sandbox.standard.origin + "/token"
            let now = heldTime
            let wrong: [(String, [String: Any?], [String: Any?])] = [
                ("htm", ["htm": "GET"], [:]), ("case of htm", ["htm": "post"], [:]), ("no htm", ["htm": nil], [:]),
                ("htu", ["htu": address + "/"], [:]), ("no htu", ["htu": nil], [:]),
                ("old", ["iat": now - 60], [:]), ("future", ["iat": now + 60], [:]), ("no iat", ["iat": nil], [:]),
                ("huge", ["iat": Int.max], [:]), ("no jti", ["jti": nil], [:]), ("jti", ["jti": "1"], [:]),
                ("ath", ["ath": "x"], [:]),
                ("typ", [:], ["typ": "JWT"]), ("no typ", [:], ["typ": nil]), ("none", [:], ["alg": "none"]),
                ("alg", [:], ["alg": "HS256"]), ("crit", [:], ["crit": ["x"]]), ("kid", [:], ["kid": "k"]),
                ("no key", [:], ["jwk": nil]), ("private", [:], ["jwk": key.members.merging(["d": "AA"]) { $1 }]),
                ("another key", [:], ["jwk": other.members]), ("empty key", [:], ["jwk": [String: String]()]),
                ("point", [:], ["jwk": key.members.merging(["y": "AA"]) { $1 }]),
            ]
            for (name, claims, header) in wrong {
                let proof = try key.proof("POST", address, claims: claims, header: header)
                #expect(try await Self.token(steps, [proof]).string("error") == "invalid_dpop_proof", "\(name)")
            }
            for text in ["", "a.b", "a.b.c", String(repeating: "a.", count: 2_000)] where !text.isEmpty {
                #expect(try await Self.token(steps, [text]).string("error") == "invalid_dpop_proof")
            }
            let two = [try key.proof("POST", address), try key.proof("POST", address)]
            #expect(try await Self.token(steps, two).string("error") == "invalid_dpop_proof")
            let once = try key.proof("POST", address)
            #expect(try await Self.token(steps, [once]).status == 200)
            #expect(try await Self.token(steps, [once]).string("error") == "invalid_dpop_proof")
        }
    }

    @Test("a client that needs proofs and nonces gets a token by both alone")
    func nonces() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let key = Key()
            let (origin, client) = (sandbox.standard.origin, "sandbox-dpop-secret")
            #expect(try await Self.token(steps, [], client: client).string("error") == "invalid_dpop_proof")
            let first = try await Self.token(steps, [key.proof("POST", origin + "/token")], client: client)
            #expect(first.status == 400)
            #expect(first.string("error") == "use_dpop_nonce")
            let nonce = try #require(first["DPoP-Nonce"])
            let second = try await Self.token(
                steps, [key.proof("POST", origin + "/token", nonce: nonce)], client: client)
            #expect(second.status == 200)
            #expect(second["DPoP-Nonce"] == nonce)
            let token = try #require(second.string("access_token"))
            let address = origin + "/api/whoami"
            let challenge = try await Self.resource(
                steps, "DPoP \(token)", key.proof("GET", address, token: token, nonce: nonce))
            #expect(challenge.status == 401, "the resource's nonce is another")
            #expect(challenge["WWW-Authenticate"]?.contains(#"error="use_dpop_nonce""#) == true)
            let own = try #require(challenge["DPoP-Nonce"])
            let good = try key.proof("GET", address, token: token, nonce: own)
            #expect(try await Self.resource(steps, "DPoP \(token)", good).status == 200)
            #expect(try await steps.control("POST", "/rotate-nonces").status == 204)
            let late = try key.proof("GET", address, token: token, nonce: own)
            #expect(try await Self.resource(steps, "DPoP \(token)", late).status == 401)
            sandbox.rotateNonces()
            let later = try await Self.token(
                steps, [key.proof("POST", origin + "/token", nonce: nonce)], client: client)
            #expect(later.string("error") == "use_dpop_nonce")
        }
    }

    /// Pushes a request of a client without a secret, with a proof.
    private static func push(
        _ steps: OAuthSteps, _ client: String, _ proof: String
    ) async throws -> WireClient.Answer {
        try await steps.post(
            "/par",
            [
                "response_type": "code", "client_id": client, "redirect_uri": OAuthSteps.redirect, "scope": "api",
                "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256",
            ], headers: ["DPoP": proof])
    }

    @Test(
        "M407: a nonce for three proofs ends with the third, and one for one proof with that, and the answer has the next",
        arguments: [("sandbox-dpop-counted", 3), ("sandbox-dpop-changing", 1)])
    func countedNonces(_ client: String, _ uses: Int) async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let key = Key()
            let address = sandbox.standard.origin + "/par"
            let first = try await Self.push(steps, client, key.proof("POST", address))
            #expect(first.status == 400 && first.string("error") == "use_dpop_nonce")
            var nonce = try #require(first["DPoP-Nonce"])
            for number in 1...7 {
                let answer = try await Self.push(steps, client, key.proof("POST", address, nonce: nonce))
                #expect(answer.status == 201, "\(number)")
                let next = try #require(answer["DPoP-Nonce"])
                #expect((next != nonce) == number.isMultiple(of: uses), "\(number)")
                if next != nonce {
                    let late = try await Self.push(steps, client, key.proof("POST", address, nonce: nonce))
                    #expect(late.status == 400 && late["DPoP-Nonce"] == next, "\(number)")
                }
                nonce = next
            }
            // The nonce of a client with another rule has not moved.
            let other = try await Self.push(steps, "sandbox-dpop-nonce", key.proof("POST", address, nonce: nonce))
            #expect(other.status == 400 && other["DPoP-Nonce"] != nonce)
        }
    }

    @Test("M407: a nonce that expires counts for a minute, and then the next is demanded")
    func expiringNonces() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let key = Key()
            let address = sandbox.standard.origin + "/par"
            func push(_ nonce: String?, after seconds: Int) async throws -> WireClient.Answer {
                let proof = try key.proof("POST", address, nonce: nonce, claims: ["iat": heldTime + seconds])
                return try await Self.push(steps, "sandbox-dpop-expiring", proof)
            }
            let nonce = try #require(try await push(nil, after: 0)["DPoP-Nonce"])
            sandbox.advanceClock(by: 59)
            let inTime = try await push(nonce, after: 59)
            #expect(inTime.status == 201 && inTime["DPoP-Nonce"] == nonce)
            sandbox.advanceClock(by: 1)
            let late = try await push(nonce, after: 60)
            #expect(late.status == 400 && late.string("error") == "use_dpop_nonce")
            let next = try #require(late["DPoP-Nonce"])
            #expect(next != nonce)
            #expect(try await push(next, after: 60).status == 201)
        }
    }

    @Test("a code that is bound to a key, and a public client's refresh token, count for that key alone")
    func codes() async throws {
        try await withHeldSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.standard)
            let (key, other) = (Key(), Key())
            let address = sandbox.standard.origin + "/token"
            func redeem(_ key: Key?, jkt: String?) async throws -> WireClient.Answer {
                var query = [
                    "response_type": "code", "client_id": "sandbox-public", "redirect_uri": OAuthSteps.redirect,
                    "code_challenge": OAuthSteps.challenge, "code_challenge_method": "S256", "scope": "api",
                ]
                query["dpop_jkt"] = jkt
                let redirect = try await sandbox.approve(
                    sandbox.standard.origin + "/authorize?" + OAuthSteps.form(query))
                let code = try #require(OAuthSteps.parameter("code", of: redirect))
                return try await steps.post(
                    "/token",
                    [
                        "grant_type": "authorization_code", "code": code, "redirect_uri": OAuthSteps.redirect,
                        "client_id": "sandbox-public", "code_verifier": OAuthSteps.verifier,
                    ], headers: try key.map { ["DPoP": try $0.proof("POST", address)] } ?? [:])
            }
            #expect(try await redeem(other, jkt: key.thumbprint).string("error") == "invalid_grant")
            #expect(try await redeem(nil, jkt: key.thumbprint).string("error") == "invalid_grant")
            let tokens = try await redeem(key, jkt: key.thumbprint)
            #expect(tokens.string("token_type") == "DPoP")
            let refresh = [
                "grant_type": "refresh_token", "client_id": "sandbox-public",
                "refresh_token": tokens.string("refresh_token") ?? "",
            ]
            for wrong in [nil, other] {
                let headers = try wrong.map { ["DPoP": try $0.proof("POST", address)] } ?? [:]
                let answer = try await steps.post("/token", refresh, headers: headers)
                #expect(answer.string("error") == "invalid_dpop_proof")
            }
            let good = ["DPoP": try key.proof("POST", address)]
            #expect(try await steps.post("/token", refresh, headers: good).status == 200)
        }
    }
}
