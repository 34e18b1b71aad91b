import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures

/// An API and the servers that it may name. Each registers clients, signs users in without a page, and manages registrations.
final class RegistrationNetwork: Transport {
    struct State {
        var issuer = "https://as.example"
        var scopes: [String] = ["a"]
        var isManaged = false
        var secretEnds: Int?
        /// Members of the metadata.
        var metadata: [String: any Sendable] = [:]
        /// Further members of what is registered.
        var registered: [String: any Sendable] = [:]
        /// What the registration's management answers instead.
        var managed: ResponseMessage?
        /// What the token endpoint answers instead.
        var token: ResponseMessage?
        /// The only client secret that the server accepts; nil accepts every request.
        var secret: String?
        /// What further endpoints answer, by their paths.
        var answers: [String: ResponseMessage] = [:]
        /// What the API answers; by default it is not there.
        var api: ResponseMessage?
        /// What the document of the API is instead.
        var document: ResponseMessage?
        /// A host that cannot be reached.
        var unreachable: String?
        var count = 0
        var requests: [RequestMessage] = []
    }

    let state = Mutex(State())

    func change(_ body: (inout sending State) -> Void) { state.withLock { body(&$0) } }
    var requests: [RequestMessage] { state.withLock { $0.requests } }

    /// The JSON objects that were sent to a path.
    func sent(_ method: HTTPRequest.Method, _ path: String) -> [JSONObject] {
        requests.filter { $0.head.method == method && $0.head.path == path }.map { request in
            guard case .bytes(let bytes) = request.content else { return [:] }
            return (try? JSONValue(parsing: bytes).object) ?? [:]
        }
    }

    /// All that a host was told.
    func told(_ host: String) -> String {
        requests.filter { $0.head.authority == host }.map { request in
            guard case .bytes(let bytes) = request.content else { return "\(request.head)" }
            return "\(request.head) \(String(decoding: bytes, as: UTF8.self))"
        }.joined(separator: "\n")
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        try state.withLock { state in
            state.requests.append(request)
            let host = "https://\(request.head.authority ?? "")"
            if let unreachable = state.unreachable, unreachable == request.head.authority {
                throw TransportError.unreachable(host: unreachable, reason: "refused")
            }
            let path = request.head.path ?? ""
            if let secret = state.secret, path == "/token" || state.answers[path] != nil,
                !Self.content(of: request).contains("client_secret=\(secret)")
            {
                return .json(401, ["error": "invalid_client"])
            }
            switch (request.head.method, path) {
            case (_, "/mcp"): return state.api ?? .json(404, [:])
            case (_, "/.well-known/oauth-protected-resource/mcp"):
                return state.document
                    ?? .json(
                        200,
                        [
                            "resource": "https://api.example/mcp", "authorization_servers": [state.issuer],
                            "scopes_supported": state.scopes,
                        ])
            case (_, "/.well-known/oauth-authorization-server"):
                let members: [String: Any] = [
                    "issuer": host, "authorization_endpoint": host + "/authorize",
                    "token_endpoint": host + "/token",
                    "registration_endpoint": host + "/register", "revocation_endpoint": host + "/revoke",
                    "code_challenge_methods_supported": ["S256"],
                ]
                return .json(200, members.merging(state.metadata) { $1 })
            case (.post, "/register"):
                state.count += 1
                var members: [String: Any] = ["client_id": "client-\(state.count)"]
                if let end = state.secretEnds {
                    members["client_secret"] = "secret-\(state.count)"
                    members["token_endpoint_auth_method"] = "client_secret_post"
                    members["client_secret_expires_at"] = end
                }
                if state.isManaged {
                    members["registration_access_token"] = "management-1"
                    members["registration_client_uri"] = host + "/managed"
                }
                return .json(201, members.merging(state.registered) { $1 })
            case (_, "/managed"): return state.managed ?? .json(200, ["client_id": "client-1"])
            case (_, "/token"):
                return state.token
                    ?? .json(
                        200,
                        [
                            "access_token": "access", "token_type": "Bearer", "expires_in": 3600,
                            "refresh_token": "refresh",
                        ])
            default: return state.answers[path] ?? .json(404, [:])
            }
        }
    }

    private static func content(of request: RequestMessage) -> String {
        guard case .bytes(let bytes) = request.content else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    func client(
        in vault: any Vault, at time: Double = 1_750_000_000, redirect: Client.Redirect = .loopback
    ) async throws -> Client {
        let found = try await DiscoveredResource.discover("https://api.example/mcp", transport: self)
        return try await found.client(
            registeredAs: "App", redirect: redirect, in: vault,
            time: TimeSource(now: { time }, clock: ContinuousClock()))
    }

    func browser(opened redirects: Shared<[String]> = Shared([])) -> ScriptedBrowser {
        ScriptedBrowser { page in
            redirects.change { $0.append(page.redirectURI.string) }
            let state = URLComponents(string: page.url)?.queryItems?.first { $0.name == "state" }?.value ?? ""
            return "\(page.redirectURI.string)?code=code&state=\(state)"
        }
    }
}
