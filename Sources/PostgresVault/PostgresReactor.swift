#if PostgreSQL
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The thread that watches the sockets of all connections of this process, so that no thread of the concurrency runtime waits for one.
///
/// It lives as long as the process, like the runtime's own threads, and sleeps while no statement is under way.
final class PostgresReactor: Sendable {
    static let shared = PostgresReactor()

    private struct State {
        var connections: [ObjectIdentifier: PostgresConnection] = [:]
        /// Whether the thread sleeps until it is woken, so that it would not see a deadline.
        var isIdle = false
        var hasThread = false
    }

    /// How late a deadline may be noticed.
    private static let tick: Int32 = 250

    private let state = Mutex(State())
    private let wakeRead: Int32
    private let wakeWrite: Int32

    private init() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe (no descriptor is free), the thread looks at every tick.
        if pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (wakeRead, wakeWrite) = (ends[0], ends[1])
    }

    /// Watches a connection from now on.
    func add(_ connection: PostgresConnection) {
        let isFirst = state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if isFirst { Thread.detachNewThread { self.watch() } }
        wake()
    }

    /// Forgets a connection that is closed.
    func remove(_ connection: PostgresConnection) {
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Lets the thread see a new deadline, or that a socket is to be written.
    ///
    /// - Parameter always: also when it looks again soon in any case.
    func wake(always: Bool = true) {
        let isIdle = state.withLock { state in
            defer { state.isIdle = false }
            return state.isIdle
        }
        guard always || isIdle else { return }
        var byte: UInt8 = 0
        // A full pipe wakes it too.
        _ = write(wakeWrite, &byte, 1)
    }

    private func watch() -> Never {
        var quietTicks = 0
        while true {
            let connections = state.withLock { state in
                state.isIdle = quietTicks > 4
                return Array(state.connections.values)
            }
            // What was sent before the line above was not told to this thread.
            let sleeps = quietTicks > 4 && !connections.contains(where: \.isBusy)
            var sockets = [pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0)]
            for connection in connections {
                let (socket, isWriting) = connection.interest
                let events = Int16(POLLIN) | (isWriting ? Int16(POLLOUT) : 0)
                sockets.append(pollfd(fd: socket, events: events, revents: 0))
            }
            let ready = poll(&sockets, nfds_t(sockets.count), sleeps && wakeRead >= 0 ? -1 : Self.tick)
            if sockets[0].revents != 0 { drain() }
            let now = ContinuousClock.now
            var isBusy = ready > 0
            for (connection, socket) in zip(connections, sockets.dropFirst()) {
                if socket.revents != 0 { connection.advance() }
                if connection.isWaiting(at: now) { isBusy = true }
            }
            quietTicks = isBusy ? 0 : quietTicks + 1
        }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeRead, &bytes, bytes.count) == bytes.count {}
    }
}
#endif
