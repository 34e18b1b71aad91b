import Testing

@testable import OAuth

@Suite("ID tokens of a refresh")
struct RefreshedIDTokenTests {
    private func outcome(_ changes: [String: String?], before: [String: String?] = [:], nonce: String? = nil) throws
        -> String?
    {
        let keys = try SigningKeys.shared.get()
        let previous = try IDTokenTests.check(IDTokenTests.payload(before))
        let token = try keys.token(.es256, payload: IDTokenTests.payload(changes))
        let validator = try IDTokenTests.validator(nonce: nonce)
        return failure {
            _ = try validator.claims(
                ofRefreshed: token, previous: previous, keys: try keys.keySet(.es256), now: Example.now)
        }
    }

    @Test(
        "D9: a refreshed token speaks of the same sign-in",
        arguments: [
            ("sub", #""24400320""#, nil), ("sub", #""other""#, "subject_mismatch"), ("sub", nil, "id_token_malformed"),
            ("iss", #""https://evil.example""#, "issuer_mismatch"),
            ("aud", #"["s6BhdRkqt3"]"#, nil), ("aud", #""other""#, "audience_mismatch"),
            ("azp", #""s6BhdRkqt3""#, "authorized_party_mismatch"),
            ("auth_time", "1300819301", "id_token_time"), ("auth_time", "1300819300.0", nil), ("auth_time", nil, nil),
            ("iat", "1300819400", nil),
            ("iat", "1300819000", "id_token_time"), ("exp", "1300819000", "id_token_time"), ("nonce", nil, nil),
            ("nonce", #""any""#, nil),
        ] as [(String, String?, String?)])
    func same(name: String, json: String?, expected: String?) throws {
        #expect(try outcome([name: json]) == expected)
    }

    @Test(
        "D9: the authorized party stays as it was",
        arguments: [(#""s6BhdRkqt3""#, nil), (nil, "authorized_party_mismatch")] as [(String?, String?)])
    func authorizedParty(json: String?, expected: String?) throws {
        #expect(try outcome(["azp": json], before: ["azp": #""s6BhdRkqt3""#]) == expected)
    }

    @Test(
        "D9: a nonce may be missing, but not be another than the one that is known",
        arguments: [
            (#""n-0S6_WzA2Mj""#, nil), (nil, nil), (#""other""#, "nonce_mismatch"), ("1", "nonce_mismatch"),
        ] as [(String?, String?)])
    func nonce(json: String?, expected: String?) throws {
        #expect(try outcome(["nonce": json], nonce: IDTokenTests.nonce) == expected)
    }

    @Test("D9: the issuer and subject of the sign-in count, not those that the caller now expects")
    func otherIssuer() throws {
        let keys = try SigningKeys.shared.get()
        let previous = try IDTokenClaims(claims: [
            "iss": .string("https://old.example"), "sub": .string("24400320"), "aud": .string(Example.clientID),
            "iat": .number("1"), "exp": .number("2"),
        ])
        let token = try keys.token(.es256, payload: IDTokenTests.payload())
        #expect(
            failure {
                _ = try IDTokenTests.validator().claims(
                    ofRefreshed: token, previous: previous, keys: try keys.keySet(.es256), now: Example.now)
            } == "issuer_mismatch")
    }
}
