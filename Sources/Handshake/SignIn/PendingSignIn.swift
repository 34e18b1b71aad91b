import Crypto
import OAuth

/// A sign-in whose redirect is awaited: enough for any process with the same vault to finish it (`oauth-security.md`
/// I9).
struct PendingSignIn: Sendable {
    let request: AuthorizationRequest
    let account: AccountID
    /// What the caller wants to know again when the redirect arrives.
    var note: String?
    /// What the code is bound to, and the tokens will be (RFC 9449, section 10); nil for bearer tokens.
    var key: DPoPKey?

    /// The record that holds it. The state itself is not part of the name.
    var vaultKey: VaultKey {
        Self.vaultKey(state: request.state)
    }

    static func vaultKey(state: Secret) -> VaultKey {
        let digest = SHA256.hash(data: Array(state.reveal().utf8))
        return VaultKey(.signIn, [Base64URL.encode(digest)])
    }
}

/// A pending sign-in as bytes, for the inside of a sealed vault record and nowhere else.
private struct StoredSignIn: Codable {
    var version = 1
    let account: AccountID
    let server: StoredServer
    let redirectURI: String
    let scopes: [String]
    let state: String
    let nonce: String?
    let verifier: String
    let expiresAt: Double
    let url: String
    let note: String?
    /// Nil in a record of an earlier version.
    let authentication: RequestedAuthentication?
    /// Absent for bearer tokens, and in older records.
    let dpopKey: StoredKey?
    /// Absent, as the next, in records of before there were any such requests.
    let responseMode: AuthorizationRequest.ResponseMode?
    let requiresIssuer: Bool?
}

extension PendingSignIn {
    func stored() throws(HandshakeError) -> [UInt8] {
        try StoredForm.encode(
            StoredSignIn(
                account: account, server: StoredServer(request.server), redirectURI: request.redirectURI.string,
                scopes: request.scopes, state: request.state.reveal(), nonce: request.nonce?.reveal(),
                verifier: request.verifier.secret.reveal(), expiresAt: request.expiresAt, url: request.url, note: note,
                authentication: request.authentication, dpopKey: key.map(StoredKey.init),
                responseMode: request.responseMode, requiresIssuer: request.requiresIssuer))
    }

    init(stored bytes: [UInt8]) throws(HandshakeError) {
        let stored: StoredSignIn = try StoredForm.decode(bytes, what: "a pending sign-in")
        guard stored.version == 1, let verifier = CodeVerifier(Secret(stored.verifier)) else {
            throw .vault(.damaged(what: "a pending sign-in", reason: "it is not of this version"))
        }
        account = stored.account
        note = stored.note
        if let stored = stored.dpopKey {
            guard let key = stored.key else {
                throw .vault(.damaged(what: "a pending sign-in", reason: "its key cannot be read"))
            }
            self.key = key
        }
        do {
            request = AuthorizationRequest(
                restoring: try stored.server.metadata(), clientID: stored.account.client,
                redirectURI: try RedirectURI(stored.redirectURI), scopes: stored.scopes,
                resources: stored.account.resources,
                state: Secret(stored.state), nonce: stored.nonce.map(Secret.init), verifier: verifier,
                expiresAt: stored.expiresAt, url: stored.url, authentication: stored.authentication ?? .any,
                responseMode: stored.responseMode ?? .query, requiresIssuer: stored.requiresIssuer ?? false)
        } catch {
            throw .vault(.damaged(what: "a pending sign-in", reason: "\(error)"))
        }
    }
}
