/// A change of an account's tokens: which account, what happened, when. Never the tokens (`oauth-security.md` E10).
public struct AccountEvent: Sendable, Hashable {
    public let account: AccountID
    public let change: Change
    /// Seconds since 1970.
    public let time: Double

    /// What happened, and why.
    public enum Change: Sendable, Hashable {
        /// The user signed in. `scopes` is what was granted, and `asked` what was asked for.
        case signedIn(scopes: [String], asked: [String])
        /// A new access token was issued. `rotated` says whether the refresh token was replaced too.
        case refreshed(rotated: Bool)
        /// Another task or process had refreshed already, and its grant was taken over.
        case adopted
        /// A refresh was sent, and no answer came back.
        case refreshUncertain
        /// A refresh could not be sent, or was refused without ending the session. The code says which.
        case refreshFailed(code: String)
        /// The session has ended. With the reason `signingOut` a sign-out has begun and is not complete: tokens may still be
        /// valid. Its end follows, as ``signedOut(revoked:)``, or with the reason `absent` when another process completed it.
        case ended(HandshakeError.SignInReason)
        /// The account was signed out and forgotten. `revoked` says whether the service revoked its tokens.
        case signedOut(revoked: Bool)
    }
}
