public import OAuth
import Synchronization

/// A signed-in user of a service: hands out fresh tokens, sends requests, signs out.
///
/// An account is safe to share between tasks. However many of them ask for a token at the same time, in this process
/// and in every other one that uses the same vault, an expired token is refreshed once: the others take over the
/// result.
public final class Account: Sendable {
    public let id: AccountID

    /// What the account is at: its addresses and peculiarities.
    public var service: Service { client.service }

    let client: Client
    let environment: Environment
    let allowedOrigins: [Origin]
    let refreshes = SharedOperation<AccountRecord>()
    private let state: Mutex<State>

    private struct State {
        var record: AccountRecord
        var authorization: String
        /// A grant that the service gave and the vault could not take yet: it is stored before anyone sees it.
        var unstored: Unstored?
        /// Until when a failed refresh is not repeated while the present token still lives; seconds since 1970.
        var quietUntil = 0.0
    }

    /// A grant that is not stored yet, and the access token of the record that it was got with.
    struct Unstored {
        let record: AccountRecord
        let replaced: Secret
    }

    /// How many seconds before its end an access token is replaced; never more than half its life. 60 unless stated.
    public let refreshMargin: Double

    init(_ record: AccountRecord, client: Client, environment: Environment, refreshMargin: Double) {
        id = record.id
        self.client = client
        self.environment = environment
        self.refreshMargin = refreshMargin
        var origins = client.service.apiOrigins + client.resources.map(\.origin)
        origins += [client.service.apiRoot?.origin, client.service.identityEndpoint?.url.origin].compactMap(\.self)
        if let server = record.server {
            origins += [server.issuer.url.origin] + [server.userInfoEndpoint?.origin].compactMap(\.self)
        }
        allowedOrigins = origins.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        state = Mutex(State(record: record, authorization: Self.authorization(record)))
    }

    private static func authorization(_ record: AccountRecord) -> String {
        "Bearer " + record.grant.accessToken.reveal()
    }

    /// What is known of the account without asking anyone, as of the last token change seen by this process.
    public var status: AccountStatus {
        AccountStatus(record)
    }

    /// An access token with life left in it.
    ///
    /// A token that will last is handed out at once, without waiting and without a call. Otherwise it is refreshed, or
    /// taken over from whoever refreshed it.
    ///
    /// - Throws: ``HandshakeError/signInRequired(_:_:)`` when the session is over; ``HandshakeError/network(_:)`` and
    ///   ``HandshakeError/refreshUncertain(_:_:)`` when the service could not be asked, which leaves the session as it
    ///   is; ``HandshakeError/exchange(_:)`` when it answered with an error; ``HandshakeError/vault(_:)``;
    ///   `CancellationError`.
    public func accessToken() async throws -> Secret {
        try await freshRecord().grant.accessToken
    }

    /// Replaces the access token now, whatever life it has left.
    ///
    /// - Throws: what ``accessToken()`` throws.
    public func refresh() async throws {
        _ = try await record(after: record.grant.accessToken)
    }

    /// The value for the `Authorization` field, prepared once for each token.
    func authorization() async throws -> String {
        if let value = state.withLock({ state in isFresh(state) ? state.authorization : nil }) { return value }
        return Self.authorization(try await freshRecord())
    }

    private func isFresh(_ state: borrowing State) -> Bool {
        state.unstored == nil && state.record.isUsable
            && state.record.grant.isFresh(at: environment.time.now(), margin: refreshMargin)
    }

    private func freshRecord() async throws -> AccountRecord {
        let (record, isFresh, isQuiet) = state.withLock { state in
            (state.record, self.isFresh(state), environment.time.now() < state.quietUntil)
        }
        if isFresh || (isQuiet && isAlive(record)) { return record }
        do {
            return try await refreshes.join { try await self.refresh(replacing: nil) }
        } catch let error as HandshakeError where error.leavesSession && isAlive(record) {
            // The margin is there so that a service in trouble does not stop a token that still works.
            state.withLock { $0.quietUntil = environment.time.now() + Self.quietTime }
            return record
        }
    }

    private static let quietTime = 5.0

    private func isAlive(_ record: AccountRecord) -> Bool {
        record.isUsable && record.grant.expiresAt.map { environment.time.now() < $0 } ?? false
    }

    /// A record that is newer than the one with the token that the service refused.
    func record(after refused: Secret) async throws -> AccountRecord {
        while true {
            let present = record
            if present.isUsable, !present.grant.accessToken.matches(refused),
                present.grant.isFresh(at: environment.time.now(), margin: 0)
            {
                return present
            }
            let next = try await refreshes.join { try await self.refresh(replacing: refused) }
            // The refresh that was joined may have begun before this token was refused, and made no call. One that did call
            // counts, also when the service hands out the same token again.
            if !next.grant.accessToken.matches(refused) || next.generation > present.generation { return next }
        }
    }

    /// Whether there is such an account: one whose session is over here is brought up to date first.
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
        state.withLock { $0.record }
    }

    /// Takes over a stored record. Only while the record is held, so that a newer one is never undone.
    func adopt(_ record: AccountRecord) {
        state.withLock { state in
            state.record = record
            state.authorization = Self.authorization(record)
            state.unstored = nil
            state.quietUntil = 0
        }
        environment.release(id)
    }

    /// Remembers what the service gave and the vault did not take. The account stays in memory for as long as it does so.
    func keepUnstored(_ record: AccountRecord, replacing stored: AccountRecord) {
        state.withLock { $0.unstored = Unstored(record: record, replaced: stored.grant.accessToken) }
        environment.retain(self)
    }

    var unstored: Unstored? {
        state.withLock { $0.unstored }
    }

    func announce(_ change: AccountEvent.Change) {
        environment.events.send(AccountEvent(account: id, change: change, time: environment.time.now()))
    }
}

extension HandshakeError {
    /// Whether the session is as good as before the error.
    var leavesSession: Bool {
        switch self {
        case .network, .refreshUncertain: true
        case .exchange(.server(let error)): !error.isInvalidGrant
        case .exchange(.malformed), .exchange(.redirected): true
        case .vault: true
        case .signInRequired(_, .notRefreshable): true
        default: false
        }
    }
}
