/// Opens IFTTT in the system's browser or in its app.
///
/// Never in a web view inside the app, which could read the password (RFC 8252, section 8.12) and has no existing session.
public protocol ConnectBrowser: Sendable {
    /// Opens a destination; replaces an open one.
    ///
    /// - Returns: the redirect URL, from a browser that catches it; nil if the redirect arrives in another way
    ///   (``ConnectController/open(_:)``).
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when the user closed the page; another error when it cannot be
    ///   opened.
    func open(_ destination: ConnectActivation.Destination) async throws -> String?

    /// Closes an open page, after the redirect or a cancellation.
    func close() async
}

extension ConnectBrowser {
    /// For browsers that cannot be closed by a program.
    public func close() async {}
}
