import HTTPTypes
public import Handshake
public import OAuth

/// The API calls of an app (dossier 2). They are anonymous, or for the user whose token it has.
///
/// ```swift
/// let ifttt = ConnectAPI(.user(token))
/// let connection = try await ifttt.connection(ConnectionID("aB3dE5fG"))
/// ```
///
/// Calls that need the partner's service key are in ``ConnectService``, which belongs on a server. A value without user
/// state; any number of them can be used concurrently.
public struct ConnectAPI: Sendable {
    /// The hosts of IFTTT.
    public let hosts: Hosts
    /// The caller.
    public let caller: Caller

    let exchange: Exchange

    /// The caller of the API. Every member is asked for at each call, so that it is never stale.
    public struct Caller: Sendable {
        /// The user token; nil for anonymous calls.
        public var userToken: @Sendable () async throws -> UserToken?
        /// The invite code of an unpublished service; nil for published ones.
        public var inviteCode: @Sendable () async throws -> Secret?
        /// The installation's anonymous ID (dossier 10.2, W24). Nil without the user's consent.
        public var anonymousID: @Sendable () async -> AnonymousID?
        package var identity: SDKIdentity

        public init(
            userToken: @escaping @Sendable () async throws -> UserToken? = { nil },
            inviteCode: @escaping @Sendable () async throws -> Secret? = { nil },
            anonymousID: @escaping @Sendable () async -> AnonymousID? = { nil }
        ) {
            self.init(
                userToken: userToken, inviteCode: inviteCode, anonymousID: anonymousID, identity: .standard)
        }

        package init(
            userToken: @escaping @Sendable () async throws -> UserToken? = { nil },
            inviteCode: @escaping @Sendable () async throws -> Secret? = { nil },
            anonymousID: @escaping @Sendable () async -> AnonymousID? = { nil }, identity: SDKIdentity
        ) {
            self.userToken = userToken
            self.inviteCode = inviteCode
            self.anonymousID = anonymousID
            self.identity = identity
        }

        /// An anonymous caller.
        public static let anonymous = Caller()

        /// The user of a token.
        public static func user(_ token: UserToken) -> Caller {
            Caller(userToken: { token })
        }

        /// The user whose token is stored in a vault; anonymous while there is none.
        public static func stored(_ tokens: UserTokens) -> Caller {
            Caller(userToken: { try await tokens.token() })
        }
    }

    /// Creates an API client.
    ///
    /// - Parameters:
    ///   - caller: the caller.
    ///   - hosts: the hosts of IFTTT.
    ///   - transport: the HTTP transport.
    ///   - time: measures pauses, and interprets `Retry-After` dates.
    public init(
        _ caller: Caller = .anonymous, at hosts: Hosts = .production, transport: any Transport = .platform,
        time: TimeSource = .system
    ) {
        self.caller = caller
        self.hosts = hosts
        exchange = Exchange(transport: transport, time: time)
    }

    init(_ caller: Caller, at hosts: Hosts, through exchange: Exchange) {
        self.caller = caller
        self.hosts = hosts
        self.exchange = exchange
    }

    /// When a fetch is retried. It is after a network failure, a lost, truncated or foreign answer, status 429, or 500
    /// and above. Any other status is final, including 401 and 404.
    ///
    /// If the service asks for a longer pause than planned, it is respected; beyond ``maximumPause`` the call fails
    /// immediately, with ``ConnectError/Problem/retryAfter``.
    ///
    /// The other calls, here and in ``ConnectService``: those that change nothing (`me`, `account`, `fieldOptions`) are
    /// retried once after a quarter of a second; `perform` and the idempotent ones (`enable`, `disable`,
    /// `refreshLabels`, `notify`) after a second; both accept a `Retry-After` of at most two seconds. All others are
    /// never retried: `update`, `updateDeprecated`, `run`, `test`, `userToken` and `provisionalCode`.
    public struct RetryPolicy: Sendable, Hashable {
        /// The pause before each retry.
        public let pauses: [Duration]
        /// The longest pause that the service may ask for.
        public let maximumPause: Duration

