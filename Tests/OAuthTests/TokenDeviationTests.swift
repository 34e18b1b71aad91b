import HTTPTypes
import OAuth
import Testing

@Suite("Deviations of the token endpoint")
struct TokenDeviationTests {
    private static func exchange(
        _ content: String, status: Int = 200, _ change: (inout TokenDeviations) -> Void = { _ in }
    ) throws -> TokenResponse {
        var deviations = TokenDeviations()
        change(&deviations)
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        return try TokenRequest(
            .refreshToken(Secret("refresh-token-of-before")), at: server, clientID: "app", authentication: .none,
            deviations: deviations
        ).response(
            from: ResponseMessage(
                head: HTTPResponse(status: .init(code: status)), content: Array(content.utf8)), now: 1_000)
    }

    @Test("C11: what is no scope is left out of a list of them")
    func listedScopes() throws {
        let content = #"{"access_token":"a","token_type":"bearer","scope":["a","b c","","d\u0007","e"]}"#
        #expect(try Self.exchange(content) { $0.listsScopes = true }.scopes == ["a", "e"])
    }

    @Test("C9: a list of scopes is as long as their text may be, because it is stored with the grant")
    func longList() throws {
        func scopes(_ count: Int) throws -> Int? {
            let list = Array(repeating: #""aaa""#, count: count).joined(separator: ",")
            let content = #"{"access_token":"a","token_type":"bearer","scope":[\#(list)]}"#
            return try Self.exchange(content) { $0.listsScopes = true }.scopes?.count
        }
        #expect(try scopes(4_096) == 4_096)
        let error = #expect(throws: OAuthError.self) { try scopes(4_097) }
        guard case .malformed(.token, "scope", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("C1: a parameter that a JSON request repeats is a list, and none of its values is lost")
    func repeatedInJSON() throws {
        var deviations = TokenDeviations()
        deviations.sendsJSON = true
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        let message = try TokenRequest(
            .clientCredentials(scopes: ["a"]), at: server, clientID: "app", authentication: .none,
            resources: ["https://one.example", "https://two.example"], deviations: deviations
        ).message
        guard case .bytes(let bytes) = message.content else {
            Issue.record("no content")
            return
        }
        let content = try JSONValue(parsing: bytes).object
        #expect(content?["resource"] == .array([.string("https://one.example"), .string("https://two.example")]))
        #expect(content?["client_id"] == .string("app"))
    }

    @Test("a form is read where a service may answer with one, and a name that comes twice is malformed")
    func form() throws {
        let form = "access_token=a%2Bb&token_type=bearer&expires_in=60&scope=repo%2Cuser"
        let response = try Self.exchange(form) { $0.readsForm = true }
        #expect(response.accessToken.reveal() == "a+b")
        #expect(response.expiresAt == 1_060)
        #expect(Grant(response, requested: [], now: 1_000).scopes == ["repo", "user"])
        let json = #"{"access_token":"a","token_type":"bearer"}"#
        #expect(try Self.exchange(json) { $0.readsForm = true }.accessToken.reveal() == "a")
        for wrong in ["access_token=a&access_token=b&token_type=bearer", "access_token=%zz", "&", "", "%"] {
            #expect(throws: OAuthError.self) { try Self.exchange(wrong) { $0.readsForm = true } }
        }
        #expect(throws: OAuthError.self) { try Self.exchange(form) }
    }

    @Test("an error in a form is the server's, whatever the status", arguments: [200, 400])
    func formError(_ status: Int) throws {
        let content = "error=invalid_grant&error_description=The+token+refresh-token-of-before+ended"
        let error = #expect(throws: OAuthError.self) {
            try Self.exchange(content, status: status) { $0.readsForm = true }
        }
        guard case .server(let said) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(said.isInvalidGrant)
        #expect(said.text?.contains("refresh-token-of-before") == false)
    }

    @Test(
        "a code that means invalid_grant at a service counts as that, unless the service failed",
        arguments: [(200, true), (400, true), (401, true), (503, false)])
    func invalidGrantCode(_ status: Int, endsSession: Bool) throws {
        let content = #"{"error":"Bad Request","message":"Invalid refresh token"}"#
        let known: [(codes: Set<String>, isKnown: Bool)] = [(["Invalid refresh token"], true), (["Invalid"], false)]
        for (codes, isKnown) in known {
            let error = #expect(throws: OAuthError.self) {
                try Self.exchange(content, status: status) {
                    $0.errorCode = "/message"
                    $0.invalidGrantCodes = codes
                }
            }
            guard case .server(let said) = try #require(error) else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(said.code == (isKnown ? "invalid_grant" : "Invalid refresh token"))
            #expect(said.text == (isKnown ? "Invalid refresh token" : nil))
            #expect(said.isInvalidGrant == (isKnown && endsSession))
        }
    }

    @Test("such a code where the standard has it keeps the explanation and the page that the service names")
    func invalidGrantCodeInPlace() throws {
        let content = #"{"error":"gone","error_description":"It ended.","error_uri":"https://op.example/help"}"#
        let error = #expect(throws: OAuthError.self) { try Self.exchange(content) { $0.invalidGrantCodes = ["gone"] } }
        guard case .server(let said) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(said.isInvalidGrant && said.text == "It ended." && said.uri == "https://op.example/help")
    }

    @Test("such codes alone do not change what other errors say")
    func otherCodes() throws {
        let content = #"{"error":"other","message":"The service is closed."}"#
        let error = #expect(throws: OAuthError.self) {
            try Self.exchange(content, status: 400) { $0.invalidGrantCodes = ["gone"] }
        }
        guard case .server(let said) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(said.code == "other" && said.text == "The service is closed.")
    }

