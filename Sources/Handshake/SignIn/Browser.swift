public import OAuth

/// Shows the service's sign-in page to the user. Always a browser of the user's own, never a view inside the app, which
/// could read the password (RFC 8252, section 8.12).
public protocol Browser: Sendable {
    /// Shows the page.
    ///
    /// - Returns: the redirect URL, from a browser that catches it itself; nil from one that only shows the page, so
    ///   that the redirect arrives at the loopback listener.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user closed the page; another error when it cannot be
    ///   shown.
    func show(_ page: SignInPage) async throws -> String?
}

/// What a browser is asked to show.
public struct SignInPage: Sendable {
    /// The address to open. It carries the state and the nonce: show it to the user alone.
    public let url: String
    /// Where the answer will be sent.
    public let redirectURI: RedirectURI
    /// The service's name for people.
    public let service: String
    /// The server that asks: the host in the browser's address bar must be this one (RFC 8252, section 8.7).
    public let issuer: Issuer
    /// The host of the page.
    public let host: String

    /// A page of a service whose sign-in is not OAuth's; whoever makes it answers for the address.
    package init(url: String, redirectURI: RedirectURI, service: String, issuer: Issuer, host: String) {
        self.url = url
        self.redirectURI = redirectURI
        self.service = service
        self.issuer = issuer
        self.host = host
    }

    init(_ request: AuthorizationRequest, service: Service) {
        url = request.url
        redirectURI = request.redirectURI
        self.service = service.displayName
        issuer = request.server.issuer
        host = request.server.authorizationEndpoint?.origin.authority ?? request.server.issuer.url.origin.authority
    }

    /// One sentence for the user, in the given language: which service asks, and on which host.
    public func prompt(in language: Language = .user) -> String {
        Words.signInPrompt.text(in: language, service, host)
    }
}
