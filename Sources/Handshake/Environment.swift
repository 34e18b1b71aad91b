import Logging
import OAuth
import Synchronization

/// All that an account reaches the world through; made once by ``Handshake``.
final class Environment: Sendable {
    let vault: any Vault
    let transport: any Transport
    let time: TimeSource
    let random: RandomSource
    let limits: TransferLimits
    let log: Logger
    let events = EventHub()
    private let discovered = Mutex<[Issuer: AuthorizationServerMetadata]>([:])
    /// Accounts that hold what the vault could not take: it would be lost with them.
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

    /// Removes an account's record, whatever it holds.
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

    /// The metadata of a service's authorization server: as described, as kept with the grant, or as discovered now.
    func server(
        of service: Service, known: AuthorizationServerMetadata? = nil
    ) async throws -> AuthorizationServerMetadata {
        switch service.authorizationServer {
        case .described(let metadata): return metadata
        case .discovered(let issuer, let security):
            if let known { return known }
            if let found = discovered.withLock({ $0[issuer] }) { return found }
            let found = try await discover(issuer, security: security)
            discovered.withLock { $0[issuer] = found }
            return found
        }
    }

    /// Asks every well-known address of an issuer and joins what the documents say. Both must name exactly this issuer.
    private func discover(_ issuer: Issuer, security: TransportSecurity) async throws -> AuthorizationServerMetadata {
        var joined: AuthorizationServerMetadata?
        for location in issuer.metadataLocations {
            let request = MetadataRequest(issuer: issuer, location: location, security: security)
            guard let document = try await exchange({ request.message }, { try request.metadata(from: $0) }) else {
                continue
            }
            if joined == nil { joined = document } else { joined?.fillGaps(from: document) }
        }
        guard let joined else {
            let asked = issuer.metadataLocations.map(\.description).joined(separator: " nor at ")
            let text = "\(issuer) has no metadata, neither at \(asked); is the issuer right?"
            throw HandshakeError.exchange(.server(ServerError(step: .metadata, code: nil, text: text, status: 404)))
        }
        log.debug("discovered an authorization server", metadata: ["issuer": "\(issuer)"])
        return joined
    }

    /// One exchange: builds the request, sends it, reads the answer, and gives every failure its place in
    /// ``HandshakeError``.
    func exchange<Answer>(
        _ request: () throws -> RequestMessage, _ read: (ResponseMessage) throws -> Answer
    ) async throws -> Answer {
        do {
            return try read(try await transport.send(try request(), limits: limits))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }
}