    @Test(
        "an expiry in another unit or member becomes seconds since 1970",
        arguments: [
            ("1970-01-01T00:20:00Z", 1_200.0), ("1970-01-01T01:20:00.25+01:00", 1_200),
            ("2026-11-22T11:30:00Z", 1_795_347_000), ("2000-02-29t23:59:60z", 951_868_800),
        ])
    func dateTime(_ text: String, _ seconds: Double) throws {
        let content = #"{"access_token":"a","token_type":"bearer","expires_at":"\#(text)"}"#
        let response = try Self.exchange(content) {
            $0.expiryMember = "expires_at"
            $0.expiryUnit = .dateTime
        }
        #expect(response.expiresAt == seconds)
    }

    @Test(
        "what is no date and time is malformed, and names the member",
        arguments: [
            "", "tomorrow", "1969-12-31T23:59:59Z", "2026-13-01T00:00:00Z", "2026-11-22T11:30:00",
            "2026-11-22T24:00:00Z",
            "2026-11-22T11:30:00.Z", "2026-11-22T11:30:00+1:00", "-026-11-22T11:30:00Z", "2026-11-22T11:30:00\u{661}Z",
        ])
    func wrongDateTime(_ text: String) throws {
        let content = #"{"access_token":"a","token_type":"bearer","expires_at":"\#(text)"}"#
        let error = #expect(throws: OAuthError.self) {
            try Self.exchange(content) {
                $0.expiryMember = "expires_at"
                $0.expiryUnit = .dateTime
            }
        }
        guard case .malformed(_, let member, _, _) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(member == "expires_at")
    }

    @Test("milliseconds, an expiry of 0 that means never, and a lifetime for an answer without one")
    func otherExpiries() throws {
        let plain = #"{"access_token":"a","token_type":"bearer""#
        let milliseconds = try Self.exchange(plain + #","expires_in":1500000}"#) {
            $0.expiryUnit = .millisecondsSince1970
        }
        #expect(milliseconds.expiresAt == 1_500)
        #expect(try Self.exchange(plain + #","expires_in":0}"#) { $0.zeroExpiryIsNever = true }.expiresAt == nil)
        #expect(try Self.exchange(plain + #","expires_in":0}"#).expiresAt == 1_000)
        #expect(try Self.exchange(plain + "}") { $0.absentLifetime = 60 }.expiresAt == 1_060)
        for wrong in ["-1", "9223372036854775807", "1e300"] {
            #expect(throws: OAuthError.self) {
                try Self.exchange(plain + #","expires_in":\#(wrong)}"#) { $0.expiryUnit = .millisecondsSince1970 }
            }
        }
    }

    @Test("tokens are read where they are, and nowhere else")
    func place() throws {
        let content = #"{"data":[{"token":"inner","refresh_token":"r","token_type":"bearer"}],"access_token":"outer"}"#
        let response = try Self.exchange(content) { $0.tokenPlace = "/data/0/token" }
        #expect(response.accessToken.reveal() == "inner")
        #expect(response.refreshToken?.reveal() == "r")
        #expect(throws: OAuthError.self) { try Self.exchange(content) { $0.tokenPlace = "/data/1/token" } }
    }

    @Test("an absent or foreign token_type is accepted only where the service is known for it")
    func tokenType() throws {
        let absent = #"{"access_token":"a"}"#
        let foreign = #"{"access_token":"a","token_type":"OAuth"}"#
        #expect(throws: OAuthError.self) { try Self.exchange(absent) }
        #expect(throws: OAuthError.self) { try Self.exchange(foreign) { $0.tokenTypes = [""] } }
        #expect(throws: OAuthError.self) { try Self.exchange(absent) { $0.tokenTypes = ["OAuth"] } }
        #expect(try Self.exchange(absent) { $0.tokenTypes = [""] }.accessToken.reveal() == "a")
        #expect(try Self.exchange(foreign) { $0.tokenTypes = ["OAuth"] }.accessToken.reveal() == "a")
    }

    @Test("an error code beside a success stops the exchange, and its text shows no secret")
    func errorBesideSuccess() throws {
        let content = #"""
            {"status":503,"error":"refresh-token-of-before is unknown","body":{"access_token":"secret-in-body"}}
            """#
        let error = #expect(throws: OAuthError.self) {
            try Self.exchange(content) {
                $0.tokenPlace = "/body/access_token"
                $0.errorCode = "/status"
                $0.errorText = "/error"
            }
        }
        guard case .server(let said) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(said.code == "503")
        #expect(said.text?.contains("refresh-token-of-before") == false)
    }

    @Test("a JSON Pointer finds what RFC 6901, section 5 says, and nothing else")
    func pointer() throws {
        let value = try JSONValue(parsing: Array(#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8," ":7}"#.utf8))
        #expect(value.value(at: "") == value)
        #expect(value.value(at: "/foo/0")?.string == "bar")
        #expect(value.value(at: "/")?.integer == 0)
        #expect(value.value(at: "/a~1b")?.integer == 1)
        #expect(value.value(at: "/m~0n")?.integer == 8)
        #expect(value.value(at: "/ ")?.integer == 7)
        for absent in ["foo", "/foo/2", "/foo/-1", "/foo/-", "/foo/99999999999999999999", "/foo/0/x", "/none"] {
            #expect(value.value(at: absent)?.kind == nil)
        }
    }
}
