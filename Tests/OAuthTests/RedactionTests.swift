import HTTPTypes
import Testing

@testable import OAuth

@Suite("Redaction")
struct RedactionTests {
    private static let code = "code.with/reserved+chars"
    private static let refreshToken = "short refresh"
    private static let clientSecret = "s3cret"

    /// A code exchange and a refresh, with every secret that they send.
    private static func exchanges() throws -> [(request: TokenRequest, secrets: [String])] {
        let request = try Example.request()
        let code = try request.code(
            from: request.redirect("code=" + PercentEncoding.query(Self.code)), now: Example.now)
        let nonce = try #require(request.nonce)
        let basic = Base64.encode(Array("\(Example.clientID):\(clientSecret)".utf8))
        return [
            (
                TokenRequest(
                    .authorizationCode(code), at: request.server, clientID: Example.clientID,
                    authentication: .post(secret: Secret(clientSecret))),
                [
                    Self.code, PercentEncoding.query(Self.code), PercentEncoding.form(Self.code), clientSecret,
                    request.verifier.secret.reveal(), request.state.reveal(), nonce.reveal(),
                ]
            ),
            (
                TokenRequest(
                    .refreshToken(Secret(refreshToken)), at: request.server, clientID: Example.clientID,
                    authentication: .basic(secret: Secret(clientSecret)), extras: ["extra": "extra secret"]),
                [refreshToken, PercentEncoding.form(refreshToken), clientSecret, basic, "extra secret"]
            ),
        ]
    }

