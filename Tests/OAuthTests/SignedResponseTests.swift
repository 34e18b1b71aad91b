import Testing

@testable import OAuth

@Suite("Signed responses")
struct SignedResponseTests {
    static let issuer = "https://server.example.com"

    static func request(_ mode: AuthorizationRequest.ResponseMode = .jwt) throws -> AuthorizationRequest {
        var options = AuthorizationRequest.Options()
        options.responseMode = mode
        return try Example.request(to: try Example.server(issuer, announcesIssuer: true), options: options)
    }

    /// The claims of a good response.
    static func claims(for request: AuthorizationRequest) -> JSONObject {
        [
            "iss": .string(issuer), "aud": .string(Example.clientID), "exp": .number("\(Int(Example.now) + 600)"),
            "state": .string(request.state.reveal()), "code": .string("SplxlOBeZQQYbYS6WxSbIA"),
        ]
    }

    static func redirect(
        _ request: AuthorizationRequest, _ claims: JSONObject, by algorithm: SignatureAlgorithm = .es256,
        header: String? = nil
    ) throws -> String {
        let keys = try SigningKeys.shared.get()
        let token = try keys.token(algorithm, header: header, payload: JSONValue.object(claims).json)
        return request.redirectURI.string + "?response=" + token.reveal()
    }

    /// What becomes of a redirect.
    static func code(
        _ request: AuthorizationRequest, _ redirect: String, keys: JSONWebKeySet? = nil,
        allowing algorithms: [SignatureAlgorithm] = [.es256, .ps256], now: Double = Example.now
    ) throws -> AuthorizationCode {
        let set = try keys ?? SigningKeys.shared.get().keySet(.es256, .rs256)
        let response = try AuthorizationResponse(redirectURL: redirect)
        return try request.code(
            from: request.verified(response, with: set, allowing: algorithms, now: now), now: now)
    }

    @Test("M206, B12: a good response gives its code, and each defect stops it before the code is read")
    func defects() throws {
        let request = try Self.request()
        let good = Self.claims(for: request)
        let code = try Self.code(request, Self.redirect(request, good))
        #expect(code.secret.matches(Secret("SplxlOBeZQQYbYS6WxSbIA")))
        func without(_ name: String) -> JSONObject { good.filter { $0.key != name } }
        func with(_ name: String, _ value: JSONValue) -> JSONObject {
            var claims = good
            claims[name] = value
            return claims
        }
        let now = Int(Example.now)
        let cases: [(String, JSONObject, String)] = [
            ("another iss", with("iss", .string("https://other.example.com")), "issuer_mismatch"),
            ("a slash more in iss", with("iss", .string(Self.issuer + "/")), "issuer_mismatch"),
            ("no iss", without("iss"), "authorization_response_malformed"),
            ("a number for iss", with("iss", .number("1")), "authorization_response_malformed"),
            ("another aud", with("aud", .string("other")), "audience_mismatch"),
            ("no aud", without("aud"), "authorization_response_malformed"),
            ("a list without us", with("aud", .array([.string("other")])), "audience_mismatch"),
            ("past", with("exp", .number("\(now - 61)")), "authorization_response_time"),
            ("no exp", without("exp"), "authorization_response_malformed"),
            ("exp as text", with("exp", .string("\(now + 60)")), "authorization_response_malformed"),
            ("exp beyond all years", with("exp", .number("1e300")), "authorization_response_malformed"),
            ("events", with("events", .object([:])), "authorization_response_malformed"),
            ("a number for code", with("code", .number("1")), "authorization_response_malformed"),
        ]
        for (name, claims, expected) in cases {
            #expect(failure { _ = try Self.code(request, Self.redirect(request, claims)) } == expected, "\(name)")
        }
        for listed in [
            JSONValue.array([.string(Example.clientID)]), .array([.string("a"), .string(Example.clientID)]),
        ] {
            #expect(failure { _ = try Self.code(request, Self.redirect(request, with("aud", listed))) } == nil)
        }
    }

