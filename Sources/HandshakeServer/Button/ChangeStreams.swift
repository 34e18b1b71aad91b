import HTTPTypes
import Handshake
import Hummingbird
import NIOCore
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

    /// A stream.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - time: what pauses are measured on.
    ///   - look: the revision and the answer as they are now.
    /// - Throws: 429 when the user has too many, 503 when this process has.
    func response(
        for user: String, time: TimeSource, look: @escaping @Sendable () async throws -> (revision: Int, answer: Data)?
    ) throws(RequestRefusal) -> Response {
        guard open.withLock({ $0.all < limits.most }) else {
            throw RequestRefusal(.serviceUnavailable, "unavailable", "Too many streams are open", retryAfter: 30)
        }
        guard open.withLock({ $0.byUser[user, default: 0] < limits.mostPerUser }) else {
            throw RequestRefusal(.tooManyRequests, "too_many", "This user has too many streams", retryAfter: 30)
        }
        var headers = Response.quiet
        headers[.contentType] = "text/event-stream; charset=utf-8"
        headers[.xAccelBuffering] = "no"
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [self] writer in
                enter(user)
                defer { leave(user) }
                try await send(to: &writer, time, look)
                try await writer.finish(nil)
            })
    }

    private func send(
        to writer: inout any ResponseBodyWriter, _ time: TimeSource,
        _ look: @Sendable () async throws -> (revision: Int, answer: Data)?
    ) async throws {
        var shown: Int?
        var silence = Duration.zero
        var age = Duration.zero
        while age < limits.lifetime {
            if let (revision, answer) = try await look(), revision != shown {
                shown = revision
                silence = .zero
                try await writer.write(ByteBuffer(bytes: Data("data: ".utf8) + answer + Data("\n\n".utf8)))
            } else if silence >= limits.heartbeat || shown == nil && silence == .zero {
                silence = .zero
                try await writer.write(ByteBuffer(string: ":\n\n"))
            }
            try await time.clock.sleep(for: limits.interval)
            silence += limits.interval
            age += limits.interval
        }
    }

    private func enter(_ user: String) {
        open.withLock { open in
            open.all += 1
            open.byUser[user, default: 0] += 1
        }
    }

    private func leave(_ user: String) {
        open.withLock { open in
            open.all -= 1
            open.byUser[user, default: 1] -= 1
            if open.byUser[user] == 0 { open.byUser[user] = nil }
        }
    }
}

extension HTTPField.Name {
    /// Tells a proxy in front not to hold the events back.
    fileprivate static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
}
