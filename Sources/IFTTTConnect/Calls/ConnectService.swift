import HTTPTypes
public import Handshake
public import OAuth

/// The calls that need the partner's service key: a server's, never an app's (dossier 2.3).
///
/// The key speaks for *every* user of the partner: who has it can run any user's actions and mint any user's token. Whatever
/// ships in an app can be read out of it, so this is a type of its own, is made with the key and nothing else, and does not
/// exist on phones, tablets, watches and television sets. An app asks its own server, and calls IFTTT itself with
/// ``ConnectAPI`` and the token of the one user it has.
///
/// ```swift
/// let ifttt = ConnectService(key: key)
/// let token = try await ifttt.userToken(for: "garden-1001", accessToken: partnerToken)
/// ```
///
/// `user` is always the partner's own identifier of the user, the one that its user-information endpoint gives. A user who has
/// not enabled the connection is refused with ``ConnectError/Problem/Kind/notFound`` or
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
    /// Where the service is.
    public let hosts: Hosts

    private let key: Secret
    private let random: RandomSource
    let exchange: Exchange

    /// Prepares calls.
    ///
    /// - Parameters:
    ///   - key: the partner's service key, from the platform's settings.
    ///   - hosts: where the service is.
    ///   - transport: how requests reach the network.
    ///   - time: what pauses are measured on, and what tells how long a pause is that the service asks for by a time.
    ///   - random: where the identifiers of requests come from.
    public init(
        key: Secret, at hosts: Hosts = .production, transport: any Transport = .platform,
        time: TimeSource = .system, random: RandomSource = .system
    ) {
        self.key = key
        self.hosts = hosts
        self.random = random
        exchange = Exchange(transport: transport, time: time)
    }

    /// A connection, with a user's part in it when one is named (dossier 2.5).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func connection(
        _ id: ConnectionID, for user: String? = nil, repeating: ConnectAPI.Repetition = .standard
    ) async throws -> Connection {
        var operation = try operation(.get, "connection", "/v2/connections/\(id)", user: user)
        operation.pauses = repeating.pauses
        operation.longestPause = repeating.longestPause
        return try await exchange.connection(operation)
    }

    /// Who the key belongs to (dossier 2.7).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func me() async throws -> Me {
        var operation = try operation(.get, "me", "/v2/me")
        operation.pauses = Exchange.Operation.question
        return try await exchange.json(operation, Me.init)
    }

    /// A user token for one user, to hand to that user's app (dossier 2.8).
    ///
    /// - Parameters:
    ///   - user: the partner's identifier of the user. Take it from the session of the user who asks, never from the request:
    ///     otherwise any user is handed the token of any other.
    ///   - accessToken: the partner's own token that was granted to IFTTT for this user; the second proof beside the key.
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
                // What was found may be a token with something wrong about it: it is not told.
                throw ConnectError.malformed(
                    answer: operation.name, member: "user_token", expected: "a token", found: "something else")
            }
            return token
        }
    }

    /// A code for a Connect URL, made from a code of the partner's OAuth server (dossier 2.8). It works once, within 48
    /// hours.
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

    /// Tells the service to ask the partner for news (dossier 2.10). Only a hint.
    ///
    /// - Parameter targets: 1 to 1000 of them.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func notify(_ targets: [RealtimeTarget]) async throws {
        guard (1...1000).contains(targets.count) else {
            throw ConnectError.input(member: "targets", problem: "1 to 1000 are sent at a time, not \(targets.count)")
        }
        var operation = Exchange.Operation(
            name: "notifications", method: .post, host: hosts.realtime, target: "/v1/notifications",
            headers: try headers())
        operation.content = .object(["data": .array(targets.map(\.json))])
        // A hint that comes twice is one.
        operation.pauses = Exchange.Operation.repeatable
        try await exchange.send(operation) { _ in }
    }

    /// Who or what has news.
    public enum RealtimeTarget: Sendable, Hashable {
        /// Everything of a user.
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

    /// An operation in the name of the partner, and of a user by the query.
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
