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
            (#"{"active":true,"client_id":{}}"#, "malformed client_id"),
            (#"{"active":true,"username":[]}"#, "malformed username"),
            (#"{"active":tru"#, "malformed content"),
        ])
    func bad(content: String, expected: String) {
        #expect(failure { _ = try read(content) } == expected)
    }

    @Test("an error status is an error, whatever it claims")
    func errorStatus() {
        #expect(failure { _ = try read(#"{"active":true}"#, status: 401) } == "http_401")
    }
}
