import AsyncSupport
import HTTPTypes
public import OAuth
import Synchronization

/// A signed-in user of a service: provides fresh tokens, sends requests, signs out.
///
/// Safe to share between tasks. An expired token is refreshed once, however many tasks ask concurrently, in this process
/// and in every other one that uses the same vault; the others take over the result.
public final class Account: Sendable {
    public let id: AccountID

    /// The service this account belongs to.
    public var service: Service { configured.service }

    /// The client as its server knows it now.
    var client: Client { environment.current(configured) }
    /// Where the token may go: to this address and those below it. Nil for any address of the service.
    ///
    /// Read for each request; no registration changes it, so it does not copy ``client``.
    var confinement: EndpointURL? { configured.confinement }
    /// The certificate of connections to the service; nil for none. Does not copy ``client``, as ``confinement``.
    var certificate: ClientCertificate? { configured.certificate }
    /// The client that the app passed. Its registration and credential may be older than those of ``client``.
    private let configured: Client
    let environment: Environment
    let allowedOrigins: [Origin]
    /// The same as they stand in a request.
    let addressees: [(scheme: String, authority: String)]
    /// Header fields that the service wants in every API request.
    let requiredHeaders: HTTPFields
    let refreshes = SharedOperation<AccessCredential>()
    private let state: Mutex<State>

    private struct State {
        var current: AccessCredential
        /// The version of the vault's record that this is; nil where it is not known.
        var version: Int64?
        /// A record that is not stored yet: it is stored before any caller sees it.
        var unstored: Unstored?
        /// Until when a failed refresh is not repeated while the present token still lives; seconds since 1970.
        var quietUntil = 0.0
    }

    /// A record that the vault could not take.
    struct Unstored {
        let record: AccountRecord
        /// The access token of the record before it.
        let replaced: Secret

        /// Whether the record is the next one after `stored`. One that ended has the generation of the record before it.
        func follows(_ stored: AccountRecord) -> Bool {
            stored.isUsable && stored.generation == record.generation - (record.isUsable ? 1 : 0)
                && stored.grant.accessToken.matches(replaced)
        }
    }

    /// How many seconds before it expires an access token is refreshed. Never more than half its lifetime. 60 by
    /// default; less where the service refuses early refreshes.
    public let refreshMargin: Double

    init(_ record: AccountRecord, client: Client, environment: Environment, refreshMargin: Double) {
        id = record.id
        configured = client
        self.environment = environment
        self.refreshMargin = refreshMargin
        requiredHeaders = client.requiredHeaders
        var origins = client.service.apiOrigins + client.resources.compactMap { $0.url?.origin }
        origins += [client.service.apiRoot?.origin, client.service.identityEndpoint?.url.origin].compactMap(\.self)
        if let server = record.server {
            origins += [server.issuer.url.origin] + [server.userInfoEndpoint?.origin].compactMap(\.self)
        }
        allowedOrigins = origins.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        addressees = allowedOrigins.map { ($0.scheme.rawValue, $0.authority) }
        state = Mutex(State(current: AccessCredential(record, of: client, margin: refreshMargin)))
    }

    /// What is known of the account without a request. It is as of the last token change that this process saw.
    public var status: AccountStatus {
        AccountStatus(record)
    }

    /// What the service granted of the authorization details asked for.
    ///
    /// Source: RFC 9396, section 7. Nil when none are asked for and none were granted.
    public var authorizationDetails: GrantedAuthorizationDetails? {
        GrantedAuthorizationDetails(
            granted: record.grant.authorizationDetails, asked: configured.options.authorizationDetails)
    }

    /// An unexpired access token.
    ///
    /// A token that is bound to a key (``AccountStatus/isBound``) is of no use without a proof for each request: ``send(_:redirects:limits:)``
    /// adds it.
    ///
    /// A fresh token is returned immediately, without waiting and without a request. Otherwise the token is refreshed, or
    /// taken over from another task or process that refreshed it.
    ///
    /// - Throws: ``HandshakeError/signInRequired(_:_:)`` when the session has ended; ``HandshakeError/network(_:)`` and
    ///   ``HandshakeError/refreshUncertain(_:_:)`` when the service could not be asked, which leaves the session as it
    ///   is; ``HandshakeError/exchange(_:)`` when it answered with an error; ``HandshakeError/clientForgotten(_:_:)``;
    ///   ``HandshakeError/vault(_:)``;
    ///   `CancellationError`.
    public func accessToken() async throws -> Secret {
        try await credential().token
    }

    /// Refreshes the access token now, also an unexpired one.
    ///
    /// - Throws: what ``accessToken()`` throws.
    public func refresh() async throws {
        _ = try await credential(after: current.token)
    }

