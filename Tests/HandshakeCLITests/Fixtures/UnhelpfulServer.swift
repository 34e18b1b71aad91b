import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A server on loopback that accepts every connection and then never completes a response.
final class UnhelpfulServer: Sendable {
    enum Manner: Sendable, CaseIterable {
        /// Sends nothing.
        case silent
        /// Sends a header without end, a byte whenever the client has sent nothing for 50 ms.
        case dripping
    }

    let port: UInt16
    private let listener: Int32

    init(_ manner: Manner) throws {
        #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw Command.Failure(description: "no port to listen on") }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, manner) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var origin: String { "http://127.0.0.1:\(port)" }

    /// Ends when the client closes.
    private static func serve(_ connection: Int32, _ manner: Manner) {
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer { close(connection) }
        switch manner {
        case .silent: while read(connection, &chunk, chunk.count) > 0 {}
        case .dripping:
            signal(SIGPIPE, SIG_IGN)
            var head = Array("HTTP/1.1 200 OK\r\nX-Padding: ".utf8)[...]
            var client = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            while true {
                if poll(&client, 1, 50) > 0 {
                    guard read(connection, &chunk, chunk.count) > 0 else { return }
                } else {
                    var byte = head.popFirst() ?? UInt8(ascii: "x")
                    guard write(connection, &byte, 1) == 1 else { return }
                }
            }
        }
    }
}
