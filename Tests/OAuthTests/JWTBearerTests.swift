import CryptoExtras
import Testing

@testable import OAuth

@Suite("JWT grants")
struct JWTBearerTests {
    private func key() throws -> SigningKey {
        let rsa = try SigningKeys.shared.get().rsa
        return try SigningKey(parsing: Array(rsa.pkcs8PEMRepresentation.utf8), keyID: "key-1")
    }

    private func request(
        _ assertion: JWTBearerAssertion, clientID: String = "c", authentication: ClientAuthentication = .none
    ) throws -> TokenRequest {
        TokenRequest(
            .jwtBearer(assertion), at: try Example.server(), clientID: clientID, authentication: authentication)
    }

    private func assertion(
        _ change: (inout JWTBearerAssertion.Claims) -> Void = { _ in }, scopes: [String] = ["a", "b"]
    ) throws -> JWTBearerAssertion {
        var claims = JWTBearerAssertion.Claims(issuer: "c", subject: "ada")
        change(&claims)
        return JWTBearerAssertion(claims, signedBy: try key(), scopes: scopes, now: { Example.now })
    }

    /// The header and the claims of the assertion in a request, whose signature is right.
    private func sent(_ message: RequestMessage) throws -> (header: JSONObject, claims: JSONObject) {
        let field = try #require(message.form.first { $0.hasPrefix("assertion=") })
        let text = Secret(String(field.dropFirst("assertion=".count)))
        let keys = try SigningKeys.shared.get().keySet(.rs256, more: #","kid":"key-1""#)
        let payload = try JSONWebSignature(compact: text).verify(with: keys, allowing: [.rs256]).payload
        let header = Base64URL.decode(text.reveal().prefix { $0 != "." }) ?? []
        return (
            try #require(try JSONValue(parsing: header).object), try #require(try JSONValue(parsing: payload).object)
        )
    }

    @Test("M707: an assertion is that of RFC 7523, section 3, and its scopes are a parameter")
    func claims() throws {
        let message = try request(try assertion()).message
        #expect(message.form.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        #expect(message.form.last == "scope=a+b", "the assertion names the client")
        let (header, claims) = try sent(message)
        #expect(header.keys == ["alg", "kid", "typ"] && header["kid"]?.string == "key-1")
        #expect(claims["iss"]?.string == "c" && claims["sub"]?.string == "ada")
        #expect(claims["aud"]?.string == "https://server.example.com")
        #expect(claims["iat"]?.integer == 1_300_819_380 && claims["exp"]?.integer == 1_300_819_440)
        #expect(claims["scope"] == nil)
        let other = try request(try assertion { $0.audience = .tokenEndpoint }, clientID: "other").message
        #expect(try sent(other).claims["aud"]?.string == "https://server.example.com/token")
        #expect(other.form.contains("client_id=other"))
    }

    @Test("M707: each request has a new assertion")
    func newAssertions() throws {
        let request = try request(try assertion())
        let identifiers = try (0..<3).map { _ in try sent(try request.message).claims["jti"]?.string }
        #expect(Set(identifiers).count == 3)
    }

    @Test("M707: a lifetime of more than 3600 s is refused before sending", arguments: [0, -1, 3601, Int.max])
    func lifetime(seconds: Int) throws {
        #expect(
            failure { _ = try request(try assertion { $0.lifetime = seconds }).message } == "configuration lifetime")
        #expect(failure { _ = try request(try assertion { $0.lifetime = 3600 }).message } == nil)
        let google = try ServiceAccountKey(parsing: try Self.keyFile()).claims(lifetime: seconds)
        let theirs = JWTBearerAssertion(google, signedBy: try key(), now: { Example.now })
        #expect(failure { _ = try request(theirs).message } == "configuration lifetime")
    }

