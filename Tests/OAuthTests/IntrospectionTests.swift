import HTTPTypes
import Testing

@testable import OAuth

@Suite("Introspection answers")
struct IntrospectionTests {
    private func read(_ content: String, status: Int = 200) throws -> TokenIntrospection {
        try IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: "c", authentication: .none
        ).introspection(from: Example.response(status, content))
    }

    @Test("the answer of RFC 7662, section 2.2 is read")
    func rfc7662() throws {
        let answer = try read(
            #"""
            {"active": true, "client_id": "l238j323ds-23ij4", "username": "jdoe", "scope": "read write dolphin",
             "sub": "Z5O3upPC88QrAjx00dis", "aud": "https://protected.example.net/resource", "iss": "https://server.example.com/",
             "exp": 1419356238, "iat": 1419350238, "extension_field": "twenty-seven"}
            """#)
        #expect(answer.isActive)
        #expect(answer.scopes == ["read", "write", "dolphin"])
        #expect(answer.clientID == "l238j323ds-23ij4")
        #expect(answer.username == "jdoe")
        #expect(answer.subject == "Z5O3upPC88QrAjx00dis")
        #expect(answer.audience == ["https://protected.example.net/resource"])
        #expect(try read(#"{"active": true, "aud": ["a", "b"]}"#).audience == ["a", "b"])
        #expect(answer.expiresAt == 1_419_356_238)
        #expect(try read(#"{"active": false}"#).isActive == false)
    }

    @Test(
        "bad answers end in a typed error that names the member",
        arguments: [
            ("", "malformed content"), ("[]", "malformed content"), ("{}", "malformed active"),
            (#"{"active":"true"}"#, "malformed active"),
            (#"{"active":1}"#, "malformed active"), (#"{"active":null}"#, "malformed active"),
            (#"{"active":true,"active":false}"#, "malformed content"),
            (#"{"active":true,"scope":["a"]}"#, "malformed scope"),
            (#"{"active":true,"exp":"soon"}"#, "malformed exp"), (#"{"active":true,"sub":1}"#, "malformed sub"),
            (#"{"active":true,"client_id":{}}"#, "malformed client_id"), (#"{"active":true,"aud":1}"#, "malformed aud"),
            (#"{"active":true,"username":[]}"#, "malformed username"),
            (#"{"active":true,"token_type":7}"#, "malformed token_type"),
            (#"{"active":true,"cnf":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#, "malformed cnf"),
            (#"{"active":true,"cnf":[]}"#, "malformed cnf"), (#"{"active":true,"cnf":{"jkt":7}}"#, "malformed cnf"),
            (#"{"active":true,"cnf":{"jkt":""}}"#, "malformed cnf"),
            (#"{"active":true,"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4"}}"#, "malformed cnf"),
            (#"{"active":true,"cnf":{"x5t#S256":["a"]}}"#, "malformed cnf"),
            (#"{"active":tru"#, "malformed content"),
        ])
    func bad(content: String, expected: String) {
        #expect(failure { _ = try read(content) } == expected)
    }

    @Test("G2, M308: what a token is bound to is told to an API, and holds for that alone")
    func confirmation() throws {
        // The thumbprints of RFC 9449, section 6.2, and of RFC 8705, section 3.2.
        let key = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        let certificate = "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"
        let bound = try read(#"{"active":true,"token_type":"DPoP","cnf":{"jkt":"\#(key)"}}"#)
        #expect(bound.tokenType == "DPoP" && bound.confirmation?.keyThumbprint == key)
        let proven = try #require(bound.confirmation)
        #expect(proven.certificateThumbprint == nil && proven.otherMembers.isEmpty)
        #expect(proven.holds(key: key, certificate: nil) && proven.holds(key: key, certificate: certificate))
        #expect(!proven.holds(key: nil, certificate: nil) && !proven.holds(key: certificate, certificate: key))
        let presented = try #require(try read(#"{"active":true,"cnf":{"x5t#S256":"\#(certificate)"}}"#).confirmation)
        #expect(presented.holds(key: nil, certificate: certificate) && !presented.holds(key: key, certificate: nil))
        let both = try #require(
            try read(#"{"active":true,"cnf":{"jkt":"\#(key)","x5t#S256":"\#(certificate)"}}"#).confirmation)
        #expect(both.holds(key: key, certificate: certificate))
        #expect(!both.holds(key: key, certificate: nil) && !both.holds(key: nil, certificate: certificate))
        #expect(try read(#"{"active":true,"token_type":"Bearer"}"#).confirmation == nil)
    }

    @Test("G2: a token that is bound to what is not known holds for no request")
    func unknownConfirmation() throws {
        let key = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        for (content, others) in [
            (#"{"kid":"k"}"#, ["kid"]), (#"{"jkt":"\#(key)","jwk":{},"jku":"https://a.example"}"#, ["jku", "jwk"]),
            ("{}", []),
        ] {
            let bound = try #require(try read(#"{"active":true,"cnf":\#(content)}"#).confirmation)
            #expect(bound.otherMembers == others)
            #expect(!bound.holds(key: key, certificate: key), "\(content)")
        }
    }

    @Test("an error status is an error, whatever it claims")
    func errorStatus() {
        #expect(failure { _ = try read(#"{"active":true}"#, status: 401) } == "http_401")
    }

    // MARK: Signed responses

    static func signedRequest() throws -> IntrospectionRequest {
        IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: Example.clientID,
            authentication: .post(secret: Secret("client-secret")), signed: true)
    }

    static func signed(
        _ text: Secret, type: String = "application/token-introspection+jwt"
    ) -> ResponseMessage {
        Example.response(200, text.reveal(), fields: [.contentType: type])
    }

    private func readSigned(
        _ changes: [String: String?] = [:], header: String = #"{"alg":"ES256","typ":"token-introspection+jwt"}"#,
        type: String = "application/token-introspection+jwt"
    ) throws -> TokenIntrospection {
        var members = [
            "iss": #""https://server.example.com""#, "aud": #""s6BhdRkqt3""#, "iat": "1300819380",
            "token_introspection": #"{"active":true,"scope":"a b","sub":"inner"}"#,
        ]
        for (name, value) in changes { members[name] = value }
        let keys = try SigningKeys.shared.get()
        let payload = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        let text = try keys.token(.es256, header: header, payload: payload)
        return try Self.signedRequest().introspection(
            from: Self.signed(text, type: type), keys: try keys.keySet(.es256), now: Example.now)
    }

    @Test("RFC 9701: a signed response is asked for, and only its token_introspection is read")
    func signedResponse() throws {
        #expect(
            try Self.signedRequest().message.head.headerFields[.accept] == "application/token-introspection+jwt")
        let answer = try readSigned(["active": "false", "sub": #""outer""#, "exp": "1"])
        #expect(answer.isActive && answer.scopes == ["a", "b"] && answer.subject == "inner")
        #expect(answer.expiresAt == nil)
        #expect(try readSigned(["iat": "1300819440"]).isActive, "at the edge of the leeway")
        #expect(try readSigned(type: "application/token-introspection+jwt; charset=utf-8").isActive)
    }

    @Test(
        "RFC 9701: each claim of a signed response, broken alone, refuses it",
        arguments: [
            ("iss", nil, "introspection_response_malformed"), ("iss", #""https://evil.example""#, "issuer_mismatch"),
            ("aud", nil, "introspection_response_malformed"), ("aud", #""other""#, "audience_mismatch"),
            ("aud", #"["s6BhdRkqt3","other"]"#, "audience_mismatch"),
            ("iat", nil, "introspection_response_malformed"), ("iat", "1300819441", "introspection_response_time"),
            ("token_introspection", nil, "introspection_response_malformed"),
            ("token_introspection", "[]", "introspection_response_malformed"),
            ("token_introspection", "{}", "malformed active"),
        ] as [(String, String?, String)])
    func signedClaim(name: String, json: String?, expected: String) {
        #expect(failure { _ = try readSigned([name: json]) } == expected)
    }

    @Test(
        "RFC 9701: the type of a signed response is required, its algorithm is the client's policy",
        arguments: [
            (#"{"alg":"ES256","typ":"JWT"}"#, "introspection_response_malformed"),
            (#"{"alg":"ES256"}"#, "introspection_response_malformed"),
            (#"{"alg":"none","typ":"token-introspection+jwt"}"#, "algorithm_refused"),
            (#"{"alg":"HS256","typ":"token-introspection+jwt"}"#, "algorithm_refused"),
        ])
    func signedHeader(header: String, expected: String) {
        #expect(failure { _ = try readSigned(header: header) } == expected)
    }

    @Test("RFC 9701: a plain response to a request for a signed one is refused")
    func unsigned() throws {
        let request = try Self.signedRequest()
        let plain = Example.response(200, #"{"active":true}"#)
        let keys = try SigningKeys.shared.get().keySet(.es256)
        #expect(failure { _ = try request.introspection(from: plain) } == "malformed content")
        #expect(
            failure { _ = try request.introspection(from: plain, keys: keys, now: Example.now) } == "malformed content")
        #expect(failure { _ = try readSigned(type: "application/jwt") } == "malformed content")
        #expect(failure { _ = try readSigned(type: "") } == "malformed content")
    }
}
