import OAuth

/// All that the vault holds of one account.
struct AccountRecord: Sendable {
    /// Where the session stands.
    enum State: Sendable, Hashable {
        /// The grant is the newest one.
        case signedIn
        /// A refresh was begun at this time, seconds since 1970, and its outcome was not stored: the refresh token may
        /// be invalid.
        case refreshing(since: Double)
        /// The session has ended.
        case ended(HandshakeError.SignInReason)
        /// A sign-out has begun; these tokens are still to be revoked, in this order.
        case signingOut(remaining: [RevocationRequest.TokenKind])
    }

    /// How a new access token is got.
    enum RefreshMethod: Sendable, Hashable {
        case refreshToken
        /// The client asks in its own name (RFC 6749, section 4.4).
        case clientCredentials
        /// Not at all: the user made the token at the service and brought it (``Handshake/Handshake/adopt(_:as:of:)``).
        case never
    }

    /// A grant whose ID token was not checked yet, and how it is bound to a key and to a certificate.
    struct Unchecked: Sendable {
        let grant: Grant
        let binding: TokenBinding?
        let certificate: String?
        /// When the answer had come, in seconds since 1970. The ID token's times are judged by it, however late its signature is.
        let receivedAt: Double
    }

    let id: AccountID
    var grant: Grant
    /// The grant of a refresh whose ID token could not be checked yet. It takes the place of ``grant`` when it was.
    ///
    /// It is stored, because a service that rotates refresh tokens accepts no earlier one.
    var unchecked: Unchecked?
    var state: State
    var refreshMethod: RefreshMethod
    /// Rises with each stored change of the grant, so that two holders can tell which is newer.
    var generation: Int
    /// The discovered server's metadata, at most a week older than the last refresh; nil for a service that is described by hand.
    var server: AuthorizationServerMetadata? {
        get { boxedServer?.metadata }
        set { boxedServer = newValue.map(BoxedServer.init) }
    }
    /// In a box, because it is large, and every wait for a record would have a copy.
    private var boxedServer: BoxedServer?
    /// When ``server`` was fetched, in seconds since 1970; nil in records of before it was noted.
    var serverAt: Double?
    /// How the grant is bound to a key (RFC 9449); nil for bearer tokens.
    var binding: TokenBinding?
    /// The thumbprint of the certificate that the grant is bound to (RFC 8705, section 3.1); nil for none, and in
    /// records of before it was noted.
    var certificate: String?
    /// Whether a keeper's webhook has taken a report that the session has ended.
    var isReported = false
    /// The tokens that the grant replaced and that do not look like tokens. A server may still quote them.
    var replaced: [Secret] = []
    private static let maximumReplacedLength = 200

    private final class BoxedServer: Sendable {
        let metadata: AuthorizationServerMetadata

        init(_ metadata: AuthorizationServerMetadata) {
            self.metadata = metadata
        }
    }

    init(
        id: AccountID, grant: Grant, unchecked: Unchecked? = nil, state: State, refreshMethod: RefreshMethod,
        generation: Int, server: AuthorizationServerMetadata? = nil, serverAt: Double? = nil,
        binding: TokenBinding? = nil, certificate: String? = nil
    ) {
        self.id = id
        self.grant = grant
        self.unchecked = unchecked
        self.state = state
        self.refreshMethod = refreshMethod
        self.generation = generation
        boxedServer = server.map(BoxedServer.init)
        self.serverAt = serverAt
        self.binding = binding
        self.certificate = certificate
    }

    /// Whether the tokens are bound to a certificate that is not this one.
    ///
    /// The client's certificate was then renewed, replaced or left out.
    func hasOtherCertificate(than certificate: ClientCertificate?) -> Bool {
        self.certificate.map { $0 != certificate?.thumbprint } ?? false
    }

    /// The same account, whose next tokens are bound to a certificate.
    func bound(to certificate: String?) -> AccountRecord {
        var next = self
        next.certificate = certificate
        return next
    }

    /// Whether the access token is bound to a key that was lost: no request can be proven with it.
    var hasLostKey: Bool { binding.map { $0.bindsAccessToken && $0.key == nil } ?? false }

    /// Whether the access token is bound to a key. It is then sent with proofs, and never as a bearer token.
    var isBound: Bool { binding?.bindsAccessToken ?? false }

    /// The same account with the next grant.
    func refreshed(_ grant: Grant, _ binding: TokenBinding?) -> AccountRecord {
        var next = self
        next.grant = grant
        next.replaced = [self.grant.accessToken, self.grant.refreshToken].compactMap(\.self).filter {
            $0.reveal().utf8.count <= Self.maximumReplacedLength && !$0.looksLikeToken
        }
        next.unchecked = nil
        next.binding = binding
        next.state = .signedIn
        next.generation += 1
        return next
    }

    /// The same account, which keeps a next grant until its ID token can be checked.
    func keeping(unchecked: Unchecked, since: Double) -> AccountRecord {
        var next = self
        next.unchecked = unchecked
        next.state = .refreshing(since: since)
        next.generation += 1
        return next
    }

    /// The same account without a grant whose ID token was refused.
    func refusingUnchecked() -> AccountRecord {
        var next = self
        next.unchecked = nil
        return next
    }

    /// The same account with its newest grant, checked or not. It is for a revocation only.
    var withNewestGrant: AccountRecord {
        guard let unchecked else { return self }
        var newest = refusingUnchecked()
        newest.grant = unchecked.grant
        newest.binding = unchecked.binding
        newest.certificate = unchecked.certificate
        return newest
    }

    /// Whether this is what was stored after another record of the same session, or is that one.
    ///
    /// A generation alone does not tell: another sign-in counts from the beginning.
    func isNewer(than other: AccountRecord) -> Bool {
        guard isUsable, other.isUsable, grant.identity?.subject == other.grant.identity?.subject else { return false }
        if generation == other.generation { return grant.accessToken.matches(other.grant.accessToken) }
        return generation > other.generation && grant.issuedAt >= other.grant.issuedAt
    }

    /// The same account in another state.
    func entering(_ state: State) -> AccountRecord {
        var next = self
        next.state = state
        return next
    }

    /// The same account without its tokens, and with the reason.
    func ended(_ reason: HandshakeError.SignInReason) -> AccountRecord {
        var next = self
        next.state = .ended(reason)
        next.isReported = false
        next.unchecked = nil
        next.replaced = []
        next.grant = Grant(
            accessToken: Secret(""), expiresAt: 0, issuedAt: grant.issuedAt, refreshToken: nil, scopes: grant.scopes,
            identity: grant.identity, authorizationDetails: grant.authorizationDetails)
        next.binding = nil
        next.certificate = nil
        return next
    }

    /// The tokens, which nothing shows.
    var secrets: [Secret] {
        [grant, unchecked?.grant].compactMap(\.self).flatMap {
            [$0.accessToken, $0.refreshToken, $0.idToken].compactMap(\.self)
        } + replaced
    }

    /// Whether a refresh was begun whose outcome was not stored.
    var isUnfinished: Bool { if case .refreshing = state { unchecked == nil } else { false } }

    /// Whether the record's access token can be handed out at all.
    var isUsable: Bool {
        switch state {
        case .signedIn, .refreshing: true
        case .ended, .signingOut: false
        }
    }
}
