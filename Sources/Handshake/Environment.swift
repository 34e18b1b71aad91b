import AsyncSupport
import Logging
import OAuth
import Synchronization

/// The dependencies that all accounts of a ``Handshake`` share.
final class Environment: Sendable {
    let vault: any Vault
    let transport: any Transport
    let time: TimeSource
    let random: RandomSource
    let limits: TransferLimits
    let log: Logger
    let events = Broadcaster<AccountEvent>(capacity: 1_000)
    private let metadata = FetchedValues<Issuer, AuthorizationServerMetadata>(
        .init(maximum: 86_400, maximumStale: 604_800, coolingPeriod: 60))
    private let keySets = FetchedValues<EndpointURL, JSONWebKeySet>(
        .init(maximum: 3_600, maximumStale: 86_400, coolingPeriod: 60))
    /// What proofs of keys need to know of servers.
    let proofs = ProofMemory()
    /// Accounts with a grant that is not stored yet: it would be lost with them.
    private let retained = Mutex<[AccountID: Account]>([:])

    init(
        vault: any Vault, transport: any Transport, time: TimeSource, random: RandomSource, limits: TransferLimits,
        log: Logger
    ) {
        self.vault = vault
        self.transport = transport
        self.time = time
        self.random = random
        self.limits = limits
        self.log = log
    }

    /// Removes an account's record, also a damaged one.
    func remove(_ id: AccountID) async throws {
        do {
            try await vault.remove(id.vaultKey)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Keeps an account in memory until it is released.
    func retain(_ account: Account) {
        retained.withLock { $0[account.id] = account }
    }

    func release(_ id: AccountID) {
        let released = retained.withLock { $0.isEmpty ? nil : $0.removeValue(forKey: id) }
        _ = released
    }

    /// The metadata of a service's authorization server: as described, as stored with the grant, or as discovered.
    func server(
        of service: Service, known: AuthorizationServerMetadata? = nil
    ) async throws -> AuthorizationServerMetadata {
        switch service.authorizationServer {
        case .described(let metadata): return metadata
        case .discovered(let issuer, let security):
            if let known { return known }
            return try await metadata.value(issuer, now: time.now()) {
                try await self.discover(issuer, security: security)
            }.value
        }
    }

    /// Checks a signed token with the keys at an address. When no key fits, the keys are fetched again, at most once per
    /// minute, because the server may have rotated them (`oauth-security.md` D6).
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` when `check` refuses the token; what ``exchange(_:_:)`` throws when the
    ///   keys cannot be fetched.
    func verified<Claims>(
        withKeysAt endpoint: EndpointURL, _ check: (JSONWebKeySet) throws(OAuthError) -> Claims
    ) async throws -> Claims {
        let request = KeySetRequest(at: endpoint)
        let fetch: @Sendable () async throws -> JSONWebKeySet = {
            try await self.exchange({ request.message }, request.keys)
        }
        let now = time.now()
        let keys = try await keySets.value(endpoint, now: now, fetch)
        do {
            return try check(keys.value)
        } catch .refused(let refusal) where refusal.check.mayNeedNewKeys {
            guard let newer = try await keySets.newer(than: keys, of: endpoint, now: now, fetch) else {
                throw HandshakeError.exchange(.refused(refusal))
            }
            do {
                return try check(newer.value)
            } catch {
                throw HandshakeError.exchange(error)
            }
        } catch {
            throw HandshakeError.exchange(error)
        }
    }

    /// One exchange: builds the request, sends it and reads the response.
    ///
    /// - Parameters:
    ///   - key: what the request's proof is signed with; nil for a request without one.
    ///   - timeout: how long the server may take, where that is longer than usual.
    /// - Throws: ``HandshakeError/exchange(_:)``, ``HandshakeError/network(_:)``, `CancellationError`.
    func exchange<Answer>(
        provingBy key: DPoPKey? = nil, timeout: Duration? = nil, _ request: () throws -> RequestMessage,
        _ read: (ResponseMessage) throws -> Answer
    ) async throws -> Answer {
        do {
            return try read(try await transmit(provingBy: key, timeout: timeout, request))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }
}
