import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A peer that says to a loopback address whatever a test wants, byte by byte.
///
/// It waits on threads of its own: the tasks of a test share as many threads as there are cores, and a listener needs
/// one of them.
enum LoopbackCaller {
    /// Sends a GET as a browser would.
    static func get(_ url: String) async -> (response: String, refused: Bool) {
        let rest = url.dropFirst("http://".count)
        let host = rest.prefix { $0 != "/" }
        return await send(
            "GET \(rest.dropFirst(host.count)) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", to: url)
    }

    /// Sends bytes, ends its own side, and reads until the peer ends.
    static func send(_ request: String, to url: String) async -> (response: String, refused: Bool) {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "caller").async { continuation.resume(returning: exchange(request, to: url)) }
        }
    }

    private static func exchange(_ request: String, to url: String) -> (response: String, refused: Bool) {
        guard let descriptor = connect(to: url) else { return ("", true) }
        defer { _ = close(descriptor) }
        var rest = Array(request.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        if request.isEmpty { return ("", false) }
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { response += buffer[..<count] }
        return (String(decoding: response, as: UTF8.self), false)
    }

    /// Opens a connection to an IPv4 loopback address; nil when nobody listens.
    static func connect(to url: String) -> CInt? {
        let host = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        guard let port = UInt16(host.split(separator: ":").last ?? "") else { return nil }
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                systemConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            _ = close(descriptor)
            return nil
        }
        return descriptor
    }

    static func end(_ descriptor: CInt?) {
        if let descriptor { _ = close(descriptor) }
    }
}

private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}
