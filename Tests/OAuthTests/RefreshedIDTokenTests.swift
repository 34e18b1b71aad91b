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
            ("nonce", #""n-0S6_WzA2Mj""#, nil), ("nonce", #""any""#, "nonce_mismatch"),
            ("nonce", "1", "nonce_mismatch"),
            ("urn:handshake:nonce_sha256", #""any""#, nil),
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

    @Test("D9: the audience of the sign-in stays among the audiences, and others must be trusted")
    func audience() throws {
        let keys = try SigningKeys.shared.get()
        let both = #"["s6BhdRkqt3","api"]"#
        for (before, after, expected) in [
            (both, both, nil), (#""s6BhdRkqt3""#, both, nil), (both, #""s6BhdRkqt3""#, "audience_mismatch"),
        ] as [(String, String, String?)] {
            var validator = try IDTokenTests.validator()
            validator.trustedAudiences = ["api"]
            let azp = #""s6BhdRkqt3""#
            let previous = try IDTokenTests.check(IDTokenTests.payload(["aud": before, "azp": azp]), with: validator)
            let token = try keys.token(.es256, payload: IDTokenTests.payload(["aud": after, "azp": azp]))
            #expect(
                failure {
                    _ = try validator.claims(
                        ofRefreshed: token, previous: previous, keys: try keys.keySet(.es256), now: Example.now)
                } == expected)
        }
    }

    @Test("D9: nonce and auth_time of the sign-in count for every later refresh, also when one leaves them out")
    func carriedOver() throws {
        let keys = try SigningKeys.shared.get()
        let set = try keys.keySet(.es256)
        let validator = try IDTokenTests.validator(nonce: nil)
        let first = try IDTokenTests.check(IDTokenTests.payload())
        let silent = try keys.token(.es256, payload: IDTokenTests.payload(["nonce": nil, "auth_time": nil]))
        let refreshed = try validator.claims(ofRefreshed: silent, previous: first, keys: set, now: Example.now)
        #expect(refreshed.authenticatedAt == first.authenticatedAt)
        let members = try #require(try JSONValue(parsing: Array(refreshed.json.utf8)).object)
        let stored = try IDTokenClaims(claims: members)
        #expect(stored == refreshed)
        for (name, json, expected) in [
            ("auth_time", "1300819301", "id_token_time"), ("nonce", #""other""#, "nonce_mismatch"),
            ("sub", #""24400320""#, nil),
        ] as [(String, String, String?)] {
            let token = try keys.token(.es256, payload: IDTokenTests.payload([name: json]))
            #expect(
                failure { _ = try validator.claims(ofRefreshed: token, previous: stored, keys: set, now: Example.now) }
                    == expected)
        }
    }

    @Test("M609, D9: a refreshed token that leaves out the session is of the sign-in's, so that a logout token ends it")
    func session() throws {
        let keys = try SigningKeys.shared.get()
        let first = try IDTokenTests.check(IDTokenTests.payload(["sid": #""one""#]))
        for (json, expected) in [(nil, "one"), (#""two""#, "two")] as [(String?, String)] {
            let token = try keys.token(.es256, payload: IDTokenTests.payload(["sid": json]))
            let refreshed = try IDTokenTests.validator(nonce: nil).claims(
                ofRefreshed: token, previous: first, keys: try keys.keySet(.es256), now: Example.now)
            #expect(refreshed.sessionID == expected)
        }
    }

    @Test(
        "D9: where the sign-in's token states no auth_time, a refreshed one's is not later than that token",
        arguments: [("1300819440", nil), ("1300819441", "id_token_time")] as [(String, String?)])
    func laterAuthentication(json: String, expected: String?) throws {
        #expect(try outcome(["auth_time": json], before: ["auth_time": nil]) == expected)
    }

    @Test("D9: a sign-in without nonce is not refreshed by a token with one")
    func addedNonce() throws {
        let keys = try SigningKeys.shared.get()
        let validator = try IDTokenTests.validator(nonce: nil)
        let previous = try IDTokenTests.check(IDTokenTests.payload(["nonce": nil]), with: validator)
        #expect(
            failure {
                _ = try validator.claims(
                    ofRefreshed: try keys.token(.es256, payload: IDTokenTests.payload()), previous: previous,
                    keys: try keys.keySet(.es256), now: Example.now)
            } == "nonce_mismatch")
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
