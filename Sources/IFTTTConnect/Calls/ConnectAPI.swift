import HTTPTypes
public import Handshake
public import OAuth

/// The calls that an app may make: without a user, or in the name of the user whose token it has (dossier 2).
///
/// ```swift
/// let ifttt = ConnectAPI(.user(token))
/// let connection = try await ifttt.connection(ConnectionID("aB3dE5fG"))
/// ```
///
/// Calls that need the partner's service key are ``ConnectService``'s, which belongs on a server. A value: it holds no user
/// state of its own, and any number of them live beside each other.
public struct ConnectAPI: Sendable {
    /// Where the service is.
    public let hosts: Hosts
    /// In whose name it is called.
    public let caller: Caller

    let exchange: Exchange

    /// In whose name calls are made. Everything is asked for at each call, so that it is never stale.
    public struct Caller: Sendable {
        /// The user token; nil calls without a user.
        public var userToken: @Sendable () async throws -> UserToken?
        /// What unlocks an unpublished service; nil for published ones.
        public var inviteCode: @Sendable () async throws -> Secret?
        /// The installation's identifier; nil unless the user agreed to be counted (dossier 10.2, W24).
        public var anonymousID: @Sendable () async -> AnonymousID?
        public var identity: SDKIdentity

        public init(
            userToken: @escaping @Sendable () async throws -> UserToken? = { nil },
            inviteCode: @escaping @Sendable () async throws -> Secret? = { nil },
            anonymousID: @escaping @Sendable () async -> AnonymousID? = { nil }, identity: SDKIdentity = .standard
        ) {
            self.userToken = userToken
            self.inviteCode = inviteCode
            self.anonymousID = anonymousID
            self.identity = identity
        }

        /// No user: what is public.
        public static let anonymous = Caller()

        /// The user of a token.
        public static func user(_ token: UserToken) -> Caller {
            Caller(userToken: { token })
        }

        /// The user whose token rests in a vault; no user while there is none.
        public static func stored(_ tokens: UserTokens) -> Caller {
            Caller(userToken: { try await tokens.token() })
        }
    }

    /// Prepares calls.
    ///
    /// - Parameters:
    ///   - caller: in whose name they are made.
    ///   - hosts: where the service is.
    ///   - transport: how requests reach the network.
    ///   - time: what pauses are measured on, and what tells how long a pause is that the service asks for by a time.
    public init(
        _ caller: Caller = .anonymous, at hosts: Hosts = .production, transport: any Transport = .platform,
        time: TimeSource = .system
    ) {
        self.caller = caller
        self.hosts = hosts
        exchange = Exchange(transport: transport, time: time)
    }

    /// When a fetch is made again after a failure that may pass: no network, an answer that was lost, cut short or is somebody
    /// else's, status 429 or from 500. Any other status is final, 401 and 404 among them.
    ///
    /// Where the service asks for a longer pause than the planned one, that is kept; beyond ``longestPause`` the call fails
    /// immediately, with ``ConnectError/Problem/retryAfter``.
    ///
    /// Of the other calls, here and of ``ConnectService``, those that change nothing (`me`, `account`, `fieldOptions`) are made
    /// once more after a quarter of a second; `perform`, and those that do the same once or twice (`enable`, `disable`,
    /// `refreshLabels`, `notify`), after a second; both wait for a service that asks for it at most two. All others are
    /// sent once: `update`, `run`, `test`, `userToken` and `provisionalCode`.
    public struct Repetition: Sendable, Hashable {
        /// The pauses before each repetition.
        public let pauses: [Duration]
        /// The longest pause that the service may ask for.
        public let longestPause: Duration

        public init(pauses: [Duration], longestPause: Duration = .seconds(30)) {
            self.pauses = pauses
            self.longestPause = longestPause
        }

        /// Three times, after 2, 4 and 8 seconds (dossier 2.5).
        public static let standard = Repetition(pauses: [.seconds(2), .seconds(4), .seconds(8)])
        public static let none = Repetition(pauses: [])
    }

