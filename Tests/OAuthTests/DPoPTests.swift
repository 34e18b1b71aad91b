import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import OAuth

@Suite("Proofs of keys (DPoP)")
struct DPoPTests {
    /// The proofs and values of RFC 9449, sections 4 to 7.
    private enum Vector {
        static let header =
            "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo"
            + "RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"
        static let token =
            "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0Ijox"
            + "NTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
        static let resource =
            "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNv"
            + "dXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9"
            + ".2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
        static let accessToken = Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        static let hash = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
        static let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
    }

    /// A proof, taken apart and verified with the key in it.
    private struct Read {
        let header: JSONObject
        let claims: JSONObject
        var key: JSONObject { header["jwk"]?.object ?? [:] }

        init(_ text: String) throws {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            header = try Self.object(parts[0])
            claims = try Self.object(parts[1])
            let algorithm = try #require(header["alg"]?.string.flatMap(SignatureAlgorithm.init))
            let members = try #require(header["jwk"]?.object)
            let key = try #require(JSONWebKey(members))
            let signature = try #require(Base64URL.decode(parts[2]))
            #expect(key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)[...], by: algorithm))
        }

        /// The object that a part of a signed text holds.
        static func object(_ part: Substring) throws -> JSONObject {
            let bytes = try #require(Base64URL.decode(part))
            return try #require(try JSONValue(parsing: bytes).object)
        }

        init(_ request: RequestMessage) throws {
            let fields = request.head.headerFields[values: .dpop]
            try #require(fields.count == 1)
            try self.init(fields[0])
        }
    }

    private static func request(
        _ method: HTTPRequest.Method = .get, _ address: String = "https://resource.example.org/protectedresource"
    ) throws -> RequestMessage {
        RequestMessage(method, try EndpointURL(address))
    }

    private static func nonce(_ text: String) -> DPoPNonce? {
        DPoPNonce(in: [.dpopNonce: text])
    }

    @Test("M401: the proofs of RFC 9449 verify, and the hash of the access token is theirs")
    func vectors() throws {
        let token = try Read(Vector.header + "." + Vector.token)
        #expect(token.claims["htm"]?.string == "POST")
        #expect(token.claims["htu"]?.string == "https://server.example.com/token")
        let resource = try Read(Vector.header + "." + Vector.resource)
        #expect(resource.claims["ath"]?.string == Vector.hash)
        let own = try DPoPKey().proof(for: Self.request(), accessToken: Vector.accessToken, now: Example.now)
        #expect(try Read(own.reveal()).claims["ath"]?.string == Vector.hash)
        #expect(token.key.thumbprint == Vector.thumbprint)
        #expect(try DPoPKey.target(of: Self.request().head) == resource.claims["htu"]?.string)
    }

    @Test("M401: thumbprints are those of RFC 9449, 8037 and 7638, whatever stands beside the required members")
    func thumbprints() throws {
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs"
            + "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n9"
            + "1CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
        for (members, thumbprint) in [
            (
                #"{"y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","alg":"ES256","kty":"EC","#
                    + #""x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","kid":"1","crv":"P-256"}"#, Vector.thumbprint
            ),
            (
                #"{"use":"sig","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kty":"OKP","crv":"Ed25519"}"#,
                "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
            ),
            (
                #"{"n":"\#(modulus)","kty":"RSA","alg":"RS256","kid":"2011-04-29","e":"AQAB"}"#,
                "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
            ),
        ] {
            #expect(try JSONValue(parsing: Array(members.utf8)).object?.thumbprint == thumbprint)
        }
    }

