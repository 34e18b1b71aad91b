import Foundation
import Sandbox
import SandboxCore
import TestFixtures
import Testing

/// The sandbox answers and lives on, whatever bytes come.
@Suite("hostile bytes", .heavy)
struct HostileBytesTests {
    private static let values = [
        "%zz%00%ff%2F..%2F", "9223372036854775807", "-9223372036854775808", "1e400", "%5B%7B%22a%22:%5B",
        String(repeating: "%CC%81", count: 300),
    ]

    private static let names = [
        "q", "as", "id", "user_id", "person_id", "page", "per_page", "limit", "offset", "cursor", "date", "start_date",
        "end_date", "batch_id", "role", "scope", "query", "chrom", "pos", "allele", "c", "json", "files", "file",
        "fields",
        "feature", "location_id", "user_fields", "code", "state", "client_id", "redirect_uri", "max_age", "prompt",
        "skip_config", "email", "token", "access_token", "to", "op", "form_id", "includes", "outcome", "idJob",
    ]

    /// Method and path of every route, as the front page lists them.
    private static func routes(of service: SandboxService) async throws -> [(method: String, path: String)] {
        let page = try await WireClient(origin: service.origin).send("GET", "/").text
        return page.matches(of: /([A-Z, ]+|any method) (\/[^<\s]*)</).flatMap { match in
            match.1.split(separator: ", ").map {
                let method = String($0.drop { $0 == " " })
                return (method == "any method" ? "PUT" : method, String(match.2))
            }
        }
    }

