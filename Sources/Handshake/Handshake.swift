import AsyncSupport
public import Logging
public import OAuth
import Synchronization

/// The entry point: one or more clients, one vault, and the users' accounts.
///
/// ```swift
/// let handshake = try Handshake(client, vault: vault)
/// let account = try await handshake.signIn(through: .systemBrowser)  // later: handshake.account()
/// let response = try await account.send(.get, "profiles/me")
/// ```
public final class Handshake: Sendable {
    /// The registrations that users sign in through.
    public let clients: [Client]

    /// The services in the order of the clients. If a service has two clients, users sign in through the first.
    package var services: [Service] {
        var seen: Set<String> = []
        return clients.map(\.service).filter { seen.insert($0.name).inserted }
    }

    /// Where the accounts rest: for what a server keeps beside them.
    package var vault: any Vault { environment.vault }
    package var transport: any Transport { environment.transport }
    package var time: TimeSource { environment.time }
    package var random: RandomSource { environment.random }

    /// What the app has chosen of figures and traces; nil for nothing.
    package var telemetry: Telemetry? { environment.telemetry }

    let environment: Environment
    let refreshMargin: Double
    private let accounts = Mutex<[AccountID: Held]>([:])

    private struct Held {
        weak var account: Account?
    }

    /// Joins clients and a vault.
    ///
    /// - Parameters:
    ///   - clients: the registrations that users sign in through.
    ///   - vault: where grants rest.
    ///   - transport: how requests reach the network.
    ///   - time: what time it is, and how one waits.
    ///   - random: where states, nonces and verifiers come from.
    ///   - limits: what one exchange with an authorization server may cost.
    ///   - refreshMargin: how many seconds before its end an access token is replaced; never more than half its life.
    ///   - log: where warnings go; no secret and no query ever does.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` without clients, with two of one service and
    ///   identifier, or without a transport; `OAuthError/refused(_:)` with `Refusal/Check/sharedRedirect` when two servers share a redirect
    ///   URI and could be taken for each other (RFC 9700, section 4.4.2.2).
    public init(
        _ clients: Client..., vault: any Vault, transport: any Transport = .platform, time: TimeSource = .system,
        random: RandomSource = .system, limits: TransferLimits = TransferLimits(), refreshMargin: Double = 60,
        log: Logger = Logger(label: "handshake")
    ) throws(HandshakeError) {
        guard !clients.isEmpty else {
            throw .configuration(member: "clients", problem: "the list is empty; pass at least one client")
        }
        for (index, client) in clients.enumerated() {
            for other in clients[..<index] { try Self.check(client, beside: other) }
        }
        #if os(Linux) && !AsyncHTTPClient
        guard !(transport is MissingTransport) else {
            throw .configuration(member: "transport", problem: TransportError.missingTransportCure)
        }
        #endif
        self.clients = clients
        self.refreshMargin = refreshMargin
        environment = Environment(
            vault: vault, transport: transport, time: time, random: random, limits: limits, log: log)
        telemetry?.begin(at: clients.map(\.service.name))
    }

    deinit { environment.letGo() }

    /// Two clients must be different, and their redirects distinguishable. The port of a loopback redirect distinguishes
    /// nothing, because servers take any (RFC 8252, section 7.3); its path does.
    private static func check(_ client: Client, beside other: Client) throws(HandshakeError) {
        guard client.service.name != other.service.name || client.id != other.id else {
            throw .configuration(
                member: "clients", problem: "\(client.id) at \(client.service.name) is given twice; remove one")
        }
        do {
            guard let one = try client.redirect.comparable, let two = try other.redirect.comparable else { return }
            try RedirectURI.checkDistinct(
                (one, client.service.authorizationServer.described), (two, other.service.authorizationServer.described))
        } catch {
            throw .exchange(error)
        }
    }

    /// The changes of all accounts' tokens from now on, as this process sees them. Each says which account, why and
    /// when.
    public var events: AsyncStream<AccountEvent> {
        environment.events.values()
    }

