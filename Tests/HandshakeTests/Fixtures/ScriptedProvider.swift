import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// An OpenID provider in process, every answer of which a test can change. It is a transport: nothing is sent.
final class ScriptedProvider: Transport {
    struct State {
        var signingKeyID = "first"
        /// The keys that the provider publishes.
        var publishedKeyIDs = ["first"]
        /// Changes of the claims of the next ID tokens; nil leaves a claim out.
        var claims: [String: Any?] = [:]
        /// What stands in the place of the next ID tokens; an empty text leaves them out.
        var idToken: String?
        /// Whether the nonce of the sign-in stands in refreshed ID tokens too.
        var nonce: String?
        /// A failure or an answer in place of the provider's own, by path.
        var overrides: [String: @Sendable (RequestMessage) async throws -> ResponseMessage] = [:]
        var issued = 0
        var requests: [RequestMessage] = []
    }

    static let issuer = "https://op.example"
    static let redirect = "com.example.app:/callback"
    private let keys = ["first": P256.Signing.PrivateKey(), "second": P256.Signing.PrivateKey()]
    private let state: Mutex<State>
    let time: AdjustableTime

    init(time: AdjustableTime = AdjustableTime()) {
        self.time = time
        state = Mutex(State())
    }

    func change(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
    }

    /// How many requests a path has received.
    func count(_ path: String) -> Int {
        state.withLock { $0.requests.count { $0.head.path == path } }
    }

    /// The paths that were asked for, in order.
    var paths: [String] { state.withLock { $0.requests.compactMap(\.head.path) } }

    /// The form fields of all requests of a path.
    func forms(_ path: String) -> [[String: String]] {
        state.withLock { $0.requests.filter { $0.head.path == path } }.map(Self.form)
    }

    func client(redirect: String = redirect) throws -> Client {
        let service = try Service(
            name: "op", authorizationServer: .discovered(try Issuer(Self.issuer), security: .httpsOnly),
            apiRoot: try EndpointURL(Self.issuer + "/"), defaultScopes: ["openid", "offline_access"])
        return Client(service: service, id: "app", redirect: .uri(try RedirectURI(redirect)))
    }

    func app(vault: any Vault = MemoryVault()) throws -> Handshake {
        try Handshake(client(), vault: vault, transport: self, time: time.source)
    }

    func app(_ client: Client, vault: any Vault = MemoryVault()) throws -> Handshake {
        try Handshake(client, vault: vault, transport: self, time: time.source)
    }

    /// Adds members to the metadata.
    func publish(_ members: sending [String: Any]) {
        let text = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
        change { state in
            let path = "/.well-known/openid-configuration"
            let before = state.overrides[path]
            state.overrides[path] = { request in
                let answer = try await before?(request) ?? self.answer(path, request)
                let known = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
                let more = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
                return .json(200, known.merging(more) { $1 })
            }
        }
    }

    /// The pairs of the last form that a path has received.
    func form(_ path: String) -> [URLQueryItem] {
        guard case .bytes(let bytes)? = state.withLock({ $0.requests.last { $0.head.path == path } })?.content else {
            return []
        }
        var components = URLComponents()
        components.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
        return components.queryItems ?? []
    }

    /// A browser whose user consents, at a provider that signs its responses (JARM).
    func signingBrowser(_ changes: @escaping @Sendable () -> [String: Int] = { [:] }) -> ScriptedBrowser {
        ScriptedBrowser { page in
            let items = URLComponents(string: page.url)?.queryItems ?? []
            let query = items.reduce(into: [String: String]()) { $0[$1.name] = $1.value }
            self.change { $0.nonce = query["nonce"] }
            let now = Int(self.time.source.now())
            var claims: [String: Any] = [
                "iss": Self.issuer, "aud": "app", "exp": now + 300, "code": "code", "state": query["state"] ?? "",
            ]
            for (name, ahead) in changes() { claims[name] = now + ahead }
            return Self.redirect + "?response=" + (try self.sign(claims))
        }
    }

