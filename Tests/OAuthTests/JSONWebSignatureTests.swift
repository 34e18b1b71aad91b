import Testing

@testable import OAuth

/// Examples of the JOSE RFCs.
enum JOSE {
    static let joe =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    static let hobbit =
        "SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlm"
        + "IHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4"

    /// RFC 7515, appendix A.2.
    static let rs256 = (
        key:
            #"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#,
        token: "eyJhbGciOiJSUzI1NiJ9." + joe
            + ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    )
    /// RFC 7515, appendix A.3.
    static let es256 = (
        key:
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        token: "eyJhbGciOiJFUzI1NiJ9." + joe
            + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )
    /// RFC 7515, appendix A.4.
    static let es512 = (
        key:
            #"{"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}"#,
        token: "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA."
            + "AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn"
    )
    /// RFC 8037, appendix A.2 and A.4.
    static let edDSA = (
        key: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        token: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
            + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )
    /// RFC 7520, sections 3.3 and 4.2.
    static let ps384 = (
        key:
            #"{"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","n":"n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw","e":"AQAB"}"#,
        token: "eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9." + hobbit
            + ".cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw"
    )
    /// RFC 7517, appendix A.1.
    static let rfc7517Set = #"""
        {"keys":
          [{"kty":"EC", "crv":"P-256", "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use":"enc", "kid":"1"},
           {"kty":"RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
            "e":"AQAB", "alg":"RS256", "kid":"2011-04-29"}]}
        """#
}

@Suite("Keys and signatures")
struct JSONWebSignatureTests {
    private func verify(
        _ token: Secret, _ keys: JSONWebKeySet, _ algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases
    ) throws -> [UInt8] {
        try JSONWebSignature(compact: token).verify(with: keys, allowing: algorithms).payload
    }

    @Test(
        "D2: the signatures of RFC 7515, RFC 7520 and RFC 8037 verify, and no other of their bytes do",
        arguments: [
            JOSE.rs256, JOSE.es256, JOSE.es512, JOSE.edDSA, JOSE.ps384,
        ])
    func vectors(key: String, token: String) throws {
        let keys = try JSONWebKeySet(json: [key])
        #expect(keys.count == 1)
        let parts = token.split(separator: ".").map(String.init)
        #expect(try verify(Secret(token), keys) == Base64URL.decode(parts[1]))
        for index in parts.indices.dropFirst() {
            var bytes = try #require(Base64URL.decode(parts[index]))
            bytes[bytes.count / 2] ^= 1
            var changed = parts
            changed[index] = Base64URL.encode(bytes)
            #expect(failure { _ = try verify(Secret(changed.joined(separator: ".")), keys) } == "signature_invalid")
        }
    }

    @Test(
        "D2: a key checks the algorithms of its own kind, and no others", arguments: SignatureAlgorithm.allCases,
        SignatureAlgorithm.allCases)
    func matrix(signed: SignatureAlgorithm, keyOf: SignatureAlgorithm) throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(signed, payload: "{}")
        let isSameKind = try keys.jwk(for: signed) == keys.jwk(for: keyOf)
        #expect(failure { _ = try verify(token, try keys.keySet(keyOf)) } == (isSameKind ? nil : "key_not_found"))
    }

    @Test(
        "D2: the header's alg decides nothing: another one over the same signature does not verify",
        arguments: SignatureAlgorithm.allCases)
    func swapped(stated: SignatureAlgorithm) throws {
        let keys = try SigningKeys.shared.get()
        for signed in SignatureAlgorithm.allCases where !signed.namesakes.contains(stated) {
            let token = try keys.token(signed, header: #"{"alg":"\#(stated.rawValue)"}"#, payload: "{}")
            let set = try keys.keySet(.rs256, .es256, .es384, .es512, .edDSA)
            #expect(failure { _ = try verify(token, set) } == "signature_invalid")
        }
    }

    @Test(
        "D2: an algorithm outside of the policy is refused, none above all",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"NONE"}"#, #"{"alg":""}"#, #"{"alg":"HS256"}"#,
            #"{"alg":"rs256"}"#, #"{"alg":"RS1"}"#,
            #"{"alg":"ES256K"}"#, #"{"alg":"RS256 "}"#, "{}",
        ])
    func policy(header: String) throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(.rs256, header: header, payload: "{}")
        #expect(failure { _ = try verify(token, try keys.keySet(.rs256)) } == "algorithm_refused")
        let unsigned = Secret(Base64URL.encode(header.utf8) + "." + Base64URL.encode("{}".utf8) + ".")
        #expect(failure { _ = try verify(unsigned, try keys.keySet(.rs256)) } == "algorithm_refused")
    }

    @Test("D2: a policy of fewer algorithms refuses the rest", arguments: SignatureAlgorithm.allCases)
    func narrowPolicy(algorithm: SignatureAlgorithm) throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(algorithm, payload: "{}")
        let set = try keys.keySet(algorithm)
        let others = SignatureAlgorithm.allCases.filter { $0 != algorithm }
        #expect(failure { _ = try verify(token, set, others) } == "algorithm_refused")
        #expect(failure { _ = try verify(token, set, []) } == "algorithm_refused")
        #expect(failure { _ = try verify(token, set, [algorithm]) } == nil)
    }

    @Test(
        "D3: use, key_ops and alg of the key must allow it",
        arguments: [
            (#","use":"sig""#, nil), (#","use":"enc""#, "key_not_found"), (#","use":"other""#, "key_not_found"),
            (#","key_ops":["verify"]"#, nil),
            (#","key_ops":["sign","verify"]"#, nil), (#","key_ops":["encrypt"]"#, "key_not_found"),
            (#","key_ops":[]"#, "key_not_found"),
            (#","alg":"ES256""#, nil), (#","alg":"ES384""#, "key_not_found"), (#","alg":"ECDH-ES""#, "key_not_found"),
            (#","use":"sig","key_ops":["wrapKey"]"#, "key_not_found"),
            (#","use":"enc","key_ops":["verify"]"#, "key_not_found"),
        ] as [(String, String?)])
    func permissions(members: String, expected: String?) throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(.es256, payload: "{}")
        #expect(failure { _ = try verify(token, try keys.keySet(.es256, more: members)) } == expected)
    }

    @Test(
        "D3: a crit header stops, whatever it names",
        arguments: [
            #""crit":["exp"],"exp":1"#, #""crit":["b64"],"b64":false"#, #""crit":[]"#, #""crit":"x""#, #""crit":null"#,
            #""crit":["http://example.invalid/UNDEFINED"]"#,
        ])
    func critical(members: String) throws {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(.es256, header: #"{"alg":"ES256",\#(members)}"#, payload: "{}")
        #expect(failure { _ = try verify(token, try keys.keySet(.es256)) } == "id_token_malformed")
    }

    @Test("D3: keys and addresses in the header are never used", arguments: ["jwk", "jku", "x5u", "x5c"])
    func headerKeys(name: String) throws {
        let keys = try SigningKeys.shared.get()
        let value = name == "jwk" ? try keys.jwk(for: .es256) : #""https://evil.example/keys""#
        let token = try keys.token(.es256, header: #"{"alg":"ES256","\#(name)":\#(value)}"#, payload: "{}")
        #expect(failure { _ = try verify(token, try JSONWebKeySet(json: [JOSE.es256.key])) } == "signature_invalid")
        #expect(failure { _ = try verify(token, try JSONWebKeySet(json: [])) } == "key_not_found")
        #expect(failure { _ = try verify(token, try keys.keySet(.es256)) } == nil)
    }

    @Test("D5: a named key selects or fails, and without a name all fitting keys are tried")
    func selection() throws {
        let keys = try SigningKeys.shared.get()
        let set = try JSONWebKeySet(json: [
            JOSE.es256.key, try keys.jwk(for: .es256, #","kid":"right""#),
            try keys.jwk(for: .edDSA, #","kid":"other""#),
        ])
        func outcome(_ kid: String) -> String? {
            failure { _ = try verify(try keys.token(.es256, header: #"{"alg":"ES256"\#(kid)}"#, payload: "{}"), set) }
        }
        #expect(outcome("") == nil)
        #expect(outcome(#","kid":"right""#) == nil)
        #expect(outcome(#","kid":"other""#) == "key_not_found")
        #expect(outcome(#","kid":"unknown""#) == "key_unknown")
        #expect(outcome(#","kid":"""#) == "key_unknown")
        #expect(outcome(#","kid":"Right""#) == "key_unknown")
        #expect(outcome(#","kid":1"#) == "id_token_malformed")
    }

    @Test("D5: of two keys with one name, each is tried")
    func sameName() throws {
        let keys = try SigningKeys.shared.get()
        let stranger = String(JOSE.es256.key.dropLast()) + #","kid":"k"}"#
        let set = try JSONWebKeySet(json: [stranger, try keys.jwk(for: .es256, #","kid":"k""#)])
        let token = try keys.token(.es256, header: #"{"alg":"ES256","kid":"k"}"#, payload: "{}")
        #expect(failure { _ = try verify(token, set) } == nil)
    }

    @Test(
        "D5: of the keys that fit, 16 are tried, and an error says that there are more",
        arguments: [
            (15, true, nil), (16, true, "too_many_keys"), (127, true, "too_many_keys"),
            (16, false, "signature_invalid"), (17, false, "too_many_keys"),
        ] as [(Int, Bool, String?)])
    func candidates(strangers: Int, hasSigner: Bool, expected: String?) throws {
        let keys = try SigningKeys.shared.get()
        for (member, header) in [("", #"{"alg":"ES256"}"#), (#","kid":"k""#, #"{"alg":"ES256","kid":"k"}"#)] {
            let stranger = String(JOSE.es256.key.dropLast()) + member + "}"
            let signer = try hasSigner ? [keys.jwk(for: .es256, member)] : []
            let set = try JSONWebKeySet(json: Array(repeating: stranger, count: strangers) + signer)
            let token = try keys.token(.es256, header: header, payload: "{}")
            #expect(failure { _ = try verify(token, set) } == expected)
        }
    }

    @Test("D5: keys that do not fit, or have another name, are not among the 16 that are tried")
    func otherCandidates() throws {
        let keys = try SigningKeys.shared.get()
        let named = String(JOSE.es256.key.dropLast()) + #","kid":"other"}"#
        let strangers = Array(repeating: JOSE.rs256.key, count: 60) + Array(repeating: named, count: 60)
        let set = try JSONWebKeySet(json: strangers + [keys.jwk(for: .es256, #","kid":"k""#)])
        let token = try keys.token(.es256, header: #"{"alg":"ES256","kid":"k"}"#, payload: "{}")
        #expect(failure { _ = try verify(token, set) } == nil)
    }

    @Test(
        "bad tokens are refused for their form",
        arguments: [
            "", ".", "..", "...", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e.f", "e30.e30", "e30=.e30.e30", "e30.e3 0.e30",
            "W10.e30.", "bnVsbA.e30.", "e30.e30.!",
            "eyJhbGciOiJSUzI1NiIsImFsZyI6Im5vbmUifQ.e30.", "eyJhbGciOjF9.e30.", "eyJhbGciOiJSUzI1NiJ9.e30\n.", "é.e30.",
            "eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.",
            "eyJhbGciOiJSUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ.e30.",
        ])
    func form(token: String) throws {
        #expect(
            failure { _ = try verify(Secret(token), try JSONWebKeySet(json: [JOSE.rs256.key])) } == "id_token_malformed"
        )
    }

    @Test("a huge token is refused unread")
    func huge() throws {
        let token = Secret(String(repeating: "a", count: 70_000))
        #expect(failure { _ = try JSONWebSignature(compact: token) } == "id_token_malformed")
    }

    @Test("a signature of the wrong length is refused", arguments: SignatureAlgorithm.allCases)
    func signatureLength(algorithm: SignatureAlgorithm) throws {
        let keys = try SigningKeys.shared.get()
        let text = try keys.token(algorithm, payload: "{}").reveal()
        let end = try #require(text.lastIndex(of: "."))
        let signature = try #require(Base64URL.decode(text[text.index(after: end)...]))
        for other in [
            [], Array(signature.dropLast()), signature + [0], [0] + signature,
            Array(repeating: 0, count: signature.count),
        ] {
            let token = Secret(text[...end] + Base64URL.encode(other))
            #expect(failure { _ = try verify(token, try keys.keySet(algorithm)) } == "signature_invalid")
        }
    }
}
