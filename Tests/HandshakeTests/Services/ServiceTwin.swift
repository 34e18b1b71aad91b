import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// A service in process that behaves as its line in `ServiceLines.swift` says, oddities included.
///
/// It reads that line with code of its own, so that a misreading of a member by the package shows. It is a transport:
/// nothing is sent.
final class ServiceTwin: Transport {
    struct State {
        /// What a client did against the facts.
        var problems: [String] = []
        var failsTokens = false
        /// The code with which every refresh is refused; nil for none.
        var refusal: String?
        /// How many refreshes were refused with it.
        var refusals = 0
        var issued = 0
        var challenge: String?
        var nonce: String?
        var code: String?
        var refreshToken: String?
        var accessToken: String?
    }

    /// Not changed after the initializer.
    nonisolated(unsafe) let facts: [String: Any]
    let time = TimeSource(now: { 1_795_000_000 }, clock: ContinuousClock())
    let state = Mutex(State())
    let key = P256.Signing.PrivateKey()
    static let redirect = "com.example.app:/callback"
    static let secret = "secret of the client"

    init(_ line: String, values: [String: String]) throws {
        var line = line
        for (name, value) in values { line = line.replacingOccurrences(of: "{\(name)}", with: value) }
        facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    func text(_ name: String) -> String? { facts[name] as? String }
    func flag(_ name: String) -> Bool { facts[name] as? Bool ?? false }
    func table(_ name: String) -> [String: String] { facts[name] as? [String: String] ?? [:] }
    var offline: [String: Any] { facts["offline"] as? [String: Any] ?? [:] }
    var issuesRefreshTokens: Bool { offline["never"] == nil && !offline.isEmpty }
    /// Whether it refuses redirects to a listener without TLS.
    var refusesLoopback: Bool { ["no", "https"].contains(text("loopback_redirects")) }
    var isPublic: Bool { facts["client_authentication"] == nil && flag("public_clients") }

    /// The scopes that the client asks for: where they have a delimiter of their own, at least two.
    var scopes: [String] {
        let own = facts["default_scopes"] as? [String] ?? []
        let all = own + (offline["scopes"] as? [String] ?? []).filter { !own.contains($0) }
        return text("scope_delimiter") == nil ? all : all + ["more", "and-more"]
    }

    func problem(_ text: String) {
        state.withLock { $0.problems.append(text) }
    }

    func expect(_ found: String?, _ expected: String?, _ what: String) {
        if found != expected { problem("\(what): \(found ?? "nothing") instead of \(expected ?? "nothing")") }
    }

    // The page that the browser opens.

    /// The parameters by which the service says that the user declined, in each of its manners.
    var denials: [String] {
        let codes = facts["denial_codes"] as? [String] ?? []
        let named = text("denial_parameter").map { ["\($0)=The%20user%20declined"] } ?? []
        return ["error=access_denied"] + codes.map { "error=\($0)" } + named
    }

    /// - Parameter answer: what comes back instead of a code.
    func browser(denying answer: String? = nil) -> ScriptedBrowser {
        ScriptedBrowser { page in
            let parts = page.url.split(separator: "?", maxSplits: 1).map(String.init)
            self.expect(parts.first, self.text("authorize_url"), "authorize_url")
            let query = Self.form(parts.last ?? "")
            self.check(authorization: query)
            let state = query["state"] ?? ""
            if let answer { return Self.redirect + "?\(answer)&state=\(state)" }
            let code = self.state.withLock { own -> String in
                own.challenge = query["code_challenge"]
                own.nonce = query["nonce"]
                own.code = "code-\(own.issued)"
                return own.code ?? ""
            }
            return Self.redirect + "?code=\(code)&state=\(state)"
        }
    }

    private func check(authorization query: [String: String]) {
        expect(query["response_type"], "code", "response_type")
        expect(query["client_id"], "app", "client_id")
        if refusesLoopback, query["redirect_uri"]?.hasPrefix("http://") == true { problem("redirect_uri: a loopback") }
        expect(query["code_challenge_method"], "S256", "code_challenge_method")
        expect(
            query[text("scope_parameter") ?? "scope"],
            scopes.isEmpty ? nil : scopes.joined(separator: text("scope_delimiter") ?? " "), "scopes")
        let wanted = table("authorize_parameters").merging(offline["parameters"] as? [String: String] ?? [:]) { $1 }
        for (name, value) in wanted { expect(query[name], value, name) }
        expect(query["nonce"] == nil ? "no nonce" : "nonce", flag("discovers") ? "nonce" : "no nonce", "nonce")
    }

    // The endpoints.

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let url = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")"
        let isRefresh = Self.body(request)["grant_type"] == "refresh_token"
        if url == text(isRefresh && facts["refresh_url"] != nil ? "refresh_url" : "token_url") {
            return token(request)
        }
        if url == text("userinfo_url") { return user(request) }
        if let document = document(at: url) { return document }
        return .json(404, [:])
    }

