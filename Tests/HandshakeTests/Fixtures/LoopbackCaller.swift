import TestFixtures

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A peer that says to a loopback address whatever a test wants, byte by byte.
enum LoopbackCaller {
    /// Sends a GET as a browser would.
    static func get(_ url: String) async -> (response: String, refused: Bool) {
        let rest = url.dropFirst("http://".count)
        let host = host(of: url)
        return await send(
            "GET \(rest.dropFirst(host.count)) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", to: url)
    }

    /// Sends bytes and reads until the peer ends; without bytes it closes immediately.
    static func send(_ request: String, to url: String) async -> (response: String, refused: Bool) {
        guard !request.isEmpty else {
            let descriptor = connect(to: url)
            end(descriptor)
            return ("", descriptor == nil)
        }
        do {
            let answer = try await WireClient(origin: host(of: url)).exchange(Array(request.utf8))
            return (String(decoding: answer, as: UTF8.self), false)
        } catch {
            return ("\(error)", true)
        }
    }

    /// Opens a connection to an IPv4 loopback address; nil when there is no listener.
    static func connect(to url: String) -> CInt? {
        try? WireClient.connected(to: WireClient(origin: host(of: url)).port)
    }

    /// Opens a connection; nil when the peer's queue has no place for it.
    static func connectImmediately(to url: String) -> CInt? {
        guard let port = try? WireClient(origin: host(of: url)).port else { return nil }
        #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = systemConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // With room in the queue the connection is made immediately; without, the system waits a second before it tries again.
        var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&item, 1, 900) > 0, item.revents & Int16(POLLERR | POLLHUP) == 0 else {
            _ = close(descriptor)
            return nil
        }
        return descriptor
    }

    static func end(_ descriptor: CInt?) {
        if let descriptor { _ = close(descriptor) }
    }

    private static func host(of url: String) -> String {
        String(url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" })
    }
}

// The system's function under a name that the methods above do not hide.
private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}
