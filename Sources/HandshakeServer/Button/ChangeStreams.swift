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

    private let limits: ConnectButtonSettings.Streams
    private let open = Mutex(Open())

    init(_ limits: ConnectButtonSettings.Streams) {
        self.limits = limits
    }

    /// What a stream shows.
    struct Sight: Sendable {
        /// Whose it is: another session than the first one is another user's, or a new beginning.
        let session: String
        let revision: Int
        /// Whether nothing is under way: then a change comes from outside, and seldom.
        var isResting = false
        /// Made only when the revision is one that was not shown yet.
        let answer: @Sendable () async throws -> Data
    }

    /// What a stream watches.
    struct Subject: Sendable {
        let user: String
        /// How it stands now; nil when there is nothing to show, or no more.
        let look: @Sendable () async throws -> Sight?
        /// Whether the user is still the one of the browser that listens.
        let isPresent: @Sendable () async -> Bool
    }

    /// A stream.
    ///
    /// - Parameters:
    ///   - subject: what it watches.
    ///   - time: what pauses are measured on.
    /// - Throws: 429 when the user has too many, 503 when this process has.
    func response(watching subject: Subject, time: TimeSource) throws(RequestRefusal) -> Response {
        try enter(subject.user)
        var headers = Response.quiet
        headers[.contentType] = "text/event-stream; charset=utf-8"
        headers[.xAccelBuffering] = "no"
        let seat = Seat(streams: self, user: subject.user)
        let changes = Changes(limits: limits, clock: time.clock, subject: subject, seat: seat)
        return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: changes))
    }

    private func enter(_ user: String) throws(RequestRefusal) {
        let refusal = open.withLock { open -> RequestRefusal? in
            guard open.all < limits.most else {
                return RequestRefusal(.serviceUnavailable, "unavailable", "Too many streams are open", retryAfter: 30)
            }
            guard open.byUser[user, default: 0] < limits.maximumPerUser else {
                return RequestRefusal(.tooManyRequests, "too_many", "This user has too many streams", retryAfter: 30)
            }
            open.all += 1
            open.byUser[user, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Whether those where something is under way may soon find no place: then whoever rests makes room.
    fileprivate var isCrowded: Bool { open.withLock { $0.all > limits.most / 2 } }

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
    let streams: ChangeStreams
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
    let subject: ChangeStreams.Subject
    let seat: Seat

    func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: Changes
        private var shown: (session: String, revision: Int)?
        private var age: Duration?
        private var silence = Duration.zero
        private var isResting = false
        private var sinceUserSeen = Duration.zero

        fileprivate init(changes: Changes) {
            self.changes = changes
        }

        /// The next answer, or a comment after a silence; nil when the stream has lived its time, its user has gone, or what
        /// it showed is no more.
        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let age {
                    guard try await pause(at: age) else { return nil }
                }
                age = age ?? .zero
                // Where nothing can be seen nothing is to be waited for: the component then asks from time to time.
                guard let sight = try? await changes.subject.look(), sight.session == shown?.session ?? sight.session
                else { return nil }
                isResting = sight.isResting
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

        /// Waits until it is time to look again; false when it never will be.
        private mutating func pause(at age: Duration) async throws -> Bool {
            let limits = changes.limits
            // A server that closes does not wait for those who only listen.
            guard age < limits.lifetime, !Task.isShuttingDownGracefully else { return false }
            // Whoever has begun to listen has just asked how it stands, and IFTTT is being asked.
            let rests = isResting && age >= limits.attention
            guard !rests || !changes.seat.streams.isCrowded else { return false }
            let wanted = rests ? limits.restingInterval : limits.interval
            let pause = Swift.max(Swift.min(wanted, limits.userInterval - sinceUserSeen), .milliseconds(1))
            try await changes.clock.sleep(for: pause)
            self.age = age + pause
            silence += pause
            sinceUserSeen += pause
            guard sinceUserSeen >= limits.userInterval else { return true }
            sinceUserSeen = .zero
            return await changes.subject.isPresent()
        }
    }
}

extension HTTPField.Name {
    /// Tells a proxy in front not to hold the events back.
    fileprivate static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
}
#endif
