package import OAuth

/// A sign-in in progress. Open ``page`` in a browser, and hand the redirect to
/// ``Handshake/finishSignIn(redirectURL:as:)``, in this process or in another one that uses the same vault.
public struct SignInAttempt: Sendable {
    /// The account that the sign-in will make.
    public let account: AccountID
    /// What the browser shows.
    public let page: SignInPage
    /// Seconds since 1970 after which the redirect is refused.
    public let expiresAt: Double

    package let request: AuthorizationRequest
    /// What the code is bound to (RFC 9449, section 10); nil for bearer tokens.
    let key: DPoPKey?
}

extension SignInAttempt: CustomStringConvertible, CustomReflectable {
    /// The account and the service, without the page's address. State and nonce are in that address.
    public var description: String { "sign-in attempt for \(account) at \(page.host)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["account": account, "page": page, "expiresAt": expiresAt], displayStyle: .struct)
    }
}
