import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// A realm of Keycloak (24 to 26) as its documents and answers are recorded: every member and its type. The values are made up.
///
/// It has its document at the third well-known address alone, as older versions do.
final class KeycloakRealm: Transport {
    static let path = "/realms/demo"
    static let issuer = "https://keycloak.example" + path
    static let endpoints = path + "/protocol/openid-connect"
    static let now = 1_750_000_000
    static let session = "548cba50-fe18-4851-9c40-bbe4f9a0edb2"
    static let subject = "87ccf23b-ee9d-41fc-84a3-bd22273064c8"
    static let kid = "FJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE"

    private struct State {
        var nonce: String?
        var issued = 0
        /// What the token endpoint answers first.
        var refusals: [(status: Int, content: String)] = []
        var requests: [RequestMessage] = []
    }

    private let key: _RSA.Signing.PrivateKey
    private let modulus: String
    private let state = Mutex(State())

    init() throws {
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let known = try SigningKey(parsing: Array(key.pemRepresentation.utf8)).publicKeySet
        let members = try JSONValue(parsing: Array(known.utf8)).object?["keys"]?.array?.first?.object
        modulus = members?["n"]?.string ?? ""
    }

    var paths: [String] { state.withLock { $0.requests.compactMap(\.head.path) } }

    func forms(_ path: String) -> [[String: String]] {
        state.withLock { $0.requests.filter { $0.head.path == path } }.map(Self.form)
    }

    /// Lets the next token requests be refused.
    func refuse(_ status: Int, _ content: String...) {
        state.withLock { state in state.refusals += content.map { (status, $0) } }
    }

    func client(_ change: (inout Service.Deviations) -> Void = { _ in }) throws -> Client {
        var deviations = Service.Deviations()
        change(&deviations)
        let service = try Service(
            name: "keycloak", authorizationServer: .discovered(try Issuer(Self.issuer), security: .httpsOnly),
            defaultScopes: ["openid", "offline_access"], deviations: deviations)
        return Client(service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
    }

    func app(
        _ client: Client? = nil, vault: any Vault = MemoryVault(), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Double = { Double(KeycloakRealm.now) }
    ) throws -> Handshake {
        try Handshake(
            client ?? self.client(), vault: vault, transport: self, time: TimeSource(now: now, clock: clock))
    }

    /// A browser whose user consents. The redirect has the members and the order of Keycloak's.
    var browser: ScriptedBrowser {
        ScriptedBrowser { [self] _ in
            let pushed = forms(Self.endpoints + "/ext/par/request").last ?? [:]
            state.withLock { $0.nonce = pushed["nonce"] }
            return "com.example.app:/callback?state=\(pushed["state"] ?? "")&session_state=\(Self.session)"
                + "&iss=https%3A%2F%2Fkeycloak.example%2Frealms%2Fdemo"
                + "&code=6ab1c9b8-3ed5-4a6c-8b0f-4c2f4a1f4a4e.\(Self.session).0c4bc44e-8ad7-4d0a-9d3d-6ad4d4a6a0b3"
        }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        state.withLock { $0.requests.append(request) }
        switch request.head.path {
        case Self.path + "/.well-known/openid-configuration": return Self.json(200, Self.metadata)
        case Self.endpoints + "/certs": return Self.json(200, Self.keys(modulus))
        case Self.endpoints + "/ext/par/request":
            return Self.json(
                201,
                #"{"request_uri":"urn:ietf:params:oauth:request_uri:0c4bc44e-8ad7-4d0a-9d3d-6ad4d4a6a0b3","expires_in":60}"#
            )
        case Self.endpoints + "/auth/device": return Self.json(200, Self.device)
        case Self.endpoints + "/token": return try tokens()
        case Self.endpoints + "/userinfo": return Self.json(200, Self.userInfo)
        case Self.endpoints + "/revoke": return ResponseMessage(head: HTTPResponse(status: .ok))
        default:
            return Self.json(
                404,
                #"{"error":"Unable to find matching target resource method","error_description":"For more on this error consult the server log."}"#
            )
        }
    }

    private func tokens() throws -> ResponseMessage {
        let (refusal, nonce, number) = state.withLock { state in
            let refusal = state.refusals.isEmpty ? nil : state.refusals.removeFirst()
            if refusal == nil { state.issued += 1 }
            return (refusal, state.nonce, state.issued)
        }
        if let refusal { return Self.json(refusal.status, refusal.content) }
        let access = try sign([
            "exp": Self.now + 300, "iat": Self.now, "jti": "onrtac:\(number)", "iss": Self.issuer, "aud": "account",
            "sub": Self.subject, "typ": "Bearer", "azp": "app", "sid": Self.session, "scope": "openid profile email",
        ])
        let digest = Array(SHA256.hash(data: Data(access.utf8))).prefix(16)
        let id = try sign([
            "exp": Self.now + 300, "iat": Self.now, "auth_time": Self.now - 10, "jti": "0d7a\(number)",
            "iss": Self.issuer, "aud": "app", "sub": Self.subject, "typ": "ID", "azp": "app", "nonce": nonce,
            "sid": Self.session, "at_hash": Base64URL.encode(digest), "acr": "1", "email_verified": true,
            "name": "Ada Example", "preferred_username": "ada", "given_name": "Ada", "family_name": "Example",
            "email": "ada@example.com",
        ])
        return Self.json(
            200,
            """
            {"access_token":"\(access)","expires_in":300,"refresh_expires_in":0,"refresh_token":"offline-\(number)",\
            "token_type":"Bearer","id_token":"\(id)","not-before-policy":0,"session_state":"\(Self.session)",\
            "scope":"openid offline_access profile email"}
            """)
    }

    /// Claims as a text that the realm has signed; a claim that is nil is left out.
    func sign(_ claims: [String: Any?], type: String = "JWT") throws -> String {
        let header = #"{"alg":"RS256","typ" : "\#(type)","kid" : "\#(Self.kid)"}"#
        let payload = try JSONSerialization.data(withJSONObject: claims.compactMapValues(\.self))
        let input = "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload))"
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)), padding: .insecurePKCS1v1_5)
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    private static func json(_ status: Int, _ text: String) -> ResponseMessage {
        ResponseMessage(
            head: HTTPResponse(
                status: .init(code: status),
                headerFields: [.contentType: "application/json", .cacheControl: "no-store"]), content: Array(text.utf8))
    }

    private static func form(_ request: RequestMessage) -> [String: String] {
        guard case .bytes(let bytes) = request.content else { return [:] }
        var components = URLComponents()
        components.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
        return components.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }
}
