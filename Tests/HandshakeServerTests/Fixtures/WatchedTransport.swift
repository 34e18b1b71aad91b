import HTTPTypes
import Handshake
import OAuth
import Synchronization

/// The platform's transport, which remembers what was sent and lets a test do something before a request leaves.
final class WatchedTransport: Transport {
    /// What left.
    struct Sent: Sendable, Equatable {
        let path: String
        /// The user token; nil for none.
        let token: String?
    }

    private let before: @Sendable (Sent) async throws -> Void
    private let log = Mutex<[Sent]>([])

    init(before: @escaping @Sendable (Sent) async throws -> Void = { _ in }) {
        self.before = before
    }

    var sent: [Sent] { log.withLock { $0 } }

    /// The user tokens of the requests for a path, in order.
    func tokens(_ path: String) -> [String?] { sent.filter { $0.path == path }.map(\.token) }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let token = request.head.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        let sent = Sent(path: String((request.head.path ?? "/").prefix { $0 != "?" }), token: token)
        log.withLock { $0.append(sent) }
        try await before(sent)
        return try await PlatformTransport().send(request, limits: limits)
    }
}
