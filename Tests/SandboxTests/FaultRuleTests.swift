import Sandbox
import Testing

@Suite("Fault rules")
struct FaultRuleTests {
    @Test(
        "a rule that fits the grammar is read",
        arguments: [
            "/token => drop", "  /token   =>   drop  ", "* /token => delay 0.05", "standard /token => cut 0",
            "POST /token => status 503", "recurse-center POST /oauth/token => drop x1",
            "sequencing GET /oauth2/* => garbage x12", "* => endless", "* * => endless",
            "/indexApi.php?q=oauth2/token => huge 10",
            "/token => redirect https://example.test/ 308", "/token => redirect http://127.0.0.1:1/x x2",
            #"/token => status 400 {"error": "invalid_grant"} x3"#, "/token => header Retry-After 120",
            #"/token => body {"a": "=> b"}"#, "/api/echo => delay 0",
            "/v2/StartApp => numbers-as-strings x1", "/oauth2/token => strings-as-numbers",
            "sequencing GET /DataSourceList => without Sex", "/DataSourceList => null Sex x2",
            #"/.well-known/* => member issuer https://other.example"#, #"/token => member scope ["a", "b"] #2"#,
            "standard POST /token => id_token claim nonce wrong", "/token => id_token claim nonce - x1",
            "/token => id_token claim nonce x2", "/token => id_token claim nonce x2 x3",
            "/token => id_token sign HS256 #2",
            #"/userinfo => userinfo claim aud ["a", "b"]"#, "/token => id_token header kid - x1",
            "/authorize* => response late -60", "id-token:wrong-nonce", "  response:expired #2  ",
            "userinfo:alg-none x1",
        ])
    func wellFormed(_ text: String) throws {
        _ = try FaultRule(parsing: text)
    }

    @Test(
        "a rule that does not fit says what was found",
        arguments: [
            ("/token drop", FaultRuleError.arrowMissing(rule: "/token drop")),
            ("", .arrowMissing(rule: "")),
            ("=> drop", .routeUnclear(found: "")),
            ("a b c /d => drop", .routeUnclear(found: "a b c /d")),
            ("unknown GET /x => drop", .serviceUnknown(found: "unknown", known: services)),
            ("unknown /x => drop", .methodUnclear(found: "unknown", services: services)),
            ("standard get /x => drop", .methodUnclear(found: "get", services: services)),
            ("token => drop", .pathUnclear(found: "token")),
            ("/a*b => drop", .pathUnclear(found: "/a*b")),
            ("/a => ", .actionUnknown(found: "")),
            ("/a => explode", .actionUnknown(found: "explode")),
            ("/a => x3", .actionUnknown(found: "")),
            ("/a => delay", .argumentUnclear(action: "delay", found: "", expected: "seconds from 0 to 86400")),
            ("/a => delay -1", .argumentUnclear(action: "delay", found: "-1", expected: "seconds from 0 to 86400")),
            ("/a => delay nan", .argumentUnclear(action: "delay", found: "nan", expected: "seconds from 0 to 86400")),
            (
                "/a => status 99",
                .argumentUnclear(
                    action: "status", found: "99", expected: "a status from 200 to 599 and perhaps a body")
            ),
            ("/a => cut -5", .argumentUnclear(action: "cut", found: "-5", expected: "a number of bytes")),
            ("/a => huge", .argumentUnclear(action: "huge", found: "", expected: "a number of bytes")),
            ("/a => drop now", .argumentUnclear(action: "drop", found: "now", expected: "no argument")),
            (
                "/a => redirect",
                .argumentUnclear(
                    action: "redirect", found: "", expected: "a URL and perhaps a status from 300 to 399")
            ),
            ("/a => header X", .argumentUnclear(action: "header", found: "X", expected: "a field name and a value")),
            ("/a => without", .argumentUnclear(action: "without", found: "", expected: "the name of a member")),
            ("/a => null a b", .argumentUnclear(action: "null", found: "a b", expected: "the name of a member")),
            (
                "/a => member a",
                .argumentUnclear(action: "member", found: "a", expected: "the name of a member and its value")
            ),
            (
                "/a => numbers-as-strings x",
                .argumentUnclear(action: "numbers-as-strings", found: "x", expected: "no argument")
            ),
            (
                "/a => id_token sign Rot13",
                .argumentUnclear(
                    action: "id_token sign", found: "Rot13",
                    expected: "one of other, unknown, damaged, none, HS256, ES384, EdDSA, RS256, PS256")
            ),
            (
                "/a => userinfo late soon",
                .argumentUnclear(
                    action: "userinfo late", found: "soon", expected: "seconds from -1000000000 to 1000000000")
            ),
            ("id-token:wrong", .nameUnknown(found: "id-token:wrong")),
            ("id-token:wrong-nonce soon", .nameUnknown(found: "id-token:wrong-nonce soon")),
            ("/a => body", .argumentUnclear(action: "body", found: "", expected: "a JSON text")),
        ])
    func malformed(_ text: String, _ expected: FaultRuleError) {
        #expect(throws: expected) { _ = try FaultRule(parsing: text) }
        #expect("\(expected)".lowercased().contains("expect") || "\(expected)".contains("reads"))
    }

    @Test("a name stands for the rules that it lists, and no two faults have one name")
    func names() throws {
        #expect(Set(NamedFault.all.map(\.name)).count == NamedFault.all.count)
        for fault in NamedFault.all {
            let named = try FaultRule(parsing: fault.name + " #2 x3")
            #expect(!fault.rules.isEmpty && !fault.note.isEmpty)
            for rule in fault.rules { _ = try FaultRule(parsing: rule) }
            guard fault.rules.count == 1 else { continue }
            #expect(try named == FaultRule(parsing: fault.rules[0] + " #2 x3"), "\(fault.name)")
        }
    }
}

private let services = ["sequencing", "recurse-center", "standard", "ifttt", "resources", "mutual-tls", "*"]
