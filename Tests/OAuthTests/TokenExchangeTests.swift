import Testing

@testable import OAuth

@Suite("Token exchange")
struct TokenExchangeTests {
    private static let prefix = "urn:ietf:params:oauth:token-type:"

    private func request(_ exchange: TokenExchange, resources: [String] = []) throws -> TokenRequest {
        TokenRequest(
            .tokenExchange(exchange), at: try Example.server(), clientID: "c", authentication: .none,
            resources: resources)
    }

    private func answer(_ issued: String?, _ type: String = "Bearer", _ more: String = "") -> ResponseMessage {
        let kind = issued.map { #","issued_token_type":"\#(Self.prefix + $0)""# } ?? ""
        return Example.response(200, #"{"access_token":"new-token","token_type":"\#(type)"\#(kind)\#(more)}"#)
    }

    @Test("C13: an exchange is that of RFC 8693, section 2.1")
    func message() throws {
        let exchange = TokenExchange(
            of: .init(Secret("subject")), actor: .init(Secret("actor"), .jwt), for: .accessToken,
            audiences: ["one", "two"], scopes: ["a", "b"])
        #expect(
            try request(exchange, resources: ["https://api.example"]).message.form == [
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange", "subject_token=subject",
                "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token", "actor_token=actor",
                "actor_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt",
                "requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token", "audience=one",
                "audience=two", "scope=a+b", "resource=https%3A%2F%2Fapi.example", "client_id=c",
            ])
        #expect(
            failure { _ = try request(TokenExchange(of: .init(Secret("")))).message } == "configuration subject_token")
    }

    @Test(
        "M704, C13: issued_token_type has to be there, and to be what was asked for",
        arguments: [
            (TokenType.accessToken, "access_token", nil), (.accessToken, "jwt", "malformed issued_token_type"),
            (.accessToken, "Access_Token", "malformed issued_token_type"),
            (.accessToken, nil, "malformed issued_token_type"), (.jwt, "jwt", nil),
            (.jwt, "access_token", "malformed issued_token_type"), (nil, "saml2", nil),
            (nil, nil, "malformed issued_token_type"),
        ] as [(TokenType?, String?, String?)])
    func issued(requested: TokenType?, issued: String?, expected: String?) throws {
        let request = try request(TokenExchange(of: .init(Secret("subject")), for: requested))
        #expect(failure { _ = try request.response(from: answer(issued), now: 0) } == expected)
        #expect(failure { _ = try request.exchangedToken(from: answer(issued), now: 0) } == expected)
    }

    @Test("M704, C13: N_A is no access token", arguments: ["N_A", "n_a"])
    func notApplicable(type: String) throws {
        let request = try request(TokenExchange(of: .init(Secret("subject")), for: .identityAssertion))
        let answer = answer("id-jag", type, #","expires_in":300"#)
        guard case .other(let token, let expiresAt) = try request.exchangedToken(from: answer, now: 1000) else {
            Issue.record("it is no access token")
            return
        }
        #expect(token.token.reveal() == "new-token" && token.type == .identityAssertion && expiresAt == 1300)
        #expect(failure { _ = try request.response(from: answer, now: 0) } == "malformed token_type")
    }

    @Test("C13: an access token cannot be issued as N_A")
    func contradiction() throws {
        for requested in [TokenType.accessToken, nil] {
            let request = try request(TokenExchange(of: .init(Secret("subject")), for: requested))
            #expect(
                failure { _ = try request.exchangedToken(from: answer("access_token", "N_A"), now: 0) }
                    == "malformed token_type")
        }
    }

    @Test("C13: another token_type stops, and an access token is read like any other")
    func types() throws {
        let request = try request(TokenExchange(of: .init(Secret("subject"))))
        #expect(
            failure { _ = try request.exchangedToken(from: answer("access_token", "mac"), now: 0) }
                == "malformed token_type")
        guard case .accessToken(let token) = try request.exchangedToken(from: answer("access_token"), now: 0) else {
            Issue.record("it is an access token")
            return
        }
        #expect(token.accessToken.reveal() == "new-token" && token.issuedTokenType == .accessToken)
    }

    @Test("L1: what the server repeats of the exchanged tokens is not shown")
    func quiet() throws {
        let request = try request(
            TokenExchange(of: .init(Secret("subject-secret")), actor: .init(Secret("actor-secret"))))
        let response = Example.response(
            400, #"{"error":"invalid_target","error_description":"subject-secret actor-secret"}"#)
        let error = try #require(serverError { _ = try request.exchangedToken(from: response, now: 0) })
        #expect(error.code == "invalid_target")
        #expect(!"\(error)".contains("subject-secret") && !"\(error)".contains("actor-secret"))
        #expect(!String(reflecting: request).contains("subject-secret"))
    }

    @Test("M706: a refresh token that comes with client credentials is dropped")
    func clientCredentials() throws {
        let content = #"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#
        let server = try Example.server()
        func response(_ grant: TokenRequest.GrantType) throws -> TokenResponse {
            try TokenRequest(grant, at: server, clientID: "c", authentication: .post(secret: Secret("s")))
                .response(from: Example.response(200, content), now: 0)
        }
        #expect(try response(.clientCredentials(scopes: [])).refreshToken == nil)
        #expect(try response(.refreshToken(Secret("old"))).refreshToken?.reveal() == "r")
    }
}
