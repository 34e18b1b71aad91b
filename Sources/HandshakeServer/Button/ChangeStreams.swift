import HTTPTypes
import Handshake
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Answers as server-sent events (HTML, section 9.2), for a bounded number of listeners and a bounded time.
///
/// Every stream looks at the vault itself: a change is seen whichever process made it.
///
/// A class, since streams count together.
final class ChangeStreams: Sendable {
    private struct Open {
        var all = 0
        var byUser: [String: Int] = [:]
    }

    typealias Look = @Sendable () async throws -> (revision: Int, answer: @Sendable () async throws -> Data)?

    private let limits: ConnectButtonSettings.Streams
    private let open = Mutex(Open())

    init(_ limits: ConnectButtonSettings.Streams) {
        self.limits = limits
    }

    /// A stream.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - time: what pauses are measured on.
    ///   - look: the revision as it is now, and what makes its answer.
    /// - Throws: 429 when the user has too many, 503 when this process has.
    func response(
        for user: String, time: TimeSource, look: @escaping Look
    ) throws(RequestRefusal) -> Response {
        try enter(user)
        var headers = Response.quiet
        headers[.contentType] = "text/event-stream; charset=utf-8"
        headers[.xAccelBuffering] = "no"
        let changes = Changes(limits: limits, clock: time.clock, look: look, seat: Seat(streams: self, user: user))
        return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: changes))
    }

    private func enter(_ user: String) throws(RequestRefusal) {
        let refusal = open.withLock { open -> RequestRefusal? in
            guard open.all < limits.most else {
                return RequestRefusal(.serviceUnavailable, "unavailable", "Too many streams are open", retryAfter: 30)
            }
            guard open.byUser[user, default: 0] < limits.mostPerUser else {
                return RequestRefusal(.tooManyRequests, "too_many", "This user has too many streams", retryAfter: 30)
            }
            open.all += 1
            open.byUser[user, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
    }

    fileprivate func leave(_ user: String) {
        open.withLock { open in
            open.all -= 1
            open.byUser[user, default: 1] -= 1
            if open.byUser[user] == 0 { open.byUser[user] = nil }
        }
    }
}

/// A place among the streams, given back when nobody holds it any more: also when the stream was never read.
///
/// A class, since it is the end of its life that counts.
private final class Seat: Sendable {
    private let streams: ChangeStreams
    private let user: String

    init(streams: ChangeStreams, user: String) {
        self.streams = streams
        self.user = user
    }

    deinit { streams.leave(user) }
}

/// The events of one stream.
private struct Changes: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let limits: ConnectButtonSettings.Streams
    let clock: any Clock<Duration>
    let look: ChangeStreams.Look
    let seat: Seat

    func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: Changes
        private var shown: Int?
        private var age: Duration?
        private var silence = Duration.zero

        fileprivate init(changes: Changes) {
            self.changes = changes
        }

        /// The next answer, or a comment after a silence; nil when the stream has lived its time.
        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let age {
                    // A server that closes does not wait for those who only listen.
                    guard age < changes.limits.lifetime, !Task.isShuttingDownGracefully else { return nil }
                    try await changes.clock.sleep(for: changes.limits.interval)
                    silence += changes.limits.interval
                }
                age = (age ?? .zero) + changes.limits.interval
                if let (revision, answer) = try await changes.look(), revision != shown {
                    shown = revision
                    silence = .zero
                    return ByteBuffer(bytes: Data("data: ".utf8) + (try await answer()) + Data("\n\n".utf8))
                }
                if silence >= changes.limits.heartbeat {
                    silence = .zero
                    return ByteBuffer(string: ":\n\n")
                }
            }
        }
    }
}

extension HTTPField.Name {
    /// Tells a proxy in front not to hold the events back.
    fileprivate static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
}
