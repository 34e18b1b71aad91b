import HTTPTypes
public import Handshake
public import OAuth

/// The API calls that need the partner's service key: for a server, never for an app (dossier 2.3).
///
/// The key acts for *every* user of the partner: its holder can run any user's actions and create any user's token. Anything
/// shipped in an app can be extracted, so this type requires the key, and is unavailable on phones, tablets, watches and
/// televisions. An app asks its own server, and calls IFTTT with ``ConnectAPI`` and the token of its one user.
///
/// ```swift
/// let ifttt = ConnectService(key: key)
/// let token = try await ifttt.userToken(for: "garden-1001", accessToken: partnerToken)
/// ```
///
/// `user` is always the partner's own identifier of the user, as returned by its user-information endpoint. For a user who
/// has not enabled the connection, calls fail with ``ConnectError/Problem/Kind/notFound`` or
/// ``ConnectError/Problem/Kind/unauthorized``.
@available(
    iOS, unavailable, message: "a service key in an app is a service key in the hands of every user; use a server"
)
@available(
    tvOS, unavailable, message: "a service key in an app is a service key in the hands of every user; use a server"
)
@available(
    watchOS, unavailable, message: "a service key in an app is a service key in the hands of every user; use a server"
)
@available(
    visionOS, unavailable, message: "a service key in an app is a service key in the hands of every user; use a server"
)
public struct ConnectService: Sendable {
    /// The hosts of IFTTT.
    public let hosts: Hosts

    private let key: Secret
    private let random: RandomSource
    let exchange: Exchange

    /// Creates an API client.
    ///
    /// - Parameters:
    ///   - key: the partner's service key, from the platform's settings.
    ///   - hosts: the hosts of IFTTT.
    ///   - transport: the HTTP transport.
    ///   - time: measures pauses, and interprets `Retry-After` dates.
    ///   - random: draws request IDs.
    public init(
        key: Secret, at hosts: Hosts = .production, transport: any Transport = .platform,
        time: TimeSource = .system, random: RandomSource = .system
    ) {
        self.key = key
        self.hosts = hosts
        self.random = random
        exchange = Exchange(transport: transport, time: time)
    }

    /// Fetches a connection (dossier 2.5). It includes the configuration of a user if given.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func connection(
        _ id: ConnectionID, for user: String? = nil, retry: ConnectAPI.RetryPolicy = .standard
    ) async throws -> Connection {
        var operation = try operation(.get, "connection", "/v2/connections/\(id)", user: user)
        operation.pauses = retry.pauses
        operation.maximumPause = retry.maximumPause
        return try await exchange.connection(operation)
    }

    /// The owner of the key (dossier 2.7).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func me() async throws -> Me {
        var operation = try operation(.get, "me", "/v2/me")
        operation.pauses = Exchange.Operation.interactiveRetry
        return try await exchange.json(operation, Me.init)
    }

    /// A user token for one user, for that user's app (dossier 2.8).
    ///
    /// - Parameters:
    ///   - user: the partner's identifier of the user. Take it from the session of the requesting user, never from the request:
    ///     otherwise a user could fetch another user's token.
    ///   - accessToken: the partner's own token that IFTTT got for this user; a second proof besides the key.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func userToken(for user: String, accessToken: Secret) async throws -> UserToken {
        let target = QueryEncoding.address(
            "/v2/user_token",
            items: [("user_id", try PartnerUser.checked(user)), ("access_token", accessToken.reveal())])
        var operation = try operation(.post, "user_token", target)
        operation.content = .object([:])
        return try await exchange.json(operation) { [operation] value in
            let members = try Members(value, answer: operation.name)
            guard let token = members.text("user_token").flatMap({ UserToken(Secret($0)) }) else {
                // The malformed value may be a token, so it is not quoted.
                throw ConnectError.malformed(
                    answer: operation.name, member: "user_token", expected: "a token", found: "something else")
            }
            return token
        }
    }

    /// A code for a Connect URL, from one of the partner's OAuth server (dossier 2.8). Single-use, valid for 48 hours.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func provisionalCode(for oauthCode: Secret) async throws -> Secret {
        var operation = try operation(.post, "provisional_access_code", "/v2/provisional_access_code")
        operation.content = .object(["oauth_code": .string(oauthCode.reveal())])
        return try await exchange.json(operation) { [operation] value in
            let members = try Members(value, answer: operation.name)
            guard let code = members.text("provisional_access_code"), (1...2048).contains(code.utf8.count),
                code.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw ConnectError.malformed(
                    answer: operation.name, member: "provisional_access_code", expected: "a code",
                    found: "something else")
            }
            return Secret(code)
        }
    }

    /// Asks the service to poll the partner (dossier 2.10). Only a hint.
    ///
    /// - Parameter targets: 1 to 1000 targets.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func notify(_ targets: [RealtimeTarget]) async throws {
        guard (1...1000).contains(targets.count) else {
            throw ConnectError.input(member: "targets", problem: "there must be 1 to 1000, not \(targets.count)")
        }
        var operation = Exchange.Operation(
            name: "notifications", method: .post, host: hosts.realtime, target: "/v1/notifications",
            headers: try headers())
        operation.content = .object(["data": .array(targets.map(\.json))])
        // Idempotent: a repeated hint has no further effect.
        operation.pauses = Exchange.Operation.idempotentRetry
        try await exchange.send(operation) { _ in }
    }

    /// What has changed.
    public enum RealtimeTarget: Sendable, Hashable {
        /// All triggers of a user.
        case user(String)
        /// One trigger identity.
        case trigger(identity: String)

        fileprivate var json: JSONValue {
            switch self {
            case .user(let id): .object(["user_id": .string(id)])
            case .trigger(let identity): .object(["trigger_identity": .string(identity)])
            }
        }
    }

    /// An operation of the partner, optionally for a user.
    func operation(
        _ method: HTTPRequest.Method, _ name: String, _ target: String, user: String? = nil
    ) throws(ConnectError) -> Exchange.Operation {
        let target =
            if let user { QueryEncoding.address(target, items: [("user_id", try PartnerUser.checked(user))]) } else {
                target
            }
        return Exchange.Operation(
            name: name, method: method, host: hosts.connect, target: target, headers: try headers())
    }

    private func headers() throws(ConnectError) -> HTTPFields {
        guard !key.isEmpty else { throw .input(member: "service key", problem: "it is empty") }
        var headers: HTTPFields = [:]
        headers[.serviceKey] = try key.headerValue("service key")
        headers[.requestID] = AnonymousID(random: random)?.rawValue
        return headers
    }
}
