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
    /// What the app has chosen when it was made; nil for nothing.
    let telemetry = Telemetry.chosen()
    let events = Broadcaster<AccountEvent>(capacity: 1_000)
    private let metadata = FetchedValues<Discovered, AuthorizationServerMetadata>(
        .init(maximum: 86_400, maximumStale: 604_800, coolingPeriod: 60))
    /// What metadata are cached by: those that a template accepts are none of a service without it.
    private struct Discovered: Hashable, Sendable {
        let issuer: Issuer
        let template: IssuerTemplate?
    }

    private let keySets = FetchedValues<EndpointURL, JSONWebKeySet>(
        .init(maximum: 3_600, maximumStale: 86_400, coolingPeriod: 60))
    /// The documents of APIs that are being fetched. None is cached: an API chooses their addresses, and could choose many.
    let resourceDocuments = SharedOperations<[EndpointURL], ProtectedResource?>()
    /// What proofs of keys need to know of servers.
    let proofs = ProofMemory()
    /// The transports of connections with a certificate, by its thumbprint.
    private let presenting = Mutex<[String: any Transport]>([:])
    /// Clients that registered themselves, as they are since their servers have changed the registrations.
    private let registered = Mutex<[AccountID: Client]>([:])
    /// Accounts with a grant that is not stored yet: it would be lost with them.
    private let retained = Mutex(RetainedAccounts())

    init(
        vault: any Vault, transport: any Transport, time: TimeSource, random: RandomSource, limits: TransferLimits,
        log: Logger
    ) {
        self.vault = telemetry.map { MeasuredVault(base: vault, telemetry: $0) } ?? vault
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

    /// Keeps an account in memory until it is released, and tries to store what its vault could not take.
    func retain(_ account: Account) {
        if retained.withLock({ $0.add(account) }) { Task.detached { [self] in await storeRepeatedly() } }
    }

    func release(_ id: AccountID) {
        let released = retained.withLock { $0.remove(id) }
        _ = released
    }

    /// Lets go of what the vault does not take: the ``Handshake`` is gone.
    ///
    /// Each account is tried until its pauses are the longest, for about ten minutes. A value of it that the app still has stores at its next use.
    func letGo() { retained.withLock { $0.isLetGo = true } }

    /// Tries to store with pauses, until no account is retained.
    private func storeRepeatedly() async {
        while true {
            let hasSlept = (try? await time.clock.sleep(for: RetainedAccounts.interval)) != nil
            // What was let go is freed outside of the lock.
            let (due, released) = retained.withLock { $0.pass(isEnding: !hasSlept) }
            _ = released
            guard let due else { return }
            await Self.store(due)
        }
    }

    /// Tries once to store what the vault could not take, and asks no service.
    func storeRetained() async { await Self.store(retained.withLock { $0.all }) }

    /// How many records are tried concurrently.
    private static let concurrentStores = 64

    /// Concurrently: a vault may refuse one record for good, or wait long for one, and take the others.
    private static func store(_ accounts: [Account]) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, account) in accounts.enumerated() {
                if index >= concurrentStores { await group.next() }
                group.addTask { try? await account.storeUnstored() }
            }
        }
    }

    /// The transport whose connections present a certificate; the default one without a certificate. Each certificate has
    /// connections of its own.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the transport cannot present it.
    func transport(presenting certificate: ClientCertificate?) throws(HandshakeError) -> any Transport {
        guard let certificate else { return transport }
        if let known = presenting.withLock({ $0[certificate.thumbprint] }) { return known }
        let made = try transport.presenting(certificate)
        return presenting.withLock { transports in
            if let known = transports[certificate.thumbprint] { return known }
            transports[certificate.thumbprint] = made
            return made
        }
    }

    /// A client as its server knows it now: a changed registration may have another secret than the client that the app has given.
    ///
    /// ``Account/client`` and ``Handshake/Handshake/client(where:)`` return it. Call this where a client was read before an `await`.
    func current(_ client: Client) -> Client {
        guard client.registration != nil, let known = registered.withLock({ $0[AccountID(client)] }),
            let registration = known.registration
        else { return client }
        return client.registered(registration, known.credential)
    }

    /// Notes what a server has registered now, for all accounts of the client.
    func note(_ client: Client) {
        registered.withLock { $0[AccountID(client)] = client }
    }

    /// The metadata of a client's authorization server, as this client calls it: with a certificate at its aliases
    /// (RFC 8705, section 5).
    ///
    /// - Throws: what ``server(of:known:)`` throws for the service; ``HandshakeError/configuration(member:problem:)`` for a server
    ///   that departs from the profile that the client keeps to, or a client with the address of a document that is none, unless
    ///   `isEnding` says that a session ends there: that is always possible.
    func server(
        of client: Client, known: AuthorizationServerMetadata? = nil, isEnding: Bool = false
    ) async throws -> AuthorizationServerMetadata {
        let server = try await server(of: client.service, known: known)
        if !isEnding {
            try client.checkProfile(at: server)
            try client.checkDocument(at: server)
        }
        return client.certificate == nil ? server : server.withMutualTLSAliases
    }

    /// The metadata of a service's authorization server: as described, as stored with the grant, or as discovered.
    func server(
        of service: Service, known: AuthorizationServerMetadata? = nil
    ) async throws -> AuthorizationServerMetadata {
        switch service.authorizationServer {
        case .described(let metadata): return metadata
        case .discovered(let issuer, let security):
            if let known { return known }
            let template = service.deviations.issuerTemplate
            return try await metadata.value(Discovered(issuer: issuer, template: template), now: time.now()) {
                try await self.discover(issuer, of: template, security: security)
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
    ///   - certificate: what the connection presents; nil for nothing.
    ///   - timeout: how long the server may take, where that is longer than usual.
    /// - Throws: ``HandshakeError/exchange(_:)``, ``HandshakeError/network(_:)``, `CancellationError`.
    func exchange<Answer>(
        provingBy key: DPoPKey? = nil, presenting certificate: ClientCertificate? = nil, timeout: Duration? = nil,
        _ request: () throws -> RequestMessage, _ read: (ResponseMessage) throws -> Answer
    ) async throws -> Answer {
        do {
            return try read(
                try await transmit(provingBy: key, presenting: certificate, timeout: timeout, request))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }
}
