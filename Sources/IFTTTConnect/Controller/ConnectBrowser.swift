/// Sends the user to the service. Always to a browser of the user's own or to the IFTTT app, never to a view inside the
/// app, which could read the password (RFC 8252, section 8.12) and knows nobody who is signed in already.
public protocol ConnectBrowser: Sendable {
    /// Opens a destination, in place of one that is open still.
    ///
    /// - Returns: the redirect URL, from a browser that catches it itself; nil from one that only opens, so that the
    ///   redirect comes another way (``ConnectController/open(_:)``).
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when the user closed the page; another error when it cannot be
    ///   opened.
    func open(_ destination: ConnectActivation.Destination) async throws -> String?

    /// Closes what is still open; the redirect has come, or the user went back.
    func close() async
}

extension ConnectBrowser {
    /// For browsers that cannot be closed from here.
    public func close() async {}
}