    @Test(
        "L1: a server that echoes a secret in an error is not quoted with it, whatever the status",
        arguments: [200, 400, 401, 500],
        [
            #"{"error":"E","error_description":"D"}"#, #"{"error":"x","error_description":"got E, wanted more"}"#,
            #"{"error":"x","error_uri":"https://server.example.com/?token=E"}"#, #"{"message":"E"}"#,
            #"{"access_token":"a","token_type":"E"}"#, #"{"access_token":"a","token_type":"bearer","expires_in":"E"}"#,
            #"{"E":1,"E":2}"#, "E", #"{"error":"x","error_description":"E"#,
        ])
    func echoes(status: Int, template: String) throws {
        for (request, secrets) in try Self.exchanges() {
            for secret in secrets {
                let content = template.replacing("E", with: secret)
                let response = Example.response(status, content)
                let error = #expect(throws: OAuthError.self) {
                    try request.response(from: response, now: Example.now)
                }
                let shown = "\(try #require(error)) \(String(reflecting: error))"
                #expect(!shown.contains(secret), "\(template) shows “\(secret)”: \(shown)")
            }
        }
    }

    @Test(
        "L1: a secret is found in whatever escapes a server writes it, also where only some characters are escaped",
        arguments: [
            "code.with%2freserved+chars", "code.with%2Freserved%2bchars", "%63ode.with/reserved+chars",
            #"code.with\/reserved+chars"#, #"code.with\u002Freserved\u002bchars"#, "code.with&#47;reserved&#x2B;chars",
            "code.with&#x2f;reserved+chars", #"c%6fde.with\/reserved&#43;chars"#,
        ])
    func escapes(_ echo: String) {
        for text in [echo, "got \(echo), wanted more", String(repeating: echo + " ", count: 1000)] {
            let shown = hidingTokens(in: text, and: [Secret(Self.code)])
            #expect(shown.hasPrefix("(secret)") || shown.hasPrefix("got (secret), wanted more"), "\(shown.prefix(200))")
            #expect(!shown.contains("reserved"))
        }
        #expect(hidingTokens(in: "short+refresh", and: [Secret(Self.refreshToken)]) == "(secret)")
        #expect(hidingTokens(in: "a%25b&amp;c", and: [Secret("a%b&c")]) == "(secret)")
        #expect(hidingTokens(in: "a%25b&amp;c", and: [Secret("a%25b&amp;c")]) == "(secret)")
    }

    @Test("L1: a secret that is cut within an escape leaves no beginning")
    func cutEscape() {
        let secret = String(repeating: "word/by/", count: 8)
        for escape in ["%2f", #"\/"#, "&#x2f;"] {
            let echo = secret.replacing("/", with: escape)
            for offset in stride(from: Redaction.maximumLength - 230, through: Redaction.maximumLength + 4, by: 1) {
                let text = String(repeating: ".", count: offset) + echo + String(repeating: ".", count: 1000)
                #expect(!Redaction([Secret(secret)]).hiding(in: text).contains("word"))
            }
        }
    }

    @Test("L1: a token of the response is not shown by the error for another member")
    func ownTokens() {
        for content in [
            #"{"access_token":"tiny-token","token_type":"tiny-token"}"#,
            #"{"access_token":"a","refresh_token":"tiny-token","token_type":"x tiny-token"}"#,
            #"{"access_token":"a","id_token":"tiny-token","token_type":"bearer","expires_in":"tiny-token"}"#,
            #"{"refresh_token":"tiny-token","error":"tiny-token","error_description":"tiny-token"}"#,
        ] {
            let error = #expect(throws: OAuthError.self) {
                try TokenResponse(parsing: Array(content.utf8), now: 0, hiding: [])
            }
            #expect(!"\(String(reflecting: error))".contains("tiny-token"))
        }
    }

    @Test(
        "L1: an ID token that repeats a secret of the exchange is refused without it",
        arguments: ["kid", "alg", "crit", "typ"])
    func tokenHeader(_ member: String) throws {
        let value = member == "crit" ? #"["tiny-secret"]"# : #""tiny-secret""#
        let header = [#""alg":"ES256""#, "\"\(member)\":\(value)"].filter { member != "alg" || !$0.contains("ES256") }
        let token = Base64URL.encode(Array("{\(header.joined(separator: ","))}".utf8)) + ".e30.AA"
        let keys = try JSONWebKeySet(parsing: Array(#"{"keys":[]}"#.utf8))
        let error = #expect(throws: OAuthError.self) {
            try JSONWebSignature(compact: Secret(token), hiding: [Secret("tiny-secret")])
                .verify(with: keys, allowing: [.es256])
        }
        let shown = "\(try #require(error)) \(String(reflecting: error))"
        #expect(shown.contains("(secret)") && !shown.contains("tiny-secret"), "\(shown)")
    }

    @Test("E4, J1: a code of a standard decides also where a secret is a part of it; another one is redacted")
    func codes() {
        for code in ["invalid_grant", "authorization_pending", "slow_down", "unsupported_token_type"] {
            #expect(ServerError(step: .token, code: code, hiding: [Secret("grant"), Secret("pending")]).code == code)
        }
        #expect(ServerError(step: .token, code: "odd_grant", hiding: [Secret("grant")]).code == "odd_(secret)")
    }

    @Test("L1: an error in a redirect does not show the secrets of its request")
    func redirect() throws {
        let request = try Example.request()
        for secret in [request.state, request.verifier.secret, try #require(request.nonce), Secret("code-in-error")] {
            let text = secret.reveal()
            let url = request.redirect(
                "error=\(text)&error_description=x+\(text)+y&error_uri=\(text)&code=code-in-error")
            let error = try #require(serverError { _ = try request.code(from: url, now: Example.now) })
            #expect(!error.description.contains(text))
            #expect(error.uri == "(secret)")
        }
    }

    @Test("L1: a claim of an ID token that repeats the access token or the nonce is not shown")
    func claims() throws {
        for secret in [IDTokenTests.accessToken, IDTokenTests.nonce] {
            for name in ["iss", "aud"] {
                let refusal = try #require(
                    refusal { _ = try IDTokenTests.check(IDTokenTests.payload([name: "\"\(secret)\""])) })
                #expect(refusal.found == "(secret)")
            }
        }
    }

    @Test("E4: a response with status 200 and invalid_grant ends the session")
    func invalidGrant() throws {
        for (request, _) in try Self.exchanges() {
            let response = Example.response(200, #"{"error":"invalid_grant","error_description":"gone"}"#)
            let error = serverError { _ = try request.response(from: response, now: Example.now) }
            #expect(error?.isInvalidGrant == true)
            #expect(error?.text == "gone")
            #expect(error?.status == 200)
        }
    }

    @Test(
        "a secret is found wherever a text is cut, and no beginning of it stays",
        arguments: [Redaction.maximumLength, 500])
    func cut(limit: Int) {
        let secret = String(repeating: "word by word ", count: 8)
        for offset in stride(from: limit - 110, through: limit + 4, by: 6) {
            let text = String(repeating: ".", count: offset) + secret + String(repeating: ".", count: 1000)
            #expect(!Redaction([Secret(secret)])(text).contains("word"))
            #expect(!Redaction([Secret(secret)]).hiding(in: text).contains("word"))
        }
    }

    @Test("a text that is cut loses no whole characters, whatever its script")
    func cutScript() {
        for pad in 0..<4 {
            let text = String(repeating: "x", count: pad) + String(repeating: "日本語", count: 1000)
            #expect(Redaction([Secret("secret")]).hiding(in: text).utf8.count > Redaction.maximumLength - 4)
        }
        #expect(!hidingTokens(in: String(repeating: "é", count: 3000)).contains("\u{FFFD}"))
    }

    @Test("a token that a text's end cuts in two does not stay in half")
    func cutToken() {
        let token = String(repeating: "a1b2c3", count: 10)
        for offset in stride(from: Redaction.maximumLength - 60, through: Redaction.maximumLength, by: 5) {
            #expect(!hidingTokens(in: String(repeating: " ", count: offset) + token).contains("a1b2"))
        }
    }

    @Test(
        "what is no token stays",
        arguments: [
            ("The scope is unknown", "The scope is unknown"),
            ("Trace ID: 0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f", "Trace ID: 0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"),
            ("antidisestablishmentarianism", "antidisestablishmentarianism"),
            ("token 0123456789abcdefghij, sorry", "token (secret), sorry"),
            ("a.0123456789abcdefghij.b", "a.(secret).b"), ("naïve café", "naïve café"),
        ])
    func words(text: String, expected: String) {
        #expect(hidingTokens(in: text) == expected)
    }

    @Test("a secret of fewer than four bytes does not take words with it")
    func shortSecret() {
        #expect(hidingTokens(in: "the end", and: [Secret("e"), Secret("")]) == "the end")
    }
}
