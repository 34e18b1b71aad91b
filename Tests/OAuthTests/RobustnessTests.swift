import HTTPTypes
import TestFixtures
import Testing

@testable import OAuth

/// Valid messages, changed at random in ten thousand ways: every reader ends in a value or a typed error, and never traps.
///
/// The generator is seeded, so a failure comes again. The messages are those of the RFCs.
@Suite("Robustness")
struct RobustnessTests {
    private static let mutations = 10_000

    /// Changes a message: bits, bytes, cuts, doubled and moved pieces, tokens that readers treat specially, and now and then a piece
    /// that is repeated until it has 64 KiB.
    private static func mutate(_ message: [UInt8], _ generator: inout SplitMix64) -> [UInt8] {
        let pieces: [[UInt8]] =
            [
                "\"", "\\", "\\u", "\\uD800", "{", "}", "[", "]", ",", ":", "null", "-", "1e999", "%", "%0", "&", "=",
                "+", "?", "#", ".", "..",
                "\0", "\r\n", "\u{202E}", "\u{212A}", "state=", "code=", "99999999999999999999", "https://", "@",
                "\u{FEFF}",
            ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]
        var bytes = message
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let position = Int.random(in: 0...bytes.count, using: &generator)
            let length = min(Int.random(in: 0...24, using: &generator), bytes.count - position)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where position < bytes.count: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where position < bytes.count: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
            case 2: bytes.removeSubrange(position..<position + length)
            case 3: bytes.insert(contentsOf: bytes[position..<position + length], at: position)
            case 4: bytes = Array(bytes.prefix(position))
            case 5 where length > 0 && one(in: 500, &generator):
                let piece = bytes[position..<position + length]
                bytes.insert(contentsOf: repeatElement(piece, count: 65_536 / length).joined(), at: position)
            default: bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: position)
            }
        }
        return bytes
    }

    private static func one(in count: Int, _ generator: inout SplitMix64) -> Bool {
        Int.random(in: 0..<count, using: &generator) == 0
    }

    /// Feeds the mutations of each message to a reader, and counts how many it took.
    private func feed(_ messages: [String], seed: UInt64, _ read: ([UInt8]) throws -> Void) -> Int {
        var generator = SplitMix64(seed: seed)
        var taken = 0
        for index in 0..<Self.mutations {
            let message = Self.mutate(Array(messages[index % messages.count].utf8), &generator)
            do {
                try read(message)
                taken += 1
            } catch {
                #expect(error is OAuthError || error is JSONValue.SyntaxError, "an error of a foreign type: \(error)")
            }
        }
        return taken
    }

    @Test("B8: no JSON text traps, and what is read can be written and read again")
    func json() {
        let taken = feed(
            [MetadataTests.document, JOSE.rfc7517Set, #"{"a":[1,-2.5e3,"\u00e9\uD834\uDD1E\n",true,null]}"#], seed: 1
        ) { bytes in
            let value = try JSONValue(parsing: bytes)
            let again = try JSONValue(parsing: Array(value.json.utf8))
            #expect(again == value)
        }
        #expect(taken > 0)
    }

    @Test("B8: no metadata traps")
    func metadata() throws {
        let issuer = try Example.issuer()
        let taken = feed([MetadataTests.document], seed: 2) { bytes in
            let server = try AuthorizationServerMetadata(parsing: bytes, expected: issuer)
            #expect(server.issuer == issuer)
            #expect(server.tokenEndpoint.origin.scheme == .https)
        }
        #expect(taken > 0)
    }

    @Test("B8: no redirect traps, and none but the right state is matched")
    func redirects() throws {
        let request = try Example.request(random: Example.seeded(3))
        let state = request.state.reveal()
        let valid = request.redirect("code=SplxlOBeZQQYbYS6WxSbIA&iss=https%3A%2F%2Fserver.example.com")
        let refused = request.redirect("error=access_denied&error_description=No%2C+thanks")
        let taken = feed([valid, refused], seed: 3) { bytes in
            let url = String(decoding: bytes, as: UTF8.self)
            _ = try request.code(from: url, now: Example.now)
            #expect(url.contains(state) || url.contains("%"))
            #expect(url.hasPrefix("https://client.example.com/cb?"))
        }
        #expect(taken > 0)
    }

    @Test("B8: no token answer traps, and no token holds what a header cannot carry")
    func tokens() {
        let message =
            #"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"Bearer","expires_in":3600,"refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","scope":"a b"}"#
        let taken = feed([message], seed: 4) { bytes in
            let answer = try TokenResponse(parsing: bytes, now: 0, hiding: [])
            #expect(answer.accessToken.reveal().utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect((answer.expiresAt ?? 0) >= 0)
        }
        #expect(taken > 0)
    }

    @Test("B8: no introspection and no error answer traps")
    func introspectionAndErrors() throws {
        let request = IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: try Example.server(), clientID: "c", authentication: .none)
        let messages = [
            #"{"active":true,"scope":"read write","exp":1419356238}"#,
            #"{"error":"invalid_client","error_description":"no"}"#,
        ]
        _ = feed(messages, seed: 5) { bytes in
            var response = Example.response(200)
            response.content = bytes
            let error = ServerError(step: .token, response)
            #expect((error.text ?? "").unicodeScalars.count <= 501)
            _ = try request.introspection(from: response)
        }
    }

    @Test("F5: no challenge traps")
    func challenges() {
        let messages = [
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            "NTLM TlRMTVNTUAAC==, Bearer error=invalid_token",
        ]
        _ = feed(messages, seed: 6) { bytes in
            var fields = HTTPFields()
            fields[.wwwAuthenticate] = String(decoding: bytes, as: UTF8.self)
            _ = ResourceDemand(Example.response(401, fields: fields))
            for challenge in AuthenticationChallenge.challenges(in: fields) ?? [] {
                #expect(!challenge.scheme.isEmpty)
            }
        }
    }

    @Test("D4: no key set traps")
    func keySets() {
        let messages = [JOSE.rfc7517Set, #"{"keys":[\#(JOSE.edDSA.key),\#(JOSE.es256.key)]}"#]
        let taken = feed(messages, seed: 7) { bytes in
            let set = try JSONWebKeySet(parsing: bytes)
            #expect(set.count <= 2)
        }
        #expect(taken > 0)
    }

    @Test("D2: no changed token verifies")
    func idTokens() throws {
        let keys = try SigningKeys.shared.get()
        let set = try keys.keySet(.es256, .edDSA)
        let tokens = [
            try keys.token(.es256, payload: IDTokenTests.payload()).reveal(),
            try keys.token(.edDSA, payload: IDTokenTests.payload()).reveal(),
        ]
        let validator = try IDTokenTests.validator()
        _ = feed(tokens, seed: 8) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try validator.claims(of: Secret(text), keys: set, now: Example.now)
            #expect(tokens.contains(text), "a changed token was accepted")
        }
    }

    @Test("C7: no address traps, and none but https is taken")
    func addresses() throws {
        let messages = [
            "https://server.example.com:8443/a/b?c=d", "https://[::1]:8443/",
            "com.example.app:/oauth2redirect/example-provider",
        ]
        let taken = feed(messages, seed: 9) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = failure { _ = try RedirectURI(text) }
            let url = try EndpointURL(text)
            #expect(url.origin.scheme == .https)
            #expect((1...65_535).contains(url.origin.port))
            #expect(url.string.utf8.elementsEqual(text.utf8))
        }
        #expect(taken > 0)
    }

    @Test("B8: what decodes as Base64URL or as a form value is the one spelling of it")
    func encodings() {
        _ = feed(["A-z_4ME", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"], seed: 10) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let decoded = Base64URL.decode(text) { #expect(Base64URL.encode(decoded) == text) }
            if let decoded = PercentEncoding.decodeForm(bytes) {
                #expect(PercentEncoding.decodeForm(PercentEncoding.form(decoded).utf8) == decoded)
            }
        }
    }
}
