import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A TCP server on loopback that answers each request with bytes of a test's choice, valid HTTP or not.
package final class RawServer: Sendable {
    /// What the server does with a connection after a request.
    package enum Step: Sendable {
        case send([UInt8])
        /// Sends the bytes until the peer is gone or has received this many bytes.
        case flood([UInt8], limit: Int = 1 << 30)
        /// Sends the bytes one by one with pauses of 50 ms, until the peer is gone.
        case drip([UInt8])
        /// Sends nothing until the peer is gone.
        case hold
        case close
    }

    package let port: UInt16
    private let listener: Int32
    private let isRaw: Bool
    private let connections = Mutex<Set<Int32>>([])

    package var origin: String { "http://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - isRaw: whether any bytes are a request, such as those of a TLS handshake.
    ///   - respond: the steps for a request, whose head and content are given.
    package init(isRaw: Bool = false, _ respond: @escaping @Sendable (_ request: [UInt8]) -> [Step]) throws {
        self.isRaw = isRaw
        #if canImport(Glibc)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw WireClient.Failure(description: "cannot listen") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept(respond) }
    }

    /// Ends the listener and all connections.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func accept(_ respond: @escaping @Sendable ([UInt8]) -> [Step]) {
        while true {
            #if canImport(Glibc)
            let connection = Glibc.accept(listener, nil, nil)
            #elseif canImport(Musl)
            let connection = Musl.accept(listener, nil, nil)
            #else
            let connection = Darwin.accept(listener, nil, nil)
            #endif
            guard connection >= 0 else { break }
            connections.withLock { _ = $0.insert(connection) }
            Thread.detachNewThread { [self] in
                serve(connection, respond)
                connections.withLock { _ = $0.remove(connection) }
                close(connection)
            }
        }
        close(listener)
    }

    private func serve(_ connection: Int32, _ respond: ([UInt8]) -> [Step]) {
        var rest: [UInt8] = []
        while let request = request(from: connection, &rest) {
            for step in respond(request) {
                switch step {
                case .send(let bytes): guard Self.send(bytes, to: connection) else { return }
                case .flood(let bytes, let limit):
                    let block = Array(repeatElement(bytes, count: max(1, 16_384 / max(1, bytes.count))).joined())
                    var sent = 0
                    while sent < limit {
                        guard Self.send(block, to: connection) else { return }
                        sent += block.count
                    }
                case .drip(let bytes):
                    for byte in bytes {
                        guard Self.send([byte], to: connection) else { return }
                        var peer = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
                        guard poll(&peer, 1, 50) == 0 else { return }
                    }
                case .hold:
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    while recv(connection, &buffer, buffer.count, 0) > 0 {}
                    return
                case .close: return
                }
            }
        }
    }

    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, flags) }
            #elseif canImport(Musl)
            let count = rest.withUnsafeBytes { Musl.send(connection, $0.baseAddress, $0.count, flags) }
            #else
            let count = rest.withUnsafeBytes { Darwin.send(connection, $0.baseAddress, $0.count, flags) }
            #endif
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads one request with its content; nil when the peer is gone.
    private func request(from connection: Int32, _ buffered: inout [UInt8]) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = buffered.firstRange(of: [13, 10, 13, 10]) {
                let head = String(decoding: buffered[..<end.upperBound], as: UTF8.self)
                let length = head.split(separator: "\r\n").lazy.compactMap { line -> Int? in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
                    return Int(parts[1].drop { $0 == " " })
                }.first
                let total = end.upperBound + (length ?? 0)
                if buffered.count >= total {
                    defer { buffered.removeFirst(total) }
                    return Array(buffered[..<total])
                }
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            if isRaw { return Array(chunk[..<count]) }
            buffered += chunk[..<count]
        }
    }
}

extension RawServer.Step {
    /// Sends text.
    package static func send(_ text: String) -> RawServer.Step { .send(Array(text.utf8)) }
    /// Floods the peer with a text.
    package static func flood(_ text: String) -> RawServer.Step { .flood(Array(text.utf8)) }
}
