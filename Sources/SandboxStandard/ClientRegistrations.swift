#if Sandbox
import HTTPTypes
public import SandboxCore
import Synchronization

/// Registers clients (RFC 7591) and manages their registrations (RFC 7592).
///
/// A class, because its endpoints and the steering share what is registered.
final class ClientRegistrations: Sendable {
    private struct Registration {
        var metadata: ClientMetadata
        /// What the management is allowed by. Each change brings another one.
        var token: String
        var secretEnds: Int
        let issuedAt: Int
        var secret: String?
    }

    private struct State {
        var registrations: [String: Registration] = [:]
        var secretLifetime = 0
    }

    private let server: AuthorizationServer
    private let state = Mutex(State())

    static let path = "/register"

    init(server: AuthorizationServer) {
        self.server = server
    }

    var routes: [Route] {
        [
            Route("POST", path: Self.path, note: "register a client (RFC 7591)") { self.register($0) },
            Route("GET", "PUT", "DELETE", path: Self.path + "/{client}", note: "its management (RFC 7592)") {
                self.manage($0)
            },
        ]
    }

    /// For how many seconds secrets count that are given from now on; 0 is forever.
    var secretLifetime: Int {
        get { state.withLock { $0.secretLifetime } }
        set { state.withLock { $0.secretLifetime = newValue } }
    }

    /// Forgets all clients that have registered, as servers do that clean up.
    func purge() {
        for id in state.withLock({ $0.registrations.keys }) { server.unregister(id) }
        state.withLock { $0.registrations = [:] }
    }

    /// Whether the secret of a client has ended.
    func hasExpired(_ id: String) -> Bool {
        let end = state.withLock { $0.registrations[id]?.secretEnds } ?? 0
        return end > 0 && Double(end) <= server.clock.now
    }

    private func register(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            let metadata = try ClientMetadata(request)
            let id = "registered-" + RandomText.base64URL(bytes: 9)
            return store(metadata, as: id, issuedAt: Int(server.clock.now), status: 201)
        } catch {
            return error.answer
        }
    }

    /// Keeps a registration with a new token and, where the client needs one, a new secret.
    private func store(_ metadata: ClientMetadata, as id: String, issuedAt: Int, status: Int) -> Answer {
        let now = Int(server.clock.now)
        let registration = state.withLock { state -> Registration in
            let hasSecret = metadata.method.hasPrefix("client_secret")
            let registration = Registration(
                metadata: metadata, token: RandomText.base64URL(bytes: 24),
                secretEnds: hasSecret && state.secretLifetime > 0 ? now + state.secretLifetime : 0, issuedAt: issuedAt,
                secret: hasSecret ? RandomText.base64URL(bytes: 32) : nil)
            state.registrations[id] = registration
            return registration
        }
        server.register(metadata.client(id: id, secret: registration.secret))
        return .uncachedJSON(description(of: registration, id), status: status)
    }

    private func manage(_ request: IncomingRequest) -> Answer {
        let id = request.variables["client"] ?? ""
        guard let known = state.withLock({ $0.registrations[id] }), request.bearerToken == known.token else {
            return BearerChallenge.invalidToken.answer
        }
        switch request.method {
        case "DELETE":
            state.withLock { $0.registrations[id] = nil }
            server.unregister(id)
            return Answer(status: 204, headers: [.cacheControl: "no-store"])
        case "PUT":
            do throws(OAuthFailure) {
                guard case .string(id)? = JSON(parsing: request.body)?["client_id"] else {
                    throw .invalidRequest("client_id has to be the client's own.")
                }
                return store(try ClientMetadata(request), as: id, issuedAt: known.issuedAt, status: 200)
            } catch {
                return error.answer
            }
        default:
            // A secret that has ended is replaced when the client looks.
            guard hasExpired(id) else { return .uncachedJSON(description(of: known, id)) }
            return store(known.metadata, as: id, issuedAt: known.issuedAt, status: 200)
        }
    }

    /// RFC 7591 section 3.2.1.
    private func description(of registration: Registration, _ id: String) -> JSON {
        registration.metadata.json.adding("client_id", .string(id))
            .adding("client_id_issued_at", .number(registration.issuedAt))
            .adding("client_secret", registration.secret.map(JSON.string))
            .adding("client_secret_expires_at", registration.secret.map { _ in .number(registration.secretEnds) })
            .adding("registration_access_token", .string(registration.token))
            .adding("registration_client_uri", .string("\(server.origin)\(Self.path)/\(id)"))
    }
}

extension Sandbox {
    /// Forgets the clients that have registered at the standard server. The next request of one is `invalid_client`.
    public func purgeClients() {
        standIn(StandardStandIn.self).registrations.purge()
    }
}
#endif
