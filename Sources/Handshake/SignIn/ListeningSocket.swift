import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP socket that listens on a loopback address only.
final class ListeningSocket: Sendable {
    let descriptor: CInt
    /// The address literal and port, as in `127.0.0.1:49152`.
    let authority: String
    private let isOpen = Mutex(true)

    /// A peer that has gone is an error to handle, not a signal that ends the process.
    static let sendFlags: CInt = {
        #if canImport(Darwin)
        0
        #else
        CInt(MSG_NOSIGNAL)
        #endif
    }()

    /// Listens on `127.0.0.1`, or on `[::1]` where there is no IPv4. A port that is taken stays taken: the address is
    /// registered.
    init(port: UInt16) throws(HandshakeError) {
        if let (descriptor, chosen) = Self.listenV4(port: port) {
            self.descriptor = descriptor
            authority = "127.0.0.1:\(chosen)"
        } else if errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL, let (descriptor, chosen) = Self.listenV6(port: port)
        {
            self.descriptor = descriptor
            authority = "[::1]:\(chosen)"
        } else {
            let reason = String(cString: strerror(errno))
            throw .configuration(
                member: "redirect",
                problem: port == 0
                    ? "no loopback port can be opened: \(reason)"
                    : "port \(port) on this machine cannot be opened: \(reason); choose another, or end the program that uses it"
            )
        }
    }

    deinit {
        close()
    }

    /// Stops listening. Closing twice does nothing.
    func close() {
        let closes = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if closes { _ = systemClose(descriptor) }
    }

    /// The next connection, or nil when it has gone already or, as `errno` says, cannot be accepted.
    func accept() -> CInt? {
        let connection = systemAccept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        Self.closeOnExec(connection)
        #if canImport(Darwin)
        var on: CInt = 1
        setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
        return connection
    }

    private static func closeOnExec(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func listenV4(port: UInt16) -> (CInt, UInt16)? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return listen(family: AF_INET, address: &address) { UInt16(bigEndian: $0.sin_port) }
    }

    private static func listenV6(port: UInt16) -> (CInt, UInt16)? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return listen(family: AF_INET6, address: &address) { UInt16(bigEndian: $0.sin6_port) }
    }

    /// How many connections wait to be accepted. Behind them the system leaves a browser's unanswered for a second or more, so a burst of
    /// others, from a page or another program, must not fill the queue.
    private static let backlog: CInt = 512

    private static func listen<Address>(
        family: CInt, address: inout Address, port: (Address) -> UInt16
    ) -> (CInt, UInt16)? {
        #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return nil }
        closeOnExec(descriptor)
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        var length = socklen_t(MemoryLayout<Address>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && systemListen(descriptor, Self.backlog) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        // A connection that `poll` saw may be gone again: `accept` must not wait for the next one, which would keep a stop
        // from being seen.
        guard isListening, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            let error = errno
            _ = systemClose(descriptor)
            errno = error
            return nil
        }
        return (descriptor, port(address))
    }
}

// The system's functions under names that the methods above do not hide.
private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
private func systemListen(_ descriptor: CInt, _ backlog: CInt) -> CInt { listen(descriptor, backlog) }
private func systemAccept(
    _ descriptor: CInt, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?
) -> CInt { accept(descriptor, address, length) }

/// Wakes a thread that waits in `poll`.
final class StopSignal: Sendable {
    let receiver: CInt
    private let sender: CInt

    init() throws(HandshakeError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .configuration(
                member: "redirect", problem: "no pipe can be opened: \(String(cString: strerror(errno)))")
        }
        receiver = ends[0]
        sender = ends[1]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        _ = systemClose(receiver)
        _ = systemClose(sender)
    }

    func send() {
        var byte: UInt8 = 0
        _ = write(sender, &byte, 1)
    }
}