        public init(pauses: [Duration], maximumPause: Duration = .seconds(30)) {
            self.pauses = pauses
            self.maximumPause = maximumPause
        }

        /// Three retries, after 2, 4 and 8 seconds (dossier 2.5).
        public static let standard = RetryPolicy(pauses: [.seconds(2), .seconds(4), .seconds(8)])
        public static let none = RetryPolicy(pauses: [])
    }

    /// Fetches a connection (dossier 2.5). It includes the user's configuration if there is a user.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - retry: when the request is retried.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func connection(_ id: ConnectionID, retry: RetryPolicy = .standard) async throws -> Connection {
        var operation = try await operation(.get, "connection", "/v2/connections/\(id)", with: [.user, .invite])
        operation.pauses = retry.pauses
        operation.maximumPause = retry.maximumPause
        return try await exchange.connection(operation)
    }

    /// Turns a connection off (dossier 2.6).
    ///
    /// - Returns: the connection afterwards. Idempotent, so a lost answer is retried.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func disable(_ id: ConnectionID) async throws -> Connection {
        try await change(id, "disable")
    }

    /// Turns a disabled connection on again (dossier 2.6).
    ///
    /// - Returns: the connection afterwards.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/Kind/notFound`` for one that was never
    ///   on, and ``ConnectError/Problem/Kind/invalidParameters`` for one that needs the web flow.
    public func enable(_ id: ConnectionID) async throws -> Connection {
        try await change(id, "enable")
    }

    private func change(_ id: ConnectionID, _ verb: String) async throws -> Connection {
        var operation = try await operation(.post, verb, "/v2/connections/\(id)/\(verb)", with: [.user, .invite])
        operation.pauses = Exchange.Operation.idempotentRetry
        return try await exchange.connection(operation)
    }

    /// The caller as the service sees it (dossier 2.7).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func me() async throws -> Me {
        try await me(retry: RetryPolicy(pauses: Exchange.Operation.interactiveRetry, maximumPause: .seconds(2)))
    }

    func me(retry: RetryPolicy) async throws -> Me {
        var operation = try await operation(.get, "me", "/v2/me", with: [.user])
        operation.pauses = retry.pauses
        operation.maximumPause = retry.maximumPause
        return try await exchange.json(operation, Me.init)
    }

    /// Whether there is an IFTTT account for an address.
    public enum AccountLookUp: Sendable, Hashable {
        case exists
        case doesNotExist
        /// Unknown, with the error. It is ``ConnectError/Problem/Kind/invalidParameters`` for an address that IFTTT
        /// considers invalid.
        case couldNotAsk(ConnectError)
    }

    /// Whether an address has an IFTTT account (dossier 2.7). Sent without any token.
    ///
    /// Status 204 means that there is one, and 404 with the service's error object or without content that there is none.
    /// Everything else, such as a captive portal's page, is no answer (dossier 10.2, W5).
    ///
    /// - Throws: only `CancellationError`.
    public func account(for email: EmailAddress) async throws -> AccountLookUp {
        do {
            let target = QueryEncoding.address("/v2/account/find", items: [("email", email.rawValue)])
            var operation = try await operation(.get, "account/find", target, with: [])
            operation.pauses = Exchange.Operation.interactiveRetry
            return try await exchange.sendAnyStatus(operation) { [operation] response in
                guard response.isAccountAnswer else { throw exchange.problem(response, operation) }
                return response.head.status == .noContent ? .exists : .doesNotExist
            }
        } catch let error as ConnectError {
            return .couldNotAsk(error)
        }
    }

    /// The options of the fields of a trigger, query, action or feature (dossier 2.9).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func fieldOptions(of owner: FieldOwner, in id: ConnectionID) async throws -> FieldOptions {
        let target = "/v2/connections/\(id)/\(try owner.path)/field_options"
        var operation = try await operation(.get, "field_options", target, with: [.user])
        operation.pauses = Exchange.Operation.interactiveRetry
        return try await exchange.json(operation, FieldOptions.init)
    }

    /// Replaces the user's configuration; omitted parts are removed (dossier 2.9).
    ///
    /// Ends the pending state of a connection.
    ///
    /// - Returns: the connection, if the answer contains it; otherwise fetch it.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` names the invalid values.
    public func update(_ id: ConnectionID, to configuration: UserConnection) async throws -> Connection? {
        var operation = try await operation(
            .put, "user_connection", "/v2/connections/\(id)/user_connection", with: [.user])
        operation.content = configuration.document
        return try await exchange.updatedConnection(operation)
    }

    /// Sends analytics events, without any token; used by ``Analytics`` and by servers (dossier 7).
    package func report(_ batch: AnalyticsQueue.Batch) async throws {
        var operation = Exchange.Operation(
            name: "sdk/events", method: .post, host: hosts.connect, target: "/v2/sdk/events", content: batch.content)
        operation.headers[.sdkVersion] = caller.identity.version
        operation.headers[.sdkPlatform] = caller.identity.platform.rawValue
        operation.headers[.sdkAnonymousID] = batch.anonymousID.rawValue
        try await exchange.send(operation) { _ in }
    }

    enum Credential {
        case user, invite
    }

    func operation(
        _ method: HTTPRequest.Method, _ name: String, _ target: String, with credentials: Set<Credential>
    ) async throws -> Exchange.Operation {
        var headers: HTTPFields = [:]
        headers[.sdkVersion] = caller.identity.version
        headers[.sdkPlatform] = caller.identity.platform.rawValue
        if let id = await caller.anonymousID() { headers[.sdkAnonymousID] = id.rawValue }
        do {
            if credentials.contains(.user), let token = try await caller.userToken() {
                headers[.authorization] = "Bearer " + token.secret.reveal()
            }
            if credentials.contains(.invite), let code = try await caller.inviteCode(), !code.isEmpty {
                headers[.inviteCode] = try code.headerValue("invite code")
            }
        } catch {
            throw ConnectError.placing(error)
        }
        return Exchange.Operation(name: name, method: method, host: hosts.connect, target: target, headers: headers)
    }
}

