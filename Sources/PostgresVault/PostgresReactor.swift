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
        /// Rises with each change of them.
        var change = 0
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
            state.change += 1
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if isFirst { Thread.detachNewThread { self.watch() } }
        wake()
    }

    /// Forgets a connection that is closed.
    func remove(_ connection: PostgresConnection) {
        state.withLock { state in
            if state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil { state.change += 1 }
        }
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
        var (connections, change) = ([PostgresConnection](), 0)
        var sockets = [pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0)]
        var isBusy = false
        var nextLook = ContinuousClock.now
        while true {
            let changed = state.withLock { state -> [PostgresConnection]? in
                state.isIdle = quietTicks > 4
                guard state.change != change else { return nil }
                change = state.change
                return Array(state.connections.values)
            }
            if let changed {
                connections = changed
                let unwatched = pollfd(fd: -1, events: 0, revents: 0)
                sockets = sockets.prefix(1) + [pollfd](repeating: unwatched, count: connections.count)
            }
            // What was sent before the lock above did not wake this thread.
            let sleeps = quietTicks > 4 && !connections.contains(where: \.isBusy)
            for (index, connection) in connections.enumerated() {
                let (socket, isWriting) = connection.interest
                sockets[index + 1].fd = socket
                sockets[index + 1].events = Int16(POLLIN) | (isWriting ? Int16(POLLOUT) : 0)
            }
            let pause = Int32(
                max(1, min(ContinuousClock.now.duration(to: nextLook).milliseconds + 1, Int64(Self.tick))))
            let ready = poll(&sockets, nfds_t(sockets.count), sleeps && wakeRead >= 0 ? -1 : pause)
            if ready > 0 { isBusy = true }
            if sockets[0].revents != 0 { drain() }
            for (index, connection) in connections.enumerated() where sockets[index + 1].revents != 0 {
                connection.advance()
            }
            // Deadlines, which need not be noticed sooner.
            let now = ContinuousClock.now
            guard now >= nextLook else { continue }
            nextLook = now.advanced(by: .milliseconds(Self.tick))
            for connection in connections where connection.isWaiting(at: now) { isBusy = true }
            quietTicks = isBusy ? 0 : quietTicks + 1
            isBusy = false
        }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeRead, &bytes, bytes.count) == bytes.count {}
    }
}
#endif
