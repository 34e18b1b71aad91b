import HTTPTypes
import Testing

@testable import OAuth

@Suite("Protected resources")
struct ProtectedResourceTests {
    private static func url(_ text: String) throws -> EndpointURL {
        try EndpointURL(text, security: .allowingInsecureLoopback)
    }

    @Test(
        "M508: the addresses of a resource's document, in order (RFC 9728, section 3.1)",
        arguments: [
            ("https://h/mcp", ["https://h/.well-known/oauth-protected-resource/mcp"]),
            ("https://h/mcp/", ["https://h/.well-known/oauth-protected-resource/mcp/"]),
            ("https://h/a?b=c", ["https://h/.well-known/oauth-protected-resource/a?b=c"]),
            ("https://H:443/", []), ("https://h", []),
        ])
    func locations(_ resource: String, own: [String]) throws {
        let found = ProtectedResourceRequest.locations(of: try Self.url(resource)).map(\.string)
        #expect(found == own + ["https://h/.well-known/oauth-protected-resource"])
    }

    @Test(
        "M512, H3: a document is for the resource asked, for one above it, or for one that differs by a slash at the end",
        arguments: [
            ("https://h/api/mcp", true), ("https://h/api", true), ("https://h/api/", true), ("https://h", true),
            ("https://h/", true), ("https://h/api/mcp/", true), ("https://h/api/mc", false), ("https://h/ap", false),
            ("https://h/api2", false), ("https://h/api/mcp/x", false), ("https://h/api?x=1", false),
            ("https://other/api/mcp", false), ("https://h:444/api/mcp", false), ("http://127.0.0.1/api/mcp", false),
            ("https://h/api/../mcp", false), ("h/api/mcp", false), ("", false),
        ])
    func fits(_ stated: String, isAccepted: Bool) throws {
        let found = try? read(#"{"resource":"\#(stated)"}"#, of: "https://h/api/mcp")
        #expect((found?.identifier.string == stated) == isAccepted)
    }

    @Test("M512: another resource's document stops")
    func mismatch() throws {
        let error = #expect(throws: OAuthError.self) {
            try read(#"{"resource":"https://evil.example/"}"#, of: "https://h/mcp")
        }
        guard case .refused(let refusal)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.check == .resource)
    }

    @Test(
        "F2: no resource is above an address with dot segments",
        arguments: [
            "/a/../b", "/a/./b", "/a/%2e%2E/b", "/a/.%2e/b", "/a/..%2fb", "/a/..%5cb", "/a/..;/b", "/a/%252e%252e/b",
            "/a/..%3bx/b",
        ])
    func dotSegments(_ path: String) throws {
        #expect(try !Self.url("https://h/a").covers(Self.url("https://h" + path)))
        #expect(try Self.url("https://h/a").covers(Self.url("https://h/a/..b/c.d")))
    }

    @Test(
        "M509: an address without a document is passed over",
        arguments: [401, 403, 404, 410, 418, 502], [("", "application/json")])
    func missing(_ status: Int, _ content: (String, String)) throws {
        #expect(try answer(status, "{}", isAnnounced: false) == nil)
    }

    @Test("M509, C9: a document of more than 256 KiB is none: what it lists is stored with each client")
    func long() throws {
        func padded(to length: Int) -> String {
            let text = #"{"resource":"https://h/mcp","padding":"#
            return text + "\"" + String(repeating: "a", count: length - text.utf8.count - 3) + "\"}"
        }
        for isAnnounced in [false, true] {
            #expect(try answer(200, padded(to: 262_144), isAnnounced: isAnnounced) != nil)
        }
        #expect(try answer(200, padded(to: 262_145), isAnnounced: false) == nil)
        #expect(failure { _ = try answer(200, padded(to: 262_145), isAnnounced: true) } == "malformed content")
    }

    @Test("M509: a page with status 200 is no document, unless the challenge named its address")
    func page() throws {
        for text in ["<html></html>", "", "[]", "{"] {
            #expect(try answer(200, text, isAnnounced: false) == nil)
            #expect(throws: OAuthError.self) { try answer(200, text, isAnnounced: true) }
        }
        #expect(try answer(404, "", isAnnounced: true) == nil)
        #expect(throws: OAuthError.self) { try answer(401, "", isAnnounced: true) }
    }

