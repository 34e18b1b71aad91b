import OAuth

/// Prints the address for the user to open (RFC 8252, section 7).
///
/// With a loopback redirect the user opens it on this machine, where the listener waits, and `readRedirect` is not called. With
/// any other redirect the page may be opened on any device, and the user brings the redirect URL back by hand; out of
/// band (`RedirectURI.outOfBand`), the code that the page shows.
public struct PrintingBrowser: Browser {
    private let print: @Sendable (SignInPage) throws -> Void
    private let readRedirect: @Sendable (SignInPage) async throws -> String?

    /// - Parameters:
    ///   - print: shows the page's address to the user.
    ///   - readRedirect: asks the user for the redirect URL, or out of band for the code; nil when there is none to be had.
    public init(
        print: @escaping @Sendable (SignInPage) throws -> Void,
        readRedirect: @escaping @Sendable (SignInPage) async throws -> String?
    ) {
        self.print = print
        self.readRedirect = readRedirect
    }

    public func show(_ page: SignInPage) async throws -> String? {
        try print(page)
        guard page.redirectURI.kind != .loopback else { return nil }
        guard let line = try await readRedirect(page), !line.isEmpty else {
            throw HandshakeError.signInAbandoned(.closed)
        }
        return page.redirectURI.kind == .outOfBand ? try page.redirect(carrying: Secret(line)) : line
    }
}
