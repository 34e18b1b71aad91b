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
    /// Where the redirect will arrive.
    public let redirectURI: RedirectURI
    /// The service's name for people.
    public let service: String
    /// The server that asks (RFC 8252, section 8.7). The host in the browser's address bar must be this one.
    public let issuer: Issuer
    /// The host of the page.
    public let host: String
    /// The server's host, where its metadata put the page at another one.
    ///
    /// Only of a server whose responses do not name it (RFC 9207). A hostile server may name the page of an honest one,
    /// whose code it then receives (RFC 9700, section 4.4). Servers with two hosts look the same from outside, so the user
    /// decides: ``prompt(in:)`` names both. Nil where no such mix-up is possible.
    public let serverHost: String?

    /// Nil for a page whose sign-in is not OAuth's.
    private let state: Secret?

    /// A page of a service whose sign-in is not OAuth's. The caller has checked the address.
    package init(url: String, redirectURI: RedirectURI, service: String, issuer: Issuer, host: String) {
        self.url = url
        self.redirectURI = redirectURI
        self.service = service
        self.issuer = issuer
        self.host = host
        serverHost = nil
        state = nil
    }

    init(_ request: AuthorizationRequest, service: Service) {
        url = request.url
        redirectURI = request.redirectURI
        self.service = service.displayName
        issuer = request.server.issuer
        state = request.state
        let server = request.server
        let issuer = server.issuer.url.origin
        let page = server.authorizationEndpoint?.origin ?? issuer
        host = page.authority
        let isElsewhere = server.source == .discovered && !server.announcesIssuerInResponse && page.host != issuer.host
        serverHost = isElsewhere ? issuer.authority : nil
    }

    /// The redirect URL of a sign-in whose code the user carried here. The service's page showed the code
    /// (`RedirectURI.outOfBand`).
    ///
    /// A user who carries a code has seen this very page, so its state belongs to the code. PKCE shows at the token
    /// endpoint that the code was issued for this request and not for another one.
    ///
    /// - Parameter code: what the page showed.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a page whose redirect is another one, and for a
    ///   code that is empty, longer than 2,048 bytes or not of printable ASCII.
    public func redirect(carrying code: Secret) throws(HandshakeError) -> String {
        guard redirectURI.kind == .outOfBand, let state else {
            throw .configuration(
                member: "redirect", problem: "\(redirectURI) receives its code by redirect, not by hand")
        }
        let text = code.reveal()
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .configuration(member: "code", problem: "copy the code from the page, whole and without spaces")
        }
        return redirectURI.string + "?code=" + PercentEncoding.query(text) + "&state=" + state.reveal()
    }

    /// What the user has to know, in the given language. It says which service asks, on which host, and for which server where
    /// that is another one.
    public func prompt(in language: Language = .user) -> String {
        let prompt = Words.signInPrompt.text(in: language, service, host)
        guard let serverHost else { return prompt }
        return prompt + (language.tag == "ja" ? "" : " ") + Words.signInServer.text(in: language, host, serverHost)
    }
}

extension SignInPage: CustomStringConvertible, CustomReflectable {
    /// The service and the host, without the address: state and nonce are in it.
    public var description: String { "sign-in page of \(service) at \(host)" }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["service": service, "host": host, "issuer": issuer, "redirectURI": redirectURI],
            displayStyle: .struct)
    }
}
