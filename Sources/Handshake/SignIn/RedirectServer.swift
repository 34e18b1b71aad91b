#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Serves connections on one listening socket until a redirect is accepted or a stop is signalled.
///
/// Runs on a thread of its own and waits in `poll`. Several connections are open at a time, because browsers open some
/// ahead and leave them idle; each has five seconds. There are never more than 32, and fewer where the process has no more
/// descriptors: the oldest makes room, so that idle connections do not keep the redirect out.
struct RedirectServer<Value: Sendable> {
    let socket: ListeningSocket
    let exchange: RedirectExchange<Value>
    let stop: StopSignal
    /// Whether a connection is another user's.
    let isForeign: @Sendable (CInt) -> Bool

    private struct Connection {
        let descriptor: CInt
        var head: [UInt8] = []
        let end: ContinuousClock.Instant
    }

    private static var connectionTimeout: Duration { .seconds(5) }
    private static var maximumConnections: Int { 32 }
    /// What keeps a connection from being accepted until another one has ended.
    private static var shortages: [CInt] { [EMFILE, ENFILE, ENOBUFS, ENOMEM] }

    /// Serves; the value of the accepted redirect, or nil when stopped.
    func run() -> Value? {
        var connections: [Connection] = []
        // Kept for the look at whose a connection is, which needs one: connections may use up all others.
        var spare = spareDescriptor()
        // Whether the listener is left out of a wait: it stays readable as long as nothing can be accepted.
        var pauses = false
        defer { for descriptor in connections.map(\.descriptor) + [spare] { close(descriptor) } }
        while true {
            var polled = [
                pollfd(fd: stop.receiver, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pauses ? -1 : socket.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            polled += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), pauses ? 100 : 500) >= 0 || errno == EINTR else { return nil }
            if polled[0].revents != 0 { return nil }
            let now = ContinuousClock.now
            var open: [Connection] = []
            var finished: [CInt] = []
            for (connection, poll) in zip(connections, polled.dropFirst(2)) {
                switch serve(connection, isReadable: poll.revents != 0, now: now, sparing: &spare) {
                case .open(let connection): open.append(connection)
                case .finished: finished.append(connection.descriptor)
                case .accepted(let value): return value
                }
            }
            for descriptor in finished { close(descriptor) }
            connections = open
            pauses = false
            guard polled[1].revents != 0 else { continue }
            if let descriptor = socket.accept() {
                if connections.count == Self.maximumConnections { close(connections.removeFirst().descriptor) }
                connections.append(Connection(descriptor: descriptor, end: now.advanced(by: Self.connectionTimeout)))
            } else if Self.shortages.contains(errno) {
                pauses = connections.isEmpty
                if !pauses { close(connections.removeFirst().descriptor) }
            }
        }
    }

    private enum Step {
        case open(Connection)
        case finished
        case accepted(Value)
    }

    private func spareDescriptor() -> CInt { fcntl(stop.receiver, F_DUPFD_CLOEXEC, 0) }

    private func serve(
        _ connection: Connection, isReadable: Bool, now: ContinuousClock.Instant, sparing spare: inout CInt
    ) -> Step {
        guard isReadable else { return now < connection.end ? .open(connection) : .finished }
        var connection = connection
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return count < 0 && [EINTR, EAGAIN].contains(errno) ? .open(connection) : .finished }
        connection.head += buffer[..<count]
        guard connection.head.count <= RedirectExchange<Value>.maximumHead else {
            write(exchange.refusal("431 Request Header Fields Too Large").bytes, to: connection.descriptor)
            return .finished
        }
        guard RedirectExchange<Value>.isComplete(connection.head) else {
            return now < connection.end ? .open(connection) : .finished
        }
        close(spare)
        let isForeign = isForeign(connection.descriptor)
        spare = spareDescriptor()
        guard !isForeign else {
            write(exchange.refusal("403 Forbidden", page: .foreign(language: .user)).bytes, to: connection.descriptor)
            return .finished
        }
        let answer = exchange.answer(to: connection.head)
        write(answer.bytes, to: connection.descriptor)
        return answer.accepted.map { .accepted($0) } ?? .finished
    }

    /// Writes a few kilobytes, which the socket's buffer holds, and tells the peer that no more will come.
    private func write(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, ListeningSocket.sendFlags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        shutdown(descriptor, CInt(SHUT_WR))
    }
}
