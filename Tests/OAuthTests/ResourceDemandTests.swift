import HTTPTypes
import Testing

@testable import OAuth

@Suite("Using access tokens")
struct ResourceDemandTests {
    @Test(
        "F5: a refusal is read as a typed demand",
        arguments: [
            (401, #"Bearer realm="example""#, .freshToken),
            (
                401, #"Bearer realm="example", error="invalid_token", error_description="The access token expired""#,
                .freshToken
            ),
            (403, #"Bearer error="insufficient_scope", scope="a b""#, .scopes(["a", "b"])),
            (
                401,
                #"Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="myACR""#,
                .stepUp(acrValues: ["myACR"], maximumAge: nil)
            ),
            (
                401,
                #"Bearer error="insufficient_user_authentication", error_description="More recent authentication is required", max_age="5""#,
                .stepUp(acrValues: [], maximumAge: 5)
            ),
            (
                401, #"Bearer error="insufficient_user_authentication", max_age=0, scope="a b""#,
                .stepUp(acrValues: [], maximumAge: 0, scopes: ["a", "b"])
            ),
            (
                401, #"Bearer error="insufficient_user_authentication", max_age="-5""#,
                .stepUp(acrValues: [], maximumAge: nil)
            ),
            (401, "", .freshToken), (401, #"Basic realm="x""#, .freshToken),
            (401, #"Bearer error="broken"#, .freshToken),
            (400, #"Bearer error="invalid_token""#, nil), (403, "", nil),
            (401, #"Bearer error="invalid_request""#, nil), (403, #"Bearer realm="example""#, nil),
            (200, #"Bearer error="invalid_token""#, nil), (500, "", nil),
            (401, #"bEaReR ERROR="insufficient_scope", scope=a"#, .scopes(["a"])),
            (
                403, #"Bearer resource_metadata="https://api.example/m", Bearer error="insufficient_scope", scope="b""#,
                .scopes(["b"])
            ),
            (
                401, #"Bearer realm="a", Bearer error="insufficient_user_authentication", max_age=0"#,
                .stepUp(acrValues: [], maximumAge: 0)
            ),
            (403, #"Bearer error="insufficient_scope", scope="a", Bearer error="invalid_token""#, .scopes(["a"])),
        ] as [(Int, String, ResourceDemand?)])
    func demands(status: Int, field: String, expected: ResourceDemand?) {
        #expect(
            ResourceDemand(Example.response(status, fields: field.isEmpty ? [:] : [.wwwAuthenticate: field]))
                == expected)
    }

    @Test("F5: of several challenges of a scheme the first one with an error counts", arguments: [false, true])
    func several(isBound: Bool) {
        let (own, other) = isBound ? ("DPoP", "Bearer") : ("Bearer", "DPoP")
        var response = Example.response(403, fields: [:])
        response.head.headerFields[values: .wwwAuthenticate] = [
            #"\#(other) error="invalid_token""#, #"\#(own) realm="example""#,
            #"\#(own) error="insufficient_scope", scope="b""#,
        ]
        #expect(ResourceDemand(response, isBound: isBound) == .scopes(["b"]))
    }

    @Test("M212: of the classes that an API demands ten are asked for, each of at most 255 bytes")
    func bounded() throws {
        let longest = String(repeating: "a", count: 255)
        func asked(_ classes: [String]) -> [String]? {
            let error = #"Bearer error="insufficient_user_authentication""#
            let field = "\(error), acr_values=\"\(classes.joined(separator: " "))\""
            let demand = ResourceDemand(Example.response(401, fields: [.wwwAuthenticate: field]))
            return demand?.parameters["acr_values"]?.split(separator: " ").map(String.init)
        }
        let ten = (0..<10).map { "\($0)" + longest.dropFirst() }
        #expect(asked(ten) == ten)
        #expect(asked(ten + ["more"]) == ten, "the first ones come first in the API's preference")
        #expect(asked(["b", longest + "a", "c"]) == ["b", "c"])
        // What a caller made is bounded too.
        let made = ResourceDemand.stepUp(acrValues: ten + ["more"], maximumAge: nil)
        #expect(made.parameters["acr_values"] == ten.joined(separator: " "))
        let long = ResourceDemand.stepUp(acrValues: [longest + "a"], maximumAge: nil)
        #expect(long.parameters == ["max_age": "0"])
    }

    @Test("F5: a long scope that an API demands is whole")
    func longScope() {
        let long = String(repeating: "a", count: 256)
        let field = "Bearer error=\"insufficient_scope\", scope=\"\(long) b\""
        #expect(ResourceDemand(Example.response(403, fields: [.wwwAuthenticate: field])) == .scopes([long, "b"]))
    }

    @Test("L1, F5: a demand that repeats the token names neither it nor a piece of it")
    func repeatedToken() {
        let secret = Secret("tiny-token")
        for (name, error) in [("scope", "insufficient_scope"), ("acr_values", "insufficient_user_authentication")] {
            let field = "Bearer error=\"\(error)\", \(name)=\"read tiny-token x-tiny-token\""
            let response = Example.response(403, fields: [.wwwAuthenticate: field])
            let expected: ResourceDemand =
                name == "scope" ? .scopes(["read"]) : .stepUp(acrValues: ["read"], maximumAge: nil)
            #expect(ResourceDemand(response, hiding: [secret]) == expected)
        }
    }

    @Test(
        "F5: challenges are read by the grammar of RFC 9110, section 11.6.1",
        arguments: [
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["basic", "newauth"], ["realm=simple", "realm=apps title=Login to \"apps\" type=1"]
            ),
            ("Negotiate", ["negotiate"], [""]),
            ("NTLM TlRMTVNTUAAC==, Bearer realm=x", ["ntlm", "bearer"], ["", "realm=x"]),
            ("Negotiate, Bearer realm=x", ["negotiate", "bearer"], ["", "realm=x"]),
            (",, Bearer a=b , ,c=d,", ["bearer"], ["a=b c=d"]),
            (#"Bearer a = "b" , c= d"#, ["bearer"], ["a=b c=d"]), (#"Bearer a="""#, ["bearer"], ["a="]), ("", [], []),
            (" , ", [], []),
        ])
    func grammar(field: String, schemes: [String], parameters: [String]) throws {
        let challenges = try #require(AuthenticationChallenge.challenges(in: [.wwwAuthenticate: field]))
        #expect(challenges.map(\.scheme) == schemes)
        #expect(
            challenges.map {
                $0.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            } == parameters)
    }

    @Test(
        "F5: a broken field says nothing",
        arguments: [
            #"Bearer error="invalid_token"#, #"Bearer error="a", error="b""#, #"Bearer error="a" scope="b""#,
            "Bearer error=", "Bearer =a", "\"Bearer\"",
            "Bearer error=a b=c", #"Bearer error="a\"#, "Bearer a=b=c, d", "Bearer, error=x",
            "Bearer realm=x Basic realm=y", "Bearer é=a", "Bea(rer) a=b",
        ])
    func broken(field: String) {
        let challenges = AuthenticationChallenge.challenges(in: [.wwwAuthenticate: field])
        #expect(challenges == nil || challenges?.contains { !$0.parameters.isEmpty } == false)
    }

    @Test("F5: a huge field says nothing, and several fields are read as one list")
    func fields() {
        let huge = "Bearer realm=\"" + String(repeating: "a", count: 10_000) + "\""
        #expect(AuthenticationChallenge.challenges(in: [.wwwAuthenticate: huge]) == nil)
        var fields = HTTPFields()
        fields[values: .wwwAuthenticate] = [#"Basic realm="x""#, #"Bearer error="invalid_token""#]
        #expect(AuthenticationChallenge.challenges(in: fields)?.map(\.scheme) == ["basic", "bearer"])
    }

    @Test(
        "G6: the name of an authentication scheme counts without case",
        arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
    func schemeCase(scheme: String) {
        let response = Example.response(
            403, fields: [.wwwAuthenticate: #"\#(scheme) error="insufficient_scope", scope="a""#])
        #expect(ResourceDemand(response) == .scopes(["a"]))
    }
}
