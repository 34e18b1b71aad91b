import Testing

@testable import OAuth

@Suite("Logout tokens")
struct LogoutTokenTests {
    static let event = "http://schemas.openid.net/event/backchannel-logout"

    static let claims = [
        "iss": #""https://server.example.com""#, "aud": #""s6BhdRkqt3""#, "iat": "1300819380", "exp": "1300819500",
        "jti": #""bWJq""#, "sub": #""24400320""#, "sid": #""08a5019c""#, "events": #"{"\#(event)":{}}"#,
    ]

    static func payload(_ changes: [String: String?] = [:]) -> String {
        var members = claims
        for (name, value) in changes { members[name] = value }
        return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func validator(leeway: Double = 60, acceptsMissingExpiry: Bool = false) throws -> LogoutTokenValidator {
        var validator = LogoutTokenValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, leeway: leeway)
        validator.acceptsMissingExpiry = acceptsMissingExpiry
        return validator
    }

    private func token(
        _ changes: [String: String?] = [:], header: String = #"{"alg":"ES256","typ":"logout+jwt"}"#,
        now: Double = Example.now, with validator: LogoutTokenValidator? = nil
    ) throws -> LogoutToken {
        let keys = try SigningKeys.shared.get()
        let text = try keys.token(.es256, header: header, payload: Self.payload(changes))
        return try (try validator ?? Self.validator()).token(text, keys: try keys.keySet(.es256), now: now)
    }

    @Test("K2: a logout token with all its claims is accepted and read")
    func accepted() throws {
        let token = try token()
        #expect(token.issuer == "https://server.example.com")
        #expect(token.subject == "24400320" && token.sessionID == "08a5019c" && token.id == "bWJq")
        #expect(token.issuedAt == 1_300_819_380 && token.expiresAt == 1_300_819_500)
    }

