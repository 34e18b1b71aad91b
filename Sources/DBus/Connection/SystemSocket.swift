#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// System calls on sockets, with one interface for every platform.
enum SystemSocket {
    enum Outcome {
        case bytes(Int)
        case wouldBlock
        case failed(String)
    }

    /// Connects to a Unix socket without waiting.
    ///
    /// - Returns: The descriptor, or nil when the listener's backlog is full: retry.
    /// - Throws: ``DBusError/unreachable(address:reason:)``
    static func connect(to address: Address) throws(DBusError) -> CInt? {
        func failure(_ reason: String) -> DBusError { .unreachable(address: address.description, reason: reason) }
        #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        var name = sockaddr_un()
        guard let length = fill(&name, with: address.endpoint) else {
            throw failure("its name is too long for a socket, or this system does not support abstract names")
        }
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        guard prepare(descriptor) else {
            let error = errno
            _ = systemClose(descriptor)
            throw failure(reason(error))
        }
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { systemConnect(descriptor, $0, length) }
        }
        if result == 0 { return descriptor }
        let error = errno
        _ = systemClose(descriptor)
        if error == EAGAIN || error == EINTR { return nil }
        throw failure(reason(error))
    }

    /// Makes a descriptor non-blocking and close-on-exec, and suppresses SIGPIPE where that is a socket option.
    static func prepare(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
        var on: CInt = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
        return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    }

    static func receive(_ descriptor: CInt, into buffer: inout [UInt8]) -> Outcome {
        outcome(buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) })
    }

    static func send(_ descriptor: CInt, _ bytes: ArraySlice<UInt8>) -> Outcome {
        #if canImport(Darwin)
        let flags: CInt = 0
        #else
        // A closed peer must be an error, not a signal that ends the process.
        let flags = CInt(MSG_NOSIGNAL)
        #endif
        return outcome(bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) })
    }

    private static func outcome(_ count: Int) -> Outcome {
        if count >= 0 { return .bytes(count) }
        let error = errno
        return error == EAGAIN || error == EWOULDBLOCK || error == EINTR ? .wouldBlock : .failed(reason(error))
    }

    static func reason(_ error: CInt) -> String {
        String(cString: strerror(error))
    }

    private static func fill(_ name: inout sockaddr_un, with endpoint: Address.Endpoint) -> socklen_t? {
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes: [UInt8]
        switch endpoint {
        case .path(let path): bytes = Array(path.utf8) + [0]
        case .abstract(let text):
            #if os(Linux)
            bytes = [0] + Array(text.utf8)
            #else
            return nil
            #endif
        }
        guard bytes.count <= MemoryLayout.size(ofValue: name.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        return socklen_t(start + bytes.count)
    }
}

// The system's functions, under names that the methods above do not shadow.
func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}
private func systemSend(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt) -> Int {
    send(descriptor, bytes, count, flags)
}
