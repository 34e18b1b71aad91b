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

    static func end(_ descriptor: CInt?) {
        if let descriptor { _ = close(descriptor) }
    }

    private static func host(of url: String) -> String {
        String(url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" })
    }
}