extension ResponseMessage {
    /// Whether this is the service's own answer about an account.
    fileprivate var isAccountAnswer: Bool {
        if head.status == .noContent { return true }
        guard head.status == .notFound else { return false }
        return content.isEmpty || (try? JSONValue(parsing: content))?.object?["type"] == .string("error")
    }

    /// The content of a successful answer whose content is optional; nil when there is none.
    ///
    /// - Throws: ``ConnectError/malformed(answer:member:expected:found:)`` for content that such an answer cannot have: a
    ///   captive portal's page, or an error.
    fileprivate func acknowledgement(_ answer: String) throws(ConnectError) -> JSONValue? {
        guard head.status != .noContent, content.contains(where: { $0 > 0x20 }) else { return nil }
        let value = try ConnectError.json(content, of: answer)
        if let object = value.object, object["type"] == .string("error") {
            throw Members(object, answer: answer).wrong("type", expected: "a type other than “error”")
        }
        return value
    }
}

extension Exchange {
    /// The connection in an operation's answer.
    func connection(_ operation: Operation) async throws -> Connection {
        try await json(operation) { try Connection($0, answer: operation.name) }
    }

    /// The connection in an update's answer; nil when the answer has none.
    ///
    /// The answer is undocumented (dossier 2.9): only content of the type `connection` has to be one.
    func updatedConnection(_ operation: Operation) async throws -> Connection? {
        try await send(operation) { response in
            guard let value = try response.acknowledgement(operation.name) else { return nil }
            switch value.object?["type"] {
            case .string("connection")?, .string("list")?: return try Connection(value, answer: operation.name)
            default: return try? Connection(value, answer: operation.name)
            }
        }
    }

    /// Sends an operation whose answer matters only by its status.
    func acknowledge(_ operation: Operation) async throws {
        try await send(operation) { _ = try $0.acknowledgement(operation.name) }
    }
}
