import Testing

@testable import OAuth

@Suite("Addresses")
struct EndpointURLTests {
    @Test(
        "C7: plain http is refused everywhere, and by its own name accepted on this machine alone",
        arguments: [
            ("https://server.example.com/", nil, nil),
            ("http://server.example.com/", "insecure_transport", "insecure_transport"),
            ("http://127.0.0.1:8080/", "insecure_transport", nil), ("http://127.255.0.9/", "insecure_transport", nil),
            ("http://[::1]:8080/", "insecure_transport", nil), ("http://localhost/", "insecure_transport", nil),
            ("http://LOCALHOST/", "insecure_transport", nil),
            ("http://localhost.evil.example/", "insecure_transport", "insecure_transport"),
            ("http://127.0.0.1.evil.example/", "insecure_transport", "insecure_transport"),
            ("http://127.1/", "insecure_transport", "insecure_transport"),
            ("http://128.0.0.1/", "insecure_transport", "insecure_transport"),
            ("http://0.0.0.0/", "insecure_transport", "insecure_transport"),
            ("http://[::2]/", "insecure_transport", "insecure_transport"),
            ("http://127.0.0.256/", "insecure_transport", "insecure_transport"),
            ("http://127.-0.0.1/", "insecure_transport", "insecure_transport"),
        ] as [(String, String?, String?)])
    func transport(url: String, strict: String?, local: String?) {
        #expect(failure { _ = try EndpointURL(url) } == strict)
        #expect(failure { _ = try EndpointURL(url, security: .allowingInsecureLoopback) } == local)
        #expect(failure { _ = try Issuer(url) } == strict)
    }

    @Test("C7: the exception is visible in the metadata it was used for")
    func visible() throws {
        let endpoint = try EndpointURL("http://127.0.0.1:1/token", security: .allowingInsecureLoopback)
        let issuer = try Issuer("http://127.0.0.1:1", security: .allowingInsecureLoopback)
        let server = AuthorizationServerMetadata(
            issuer: issuer, tokenEndpoint: endpoint, security: .allowingInsecureLoopback)
        #expect(server.security == .allowingInsecureLoopback)
        #expect(try Example.server().security == .httpsOnly)
    }

    @Test("an address is taken apart and keeps its spelling")
    func parts() throws {
        let url = try EndpointURL("https://Server.Example.com:8443/a/b?c=d&e")
        #expect(url.string == "https://Server.Example.com:8443/a/b?c=d&e")
        #expect(url.origin.host == "server.example.com")
        #expect(url.origin.port == 8443)
        #expect(url.path == "/a/b")
        #expect(url.query == "c=d&e")
        #expect(url.requestTarget == "/a/b?c=d&e")
        #expect(url.description == "https://server.example.com:8443/a/b")
        #expect(try EndpointURL("https://a.example").path == "/")
        #expect(try EndpointURL("HTTPS://a.example:443").origin.authority == "a.example")
        #expect(try EndpointURL("https://[::1]:1/").origin.host == "[::1]")
    }

    @Test(
        "a hostile address is refused with the member's name",
        arguments: [
            "", "/", "server.example.com", "//server.example.com/", "https:", "https:/server.example.com", "https://",
            "https:///path",
            "https://?q", "https://user@server.example.com/", "https://user:pass@server.example.com/",
            "https://server.example.com@evil.example/",
            "https://server.example.com\\@evil.example/", "https://server.example.com\\.evil.example/", "https://a b/",
            "https://a\tb/",
            "https://a\r\nHost: b/", "https://a\0b/", "https://ä.example/", "https://server.example.com/ä",
            "https://server.example.com:/",
            "https://server.example.com:0/", "https://server.example.com:65536/", "https://server.example.com:-1/",
            "https://server.example.com:+80/",
            "https://server.example.com:80:80/", "https://[::1/", "https://::1]/", "https://[]/", "https://[zz::]/",
            "https://.example/",
            "https://a..example/", "https://server.example.com/#", "https://server.example.com#f",
            "ftp://server.example.com/", "javascript:alert(1)",
            "file:///etc/passwd", "data:text/html,x", "https://%65xample.com/", "https://a,b/", "https://<b>/",
            "httpſ://a/",
        ])
    func hostile(url: String) {
        #expect(
            failure { _ = try EndpointURL(url, security: .allowingInsecureLoopback, member: "m") } == "configuration m")
        #expect(failure { _ = try Issuer(url) } == "configuration issuer")
    }

    @Test(
        "what is not ASCII is to be percent-encoded, but in a host, which has an ASCII form of its own",
        arguments: [
            ("https://bücher.example/", "xn--"), ("https://a.example.bücher", "xn--"),
            ("https://a.example/bücher", "percent-encode"), ("https://a.example?bücher", "percent-encode"),
        ])
    func nonASCII(url: String, advice: String) {
        let error = #expect(throws: OAuthError.self) { try EndpointURL(url) }
        guard case .configuration(_, let problem)? = error else { return }
        #expect(problem.contains(advice), "\(problem)")
    }

    @Test("a huge address is refused")
    func huge() {
        let url = "https://server.example.com/" + String(repeating: "a", count: 10_000)
        #expect(failure { _ = try EndpointURL(url) } == "configuration url")
        #expect(failure { _ = try RedirectURI(url) } == "configuration redirect_uri")
    }

    @Test("an issuer has no query (RFC 8414, section 2)")
    func issuerQuery() {
        #expect(failure { _ = try Issuer("https://server.example.com/?a=b") } == "configuration issuer")
    }

    @Test(
        "a redirect URI is of one of the three kinds of RFC 8252, section 7, or none at all",
        arguments: [
            ("https://client.example.com/cb", .claimed),
            ("http://127.0.0.1:51004/oauth2redirect/example-provider", .loopback),
            ("http://[::1]:61023/oauth2redirect/example-provider", .loopback),
            ("com.example.app:/oauth2redirect/example-provider", .privateScheme),
            ("urn:ietf:wg:oauth:2.0:oob", .outOfBand),
        ] as [(String, RedirectURI.Kind)])
    func redirectKinds(uri: String, kind: RedirectURI.Kind) throws {
        #expect(try RedirectURI(uri).kind == kind)
        #expect(try RedirectURI(uri).string == uri)
    }

    @Test(
        "I3: a redirect URI of another form is refused",
        arguments: [
            "", "myapp:/cb", "urn:ietf:wg:oauth:2.0:oob:auto", "URN:ietf:wg:oauth:2.0:oob",
            "urn:ietf:wg:oauth:2.0:oob?x=y", "http://client.example.com/cb", "http://localhost:1/cb",
            "http://LOCALHOST/cb",
            "javascript:alert(1)", "com.example.app",
            "https://client.example.com/cb#f", ".com:/cb", "com.:/cb", "1.com:/cb", "com.ex ample:/cb",
            "com.exämple:/cb", "https://u@client.example.com/",
            "com.example.app:/cb\n", "http://127.0.0.1.evil.example/",
        ])
    func redirectRefused(uri: String) {
        let result = failure { _ = try RedirectURI(uri) }
        #expect(result == "configuration redirect_uri" || result == "insecure_transport")
    }
}