    @Test("M206: wrong algorithm, key and signature stop the response")
    func signatures() throws {
        let request = try Self.request()
        let good = Self.claims(for: request)
        let keys = try SigningKeys.shared.get()
        #expect(
            failure { _ = try Self.code(request, Self.redirect(request, good, by: .rs256)) } == "algorithm_refused")
        #expect(
            failure { _ = try Self.code(request, Self.redirect(request, good), keys: keys.keySet(.rs256)) }
                == "key_not_found")
        #expect(
            failure {
                _ = try Self.code(
                    request, Self.redirect(request, good, header: #"{"alg":"ES256","kid":"unknown"}"#))
            } == "key_unknown")
        let parts = try Self.redirect(request, good).split(separator: ".").map(String.init)
        let forged = parts.dropLast().joined(separator: ".") + "." + Base64URL.encode([UInt8](repeating: 1, count: 64))
        #expect(failure { _ = try Self.code(request, forged) } == "signature_invalid")
        #expect(
            failure { _ = try Self.code(request, parts.dropLast().joined(separator: ".") + ".") }
                == "signature_invalid")
        for header in [#"{"alg":"none"}"#, #"{"alg":"HS256"}"#, "{}"] {
            #expect(
                failure { _ = try Self.code(request, Self.redirect(request, good, header: header)) }
                    == "algorithm_refused", "\(header)")
        }
        for type in ["at+jwt", "dpop+jwt", "logout+jwt", "oauth-authz-req+jwt"] {
            let header = #"{"alg":"ES256","typ":"\#(type)"}"#
            #expect(
                failure { _ = try Self.code(request, Self.redirect(request, good, header: header)) }
                    == "authorization_response_malformed", "\(type)")
        }
    }

    @Test("M206: an error inside is read after the signature, like a code")
    func error() throws {
        let request = try Self.request()
        var claims = Self.claims(for: request)
        claims["code"] = nil
        claims["error"] = .string("access_denied")
        claims["error_description"] = .string("The user said no.")
        let error = serverError { _ = try Self.code(request, Self.redirect(request, claims)) }
        #expect(error?.code == "access_denied")
        claims["aud"] = .string("other")
        let refused = refusal { _ = try Self.code(request, Self.redirect(request, claims)) }
        #expect(refused?.check == .audience)
        #expect(refused?.description.contains("said no") == false)
    }

    @Test(
        "M207: where a signed response was asked for, a plain one stops, and nothing of it is shown",
        arguments: ["code=abc", "error=evil-error&error_description=evil-text", "code=abc&response=e30.e30.e30"])
    func plain(_ parameters: String) throws {
        let request = try Self.request()
        let redirect = request.redirect(parameters) + "&iss=https%3A%2F%2Fserver.example.com"
        let refused = refusal { _ = try Self.code(request, redirect) }
        #expect(refused?.check == .unsignedResponse)
        #expect(refused?.description.contains("evil") == false)
        #expect(refusal { _ = try request.code(from: redirect, now: Example.now) }?.check == .unsignedResponse)
        let unverified = try Self.redirect(request, Self.claims(for: request))
        #expect(refusal { _ = try request.code(from: unverified, now: Example.now) }?.check == .unsignedResponse)
        let beside = unverified + "&code=injected"
        #expect(refusal { _ = try Self.code(request, beside) }?.check == .unsignedResponse)
    }

    @Test("M208: a response with another state belongs to no request here, whatever signed it")
    func foreignState() throws {
        let request = try Self.request()
        let other = try Self.request()
        let redirect = try Self.redirect(request, Self.claims(for: other))
        #expect(failure { _ = try Self.code(request, redirect) } == "unmatched")
        #expect(failure { _ = try Self.code(other, redirect) } == nil)
        #expect(try AuthorizationResponse(redirectURL: redirect).returnedState?.matches(other.state) == true)
        #expect(failure { _ = try Self.code(request, request.redirectURI.string + "?response=x.y.z") } == "unmatched")
    }

    @Test("M207: a request that asked for plain parameters believes no signed text")
    func notAsked() throws {
        let request = try Self.request(.query)
        #expect(
            failure { _ = try Self.code(request, Self.redirect(request, Self.claims(for: request))) } == "unmatched")
        let both = request.redirect("code=a&iss=https%3A%2F%2Fserver.example.com&response=x")
        #expect(failure { _ = try request.code(from: both, now: Example.now) } == nil)
    }

    @Test(
        "D11: a signed response and signed UserInfo count until their end and the leeway, and not a second more",
        arguments: [(-59, true), (-60, false)])
    func ended(_ seconds: Int, _ isAccepted: Bool) throws {
        let request = try Self.request()
        var claims = Self.claims(for: request)
        let end = Int(Example.now) + seconds
        claims["exp"] = .number("\(end)")
        let redirect = try Self.redirect(request, claims)
        #expect(
            failure { _ = try Self.code(request, redirect) } == (isAccepted ? nil : "authorization_response_time"))
        let keys = try SigningKeys.shared.get()
        let information = try keys.token(
            .es256, payload: #"{"iss":"\#(Self.issuer)","aud":"\#(Example.clientID)","sub":"ada","exp":\#(end)}"#)
        let validator = UserInfoValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, algorithms: [.es256])
        #expect(
            failure { _ = try validator.claims(of: information, keys: keys.keySet(.es256), now: Example.now) }
                == (isAccepted ? nil : "userinfo_response_time"))
    }

    @Test(
        "M803: a time up to the leeway ahead is taken, a later one is not",
        arguments: [(9, true), (60, true), (61, false)])
    func ahead(_ seconds: Int, _ isAccepted: Bool) throws {
        let request = try Self.request()
        for name in ["iat", "nbf"] {
            var claims = Self.claims(for: request)
            claims[name] = .number("\(Int(Example.now) + seconds)")
            let redirect = try Self.redirect(request, claims)
            #expect(
                failure { _ = try Self.code(request, redirect) } == (isAccepted ? nil : "authorization_response_time"),
                "\(name)")
        }
    }

    @Test("M206: a life of more than ten minutes is reported, not refused")
    func lifetime() throws {
        let request = try Self.request()
        var claims = Self.claims(for: request)
        let short = try AuthorizationResponse(redirectURL: Self.redirect(request, claims))
        #expect(request.excessiveLifetime(of: short, now: Example.now) == nil)
        claims["exp"] = .number("\(Int(Example.now) + 3_600)")
        let long = try Self.redirect(request, claims)
        #expect(failure { _ = try Self.code(request, long) } == nil)
        #expect(request.excessiveLifetime(of: try AuthorizationResponse(redirectURL: long), now: Example.now) == 3_600)
    }

    @Test("a server that lists its response modes without this one is not asked for it")
    func modes() throws {
        var server = try Example.server()
        server.responseModes = ["query", "fragment"]
        var options = AuthorizationRequest.Options()
        options.responseMode = .jwt
        #expect(failure { _ = try Example.request(to: server, options: options) } == "configuration response_mode")
        server.responseModes = ["query", "jwt"]
        let request = try Example.request(to: server, options: options)
        #expect(request.queryPairs.contains("response_mode=jwt"))
    }

    @Test("M802: where iss is demanded, a response without it stops, announced or not")
    func issuerDemanded() throws {
        var options = AuthorizationRequest.Options()
        options.requiresIssuer = true
        let request = try Example.request(options: options)
        #expect(
            failure { _ = try request.code(from: request.redirect("code=a"), now: Example.now) } == "issuer_missing")
    }

    @Test("M604: signed UserInfo is for this client, from this issuer, about a subject")
    func userInfo() throws {
        let keys = try SigningKeys.shared.get()
        let set = try keys.keySet(.es256)
        let validator = UserInfoValidator(
            issuer: try Example.issuer(), clientID: Example.clientID, algorithms: [.es256])
        func claims(_ payload: String, _ algorithm: SignatureAlgorithm = .es256) throws -> JSONObject {
            try validator.claims(of: keys.token(algorithm, payload: payload), keys: set, now: Example.now)
        }
        let good = #"{"iss":"\#(Self.issuer)","aud":"\#(Example.clientID)","sub":"ada","name":"Ada"}"#
        #expect(try claims(good)["name"] == .string("Ada"))
        let defects = [
            (good.replacing("server", with: "other"), "issuer_mismatch"),
            (good.replacing(Example.clientID, with: "other"), "audience_mismatch"),
            (good.replacing(#""sub":"ada","#, with: ""), "userinfo_response_malformed"),
            (good.replacing(#""name""#, with: #""exp":1,"name""#), "userinfo_response_time"),
            (good.replacing(#""name""#, with: #""iat":\#(Int(Example.now) + 61),"name""#), "userinfo_response_time"),
            ("[]", "userinfo_response_malformed"),
        ]
        for (payload, expected) in defects { #expect(failure { _ = try claims(payload) } == expected, "\(payload)") }
        let ahead = good.replacing(#""name""#, with: #""iat":\#(Int(Example.now) + 60),"name""#)
        #expect(failure { _ = try claims(ahead) } == nil, "at the edge of the leeway")
        #expect(failure { _ = try claims(good, .rs256) } == "algorithm_refused")
    }

    @Test("M605: a text of five parts is refused as encrypted, with what to do")
    func encrypted() throws {
        let request = try Self.request()
        let header = Base64URL.encode(#"{"alg":"RSA-OAEP-256","enc":"A256GCM"}"#.utf8)
        let text = Secret("\(header).e30.e30.e30.e30")
        let set = try SigningKeys.shared.get().keySet(.es256)
        let validator = IDTokenValidator(
            issuer: try Example.issuer(), clientID: "c", nonce: nil, accessToken: nil)
        let refused = refusal { _ = try validator.claims(of: text, keys: set, now: Example.now) }
        #expect(refused?.check == .encrypted)
        #expect(refused?.description.contains("_encrypted_response_alg") == true)
        let rules = SignedTextRules(
            kind: .userInfo, issuer: try Example.issuer(), clientID: "c", algorithms: [.es256], leeway: 60,
            secrets: request.secrets)
        #expect(failure { _ = try rules.claims(of: text, keys: set, now: 1) } == "token_encrypted")
    }
}
