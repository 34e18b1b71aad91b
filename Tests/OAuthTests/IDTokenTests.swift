import Testing

@testable import OAuth

@Suite("ID tokens")
struct IDTokenTests {
    static let nonce = "n-0S6_WzA2Mj"
    static let accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"

    /// The claims of OpenID Connect Core, section 2, with the times moved to ``Example/now``.
    static let claims = [
        "iss": #""https://server.example.com""#, "sub": #""24400320""#, "aud": #""s6BhdRkqt3""#,
        "nonce": #""n-0S6_WzA2Mj""#,
        "exp": "1300823380", "iat": "1300819380", "auth_time": "1300819300", "acr": #""urn:mace:incommon:iap:silver""#,
    ]

    static func payload(_ changes: [String: String?] = [:]) -> String {
        var members = claims
        for (name, value) in changes { members[name] = value }
        return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func validator(
        nonce: String? = nonce, accessToken: String? = accessToken, leeway: Double = 60
    ) throws -> IDTokenValidator {
        IDTokenValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, nonce: nonce.map(Secret.init),
            accessToken: accessToken.map(Secret.init), leeway: leeway)
    }

    static func check(
        _ payload: String, with validator: IDTokenValidator? = nil, now: Double = Example.now
    ) throws -> IDTokenClaims {
        let keys = try SigningKeys.shared.get()
        return try (try validator ?? Self.validator()).claims(
            of: try keys.token(.es256, payload: payload), keys: try keys.keySet(.es256), now: now)
    }

    private func outcome(_ changes: [String: String?], now: Double = Example.now, leeway: Double = 60) -> String? {
        failure { _ = try Self.check(Self.payload(changes), with: try Self.validator(leeway: leeway), now: now) }
    }

    @Test("D1: the claims of OpenID Connect Core, section 2 are accepted and read")
    func accepted() throws {
        let claims = try Self.check(Self.payload())
        #expect(claims.issuer == "https://server.example.com")
        #expect(claims.subject == "24400320")
        #expect(claims.audience == ["s6BhdRkqt3"])
        #expect(claims.authorizedParty == nil)
        #expect(claims.issuedAt == 1_300_819_380)
        #expect(claims.expiresAt == 1_300_823_380)
        #expect(claims.authenticatedAt == 1_300_819_300)
        #expect(claims.claims["acr"]?.string == "urn:mace:incommon:iap:silver")
        #expect(claims.claims["nonce"] == nil)
    }