    /// A connection, with the user's part in it when there is a user (dossier 2.5).
    ///
    /// - Parameters:
    ///   - id: which connection.
    ///   - repeating: when it is asked for again.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func connection(_ id: ConnectionID, repeating: Repetition = .standard) async throws -> Connection {
        var operation = try await operation(.get, "connection", "/v2/connections/\(id)", with: [.user, .invite])
        operation.pauses = repeating.pauses
        operation.longestPause = repeating.longestPause
        return try await exchange.connection(operation)
    }

    /// Turns a connection off (dossier 2.6).
    ///
    /// - Returns: the connection as it is then. Turning off what is off is no error, so a lost answer is asked for again.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func disable(_ id: ConnectionID) async throws -> Connection {
        try await change(id, "disable")
    }

    /// Turns a connection on that was on before (dossier 2.6).
    ///
    /// - Returns: the connection as it is then.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/Kind/notFound`` for one that was never
    ///   on, and ``ConnectError/Problem/Kind/invalidParameters`` for one that needs the web flow.
    public func enable(_ id: ConnectionID) async throws -> Connection {
        try await change(id, "enable")
    }

    private func change(_ id: ConnectionID, _ verb: String) async throws -> Connection {
        var operation = try await operation(.post, verb, "/v2/connections/\(id)/\(verb)", with: [.user, .invite])
        operation.pauses = Exchange.Operation.repeatable
        return try await exchange.connection(operation)
    }

    /// Who the caller is (dossier 2.7).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func me() async throws -> Me {
        var operation = try await operation(.get, "me", "/v2/me", with: [.user])
        operation.pauses = Exchange.Operation.question
        return try await exchange.json(operation, Me.init)
    }

    /// Whether there is an IFTTT account for an address.
    public enum AccountLookUp: Sendable, Hashable {
        case exists
        case doesNotExist
        /// Unknown, and why: ``ConnectError/Problem/Kind/invalidParameters`` of an address that is none to IFTTT.
        case couldNotAsk(ConnectError)
    }

    /// Whether there is an IFTTT account for an address (dossier 2.7). Asked without any token.
    ///
    /// Status 204 says that there is one, and 404 in the service's own words, or without any, that there is none.
    /// Everything else, a hotel's sign-in page among it, is no answer (dossier 10.2, W5).
    ///
    /// - Throws: `CancellationError` alone.
    public func account(for email: EmailAddress) async throws -> AccountLookUp {
        do {
            let target = QueryEncoding.address("/v2/account/find", items: [("email", email.rawValue)])
            var operation = try await operation(.get, "account/find", target, with: [])
            operation.pauses = Exchange.Operation.question
            return try await exchange.answer(operation) { [operation] response in
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
        operation.pauses = Exchange.Operation.question
        return try await exchange.json(operation, FieldOptions.init)
    }

    /// Replaces the user's configuration: what is left out is removed (dossier 2.9).
    ///
    /// A pending connection is one no longer afterwards.
    ///
    /// - Returns: the connection, when the service answers with it; fetch it otherwise.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` says which values cannot be
    ///   used.
    public func update(_ id: ConnectionID, to configuration: UserConnection) async throws -> Connection? {
        var operation = try await operation(
            .put, "user_connection", "/v2/connections/\(id)/user_connection", with: [.user])
        operation.content = configuration.document
        return try await exchange.updatedConnection(operation)
    }

    /// Counts events, without any token; used by ``Analytics`` and by servers (dossier 7).
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
    /// Whether this says that there is an account, or in the service's own way that there is none.
    fileprivate var isAccountAnswer: Bool {
        if head.status == .noContent { return true }
        guard head.status == .notFound else { return false }
        return content.isEmpty || (try? JSONValue(parsing: content))?.object?["type"] == .string("error")
    }

    /// The content of a successful answer of which its status is all that counts; nil when there is none.
    ///
    /// - Throws: ``ConnectError/malformed(answer:member:expected:found:)`` for what such an answer cannot be: a page of whoever
    ///   stands between, or an error.
    fileprivate func acknowledgement(_ answer: String) throws(ConnectError) -> JSONValue? {
        guard head.status != .noContent, content.contains(where: { $0 > 0x20 }) else { return nil }
        let value = try ConnectError.json(content, of: answer)
        if let object = value.object, object["type"] == .string("error") {
            throw Members(object, answer: answer).wrong("type", expected: "that of no error")
        }
        return value
    }
}

extension Exchange {
    /// The connection that an operation is answered with.
    func connection(_ operation: Operation) async throws -> Connection {
        try await json(operation) { try Connection($0, answer: operation.name) }
    }

    /// The connection that an update is answered with; nil when the answer is another.
    ///
    /// What it is answered with is not documented (dossier 2.9): only what calls itself a connection has to be one.
    func updatedConnection(_ operation: Operation) async throws -> Connection? {
        try await send(operation) { response in
            guard let value = try response.acknowledgement(operation.name) else { return nil }
            switch value.object?["type"] {
            case .string("connection")?, .string("list")?: return try Connection(value, answer: operation.name)
            default: return try? Connection(value, answer: operation.name)
            }
        }
    }

    /// Sends an operation of whose answer the status is all that counts.
    func acknowledge(_ operation: Operation) async throws {
        try await send(operation) { _ = try $0.acknowledgement(operation.name) }
    }
}
