import Dispatch
package import Logging
package import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Listens on this machine for one redirect of one authorization request (RFC 8252, section 7.3).
///
/// Bound to a loopback address only, opened for one request, closed after its answer. Any other request, such as a
/// favicon request, another page's script, or a redirect with a foreign state, gets an error page and changes nothing. So does, on
/// Linux, a program of another user: it could have read the sign-in's address and finished it with an account of its own.
package final class LoopbackListener: Sendable {
    /// The redirect URI to register and send, with an address literal and the port that the kernel chose.
    package let redirectURI: RedirectURI

    private let socket: ListeningSocket
    private let path: String
    private let isForeign: @Sendable (CInt) -> Bool

    /// What becomes of a redirect that reached the right address.
    package enum Verdict<Value: Sendable>: Sendable {
        /// It answers the request: show this page, hand the value over and close.
        case accepted(Value, page: String)
        /// It does not: show this page and keep listening.
        case ignored(page: String)
    }

    /// Opens the listener on `127.0.0.1`, or on `[::1]` where there is no IPv4.
    ///
    /// - Parameters:
    ///   - port: a fixed port, for services that compare it; nil lets the kernel choose.
    ///   - path: where the redirect arrives, beginning with a slash.
    ///   - log: gets a warning when a redirect is refused because it may be another user's, once.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the port is taken or the path is not one.
    package convenience init(
        port: UInt16? = nil, path: String = "/callback", log: Logger? = nil
    ) throws(HandshakeError) {
        try self.init(port: port, path: path, log: log) { LoopbackPeer.isForeign($0) }
    }

    /// - Parameter isForeign: whether a connection is another user's.
    init(
        port: UInt16? = nil, path: String = "/callback", log: Logger? = nil,
        isForeign: @escaping @Sendable (CInt) -> Bool
    ) throws(HandshakeError) {
        guard path.hasPrefix("/"), !path.contains("?"), !path.contains("#") else {
            throw .configuration(member: "redirect", problem: "a path begins with / and has no query")
        }
        socket = try ListeningSocket(port: port ?? 0)
        self.path = path
        let isToldOf = Mutex(false)
        self.isForeign = { connection in
            guard isForeign(connection) else { return false }
            let isFirst = isToldOf.withLock { isToldOf in
                defer { isToldOf = true }
                return !isToldOf
            }
            if isFirst {
                log?.warning(
                    """
                    an answer was refused, because it may have come from a program of another user of this machine; open the \
                    page in a browser of the user who started this program
                    """)
            }
            return true
        }
        do {
            redirectURI = try RedirectURI("http://\(socket.authority)\(path)")
        } catch {
            throw .exchange(error)
        }
    }

    /// Waits for the redirect, then closes.
    ///
    /// - Parameter judge: parses a redirect URL and decides whether it answers the request.
    /// - Returns: the value of the accepted redirect.
    /// - Throws: `CancellationError`, when the calling task is cancelled, which closes the listener.
    package func redirect<Value: Sendable>(
        _ judge: @escaping @Sendable (_ redirectURL: String) -> Verdict<Value>
    ) async throws -> Value {
        let exchange = RedirectExchange(authority: socket.authority, path: path, judge: judge)
        let stop = try StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "handshake.loopback").async { [socket, isForeign] in
                    let accepted = RedirectServer(
                        socket: socket, exchange: exchange, stop: stop, isForeign: isForeign
                    ).run()
                    socket.close()
                    continuation.resume(with: accepted.map { .success($0) } ?? .failure(CancellationError()))
                }
            }
        } onCancel: {
            stop.send()
        }
    }
}