    @Test(
        "D1: a claim that is missing, of another type or wrong stops",
        arguments: [
            ("iss", nil, "id_token_malformed"), ("iss", "1", "id_token_malformed"),
            ("iss", #""https://server.example.com/""#, "issuer_mismatch"),
            ("iss", #""https://evil.example""#, "issuer_mismatch"), ("iss", #""""#, "issuer_mismatch"),
            ("iss", #"["https://server.example.com"]"#, "id_token_malformed"),
            ("sub", nil, "id_token_malformed"), ("sub", #""""#, "id_token_malformed"),
            ("sub", "24400320", "id_token_malformed"), ("sub", "null", "id_token_malformed"),
            ("aud", nil, "id_token_malformed"), ("aud", "[]", "id_token_malformed"), ("aud", "1", "id_token_malformed"),
            ("aud", #"["s6BhdRkqt3",1]"#, "id_token_malformed"),
            ("aud", #""other""#, "audience_mismatch"), ("aud", #""S6BhdRkqt3""#, "audience_mismatch"),
            ("aud", #""s6BhdRkqt3 other""#, "audience_mismatch"),
            ("aud", #"["other"]"#, "audience_mismatch"), ("aud", #"["s6BhdRkqt3"]"#, nil),
            ("aud", #"["s6BhdRkqt3","other"]"#, "audience_mismatch"),
            ("aud", #"["s6BhdRkqt3","s6BhdRkqt3"]"#, "authorized_party_mismatch"), ("azp", #""s6BhdRkqt3""#, nil),
            ("azp", #""other""#, "authorized_party_mismatch"),
            ("azp", "1", "id_token_malformed"), ("exp", nil, "id_token_malformed"),
            ("exp", #""1300823380""#, "id_token_malformed"), ("exp", "null", "id_token_malformed"),
            ("exp", "1e400", "id_token_malformed"), ("exp", "1300823380000", "id_token_malformed"),
            ("exp", "-1", "id_token_malformed"), ("exp", "0", "id_token_time"),
            ("iat", nil, "id_token_malformed"), ("iat", "true", "id_token_malformed"),
            ("iat", "1300823380", "id_token_time"), ("nbf", "1300823380", "id_token_time"),
            ("nbf", "1300819380", nil), ("nbf", #""x""#, "id_token_malformed"),
            ("auth_time", #""x""#, "id_token_malformed"), ("auth_time", nil, nil),
            ("nonce", nil, "nonce_mismatch"), ("nonce", #""n-0S6_WzA2Mk""#, "nonce_mismatch"),
            ("nonce", "1", "nonce_mismatch"), ("nonce", #""""#, "nonce_mismatch"),
            ("nonce", "null", "nonce_mismatch"), ("x", #"{"y":[1]}"#, nil),
        ] as [(String, String?, String?)])
    func claim(name: String, json: String?, expected: String?) {
        #expect(outcome([name: json]) == expected)
    }

    @Test(
        "D1: an error for a missing or mistyped claim names the claim",
        arguments: ["iss", "sub", "aud", "exp", "iat", "nbf", "azp", "auth_time"])
    func named(name: String) throws {
        let refusal = try #require(refusal { _ = try Self.check(Self.payload([name: "{}"])) })
        #expect(refusal.expected.hasPrefix(name + ": "))
        #expect(refusal.found == "an object")
    }

    @Test("D1: a subject has at most 255 bytes")
    func subject() {
        #expect(outcome(["sub": "\"" + String(repeating: "s", count: 255) + "\""]) == nil)
        #expect(outcome(["sub": "\"" + String(repeating: "s", count: 256) + "\""]) == "id_token_malformed")
    }

    @Test(
        "D1: a further audience is accepted only when it is trusted and azp names this client",
        arguments: [
            ([], nil, "audience_mismatch"), (["api"], nil, "authorized_party_mismatch"), (["api"], "s6BhdRkqt3", nil),
            (["api"], "api", "authorized_party_mismatch"),
            ([], "s6BhdRkqt3", "audience_mismatch"),
        ] as [(Set<String>, String?, String?)])
    func audiences(trusted: Set<String>, authorizedParty: String?, expected: String?) throws {
        var validator = try Self.validator()
        validator.trustedAudiences = trusted
        let payload = Self.payload(["aud": #"["s6BhdRkqt3","api"]"#, "azp": authorizedParty.map { "\"\($0)\"" }])
        #expect(failure { _ = try Self.check(payload, with: validator) } == expected)
    }

    @Test("D1: a nonce that was not sent is rejected, and none is fine")
    func unaskedNonce() throws {
        let validator = try Self.validator(nonce: nil)
        #expect(failure { _ = try Self.check(Self.payload(), with: validator) } == "nonce_mismatch")
        #expect(failure { _ = try Self.check(Self.payload(["nonce": nil]), with: validator) } == nil)
    }

    @Test(
        "D1: a payload that is no JSON object, or says something twice, is refused",
        arguments: ["", "[]", "1", "{", "null", #"{"iss":"a","iss":"b"}"#])
    func payloads(payload: String) {
        #expect(failure { _ = try Self.check(payload) } == "id_token_malformed")
    }

    @Test("D2: a token of the code flow is checked for its signature too")
    func signature() throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(.es256, payload: Self.payload())
        let stranger = try JSONWebKeySet(json: [JOSE.es256.key])
        #expect(
            failure { _ = try Self.validator().claims(of: token, keys: stranger, now: Example.now) }
                == "signature_invalid")
        let narrow = IDTokenValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, nonce: Secret(Self.nonce), accessToken: nil,
            algorithms: [.rs256])
        #expect(
            failure { _ = try narrow.claims(of: token, keys: try keys.keySet(.es256), now: Example.now) }
                == "algorithm_refused")
    }

    @Test(
        "D7: at_hash is checked whenever it is there: the example of OpenID Connect Core, appendix A.3",
        arguments: [
            (#""77QmUPtjPfzWtF2AnpK9RQ""#, nil), (#""77QmUPtjPfzWtF2AnpK9RA""#, "at_hash_mismatch"),
            (#""""#, "at_hash_mismatch"), ("1", "at_hash_mismatch"),
            ("null", "at_hash_mismatch"), (#""77QmUPtjPfzWtF2AnpK9RQ==""#, "at_hash_mismatch"), (nil, nil),
        ] as [(String?, String?)])
    func hash(json: String?, expected: String?) {
        #expect(outcome(["at_hash": json]) == expected)
    }

    /// The code of the vector in `any-server.md` 6.
    static let code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"

    @Test(
        "M601: c_hash is checked whenever it is there and a code was exchanged: the example of OpenID Connect Core, appendix A.4",
        arguments: [
            (#""LDktKdoQak3Pk0cnXxCltA""#, nil), (#""LDktKdoQak3Pk0cnXxCltB""#, "c_hash_mismatch"),
            (#""""#, "c_hash_mismatch"), ("1", "c_hash_mismatch"), ("null", "c_hash_mismatch"), (nil, nil),
        ] as [(String?, String?)])
    func codeHash(json: String?, expected: String?) throws {
        let payload = Self.payload(["c_hash": json])
        let validator = IDTokenValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, nonce: Secret(Self.nonce), accessToken: nil,
            code: Secret(Self.code))
        #expect(failure { _ = try Self.check(payload, with: validator) } == expected)
        // A refresh and a device grant have no code to compare it with.
        #expect(failure { _ = try Self.check(payload) } == nil)
    }

    @Test(
        "D7: the hash is the half of the algorithm's own",
        arguments: zip(
            SignatureAlgorithm.allCases, [16, 24, 32, 16, 24, 32, 16, 24, 32, 32]))
    func hashLength(algorithm: SignatureAlgorithm, length: Int) throws {
        let keys = try SigningKeys.shared.get()
        let hash = algorithm.halfHash(of: Secret(Self.accessToken))
        #expect(Base64URL.decode(hash)?.count == length)
        for (value, expected) in [(hash, nil), (hash.lowercased(), "at_hash_mismatch")] as [(String, String?)] {
            let token = try keys.token(algorithm, payload: Self.payload(["at_hash": "\"\(value)\""]))
            #expect(
                failure {
                    _ = try Self.validator().claims(of: token, keys: try keys.keySet(algorithm), now: Example.now)
                } == expected)
        }
    }

    @Test(
        "D7: SHA-256, SHA-384 and SHA-512 of “abc” are those of FIPS 180-4",
        arguments: [
            (.rs256, [0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA]),
            (.es384, [0xCB, 0x00, 0x75, 0x3F, 0x45, 0xA3, 0x5E, 0x8B]),
            (.edDSA, [0xDD, 0xAF, 0x35, 0xA1, 0x93, 0x61, 0x7A, 0xBA]),
        ] as [(SignatureAlgorithm, [UInt8])])
    func hashVectors(algorithm: SignatureAlgorithm, beginning: [UInt8]) throws {
        #expect(try #require(Base64URL.decode(algorithm.halfHash(of: Secret("abc")))).starts(with: beginning))
    }

    @Test("D7: a hash of an access token that did not come is refused")
    func hashWithoutToken() throws {
        let payload = Self.payload(["at_hash": #""77QmUPtjPfzWtF2AnpK9RQ""#])
        #expect(
            failure { _ = try Self.check(payload, with: try Self.validator(accessToken: nil)) } == "at_hash_mismatch")
    }

    @Test(
        "D11: the leeway counts for exp, iat and nbf, and not a second more",
        arguments: [
            ("exp", -59, nil), ("exp", -60, "id_token_time"), ("exp", 0, nil), ("iat", 60, nil),
            ("iat", 61, "id_token_time"), ("nbf", 60, nil),
            ("nbf", 61, "id_token_time"),
        ] as [(String, Int, String?)])
    func leeway(name: String, offset: Int, expected: String?) {
        #expect(outcome([name: "\(Int(Example.now) + offset)"]) == expected)
    }

    @Test(
        "D11: without leeway the times count exactly, and a leeway that is none counts as 0",
        arguments: [0, -60, .nan, .infinity])
    func noLeeway(leeway: Double) {
        #expect(outcome(["exp": "1300819381"], leeway: leeway) == nil)
        #expect(outcome(["exp": "1300819380"], leeway: leeway) == "id_token_time")
        #expect(outcome(["iat": "1300819381"], leeway: leeway) == "id_token_time")
        #expect(outcome(["nbf": "1300819380.5"], leeway: leeway) == "id_token_time")
    }

    @Test(
        "D11: the claims say how much leeway they needed",
        arguments: [(1_300_819_380, 0), (1_300_819_350, 30), (1_300_823_400, 20)] as [(Double, Double)])
    func leewayNeeded(now: Double, seconds: Double) throws {
        #expect(try Self.check(Self.payload(), now: now).leewayNeeded(at: now) == seconds)
    }

    @Test("a time that is no number accepts nothing", arguments: [Double.nan, .infinity, -.infinity])
    func noTime(now: Double) {
        #expect(outcome([:], now: now) == "id_token_time")
    }

    @Test("claims survive being sealed as text")
    func sealed() throws {
        let claims = try Self.check(
            Self.payload([
                "name": #""Zoë \"Q\" \u0001 𝄞""#, "updated_at": "1.50e9", "address": #"{"a":[null,true]}"#, "nbf": "1",
            ]))
        let members = try #require(try JSONValue(parsing: Array(claims.json.utf8)).object)
        #expect(try IDTokenClaims(claims: members) == claims)
        for name in ["nonce", "at_hash", "c_hash"] { #expect(members[name] == nil) }
    }

    @Test(
        "D12: a token of another kind is no ID token, even with a valid signature",
        arguments: [
            "at+jwt", "application/at+jwt", "logout+jwt", "oauth-authz-req+jwt", "token-introspection+jwt", "dpop+jwt",
            "secevent+jwt", "JOSE", "",
        ])
    func otherKinds(type: String) throws {
        let keys = try SigningKeys.shared.get()
        func outcome(_ header: String) throws -> String? {
            let token = try keys.token(.es256, header: header, payload: Self.payload())
            return failure {
                _ = try Self.validator().claims(of: token, keys: try keys.keySet(.es256), now: Example.now)
            }
        }
        #expect(try outcome(#"{"alg":"ES256","typ":"\#(type)"}"#) == "id_token_malformed")
        #expect(try outcome(#"{"alg":"ES256","typ":"JWT"}"#) == nil)
    }

    @Test("D12: a logout token without a type is no ID token, though it has all its claims")
    func logoutToken() throws {
        let event = #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#
        let payload = Self.payload(["events": event, "nonce": nil, "jti": #""1""#])
        let validator = try Self.validator(nonce: nil)
        #expect(failure { _ = try Self.check(payload, with: validator) } == "id_token_malformed")
        #expect(failure { _ = try Self.check(Self.payload(["nonce": nil]), with: validator) } == nil)
    }
}