    @Test(
        "M608, K2: each rule of a logout token, broken alone, refuses it",
        arguments: [
            ("iss", nil, "logout_token_malformed"), ("iss", "1", "logout_token_malformed"),
            ("iss", #""https://evil.example""#, "issuer_mismatch"),
            ("iss", #""https://server.example.com/""#, "issuer_mismatch"),
            ("aud", nil, "logout_token_malformed"), ("aud", #""other""#, "audience_mismatch"),
            ("aud", #"["s6BhdRkqt3","other"]"#, "audience_mismatch"), ("aud", #"["s6BhdRkqt3"]"#, nil),
            ("iat", nil, "logout_token_malformed"), ("iat", #""1300819380""#, "logout_token_malformed"),
            ("iat", "1300819441", "logout_token_time"), ("iat", "1300819440", nil),
            ("exp", nil, "logout_token_malformed"), ("exp", "1300819320", "logout_token_time"),
            ("exp", "1300819321", nil), ("exp", "null", "logout_token_malformed"),
            ("jti", nil, "logout_token_malformed"), ("jti", #""""#, "logout_token_malformed"),
            ("jti", "1", "logout_token_malformed"),
            ("nonce", #""n""#, "logout_token_malformed"), ("nonce", "null", "logout_token_malformed"),
            ("events", nil, "logout_token_malformed"), ("events", "null", "logout_token_malformed"),
            ("events", "[]", "logout_token_malformed"), ("events", "{}", "logout_token_malformed"),
            ("events", #""\#(event)""#, "logout_token_malformed"),
            ("events", #"["\#(event)"]"#, "logout_token_malformed"),
            ("events", #"{"\#(event)":null}"#, "logout_token_malformed"),
            ("events", #"{"\#(event)":[]}"#, "logout_token_malformed"),
            ("events", #"{"\#(event)":"x"}"#, "logout_token_malformed"),
            ("events", #"{"\#(event)":true}"#, "logout_token_malformed"),
            ("events", #"{"\#(event)/":{}}"#, "logout_token_malformed"),
            ("events", #"{"\#(event)":{"x":1},"y":{}}"#, nil),
            ("sub", "1", "logout_token_malformed"), ("sub", #""""#, "logout_token_malformed"),
            ("sid", "{}", "logout_token_malformed"), ("sid", #""""#, "logout_token_malformed"),
            ("sub", nil, nil), ("sid", nil, nil), ("x", "1", nil),
        ] as [(String, String?, String?)])
    func claim(name: String, json: String?, expected: String?) {
        #expect(failure { _ = try token([name: json]) } == expected)
    }

    @Test("M608, K2: a token without sub and sid is refused")
    func noSubject() {
        #expect(failure { _ = try token(["sub": nil, "sid": nil]) } == "logout_token_malformed")
    }

    @Test(
        "M608, K2: the header's type and algorithm are those of a logout token",
        arguments: [
            (#"{"alg":"ES256","typ":"JWT"}"#, nil), (#"{"alg":"ES256"}"#, nil),
            (#"{"alg":"ES256","typ":"application/logout+jwt"}"#, nil), (#"{"alg":"ES256","typ":"LOGOUT+JWT"}"#, nil),
            (#"{"alg":"ES256","typ":"at+jwt"}"#, "logout_token_malformed"),
            (#"{"alg":"ES256","typ":"secevent+jwt"}"#, "logout_token_malformed"),
            (#"{"alg":"ES256","typ":""}"#, "logout_token_malformed"),
            (#"{"alg":"none","typ":"logout+jwt"}"#, "algorithm_refused"),
            (#"{"alg":"HS256","typ":"logout+jwt"}"#, "algorithm_refused"),
            (#"{"typ":"logout+jwt"}"#, "algorithm_refused"),
            (#"{"alg":"ES256","crit":["x"]}"#, "logout_token_malformed"),
            (#"{"alg":"RS256","typ":"logout+jwt"}"#, "key_not_found"),
        ] as [(String, String?)])
    func header(header: String, expected: String?) {
        #expect(failure { _ = try token(header: header) } == expected)
    }

    @Test("M608, K2: a token that is unsigned or signed with another key is refused")
    func signature() throws {
        let keys = try SigningKeys.shared.get()
        let text = try keys.token(.es256, payload: Self.payload())
        let stranger = try JSONWebKeySet(json: [JOSE.es256.key])
        #expect(
            failure { _ = try Self.validator().token(text, keys: stranger, now: Example.now) } == "signature_invalid")
        let bare = Secret(text.reveal().split(separator: ".").dropLast().joined(separator: ".") + ".")
        #expect(
            failure { _ = try Self.validator().token(bare, keys: try keys.keySet(.es256), now: Example.now) }
                == "signature_invalid")
    }

    @Test("K2: without exp a token counts for 120 s, and only where that is allowed")
    func withoutExpiry() throws {
        let old = try Self.validator(leeway: 0, acceptsMissingExpiry: true)
        #expect(try token(["exp": nil], now: Example.now + 119, with: old).expiresAt == Example.now + 120)
        #expect(
            failure { _ = try token(["exp": nil], now: Example.now + 120, with: old) } == "logout_token_time")
        #expect(failure { _ = try token(["exp": "null"], with: old) } == "logout_token_malformed")
        #expect(failure { _ = try token(["exp": nil]) } == "logout_token_malformed")
    }

    @Test(
        "M609, K2: a token is about the session that it names, or about all of the user",
        arguments: [
            ("24400320", "08a5019c", true), ("24400320", nil, true), (nil, "08a5019c", true),
            ("24400320", "other", false), ("other", "08a5019c", false), ("other", nil, false), (nil, "other", false),
        ] as [(String?, String?, Bool)])
    func about(subject: String?, session: String?, ends: Bool) throws {
        let identity = try IDTokenTests.check(IDTokenTests.payload(["sid": #""08a5019c""#]))
        let changes = ["sub": subject.map { "\"\($0)\"" }, "sid": session.map { "\"\($0)\"" }]
        #expect(try token(changes).ends(identity) == ends)
    }

    @Test("K2: an identity without a session is ended by its user alone")
    func withoutSession() throws {
        let identity = try IDTokenTests.check(IDTokenTests.payload())
        #expect(try !token().ends(identity))
        #expect(try token(["sid": nil]).ends(identity))
    }

    @Test("K2: two tokens have one digest only when issuer and jti are the same")
    func digest() throws {
        #expect(try token().digest == token(["sub": nil]).digest)
        #expect(try token().digest != token(["jti": #""bWJr""#]).digest)
    }

    @Test("K2: a refusal names the logout token, and what was expected")
    func words() throws {
        let refusal = try #require(refusal { _ = try token(["aud": #""other""#]) })
        #expect(refusal.signedText == .logoutToken)
        #expect(
            "\(refusal)" == "The logout token is for another client. Expected aud: s6BhdRkqt3 alone, found other. "
                + "Check the client ID. If it is right, report it to the service.")
    }

    // MARK: Every kind of signed text

    /// The kinds of signed text. One payload has the claims of all: only the type and the checks tell them apart.
    private static let kinds: [(name: String, type: String, changes: [String: String?])] = [
        ("ID token", "JWT", ["nonce": #""n-0S6_WzA2Mj""#, "events": nil, "token_introspection": nil]),
        ("logout token", "logout+jwt", ["nonce": nil, "token_introspection": nil]),
        ("introspection", "token-introspection+jwt", ["nonce": nil, "events": nil]),
        ("access token", "at+jwt", ["nonce": nil, "events": nil, "token_introspection": nil]),
        ("proof", "dpop+jwt", ["nonce": nil, "events": nil, "token_introspection": nil]),
        ("client assertion", "client-authentication+jwt", ["nonce": nil, "events": nil, "token_introspection": nil]),
        ("request object", "oauth-authz-req+jwt", ["nonce": nil, "events": nil, "token_introspection": nil]),
        ("identity assertion", "oauth-id-jag+jwt", ["nonce": nil, "events": nil, "token_introspection": nil]),
        ("UserInfo", "JWT", ["exp": nil, "jti": nil, "events": nil, "auth_time": nil, "token_introspection": nil]),
        (
            "authorization response", "JWT",
            ["sub": nil, "jti": nil, "events": nil, "token_introspection": nil, "code": #""SplxlOBeZQQYbYS6WxSbIA""#]
        ),
    ]

    private static let everything: [String: String?] = [
        "auth_time": "1300819300", "token_introspection": #"{"active":true}"#,
    ]

    @Test("M611, D12: every kind of signed text is refused by the readers of all others", arguments: 0..<10)
    func crossFeeding(index: Int) throws {
        let kind = Self.kinds[index]
        let keys = try SigningKeys.shared.get()
        let set = try keys.keySet(.es256)
        let request = try SignedResponseTests.request()
        var members = Self.everything.merging(kind.changes) { $1 }
        // Without the state of the request none would be read as a response at all.
        members["state"] = "\"\(request.state.reveal())\""
        let header = #"{"alg":"ES256","typ":"\#(kind.type)"}"#
        let text = try keys.token(.es256, header: header, payload: Self.payload(members))
        let readers: [(String, () throws -> Void)] = [
            (
                "ID token",
                {
                    let isOwn = kind.name == "ID token"
                    let validator = try IDTokenTests.validator(nonce: isOwn ? IDTokenTests.nonce : nil)
                    _ = try validator.claims(of: text, keys: set, now: Example.now)
                }
            ), ("logout token", { _ = try Self.validator().token(text, keys: set, now: Example.now) }),
            (
                "introspection",
                {
                    _ = try IntrospectionTests.signedRequest().introspection(
                        from: IntrospectionTests.signed(text), keys: set, now: Example.now)
                }
            ),
            (
                "UserInfo",
                {
                    let validator = UserInfoValidator(
                        issuer: try Issuer(SignedResponseTests.issuer), clientID: Example.clientID)
                    _ = try validator.claims(of: text, keys: set, now: Example.now)
                }
            ),
            (
                "authorization response",
                {
                    let redirect = request.redirectURI.string + "?response=" + text.reveal()
                    _ = try SignedResponseTests.code(request, redirect, keys: set)
                }
            ),
        ]
        for (name, read) in readers {
            #expect((failure { try read() } == nil) == (name == kind.name), "\(kind.name) read as \(name)")
        }
    }
}
