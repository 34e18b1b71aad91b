import HTTPTypes
import Testing

@testable import OAuth

@Suite("Metadata and discovery")
struct MetadataTests {
    /// The example of RFC 8414, section 3.2.
    static let document = #"""
        {"issuer": "https://server.example.com", "authorization_endpoint": "https://server.example.com/authorize",
         "token_endpoint": "https://server.example.com/token",
         "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"],
         "token_endpoint_auth_signing_alg_values_supported": ["RS256", "ES256"],
         "userinfo_endpoint": "https://server.example.com/userinfo", "jwks_uri": "https://server.example.com/jwks.json",
         "registration_endpoint": "https://server.example.com/register",
         "scopes_supported": ["openid", "profile", "email", "address", "phone", "offline_access"],
         "response_types_supported": ["code", "code token"],
         "service_documentation": "http://server.example.com/service_documentation.html",
         "ui_locales_supported": ["en-US", "en-GB", "en-CA", "fr-FR", "fr-CA"]}
        """#

    private func read(_ content: String, issuer: String = "https://server.example.com") throws
        -> AuthorizationServerMetadata
    {
        try AuthorizationServerMetadata(parsing: Array(content.utf8), expected: try Issuer(issuer))
    }

    /// A minimal document with one member replaced.
    private func document(_ name: String, _ json: String) -> String {
        var members = [
            "issuer": #""https://server.example.com""#, "token_endpoint": #""https://server.example.com/token""#,
        ]
        members[name] = json
        return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test("the document of RFC 8414, section 3.2 is read")
    func rfc8414() throws {
        let server = try read(Self.document)
        #expect(server.authorizationEndpoint?.string == "https://server.example.com/authorize")
        #expect(server.tokenEndpoint.string == "https://server.example.com/token")
        #expect(server.userInfoEndpoint?.string == "https://server.example.com/userinfo")
        #expect(server.keysEndpoint?.string == "https://server.example.com/jwks.json")
        #expect(server.tokenEndpointAuthMethods == ["client_secret_basic", "private_key_jwt"])
        #expect(server.scopes?.count == 6)
        #expect(server.codeChallengeMethods == nil)
        #expect(server.revocationEndpoint == nil)
        #expect(!server.announcesIssuerInResponse)
    }

    @Test(
        "H1: the document's issuer must be the one asked, character for character",
        arguments: [
            ("https://server.example.com", nil), ("https://server.example.com/", "issuer_mismatch"),
            ("https://Server.example.com", "issuer_mismatch"),
            ("https://server.example.com:443", "issuer_mismatch"), ("http://server.example.com", "issuer_mismatch"),
            ("https://server.example.org", "issuer_mismatch"), ("https://server.example.com ", "issuer_mismatch"),
            ("{tenant}", "issuer_mismatch"), ("", "malformed issuer"),
        ] as [(String, String?)])
    func issuer(stated: String, expected: String?) {
        #expect(failure { _ = try read(document("issuer", "\"\(stated)\"")) } == expected)
    }

    @Test("H1: a spelling that Unicode calls equivalent is another issuer")
    func equivalentIssuer() {
        let kelvin =
            #"{"issuer":"https://server.example.com/\u212A","token_endpoint":"https://server.example.com/token"}"#
        #expect(failure { _ = try read(kelvin, issuer: "https://server.example.com/K") } == "issuer_mismatch")
    }

    @Test(
        "H2, M507: the well-known addresses are those of RFC 8414, section 3.1 and of OpenID Connect Discovery",
        arguments: [
            (
                "https://example.com", "https://example.com/.well-known/oauth-authorization-server",
                ["https://example.com/.well-known/openid-configuration"]
            ),
            (
                "https://example.com/", "https://example.com/.well-known/oauth-authorization-server",
                ["https://example.com/.well-known/openid-configuration"]
            ),
            (
                "https://example.com/issuer1", "https://example.com/.well-known/oauth-authorization-server/issuer1",
                [
                    "https://example.com/.well-known/openid-configuration/issuer1",
                    "https://example.com/issuer1/.well-known/openid-configuration",
                ]
            ),
            (
                "https://example.com/issuer1/", "https://example.com/.well-known/oauth-authorization-server/issuer1",
                [
                    "https://example.com/.well-known/openid-configuration/issuer1",
                    "https://example.com/issuer1/.well-known/openid-configuration",
                ]
            ),
            (
                "https://example.com:8443/a/b", "https://example.com:8443/.well-known/oauth-authorization-server/a/b",
                [
                    "https://example.com:8443/.well-known/openid-configuration/a/b",
                    "https://example.com:8443/a/b/.well-known/openid-configuration",
                ]
            ),
        ])
    func wellKnown(issuer: String, oauth: String, openID: [String]) throws {
        #expect(try Issuer(issuer).metadataLocations.map(\.string) == [oauth] + openID)
        let location = try Issuer(issuer).metadataLocations[0]
        let message = MetadataRequest(issuer: try Issuer(issuer), location: location).message
        #expect(message.head.method == .get)
        #expect(message.head.path == location.path)
    }

    @Test("H5: metadata says whether it was discovered or written by hand")
    func source() throws {
        #expect(try read(Self.document).source == .discovered)
        #expect(try Example.server().source == .configured)
    }

    @Test(
        "only a JSON content type is a metadata document, and the error names the field",
        arguments: [
            ("application/json", nil), ("application/json; charset=utf-8", nil), ("Application/JSON;x", nil),
            ("application/ld+json", nil), ("text/html", "malformed Content-Type"), ("", "malformed Content-Type"),
            ("text/json", "malformed Content-Type"), ("application/jsonp", "malformed Content-Type"),
            ("image/svg+json", "malformed Content-Type"), (nil, "malformed Content-Type"),
        ] as [(String?, String?)])
    func contentType(value: String?, expected: String?) throws {
        let issuer = try Example.issuer()
        let request = MetadataRequest(issuer: issuer, location: issuer.metadataLocations[0])
        let response = Example.response(200, Self.document, fields: value.map { [.contentType: $0] } ?? [:])
        #expect(failure { _ = try request.metadata(from: response) } == expected)
    }

    @Test("an endpoint that published metadata lack is the service's fault and named, by hand the configuration's")
    func missingEndpoint() throws {
        let published = try read(document("x", "1"))
        let redirect = try RedirectURI("https://client.example.com/cb")
        let configured = AuthorizationServerMetadata(
            issuer: try Example.issuer(), tokenEndpoint: try EndpointURL("https://server.example.com/token"))
        for (server, word) in [(published, "malformed"), (configured, "configuration")] {
            #expect(
                failure { _ = try AuthorizationRequest(to: server, clientID: "c", redirectURI: redirect, now: 0) }
                    == "\(word) authorization_endpoint")
            #expect(
                failure {
                    _ = try RevocationRequest(
                        Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none
                    ).message
                } == "\(word) revocation_endpoint")
            #expect(
                failure {
                    _ = try IntrospectionRequest(
                        Secret("t"), kind: .accessToken, at: server, clientID: "c", authentication: .none
                    ).message
                } == "\(word) introspection_endpoint")
        }
    }

    @Test(
        "an address without a document is none, and any other answer is an error",
        arguments: [
            (404, nil), (410, nil), (400, nil), (405, nil), (401, "http_401"), (429, "http_429"), (500, "http_500"),
            (302, "redirected metadata 302"),
            (200, "malformed content"), (204, "malformed content"),
        ] as [(Int, String?)])
    func noDocument(status: Int, expected: String?) throws {
        let issuer = try Example.issuer()
        let request = MetadataRequest(issuer: issuer, location: issuer.metadataLocations[0])
        var metadata: AuthorizationServerMetadata?
        #expect(failure { metadata = try request.metadata(from: Example.response(status)) } == expected)
        #expect(metadata == nil)
    }

    @Test("C9: a document of more than 256 KiB is none: what it lists is stored with each account")
    func length() throws {
        let other = document("response_modes_supported", #"[""]"#).utf8.count
        func padded(to length: Int) -> String {
            document("response_modes_supported", #"["\#(String(repeating: "a", count: length - other))"]"#)
        }
        #expect(try read(padded(to: 262_144)).responseModes?.count == 1)
        #expect(failure { _ = try read(padded(to: 262_145)) } == "malformed content")
    }

    @Test(
        "bad documents end in a typed error that names the member",
        arguments: [
            ("issuer", "1", "malformed issuer"), ("issuer", "null", "malformed issuer"),
            ("token_endpoint", "null", "malformed token_endpoint"),
            ("token_endpoint", #""""#, "malformed token_endpoint"),
            ("token_endpoint", "[]", "malformed token_endpoint"),
            ("token_endpoint", #""/token""#, "malformed token_endpoint"),
            ("token_endpoint", #""https://u:p@server.example.com/""#, "malformed token_endpoint"),
            ("token_endpoint", #""https://server.example.com/#x""#, "malformed token_endpoint"),
            ("token_endpoint", #""http://server.example.com/token""#, "insecure_transport"),
            ("token_endpoint", #""http://127.0.0.1/token""#, "insecure_transport"),
            ("authorization_endpoint", #""javascript:alert(1)""#, "malformed authorization_endpoint"),
            ("authorization_endpoint", #""file:///etc/passwd""#, "malformed authorization_endpoint"),
            ("authorization_endpoint", "{}", "malformed authorization_endpoint"),
            ("jwks_uri", #""https://server.example.com:0/""#, "malformed jwks_uri"),
            ("jwks_uri", #""https:///keys""#, "malformed jwks_uri"),
            ("revocation_endpoint", #""https://a\r\nb/""#, "malformed revocation_endpoint"),
            ("introspection_endpoint", #""https://a b/""#, "malformed introspection_endpoint"),
            ("userinfo_endpoint", #""https://ä.example/""#, "malformed userinfo_endpoint"),
            ("code_challenge_methods_supported", #""S256""#, "malformed code_challenge_methods_supported"),
            ("code_challenge_methods_supported", "[1]", "malformed code_challenge_methods_supported"),
            ("grant_types_supported", "{}", "malformed grant_types_supported"),
            ("scopes_supported", "[null]", "malformed scopes_supported"),
            ("token_endpoint_auth_methods_supported", "true", "malformed token_endpoint_auth_methods_supported"),
            ("id_token_signing_alg_values_supported", "0", "malformed id_token_signing_alg_values_supported"),
            (
                "authorization_response_iss_parameter_supported", #""true""#,
                "malformed authorization_response_iss_parameter_supported"
            ),
        ])
    func bad(name: String, json: String, expected: String) {
        #expect(failure { _ = try read(document(name, json)) } == expected)
    }

    @Test(
        "a document that is no single JSON object is malformed",
        arguments: [
            "", "{", "[]", "<html>", "null",
            #"{"issuer":"https://server.example.com","issuer":"https://evil.example"}"#, "{}{}",
        ])
    func noObject(content: String) {
        #expect(failure { _ = try read(content) } == "malformed content")
    }

    @Test("gaps are filled from another document of the same issuer, and nothing is overwritten")
    func gaps() throws {
        var first = try read(Self.document)
        let second = try read(document("revocation_endpoint", #""https://server.example.com/revoke""#))
        first.fillGaps(from: second)
        #expect(first.revocationEndpoint?.path == "/revoke")
        #expect(first.authorizationEndpoint?.path == "/authorize")
        var foreign = try Example.server("https://evil.example")
        foreign.keysEndpoint = try EndpointURL("https://evil.example/keys")
        let before = second
        var after = second
        after.fillGaps(from: foreign)
        #expect(after == before)
    }

    @Test(
        "H4: a public server's metadata lead neither to this machine nor into its network, nor where it is not asked encrypted",
        arguments: [
            "authorization_endpoint", "token_endpoint", "revocation_endpoint", "device_authorization_endpoint",
            "introspection_endpoint", "pushed_authorization_request_endpoint", "registration_endpoint",
            "userinfo_endpoint", "jwks_uri",
        ])
    func zones(name: String) {
        for host in [
            "127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "169.254.169.254", "[::1]", "[fe80::1]", "2130706433",
        ] {
            #expect(failure { _ = try read(document(name, "\"https://\(host)/x\"")) } == "malformed \(name)", "\(host)")
        }
        #expect(failure { _ = try read(document(name, #""https://u:p@server.example.com/x""#)) } == "malformed \(name)")
        #expect(failure { _ = try read(document(name, #""http://server.example.com/x""#)) } == "insecure_transport")
        #expect(failure { _ = try read(document(name, #""https://other.example/x""#)) } == nil)
    }

    @Test("H4: a server in a private network may name addresses there, and none on this machine")
    func privateServer() throws {
        let issuer = try Issuer("https://10.0.0.7")
        func outcome(_ host: String) -> String? {
            let text = #"{"issuer":"https://10.0.0.7","token_endpoint":"https://\#(host)/token"}"#
            return failure { _ = try AuthorizationServerMetadata(parsing: Array(text.utf8), expected: issuer) }
        }
        #expect(outcome("10.0.0.7") == nil && outcome("192.168.1.1") == nil && outcome("op.example") == nil)
        #expect(outcome("127.0.0.1") == "malformed token_endpoint")
    }
}