    /// The account that was signed in under this name, or nil when there is none.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault cannot be read,
    ///   ``HandshakeError/configuration(member:problem:)`` for an unknown service.
    public func account(_ name: String = AccountID.defaultName, of service: String? = nil) async throws -> Account? {
        let client = try client(of: service)
        let id = AccountID(client, name: name)
        do {
            if let account = held(id) { return try await account.isUsableOrStored() ? account : nil }
            guard let bytes = try await environment.vault.record(id.vaultKey) else { return nil }
            return hold(try AccountRecord(stored: bytes, expected: id), client: client)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Forgets an account without a request, so that its tokens are left to expire. It also forgets an account whose
    /// record is damaged. To revoke the tokens, call ``Account/signOut(revoking:)``.
    ///
    /// Forgetting an account that is not there is no error.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account.
    ///   - service: the service's name; needed only when there are several clients.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault cannot be written,
    ///   ``HandshakeError/configuration(member:problem:)`` for an unknown service, `CancellationError`.
    public func forget(_ name: String = AccountID.defaultName, of service: String? = nil) async throws {
        do {
            _ = try await account(name, of: service)?.signOut(revoking: false)
        } catch HandshakeError.vault(.damaged) {
            try await environment.remove(AccountID(try client(of: service), name: name))
        }
    }

    /// The identifiers of all accounts of these clients. Beside them, the errors of what could not be read.
    public func accountIDs() async throws -> (ids: [AccountID], damaged: [VaultError]) {
        do {
            let listing = try await environment.vault.keys(of: .account)
            let mine = listing.keys.compactMap(AccountID.init).filter { id in
                clients.contains { AccountID($0, name: id.name) == id }
            }
            return (mine, listing.damaged)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Waits for the refreshes that are running. It does so also when the calling task is cancelled.
    ///
    /// Callers may leave a refresh at any time; a process should not. An answer on its way may hold the only refresh token
    /// there is. It retries to store answers that the vault could not take, for as long as a request may take at
    /// most (``TransferLimits/timeout``); what the vault still cannot take is lost with the process.
    public func finishRefreshes() async {
        for account in accounts.withLock({ $0.values.compactMap(\.account) }) { await account.refreshes.finish() }
        // In tasks of their own, also when this one is cancelled. The time counts even where a vault ends at no cancellation.
        let end = SingleResult<Void>()
        let storing = Task.detached { [environment] in
            await environment.storeRetained()
            end.settle(.success(()))
        }
        let timer = Task.detached { [environment] in
            try await environment.time.clock.sleep(for: environment.limits.timeout.bounded)
            storing.cancel()
            end.settle(.success(()))
        }
        try? await end.value
        timer.cancel()
    }

    func client(of service: String?) throws(HandshakeError) -> Client {
        if let service {
            guard let client = client(where: { $0.service.name == service }) else {
                throw .configuration(
                    member: "service",
                    problem:
                        "no client of “\(quoted(service, limit: 80))” was given; pass one when you create the Handshake"
                )
            }
            return client
        }
        guard clients.count == 1 else {
            throw .configuration(
                member: "service", problem: "name one of \(clients.map(\.service.name).joined(separator: ", "))")
        }
        return environment.current(clients[0])
    }

    /// The first client that fits, as its server knows it now.
    func client(where fits: (Client) -> Bool) -> Client? {
        clients.first(where: fits).map { environment.current($0) }
    }

    func held(_ id: AccountID) -> Account? {
        accounts.withLock { $0[id]?.account }
    }

    /// The one living account for a record in this process. One that lives already may know better than `record`, which was
    /// read without holding it.
    func hold(_ record: AccountRecord, client: Client) -> Account {
        accounts.withLock { accounts in
            if let account = accounts[record.id]?.account { return account }
            let margin = min(refreshMargin, client.service.deviations.refreshMargin ?? .infinity)
            let account = Account(record, client: client, environment: environment, refreshMargin: margin)
            accounts[record.id] = Held(account: account)
            if accounts.count.isMultiple(of: 1_024) { accounts = accounts.filter { $0.value.account != nil } }
            return account
        }
    }
}

extension Client.Redirect {
    /// The redirect URI as servers compare it: without the port of a loopback address; nil when the path is none.
    fileprivate var comparable: RedirectURI? {
        get throws(OAuthError) {
            switch self {
            case .uri(let uri): uri
            case .loopback(_, let path): path.hasPrefix("/") ? try RedirectURI("http://127.0.0.1\(path)") : nil
            }
        }
    }
}

extension Service.AuthorizationServer {
    /// What is known of the server before it is asked: enough to tell it from another one.
    fileprivate var described: AuthorizationServerMetadata {
        switch self {
        case .described(let metadata): metadata
        case .discovered(let issuer, let security):
            AuthorizationServerMetadata(issuer: issuer, tokenEndpoint: issuer.url, security: security)
        }
    }
}

extension Transport where Self == PlatformTransport {
    /// The platform's own transport. It is AsyncHTTPClient on Linux and URLSession on Apple's platforms.
    ///
    /// On Linux it needs the package trait `AsyncHTTPClient`; without it, ``Handshake`` asks for a ``Transport``.
    public static var platform: PlatformTransport { PlatformTransport() }
}

#if AsyncHTTPClient && os(Linux)
/// The transport that this platform uses unless told otherwise.
public typealias PlatformTransport = AsyncHTTPTransport
#elseif !os(Linux)
/// The transport that this platform uses unless told otherwise.
public typealias PlatformTransport = URLSessionTransport
#else
/// The transport that this platform uses unless told otherwise. There is none, because no trait provides one.
public typealias PlatformTransport = MissingTransport
#endif