    /// A browser whose user consents.
    var browser: ScriptedBrowser {
        ScriptedBrowser { page in
            let items = URLComponents(string: page.url)?.queryItems ?? []
            let query = items.reduce(into: [String: String]()) { $0[$1.name] = $1.value }
            self.change { $0.nonce = query["nonce"] }
            let issuer = "https%3A%2F%2Fop.example"
            return Self.redirect + "?code=code&state=\(query["state"] ?? "")&iss=\(issuer)"
        }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let path = request.head.path ?? ""
        let override = state.withLock { state in
            state.requests.append(request)
            return state.overrides[path]
        }
        if let override { return try await override(request) }
        return try answer(path, request)
    }

    /// The provider's own answer.
    func answer(_ path: String, _ request: RequestMessage) throws -> ResponseMessage {
        switch path {
        case "/.well-known/oauth-authorization-server": return .json(404, [:])
        case "/.well-known/openid-configuration":
            return .json(
                200,
                [
                    "issuer": Self.issuer, "authorization_endpoint": Self.issuer + "/authorize",
                    "token_endpoint": Self.issuer + "/token", "jwks_uri": Self.issuer + "/jwks",
                    "revocation_endpoint": Self.issuer + "/revoke", "userinfo_endpoint": Self.issuer + "/userinfo",
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                ])
        case "/jwks": return .json(200, ["keys": state.withLock { $0.publishedKeyIDs }.map(publicKey)])
        case "/token": return try tokens(for: Self.form(request))
        case "/revoke": return .json(200, [:])
        case "/userinfo": return .json(200, ["sub": "alice"])
        default: return .json(404, [:])
        }
    }

    private func tokens(for form: [String: String]) throws -> ResponseMessage {
        let isRefresh = form["grant_type"] == "refresh_token"
        let state = state.withLock { state in
            state.issued += 1
            return (
                number: state.issued, claims: state.claims, idToken: state.idToken, nonce: state.nonce,
                keyID: state.signingKeyID
            )
        }
        let access = "access-\(state.number)"
        var claims: [String: Any?] = [
            "iss": Self.issuer, "sub": "alice", "aud": "app", "iat": Int(time.source.now()),
            "exp": Int(time.source.now()) + 600, "auth_time": 1_700_000_000, "at_hash": Self.halfHash(access),
            "nonce": isRefresh ? nil : state.nonce,
        ]
        claims.merge(state.claims) { $1 }
        var answer: [String: Any] = [
            "access_token": access, "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": "refresh-\(state.number)",
        ]
        answer["id_token"] = try state.idToken ?? sign(claims.compactMapValues(\.self), by: state.keyID)
        if state.idToken == "" { answer["id_token"] = nil }
        return .json(200, answer)
    }

    /// Claims as a text that a key of the provider's has signed.
    func sign(_ claims: [String: Any], by keyID: String = "first") throws -> String {
        let header = try JSONSerialization.data(withJSONObject: ["alg": "ES256", "kid": keyID])
        let payload = try JSONSerialization.data(withJSONObject: claims)
        let input = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
        let signature = try keys[keyID]?.signature(for: Data(input.utf8)).rawRepresentation ?? Data()
        return "\(input).\(Base64URL.encode(signature))"
    }

    private func publicKey(_ keyID: String) -> [String: String] {
        let point = keys[keyID]?.publicKey.rawRepresentation ?? Data()
        return [
            "kty": "EC", "crv": "P-256", "kid": keyID, "use": "sig", "alg": "ES256",
            "x": Base64URL.encode(point.prefix(32)), "y": Base64URL.encode(point.suffix(32)),
        ]
    }

    private static func halfHash(_ token: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Data(token.utf8))).prefix(16))
    }

    private static func form(_ request: RequestMessage) -> [String: String] {
        guard case .bytes(let bytes) = request.content else { return [:] }
        var components = URLComponents()
        components.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
        return components.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }
}

extension ResponseMessage {
    /// A JSON answer.
    static func json(_ status: Int, _ object: [String: Any], _ fields: HTTPFields = [:]) -> ResponseMessage {
        var fields = fields
        fields[.contentType] = "application/json"
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: fields), content: Array(data))
    }
}