    @Test("a request of a megabyte takes little room in the log")
    func logged() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.recurseCenter.origin)
            let long = String(repeating: "a", count: 900_000)
            for body in ["\(long)=1", "grant_type=\(long)", (0..<50_000).map { "n\($0)=1" }.joined(separator: "&")] {
                let type = "application/x-www-form-urlencoded"
                _ = try await wire.send("POST", "/oauth/token", headers: ["Content-Type": type], body: body)
            }
            let log = try await wire.send("GET", "/_sandbox/requests")
            #expect(log.text.split(separator: "\n").count == 3)
            #expect(log.body.count < 50_000)
        }
    }

    @Test("every route answers hostile paths, queries and forms")
    func everyRoute() async throws {
        try await withSandbox { sandbox in
            for service in sandbox.services where !service.origin.hasPrefix("https:") {
                let wire = try WireClient(origin: service.origin)
                let routes = try await Self.routes(of: service)
                #expect(routes.count > 10)
                for (index, route) in routes.enumerated() where !route.path.hasPrefix("/_sandbox") {
                    for value in Self.values {
                        let path = route.path.replacing(/\{[a-z_]+\}/, with: value)
                        let name = Self.names[index % Self.names.count]
                        let rest = Self.names.map { "\($0)=\(value)" }.joined(separator: "&")
                        let query = route.method == "GET" ? rest : "\(name)=\(value)"
                        let type = "application/x-www-form-urlencoded"
                        let answer = try await wire.send(
                            route.method, "\(path)?\(query)",
                            headers: ["Content-Type": type, "Authorization": "Bearer x"],
                            body: route.method == "GET" ? "" : rest)
                        #expect((200..<600).contains(answer.status), "\(route) \(value)")
                    }
                }
                #expect(try await wire.send("GET", "/").status == 200)
            }
        }
    }

    @Test(
        "bodies that are nested deep, long or broken are answered",
        arguments: ["/token", "/oauth2/token", "/oauth/token", "/v2/StartApp", "/v2/sdk/events", "/v1/location_events"])
    func bodies(_ path: String) async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 20_000)
        let bodies = [
            String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 20_000),
            "[" + String(repeating: "0,", count: 50_000) + "0]", "{\"\(marks)\":\"\(marks)\"}",
            "a=\(marks)&\(marks)=b",
            String(repeating: "&", count: 100_000), String(repeating: "a&", count: 50_000), "{\"a\":\"\\ud800\"}",
            "\u{0}",
        ]
        try await withSandbox { sandbox in
            for service in sandbox.services where !service.origin.hasPrefix("https:") {
                let wire = try WireClient(origin: service.origin)
                for body in bodies {
                    for type in ["application/json", "application/x-www-form-urlencoded"] {
                        let answer = try await wire.send("POST", path, headers: ["Content-Type": type], body: body)
                        #expect((200..<600).contains(answer.status))
                    }
                }
            }
        }
    }

    @Test("request heads that are no HTTP, too long or not of ASCII end without harm")
    func heads() async throws {
        let long = String(repeating: "a", count: 300_000)
        let marks = String(repeating: "\u{301}", count: 20_000)
        let heads = [
            "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\(long): x\r\n\r\n",
            "GET /\(marks) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET http://x/jwks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "CONNECT x:1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST /token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
            "GET /api/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer \(marks)\r\n\r\n",
            "GET /authorize HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ;;=;a;\(marks)=\(marks)\r\n\r\n",
        ]
        try await withSandbox { sandbox in
            for service in sandbox.services where !service.origin.hasPrefix("https:") {
                let wire = try WireClient(origin: service.origin)
                for head in heads { _ = try await wire.exchange(Array(head.utf8), limit: 12) }
                #expect(try await wire.send("GET", "/").status == 200)
            }
            let wire = try WireClient(origin: sandbox.standard.origin)
            #expect(try await wire.send("GET", "/\(marks)").status == 400)
        }
    }

    @Test("a path fits only with exactly its slashes, but for the beacons, which may end in one more")
    func slashes() async throws {
        try await withSandbox { sandbox in
            let standard = try WireClient(origin: sandbox.standard.origin)
            #expect(try await standard.send("GET", "/jwks").status == 200)
            for path in ["/jwks/", "//jwks", "/.well-known//openid-configuration"] {
                #expect(try await standard.send("GET", path).status == 404, "\(path)")
            }
            let sequencing = try WireClient(origin: sandbox.sequencing.origin)
            let query = "?chrom=1&pos=10&allele=C"
            for path in ["/SequencingBeacon", "/SequencingBeacon/", "/PublicBeacons/"] {
                #expect(try await sequencing.send("GET", path + query).status == 200, "\(path)")
            }
            #expect(try await sequencing.send("GET", "/SequencingBeacon//" + query).status == 404)
        }
    }

    @Test("HEAD has the head of GET and no body, a wrong method is 405 with Allow")
    func methods() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.standard.origin)
            let keys = try await wire.send("GET", "/jwks")
            let head = try await wire.send("HEAD", "/jwks")
            #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == String(keys.body.count))
            for method in ["GET", "PUT", "HEAD"] {
                let refused = try await wire.send(method, "/token")
                #expect(refused.status == 405 && refused["Allow"] == "POST", "\(method)")
            }
            #expect(try await wire.send("PUT", "/api/echo").status == 401)
        }
    }

    @Test("the clock takes no time beyond what an integer holds")
    func clock() async throws {
        try await withSandbox { sandbox in
            sandbox.advanceClock(by: .infinity)
            sandbox.advanceClock(by: .nan)
            sandbox.holdClock(at: Date(timeIntervalSince1970: .infinity))
            sandbox.holdClock(at: .distantPast)
            sandbox.holdClock(at: Date(timeIntervalSince1970: 1e300))
            for _ in 0..<3 { sandbox.advanceClock(by: 1e300) }
            let tokens = try await OAuthSteps(sandbox, sandbox.standard).signIn()
            #expect(!tokens.access.isEmpty)
        }
    }

    @Test("text from outside has no run of more than 30 combining marks, and is otherwise unchanged")
    func streamSafeText() {
        let run = String(repeating: "\u{301}", count: 30)
        for text in ["", "abc", "Zoë", "e\(run)x", "👩‍👩‍👧 가각"] {
            #expect(String(streamSafe: text.utf8).utf8.elementsEqual(text.utf8))
        }
        let long = String(repeating: "\u{323}\u{301}", count: 1_000)
        let safe = String(streamSafe: "e\(long)".utf8)
        #expect(safe.unicodeScalars.split(separator: "\u{34F}").allSatisfy { $0.count <= 31 })
        #expect(safe.unicodeScalars.filter { $0 != "\u{34F}" }.count == 2_001)
        #expect(String(streamSafe: [0x61, 0xFF]) == "a\u{FFFD}")
    }

    @Test(
        "JSON is read as RFC 8259 has it",
        arguments: [
            ("null", "null"), (" [1 , -2.5,1e2, \"a\\u00e9\\ud83d\\ude00\\n\"] ", "[1,-2.5,100,\"aé😀\\n\"]"),
            ("{\"b\":true,\"a\":{}}", "{\"a\":{},\"b\":true}"), ("9223372036854775807", "9223372036854775807"),
            ("[]", "[]"), ("\"\\/\"", "\"/\""),
        ])
    func json(_ text: String, _ expected: String) throws {
        #expect(try #require(JSON(parsing: Array(text.utf8))).text == expected)
    }

    @Test(
        "what is not JSON, or nested too deep, is not read",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "+1", "1.", ".5", "1e", "-", "1e999", "nul", "[1] 2",
            "'a'",
            "\"\\x\"", "\"\\ud800\"", "\"\\u12g4\"", "\"a\nb\"", "\"a", "\"\\", "\"\\u12", "[\u{FEFF}]",
            String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
        ])
    func noJSON(_ text: String) {
        #expect(JSON(parsing: Array(text.utf8)) == nil)
        #expect(JSON(parsing: [0x22, 0xFF, 0x22]) == nil)
    }
}