    @Test("M510: an error of the server and a redirect stop", arguments: [301, 302, 307, 308, 500, 503, 504])
    func stops(_ status: Int) {
        #expect(throws: OAuthError.self) { try answer(status, "{}", isAnnounced: false) }
    }

    @Test("a document that leads inward, or to no address, is malformed")
    func inward() throws {
        for server in [
            "https://127.0.0.1", "https://10.0.0.1", "http://as.example", "javascript:1", "https://as.example?q", "",
        ] {
            let error = #expect(throws: OAuthError.self) {
                try read(#"{"resource":"https://h/","authorization_servers":["\#(server)"]}"#, of: "https://h/mcp")
            }
            guard case .malformed(.resourceMetadata, "authorization_servers", _, _)? = error else {
                Issue.record("\(server): \(String(describing: error))")
                continue
            }
        }
        let local = try read(
            #"{"resource":"http://127.0.0.1:8/","authorization_servers":["http://127.0.0.1:9","https://as.example"]}"#,
            of: "http://127.0.0.1:8/mcp")
        #expect(local.authorizationServers.map(\.string) == ["http://127.0.0.1:9", "https://as.example"])
    }

    @Test("M511: the challenge's address and scopes are taken from the first Bearer or DPoP challenge that has one")
    func challenge() throws {
        let resource = try Self.url("https://h/mcp")
        func announced(_ fields: String...) -> (EndpointURL?, [String]?) {
            let found = announcement(fields)
            return (found.location, found.scopes)
        }
        func announcement(_ fields: [String]) -> ProtectedResourceRequest.Announcement {
            var headers = HTTPFields()
            for field in fields { headers.append(HTTPField(name: .wwwAuthenticate, value: field)) }
            return ProtectedResourceRequest.announced(
                in: ResponseMessage(head: HTTPResponse(status: .unauthorized, headerFields: headers)), by: resource)
        }
        let (location, scopes) = announced(
            "Basic realm=x, Bearer error=\"invalid_token\"",
            "DPoP resource_metadata=\"https://h/.well-known/x\", scope=\"a b\"")
        #expect(location?.string == "https://h/.well-known/x")
        #expect(scopes == ["a", "b"])
        for hostile in ["http://h/x", "https://10.0.0.1/x", "https://[::1]/x", "https://localhost/x", "x", ""] {
            #expect(announced("Bearer resource_metadata=\"\(hostile)\"").0 == nil)
        }
        #expect(announced("Bearer scope=\"a\"").1 == ["a"])
        #expect(announced("Bearer scope=\"\u{7f} \"").1 == nil)
        #expect(announced("Bearer resource_metadata=").0 == nil)
        #expect(announcement(["Bearer, DPoP algs=\"ES384 PS256\""]).proofAlgorithms == ["ES384", "PS256"])
        #expect(announcement(["Bearer algs=\"ES384\", DPoP algs=\"\""]).proofAlgorithms == nil)
    }

    @Test("no document traps, however it is broken")
    func hostile() {
        for text in [
            #"{"resource":1}"#, #"{"resource":"https://h/","authorization_servers":"x"}"#,
            #"{"resource":"https://h/","scopes_supported":[1]}"#, #"{"resource":"https://h/","resource":"https://h/"}"#,
            "{\"resource\":\"https://h/\(String(repeating: "\u{301}", count: 1000))\"}",
        ] {
            _ = try? read(text, of: "https://h/mcp")
        }
        let scopes = try? read(#"{"resource":"https://h/","scopes_supported":["a","b c","\"",""]}"#, of: "https://h/")
        #expect(scopes?.scopes == ["a"])
    }

    private func read(_ text: String, of resource: String) throws -> ProtectedResource {
        let resource = try Self.url(resource)
        return try ProtectedResource(parsing: Array(text.utf8), of: resource, security: resource.security)
    }

    private func answer(_ status: Int, _ text: String, isAnnounced: Bool) throws -> ProtectedResource? {
        let resource = try Self.url("https://h/mcp")
        let request = ProtectedResourceRequest(
            resource, location: ProtectedResourceRequest.locations(of: resource)[0], isAnnounced: isAnnounced)
        return try request.document(
            from: ResponseMessage(head: HTTPResponse(status: .init(code: status)), content: Array(text.utf8)))
    }
}