    @Test("G1: a proof has the claims that its request needs, and its header the public half alone")
    func claims() throws {
        let key = try DPoPKey()
        let token = Vector.accessToken
        for (accessToken, nonce) in [(nil, nil), (token, nil), (nil, Self.nonce("n-1")), (token, Self.nonce("n~2"))] {
            var request = try Self.request(.post, "https://server.example.com/token?a=b")
            request.head.headerFields[.dpop] = "an older proof"
            try key.sign(&request, accessToken: accessToken, nonce: nonce, now: Example.now + 0.9)
            let read = try Read(request)
            #expect(read.header.keys == ["alg", "jwk", "typ"])
            #expect(read.header["typ"]?.string == "dpop+jwt")
            #expect(read.header["alg"]?.string == "ES256")
            #expect(read.key.keys == ["crv", "kty", "x", "y"])
            #expect(read.key.thumbprint == key.thumbprint)
            var names = ["htm", "htu", "iat", "jti"]
            if accessToken != nil { names.append("ath") }
            if nonce != nil { names.append("nonce") }
            #expect(read.claims.keys == names.sorted())
            #expect(read.claims["htm"]?.string == "POST")
            #expect(read.claims["htu"]?.string == "https://server.example.com/token")
            #expect(read.claims["iat"]?.integer == Int64(Example.now), "never made ahead")
            #expect(read.claims["ath"]?.string == accessToken.map { _ in Vector.hash })
            #expect(read.claims["nonce"]?.string == nonce?.string)
            #expect(read.claims["jti"]?.string.flatMap { Base64URL.decode($0) }?.count == 16)
        }
    }