    @Test("M707: an assertion of another server is sent as it came")
    func issued() throws {
        let message = try request(JWTBearerAssertion(Secret("a.b.c"), scopes: ["x"])).message
        #expect(
            message.form == [
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer", "assertion=a.b.c", "scope=x",
                "client_id=c",
            ])
    }

    @Test("M706: a refresh token beside an assertion that can be made again is dropped")
    func refreshToken() throws {
        let content = #"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#
        func token(_ assertion: JWTBearerAssertion) throws -> String? {
            try request(assertion).response(from: Example.response(200, content), now: 0).refreshToken?.reveal()
        }
        #expect(try token(try assertion()) == nil)
        #expect(try token(JWTBearerAssertion(Secret("a.b.c"))) == "r")
    }

    @Test("invalid_grant for an assertion of the client's own says what to check, and not to sign in again")
    func rejected() throws {
        func text(_ assertion: JWTBearerAssertion) throws -> String {
            do {
                _ = try request(assertion).response(
                    from: Example.response(400, #"{"error":"invalid_grant"}"#), now: 0)
                return ""
            } catch let error as OAuthError {
                return "\(error)"
            }
        }
        let own = try text(try assertion())
        #expect(own.contains("the issuer, audience and subject of the assertion") && !own.contains("Sign in again"))
        #expect(own.contains("the clock of this machine"))
        #expect(try text(JWTBearerAssertion(Secret("a.b.c"))).contains("Sign in again."))
    }

    // MARK: Google's key files

    static func keyFile(_ changes: [String: String?] = [:]) throws -> [UInt8] {
        let pem = try SigningKeys.shared.get().rsa.pkcs8PEMRepresentation
        var members: [String: JSONValue] = [
            "type": .string("service_account"), "client_email": .string("robot@project.iam.gserviceaccount.com"),
            "private_key_id": .string("key-1"), "private_key": .string(pem),
            "token_uri": .string("https://oauth2.googleapis.com/token"),
        ]
        for (name, value) in changes { members[name] = value.map { .string($0) } }
        return Array(JSONValue.object(JSONObject(members.map { (key: $0.key, value: $0.value) })).json.utf8)
    }

    @Test("M705: a Google key file makes the assertion that Google documents")
    func google() throws {
        let file = try ServiceAccountKey(parsing: try Self.keyFile())
        var server = try Example.server("https://oauth2.googleapis.com")
        server.tokenEndpoint = file.tokenEndpoint
        let assertion = JWTBearerAssertion(
            file.claims(actingFor: "ada@example.com"), signedBy: file.key, scopes: ["s1", "s2"],
            now: { Example.now })
        let message = try TokenRequest(
            .jwtBearer(assertion), at: server, clientID: file.email, authentication: .none
        ).message
        #expect(message.form.count == 2, "grant_type and assertion alone")
        let (header, claims) = try sent(message)
        #expect(header["alg"]?.string == "RS256" && header["kid"]?.string == "key-1" && header["typ"]?.string == "JWT")
        #expect(claims["iss"]?.string == "robot@project.iam.gserviceaccount.com")
        #expect(claims["scope"]?.string == "s1 s2" && claims["sub"]?.string == "ada@example.com")
        #expect(claims["aud"]?.string == "https://oauth2.googleapis.com/token")
        #expect(claims["exp"]?.integer == 1_300_822_980)
        let own = JWTBearerAssertion(file.claims(), signedBy: file.key, now: { Example.now })
        #expect(try sent(try request(own).message).claims["sub"] == nil)
    }

    @Test(
        "M705: a key file with a foreign token_uri is refused, unless the caller names it",
        arguments: [
            ("https://evil.example/token", nil, "token_endpoint_foreign"),
            ("https://oauth2.googleapis.com.evil.example/token", nil, "token_endpoint_foreign"),
            ("https://oauth2.googleapis.com:8443/token", nil, "token_endpoint_foreign"),
            ("http://oauth2.googleapis.com/token", nil, "insecure_transport"),
            ("https://oauth2.googleapis.com/v4/token", nil, nil),
            ("https://sts.example/token", "https://sts.example/token", nil),
            ("https://sts.example/other", "https://sts.example/token", "token_endpoint_foreign"),
        ] as [(String, String?, String?)])
    func foreign(stated: String, named: String?, expected: String?) throws {
        let named = try named.map { try EndpointURL($0) }
        #expect(
            failure {
                _ = try ServiceAccountKey(parsing: try Self.keyFile(["token_uri": stated]), tokenEndpoint: named)
            } == expected)
    }

    @Test(
        "M705: what is no key file is refused without a byte of it",
        arguments: [
            ("type", "authorized_user"), ("type", nil), ("client_email", nil), ("private_key_id", nil),
            ("private_key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), ("token_uri", ""),
        ] as [(String, String?)])
    func damaged(name: String, value: String?) throws {
        do {
            _ = try ServiceAccountKey(parsing: try Self.keyFile([name: value]))
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains("configuration") && !"\(error)".contains("AAAA"))
        }
        #expect(failure { _ = try ServiceAccountKey(parsing: Array("[]".utf8)) } == "configuration key file")
        #expect(
            failure { _ = try ServiceAccountKey(parsing: [UInt8](repeating: 0x20, count: 70_000)) }
                == "configuration key file")
    }
}
