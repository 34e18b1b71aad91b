import Testing

@testable import OAuth

@Suite("Key sets")
struct JSONWebKeySetTests {
    @Test("the set of RFC 7517, appendix A.1 is read, and its encryption key checks nothing")
    func rfc7517() throws {
        let set = try JSONWebKeySet(parsing: Array(JOSE.rfc7517Set.utf8))
        #expect(set.count == 2)
        #expect(set.candidates(keyID: "2011-04-29", algorithm: .rs256).count == 1)
        #expect(set.candidates(keyID: nil, algorithm: .es256).isEmpty)
        #expect(set.candidates(keyID: "1", algorithm: .es256).isEmpty)
    }

    @Test(
        "D4: a key that is not understood is skipped, and the rest of the set stays usable",
        arguments: [
            "{}", "null", "1", "[]", #""x""#,
            #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
            #"{"kty":"OKP","crv":"Ed25519"}"#, #"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#,
            #"{"kty":"PQ","x":"AA"}"#, #"{"kty":1}"#,
            #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA","e":"AQAB"}"#, #"{"kty":"RSA","n":"!","e":"AQAB"}"#,
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
            #"{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"kty":"EC","crv":"P-384","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":1}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","use":[]}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","alg":null}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","key_ops":"verify"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","key_ops":[1,"verify"]}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo="}"#,
        ])
    func skipped(key: String) throws {
        let set = try JSONWebKeySet(json: [key, JOSE.es256.key, key])
        #expect(set.count == 1)
        #expect(set.candidates(keyID: nil, algorithm: .es256).count == 1)
    }

    @Test(
        "an RSA key is taken from 2048 to 8192 bits exactly, with an odd exponent from 3 on",
        arguments: [
            (2047, "AQAB", 0), (2048, "AQAB", 1), (2041, "AQAB", 0), (1024, "AQAB", 0), (4096, "AQAB", 1),
            (8192, "AQAB", 1), (8200, "AQAB", 0),
            (2048, "AQ", 0), (2048, "Ag", 0), (2048, "Aw", 1), (2048, "", 0), (2048, "AQAAAAAB", 0),
        ])
    func rsa(bits: Int, exponent: String, count: Int) throws {
        var modulus = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
        modulus[0] = UInt8((1 << (bits - (modulus.count - 1) * 8)) - 1)
        let set = try JSONWebKeySet(json: [#"{"kty":"RSA","n":"\#(Base64URL.encode(modulus))","e":"\#(exponent)"}"#])
        #expect(set.count == count)
    }

    @Test(
        "bad sets end in a typed error that names the member",
        arguments: [
            ("", "malformed content"), ("{", "malformed content"), ("[]", "malformed content"),
            ("{}", "malformed keys"), (#"{"keys":null}"#, "malformed keys"),
            (#"{"keys":{}}"#, "malformed keys"), (#"{"keys":"x"}"#, "malformed keys"),
            (#"{"keys":[],"keys":[]}"#, "malformed content"),
            (#"{"keys":[{"kty":"RSA","kty":"EC"}]}"#, "malformed content"), ("<html>", "malformed content"),
        ])
    func bad(content: String, expected: String) throws {
        let request = KeySetRequest(at: try EndpointURL("https://server.example.com/jwks.json"))
        #expect(failure { _ = try request.keys(from: Example.response(200, content)) } == expected)
    }

    @Test("a set is bounded in length and count")
    func bounds() throws {
        #expect(try JSONWebKeySet(json: Array(repeating: JOSE.es256.key, count: 128)).count == 128)
        #expect(failure { _ = try JSONWebKeySet(json: Array(repeating: "{}", count: 129)) } == "malformed keys")
        let huge = [UInt8](repeating: 0x20, count: JSONWebKeySet.maximumLength + 1)
        #expect(failure { _ = try JSONWebKeySet(parsing: huge) } == "malformed content")
    }

    @Test("D3: keys are asked for at the metadata's address alone")
    func request() throws {
        let message = KeySetRequest(at: try EndpointURL("https://server.example.com/jwks.json")).message
        #expect(message.description == "GET https://server.example.com/jwks.json")
        #expect(
            failure {
                _ = try KeySetRequest(at: try EndpointURL("https://a.example/")).keys(from: Example.response(500))
            } == "http_500")
    }
}
