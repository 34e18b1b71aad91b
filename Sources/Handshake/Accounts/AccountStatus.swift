public import OAuth

/// An account without its secrets: what may be shown, logged and pasted.
public struct AccountStatus: Sendable, Hashable {
    /// Where the session stands.
    public enum State: Sendable, Hashable {
        case signedIn
        /// A refresh was begun and its outcome is not known; the next request finds out.
        case refreshUncertain
        /// The user has to sign in again.
        case ended(HandshakeError.SignInReason)
        /// A sign-out has begun and is not complete.
        case signingOut
    }

    public let id: AccountID
    public let state: State
    public let scopes: [String]
    /// Seconds since 1970 at which the access token was asked for.
    public let issuedAt: Double
    /// When the access token really expires, in seconds since 1970. Nil when the service did not say.
    public let expiresAt: Double?
    /// Whether a new access token can be had without the user.
    public let isRefreshable: Bool
    /// Whether the client gets its tokens without a user's sign-in. See RFC 6749, section 4.4; RFC 7523, section 2.1.
    package let isWithoutUser: Bool
    /// Whether the access token is bound to a key (RFC 9449). It is then of no use to a program without that key.
    public let isBound: Bool
    /// Whether the access token is bound to a certificate (RFC 8705, section 3).
    ///
    /// It is then of no use to a program without that certificate. False as well for tokens of before it was noted.
    public let isBoundToCertificate: Bool
    /// Who the user is, from the verified ID token; nil when the service gave none.
    public let identity: IDTokenClaims?
    /// What the token authorizes in detail (RFC 9396). Nil when the server did not say.
    public let authorizationDetails: [AuthorizationDetail]?
    /// How many grants this session has had.
    public let generation: Int
    /// Where the server's addresses come from. It also tells whether plain `http:` on this machine was allowed. Nil for
    /// a built-in service.
    public let server: AuthorizationServerMetadata?

    init(_ record: AccountRecord) {
        id = record.id
        state =
            switch record.state {
            case .signedIn: .signedIn
            case .refreshing: .refreshUncertain
            case .signingOut, .ended(.signingOut): .signingOut
            case .ended(let reason): .ended(reason)
            }
        scopes = record.grant.scopes
        issuedAt = record.grant.issuedAt
        // An ended session has no token that could expire; its record says 0, so that no mistake hands one out.
        expiresAt = if case .ended = record.state { nil } else { record.grant.expiresAt }
        isRefreshable =
            record.isUsable && (record.grant.refreshToken != nil || record.refreshMethod == .clientCredentials)
        isWithoutUser = record.refreshMethod == .clientCredentials
        isBound = record.isUsable && record.isBound
        isBoundToCertificate = record.isUsable && record.certificate != nil
        identity = record.grant.identity
        authorizationDetails = record.grant.authorizationDetails
        generation = record.generation
        server = record.server
    }
}

extension Handshake {
    /// The status of an account as it is stored, whatever this process knows of it; nil when there is none.
    ///
    /// Another process may have ended the account since this one read it, or another user may have signed in.
    ///
    /// - Throws: ``HandshakeError/vault(_:)`` when it cannot be read, ``HandshakeError/configuration(member:problem:)`` for
    ///   an unknown service.
    package func storedStatus(_ name: String, of service: String) async throws -> AccountStatus? {
        let id = AccountID(try client(of: service), name: name)
        do {
            guard let bytes = try await environment.vault.record(id.vaultKey) else { return nil }
            return AccountStatus(try AccountRecord(stored: bytes, expected: id))
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }
}

extension AccountStatus.State {
    /// A stable word for programs.
    package var code: String {
        switch self {
        case .signedIn: "signed_in"
        case .refreshUncertain: "refresh_uncertain"
        case .ended: "sign_in_required"
        case .signingOut: "signing_out"
        }
    }
}