    private func document(at url: String) -> ResponseMessage? {
        guard flag("discovers"), let issuer = text("issuer") else { return nil }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        if url == base + "/.well-known/openid-configuration" {
            let methods: [String]? =
                switch text("client_authentication") {
                case "basic": ["client_secret_basic"]
                case "post": ["client_secret_post"]
                default: nil
                }
            var members: [String: Any] = [
                "issuer": text("issuer_template") ?? issuer, "authorization_endpoint": text("authorize_url") ?? "",
                "token_endpoint": text("token_url") ?? "", "jwks_uri": base + "/keys",
            ]
            members["token_endpoint_auth_methods_supported"] = methods
            return .json(200, members)
        }
        guard url == base + "/keys" else { return nil }
        let point = key.publicKey.rawRepresentation
        return .json(
            200,
            [
                "keys": [
                    [
                        "kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "alg": "ES256",
                        "x": Base64URL.encode(point.prefix(32)), "y": Base64URL.encode(point.suffix(32)),
                        "issuer": text("issuer_template") ?? issuer,
                    ]
                ]
            ])
    }

    /// The tenant of every user, where the service has tenants.
    static let tenant = "6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7c11"

    /// The issuer of ID tokens: where many tenants share the service's address, the user's tenant.
    var tokenIssuer: String? {
        guard let template = text("issuer_template") else { return text("issuer") }
        return template.replacingOccurrences(of: "{tenantid}", with: Self.tenant)
    }

    private func user(_ request: RequestMessage) -> ResponseMessage {
        expect(request.head.method.rawValue, text("userinfo_method") ?? "GET", "method of userinfo_url")
        let token = state.withLock { $0.accessToken } ?? ""
        if let name = text("authorization_header") {
            expect(request.head.headerFields[HTTPField.Name(name) ?? HTTPField.Name.cookie], token, name)
            expect(request.head.headerFields[.authorization], nil, "Authorization")
        } else {
            let scheme = text("authorization_scheme") ?? "Bearer"
            expect(request.head.headerFields[.authorization], "\(scheme) \(token)", "Authorization")
        }
        checkHeaders(of: request, but: ["Content-Type"])
        var answer = PointerTree()
        answer.set(subject, at: text("subject_pointer") ?? "/sub")
        if let place = text("name_pointer"), place != text("subject_pointer") { answer.set("Ada", at: place) }
        return .json(200, answer.json as? [String: Any] ?? [:])
    }

    /// Some services identify a user by a number.
    var subject: Any {
        !flag("discovers") && (text("name") ?? "").count.isMultiple(of: 2) ? 4_711 as Any : "user-1"
    }

    private func checkHeaders(of request: RequestMessage, but left: Set<String> = []) {
        for (name, value) in table("required_headers") where !left.contains(name) {
            let expected = value.replacingOccurrences(of: "{client_id}", with: "app")
            expect(request.head.headerFields[HTTPField.Name(name) ?? HTTPField.Name.cookie], expected, name)
        }
    }

    private func token(_ request: RequestMessage) -> ResponseMessage {
        let form = Self.body(request)
        checkHeaders(of: request, but: ["Accept", "Content-Type"])
        expect(
            request.head.headerFields[.contentType],
            text("token_request") == "json" ? "application/json" : "application/x-www-form-urlencoded", "Content-Type")
        checkAuthentication(request, form)
        for (name, value) in table("token_parameters") { expect(form[name], value, name) }
        if flag("repeats_scope") { expect(form["scope"], scopes.joined(separator: " "), "repeated scope") }
        let isRefresh = form["grant_type"] == "refresh_token"
        let (known, fails) = state.withLock { ($0, $0.failsTokens) }
        if isRefresh {
            expect(form["refresh_token"], known.refreshToken, "refresh_token")
            if let code = known.refusal {
                state.withLock { $0.refusals += 1 }
                return refusal(code)
            }
        } else {
            expect(form["code"], known.code, "code")
            let digest = SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))
            expect(Base64URL.encode(digest), known.challenge, "code_verifier")
        }
        return fails ? failure : success(isRefresh: isRefresh)
    }

    private func checkAuthentication(_ request: RequestMessage, _ form: [String: String]) {
        let field = request.head.headerFields[.authorization]
        let place = form["client_secret"] != nil ? "post" : field != nil ? "basic" : "none"
        if isPublic { return expect(place, "none", "client authentication") }
        expect(
            place, text("client_authentication").flatMap { $0 == "either" ? nil : $0 } ?? place, "client authentication"
        )
        if facts["signed_client_secret"] != nil { return check(signedSecret: form["client_secret"] ?? "") }
        guard place == "basic" else { return expect(form["client_secret"], Self.secret, "client_secret") }
        let raw = text("credential_encoding") == "raw"
        let credentials = "app:" + (raw ? Self.secret : Self.secret.replacingOccurrences(of: " ", with: "+"))
        expect(field, "Basic " + Data(credentials.utf8).base64EncodedString(), "Basic")
    }
}

extension ServiceTwin {
    /// The key of the client at services where it signs the client secret.
    static let clientKey = P256.Signing.PrivateKey()

    private func check(signedSecret text: String) {
        let parts = text.split(separator: ".").map(String.init)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]),
            let signed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            Self.clientKey.publicKey.isValidSignature(signed, for: Data("\(parts[0]).\(parts[1])".utf8)),
            let claims = try? JSONSerialization.jsonObject(with: Data(Base64URL.decode(parts[1]) ?? []))
                as? [String: Any]
        else { return problem("client_secret is not signed by the client") }
        let wanted = table("signed_client_secret")
        expect(claims["iss"] as? String, wanted["issuer"], "iss of client_secret")
        expect(claims["aud"] as? String, wanted["audience"], "aud of client_secret")
        expect(claims["sub"] as? String, "app", "sub of client_secret")
        let life = (claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0)
        if !(1...15_777_000).contains(life) { problem("client_secret lives \(life) seconds") }
    }
}
