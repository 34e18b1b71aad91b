#if Server
public import Handshake
public import ServiceLifecycle

/// Lets the refreshes of a server finish before its process ends.
///
/// ```swift
/// var app = Application(router: router)
/// app.addServices(HandshakeService(handshake))
/// ```
///
/// Requests that ended, or were cut off, may leave a refresh on its way: its answer may hold the only refresh token there is. At a graceful
/// shutdown the services that were added later, and Hummingbird's server, end first; then this one waits until every answer is stored. Where the
/// vault answers, it takes no longer than a request to a token endpoint, 20 s unless the app says otherwise, and as long again for answers that the
/// vault could not take before: give the process 40 s before it is killed.
public struct HandshakeService: ServiceLifecycle.Service {
    private let handshake: Handshake

    /// Makes a service of an app.
    public init(_ handshake: Handshake) {
        self.handshake = handshake
    }

    public func run() async throws {
        // Cancelled instead of shut down, it finishes the refreshes as well.
        try? await gracefulShutdown()
        await handshake.finishRefreshes()
    }
}
#endif
