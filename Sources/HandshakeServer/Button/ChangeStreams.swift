#if Server
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

/// Server-sent events (HTML, section 9.2) for a bounded number of listeners and a bounded time.
///
/// Each stream polls the vault, so it sees changes by any process.
///
/// A class, because streams share the count.
final class ChangeStreams: Sendable {
    private struct Open {
        var all = 0
        /// By the bytes of the identifier, as records are: equivalent spellings are other users.
        var byUser: [[UInt8]: Int] = [:]
    }

    private let limits: ConnectButtonSettings.Streams
    private let open = Mutex(Open())
    private let telemetry = Telemetry.chosen()
    private static let refused = "handshake_event_streams_refused_total"

    init(_ limits: ConnectButtonSettings.Streams) {
        self.limits = limits
        telemetry?.count(Self.refused, by: 0)
    }

    /// What a stream sends.
    struct Sight: Sendable {
        /// The session: when it differs from the first one, the user changed or the session was restarted.
        let session: String
        let revision: Int
        /// Whether nothing is in progress, so that changes are rare.
        var isResting = false
        /// Creates the answer, only for a revision that was not sent yet.
        let answer: @Sendable () async throws -> Data
    }

    /// What a stream watches.
    struct Subject: Sendable {
        let user: String
        /// The present state; nil when there is nothing to show, or no longer.
        let look: @Sendable () async throws -> Sight?
        /// Whether the listening browser still has the same user.
        let isPresent: @Sendable () async -> Bool
    }

    /// Opens a stream.
    ///
    /// - Parameters:
    ///   - subject: what it watches.
    ///   - time: measures the pauses.
    /// - Throws: 429 when the user has too many streams, 503 when the process has.
    func response(watching subject: Subject, time: TimeSource) throws(RequestRefusal) -> Response {
        let user = Array(subject.user.utf8)
        try enter(user)
        var headers = Response.quiet
        headers[.contentType] = "text/event-stream; charset=utf-8"
        headers[.xAccelBuffering] = "no"
        let seat = Seat(streams: self, user: user)
        let changes = Changes(limits: limits, clock: time.clock, subject: subject, seat: seat)
        return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: changes))
    }

    private func enter(_ user: [UInt8]) throws(RequestRefusal) {
        let refusal = open.withLock { open -> RequestRefusal? in
            guard open.all < limits.maximumCount else {
                return RequestRefusal(.serviceUnavailable, "unavailable", "Too many streams are open", retryAfter: 30)
            }
            guard open.byUser[user, default: 0] < limits.maximumPerUser else {
                return RequestRefusal(.tooManyRequests, "too_many", "This user has too many streams", retryAfter: 30)
            }
            open.all += 1
            open.byUser[user, default: 0] += 1
            return nil
        }
        if let refusal {
            telemetry?.count(Self.refused)
            throw refusal
        }
        tell()
    }

    /// Within the lock: of two numbers reported concurrently, the older one could otherwise be reported last.
    private func tell() {
        guard let telemetry else { return }
        open.withLock { telemetry.gauge("handshake_event_streams", $0.all) }
    }

    /// Whether streams of resting buttons must end to make room for active ones.
    fileprivate var isCrowded: Bool { open.withLock { $0.all > limits.maximumCount / 2 } }

    fileprivate func leave(_ user: [UInt8]) {
        open.withLock { open in
            open.all -= 1
            open.byUser[user, default: 1] -= 1
            if open.byUser[user] == 0 { open.byUser[user] = nil }
        }
        tell()
    }
}

/// A place among the streams; released on deinitialisation, also when the stream was never read.
///
/// A class, because it needs a deinitialiser.
private final class Seat: Sendable {
    let streams: ChangeStreams
    private let user: [UInt8]

    init(streams: ChangeStreams, user: [UInt8]) {
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
    let subject: ChangeStreams.Subject
    let seat: Seat

    func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: Changes
        private var shown: (session: String, revision: Int)?
        private var age: Duration?
        private var silence = Duration.zero
        private var isResting = false
        /// For how long nothing has been in progress, and nothing has changed.
        private var rested = Duration.zero
        private var sinceUserSeen = Duration.zero

        fileprivate init(changes: Changes) {
            self.changes = changes
        }

        /// The next answer, or a comment after a silence.
        ///
        /// Nil at the end of the stream's lifetime, when its user has logged out, or when the session has ended.
        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let age {
                    guard try await pause(at: age) else { return nil }
                }
                age = age ?? .zero
                // When the vault cannot be read, the stream ends; the component polls instead.
                guard let sight = try? await changes.subject.look(), sight.session == shown?.session ?? sight.session
                else { return nil }
                isResting = sight.isResting
                if !isResting || sight.revision != shown?.revision { rested = .zero }
                if sight.revision != shown?.revision {
                    shown = (sight.session, sight.revision)
                    silence = .zero
                    return ByteBuffer(bytes: Data("data: ".utf8) + (try await sight.answer()) + Data("\n\n".utf8))
                }
                if silence >= changes.limits.heartbeat {
                    silence = .zero
                    return ByteBuffer(string: ":\n\n")
                }
            }
        }

        /// Waits for the next poll; false when the stream ends.
        private mutating func pause(at age: Duration) async throws -> Bool {
            let limits = changes.limits
            // On shutdown, listeners do not delay the server.
            guard age < limits.lifetime, !Task.isShuttingDownGracefully else { return false }
            // The state was requested a moment ago, and IFTTT is being asked: poll often.
            let rests = isResting && age >= limits.attention
            guard !rests || rested < limits.restingLifetime && !changes.seat.streams.isCrowded else { return false }
            let wanted = rests ? limits.restingInterval : limits.interval
            let pause = Swift.max(Swift.min(wanted, limits.userInterval - sinceUserSeen), .milliseconds(1))
            try await changes.clock.sleep(for: pause)
            self.age = age + pause
            silence += pause
            rested += pause
            sinceUserSeen += pause
            guard sinceUserSeen >= limits.userInterval else { return true }
            sinceUserSeen = .zero
            return await changes.subject.isPresent()
        }
    }
}

extension HTTPField.Name {
    /// Tells a reverse proxy not to buffer events.
    fileprivate static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
}
#endif