    @Test(
        "M402, M403: htu is the address that is called, without query, and its path as the request line has it",
        arguments: [
            ("HTTPS://API.Example.com:443/a%2Fb//c/?q", "https://api.example.com/a%2Fb//c/"),
            ("https://api.example.com", "https://api.example.com/"),
            ("https://api.example.com?q=1", "https://api.example.com/"),
            ("https://api.example.com:8443/x", "https://api.example.com:8443/x"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
            ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443/"),
            ("https://api.example.com/A/%7e/./..", "https://api.example.com/A/%7e/./.."),
        ])
    func target(_ address: String, _ expected: String) throws {
        #expect(try DPoPKey.target(of: Self.request(.get, address).head) == expected)
    }

    @Test("M402, M403: a head that a caller wrote is read the same way, and one without an address is refused")
    func writtenTarget() throws {
        let head = HTTPRequest(
            method: .get, scheme: "HTTPS", authority: "API.Example.com:443", path: "/a%2Fb//c/?q#f")
        #expect(try DPoPKey.target(of: head) == "https://api.example.com/a%2Fb//c/")
        for path in [nil, "", "?q=1", "#f", "/"] {
            let head = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: path)
            #expect(try DPoPKey.target(of: head) == "https://api.example.com/", "\(path ?? "no path")")
        }
        let key = try DPoPKey()
        for (scheme, authority) in [(nil, "a.example"), ("https", nil), ("ftp", "a.example"), ("https", "a@b")] {
            let request = RequestMessage(
                head: HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
            #expect(throws: OAuthError.self) { try key.proof(for: request, now: Example.now) }
        }
        for now in [-1, .infinity, .nan, 1e300] {
            #expect(throws: OAuthError.self) { try key.proof(for: try Self.request(), now: now) }
        }
    }

    @Test("M404: 10,000 proofs have 10,000 identifiers, one field a request, and no private member")
    func unique() throws {
        let key = try DPoPKey(among: ["EdDSA"])
        var request = try Self.request()
        var identifiers: Set<String> = []
        for _ in 0..<10_000 {
            try key.sign(&request, now: Example.now)
            let fields = request.head.headerFields[values: .dpop]
            #expect(fields.count == 1)
            let claims = try Read.object(try #require(fields.first).split(separator: ".")[1])
            identifiers.insert(try #require(claims["jti"]?.string))
        }
        #expect(identifiers.count == 10_000)
        #expect(try Read(request).key.keys == ["crv", "kty", "x"])
    }

    @Test(
        "4.1: the key is for ES256 unless the server excludes it",
        arguments: [
            (nil, "ES256"), (["RS256", "ES256"], "ES256"), (["EdDSA", "RS256"], "EdDSA"), (["ES384"], "ES384"),
            (["ES512"], "ES512"), (["PS256", "RS256"], "PS256"), (["RS256"], "RS256"),
        ] as [([String]?, String)])
    func algorithm(_ supported: [String]?, _ expected: String) throws {
        let key = try DPoPKey(among: supported)
        #expect(key.algorithm.rawValue == expected)
        var request = try Self.request()
        try key.sign(&request, now: Example.now)
        let read = try Read(request)
        #expect(read.header["alg"]?.string == expected)
        #expect(read.key.keys.allSatisfy { ["crv", "kty", "x", "y", "e", "n"].contains($0) })
        let again = try DPoPKey(source: key.source, algorithm: key.algorithm)
        #expect(again.thumbprint == key.thumbprint)
    }

    @Test("a server with no algorithm that is known is a configuration error")
    func noAlgorithm() {
        for supported in [[], ["HS256"], ["none"], ["ES256K"]] {
            #expect(throws: OAuthError.self) { try DPoPKey(among: supported) }
        }
    }

    @Test("L1: a key shows its thumbprint and nothing of its private half")
    func redaction() throws {
        let key = try DPoPKey(among: ["EdDSA"])
        let secret = try #require(JSONValue(parsing: Array(key.source.reveal().utf8)).object?["d"]?.string)
        var dumped = "\(key) \(String(reflecting: key))"
        dump(key, to: &dumped)
        #expect(dumped.contains(key.thumbprint))
        #expect(!dumped.contains(secret))
        let nonce = try #require(Self.nonce("nonce-canary"))
        dump(nonce, to: &dumped)
        #expect(!(dumped + "\(nonce)").contains("canary"))
        var request = try Self.request()
        try key.sign(&request, now: Example.now)
        dump(request, to: &dumped)
        #expect(!(dumped + "\(request)").contains(request.head.headerFields[.dpop] ?? ""))
    }

    @Test("M411: a nonce is one field of 1 to 1024 characters, and anything else is none")
    func nonces() {
        #expect(Self.nonce("eyJ7S_zG.eyJH0-Z.HX4w-7v")?.string == "eyJ7S_zG.eyJH0-Z.HX4w-7v")
        #expect(Self.nonce(String(repeating: "n", count: 1024)) != nil)
        for wrong in ["", "a b", "a\"b", "a\\b", "ä", "a\tb", String(repeating: "n", count: 1025)] {
            #expect(Self.nonce(wrong) == nil, "\(wrong.prefix(20))")
        }
        #expect(Self.nonce(String(repeating: "n", count: 2048)) == nil)
        var two = HTTPFields()
        two.append(HTTPField(name: .dpopNonce, value: "a"))
        two.append(HTTPField(name: .dpopNonce, value: "b"))
        #expect(DPoPNonce(in: two) == nil)
        #expect(DPoPNonce(in: [:]) == nil)
    }

    @Test("4.3: an authorization server demands a nonce by its error with 400 or 401, and nothing else does")
    func demands() {
        let error = #"{"error":"use_dpop_nonce"}"#
        for (status, content, isDemand) in [
            (400, error, true), (401, error, true), (403, error, false), (200, error, false), (500, error, false),
            (400, #"{"error":"invalid_grant"}"#, false), (400, "use_dpop_nonce", false), (400, "", false),
            (400, #"{"error":["use_dpop_nonce"]}"#, false),
        ] {
            let response = Example.response(status, content)
            #expect(DPoPNonce.isDemanded(by: response, as: .authorizationServer) == isDemand, "\(status) \(content)")
            #expect(!DPoPNonce.isDemanded(by: response, as: .resource))
        }
    }

    @Test(
        "M409, G6: a resource demands a nonce by a DPoP challenge with 401, in any case, anywhere among several",
        arguments: [
            (401, #"DPoP error="use_dpop_nonce", error_description="x""#, true),
            (401, #"Bearer, dpop error="use_dpop_nonce""#, true),
            (401, #"Bearer realm="a", DPOP algs="ES256", error=use_dpop_nonce"#, true),
            (401, #"Basic, DPoP error="use_dpop_nonce", Bearer"#, true),
            (401, #"Bearer error="use_dpop_nonce""#, false), (401, #"DPoP error="invalid_token""#, false),
            (401, "DPoP", false), (400, #"DPoP error="use_dpop_nonce""#, false),
            (401, #"DPoP error="use_dpop_nonce"#, false),
        ])
    func resourceDemands(_ status: Int, _ challenge: String, _ isDemand: Bool) {
        let response = Example.response(status, fields: [.wwwAuthenticate: challenge])
        #expect(DPoPNonce.isDemanded(by: response, as: .resource) == isDemand)
    }

    @Test(
        "M412: token_type is compared without case, and a bearer token where a bound one was asked for stops",
        arguments: [
            ("DPoP", TokenRequest.AccessTokenKinds.bound, true), ("dPoP", .bound, true), ("DPOP", .either, true),
            ("Bearer", .either, false), ("bearer", .bearer, false), ("Bearer", .bound, nil), ("DPoP", .bearer, nil),
            ("mac", .either, nil), ("", .bound, nil), (nil, .bound, nil), (nil, .either, nil),
        ] as [(String?, TokenRequest.AccessTokenKinds, Bool?)])
    func tokenType(_ type: String?, _ kinds: TokenRequest.AccessTokenKinds, _ isBound: Bool?) throws {
        let request = TokenRequest(
            .refreshToken(Secret("r")), at: try Example.server(), clientID: "c", authentication: .none, accepting: kinds
        )
        let member = type.map { #","token_type":"\#($0)""# } ?? ""
        let response = Example.response(200, #"{"access_token":"a"\#(member)}"#)
        guard let isBound else {
            let error = #expect(throws: OAuthError.self) { try request.response(from: response, now: Example.now) }
            guard case .malformed(.token, "token_type", _, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            return
        }
        #expect(try request.response(from: response, now: Example.now).isBound == isBound)
    }

    @Test("M412: a service's own words for a bearer token, or none, do not stand for a bound one")
    func deviations() throws {
        var deviations = TokenDeviations()
        deviations.tokenTypes = ["", "oauth"]
        for member in ["", #","token_type":"OAuth""#] {
            let content = Array(#"{"access_token":"a"\#(member)}"#.utf8)
            #expect(throws: OAuthError.self) {
                try TokenResponse(parsing: content, now: 0, hiding: [], deviations: deviations, accepting: .bound)
            }
            let response = try TokenResponse(
                parsing: content, now: 0, hiding: [], deviations: deviations, accepting: .either)
            #expect(!response.isBound)
        }
    }

    @Test("M414, G4: the thumbprint of the key stands in the authorization request when it is asked for")
    func codeBinding() throws {
        var options = AuthorizationRequest.Options()
        options.keyThumbprint = Vector.thumbprint
        #expect(try Example.request(options: options).url.contains("&dpop_jkt=\(Vector.thumbprint)"))
        #expect(try !Example.request().url.contains("dpop_jkt"))
    }

    @Test("the server's algorithms are read from its metadata, and a second document fills them in")
    func metadata() throws {
        let content =
            #"{"issuer":"https://server.example.com","token_endpoint":"https://server.example.com/token""#
        let issuer = try Example.issuer()
        var plain = try AuthorizationServerMetadata(parsing: Array((content + "}").utf8), expected: issuer)
        #expect(plain.dpopSigningAlgorithms == nil)
        let more = try AuthorizationServerMetadata(
            parsing: Array((content + #","dpop_signing_alg_values_supported":["ES256","EdDSA"]}"#).utf8),
            expected: issuer)
        #expect(more.dpopSigningAlgorithms == ["ES256", "EdDSA"])
        plain.fillGaps(from: more)
        #expect(plain.dpopSigningAlgorithms == ["ES256", "EdDSA"])
    }

    @Test("what an API demands is read from its DPoP challenge where the token is bound")
    func resourceDemand() {
        func demand(_ status: Int, _ challenge: String, isBound: Bool) -> ResourceDemand? {
            ResourceDemand(Example.response(status, fields: [.wwwAuthenticate: challenge]), isBound: isBound)
        }
        #expect(demand(401, #"DPoP error="invalid_token""#, isBound: true) == .freshToken)
        #expect(demand(401, #"Bearer error="invalid_token""#, isBound: true) == .freshToken)
        #expect(demand(403, #"Bearer, DPoP error="insufficient_scope", scope="a""#, isBound: true) == .scopes(["a"]))
        #expect(demand(401, #"DPoP error="invalid_dpop_proof""#, isBound: true) == nil)
        #expect(demand(401, #"DPoP error="use_dpop_nonce""#, isBound: true) == nil)
        #expect(demand(401, #"DPoP algs="ES256""#, isBound: false) == .boundToken)
        #expect(demand(401, #"Bearer error="invalid_token", DPoP algs="ES256""#, isBound: false) == .freshToken)
        #expect(demand(403, #"DPoP error="insufficient_scope""#, isBound: false) == nil)
    }
}