    /// A fresh token with its `Authorization` field and its record.
    func credential() async throws -> AccessCredential {
        if let freshCredential { return freshCredential }
        let now = environment.time.now()
        let (current, isQuiet) = state.withLock { ($0.current, now < $0.quietUntil) }
        if isQuiet && current.isAlive(at: now) { return current }
        do {
            return try await refreshShared(replacing: nil)
        } catch let error as HandshakeError where error.leavesSession && current.isAlive(at: environment.time.now()) {
            // The margin is there so that a service in trouble does not stop a token that still works.
            state.withLock { $0.quietUntil = environment.time.now() + Self.quietTime }
            return current
        }
    }

    /// The credential, when its token is fresh. Nearly every request finds it here, without waiting.
    var freshCredential: AccessCredential? {
        let now = environment.time.now()
        return state.withLock { state in
            let isStored = if case nil = state.unstored { true } else { false }
            return isStored && now < state.current.freshUntil ? state.current : nil
        }
    }

    private static let quietTime = 5.0

    /// A credential that is newer than the one with the token that the service refused.
    func credential(after refused: Secret) async throws -> AccessCredential {
        while true {
            let present = current
            if !present.token.matches(refused), present.mayBeAlive(at: environment.time.now()) { return present }
            let next = try await refreshShared(replacing: refused)
            // The refresh that was joined may have begun before this token was refused, and made no call. One that did call
            // counts, also when the service hands out the same token again.
            if !next.token.matches(refused) || next.generation > present.generation { return next }
        }
    }

    /// Refreshes, or waits for the refresh that runs.
    private func refreshShared(replacing refused: Secret?) async throws -> AccessCredential {
        guard let telemetry = environment.telemetry else {
            return try await refreshes.join { try await self.refresh(replacing: refused) }
        }
        let service = id.service
        let joined: @Sendable () -> Void = { telemetry.count("handshake_refresh_joins_total", at: service) }
        return try await refreshes.join(joined: joined) {
            try await telemetry.span("handshake.refresh", at: service) { try await self.refresh(replacing: refused) }
        }
    }

    /// Whether there is such an account: one whose session has ended here is brought up to date first.
    func isUsableOrStored() async throws -> Bool {
        if record.isUsable { return true }
        return try await environment.vault.update(id.vaultKey) { locked in
            guard let bytes = await locked.contents else { return false }
            self.adopt(try AccountRecord(stored: bytes, expected: self.id))
            return true
        }
    }

    /// The account as this process knows it.
    var record: AccountRecord {
        current.record
    }

    private var current: AccessCredential {
        state.withLock { $0.current }
    }

    /// Takes over a stored record. Call it only while the record is held, so that a newer one is never undone.
    ///
    /// - Parameter version: the version that was stored; nil where it does not matter.
    func adopt(_ record: AccountRecord, at version: Int64? = nil) {
        let current = AccessCredential(record, of: configured, margin: refreshMargin)
        state.withLock { $0 = State(current: current, version: version) }
        environment.release(id)
    }

    /// Keeps a record that is not stored yet. The account stays in memory until it is stored.
    func keepUnstored(_ record: Unstored) {
        state.withLock { $0.unstored = record }
        environment.retain(self)
    }

    /// The version of the vault's record that is known here; nil where none is.
    var storedVersion: Int64? { state.withLock { $0.version } }

    var unstored: Unstored? {
        state.withLock { $0.unstored }
    }

    func announce(_ change: AccountEvent.Change) {
        environment.telemetry?.count(change, at: id.service)
        environment.events.send(AccountEvent(account: id, change: change, time: environment.time.now()))
    }
}

extension HandshakeError {
    /// Whether a safety check stopped the exchange for good. A key that is not published yet does not.
    var isRefusal: Bool {
        switch self {
        case .exchange(.refused(let refusal)): !refusal.check.mayNeedNewKeys
        case .exchange(.malformed(let step, _, _, _)): step == .idToken
        default: false
        }
    }

    /// Whether the ID token names a key that the server has not published yet.
    var mayNeedNewKeys: Bool {
        if case .exchange(.refused(let refusal)) = self { refusal.check.mayNeedNewKeys } else { false }
    }

    /// Whether the session is as good as before the error.
    var leavesSession: Bool {
        switch self {
        case .network, .refreshUncertain, .clientForgotten: true
        // One that refuses a refresh token for good is `signInRequired`.
        case .exchange(.server): true
        case .exchange(.refused(let refusal)): refusal.check.mayNeedNewKeys || refusal.check == .movedEndpoint
        case .exchange(.malformed(let step, _, _, _)): step != .idToken
        case .exchange(.redirected), .undiscovered, .vault: true
        case .signInRequired(_, .notRefreshable): true
        default: false
        }
    }
}
