import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An HTTP client of one request a connection that follows nothing, decodes nothing and reports how the answer ended.
package struct WireClient: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// What came over the wire.
    package struct Answer: Sendable {
        package let status: Int
        package let fields: [(name: String, value: String)]
        package let body: [UInt8]
        /// Bytes that came in all, the head included.
        package let byteCount: Int

        package subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// Whether the body is as long as `Content-Length` says.
        package var isComplete: Bool { self["Content-Length"].flatMap { Int($0) } == body.count }

        /// The members of a JSON object.
        package var json: [String: any Sendable] {
            let parsed = try? JSONSerialization.jsonObject(with: Data(body))
            return (parsed as? [String: Any] ?? [:]).compactMapValues { value in
                switch value {
                case let text as String: text
                case let number as NSNumber: number.intValue
                case let list as [Any]: list.map { "\($0)" }
                default: nil
                }
            }
        }

        package func string(_ name: String) -> String? { json[name] as? String }
        package func number(_ name: String) -> Int? { json[name] as? Int }
    }

    package let port: UInt16
    /// Where requests come from: an address of 127.0.0.0/8.
    private let source: UInt32

    /// - Parameter source: where requests come from. Only Linux has others than 127.0.0.1.
    package init(origin: String, from source: UInt32 = 0x7F00_0001) throws {
        guard let text = origin.split(separator: ":").last, let port = UInt16(text) else {
            throw Failure(description: "no port in \(origin)")
        }
        self.port = port
        self.source = source
    }

    /// Sends a request and reads until the server closes, or until `limit` bytes came.
    package func send(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String = "", limit: Int = 1 << 24
    ) async throws -> Answer {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" { head += "Content-Length: \(body.utf8.count)\r\n" }
        let bytes = try await exchange(Array((head + "\r\n" + body).utf8), limit: limit)
        return try Self.parse(bytes)
    }

    /// Sends bytes as they are and reads until the server closes, or until `limit` bytes came.
    package func exchange(_ request: [UInt8], limit: Int = 1 << 24) async throws -> [UInt8] {
        let (port, source) = (port, source)
        return try await withCheckedThrowingContinuation { continuation in
            // A thread of its own: blocking reads must not hold the few threads that Swift's tasks share.
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.exchange(request, port: port, from: source, limit: limit) })
            }
        }
    }

    private static func exchange(_ request: [UInt8], port: UInt16, from source: UInt32, limit: Int) throws -> [UInt8] {
        let socket = try connected(to: port, from: source)
        defer { close(socket) }
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            sent += count
        }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while received.count < limit {
            let count = read(socket, &chunk, chunk.count)
            guard count > 0 else { break }
            received += chunk[..<count]
        }
        return received
    }

    /// A socket connected to the port on loopback: on 127.0.0.1, or on another address of 127.0.0.0/8.
    package static func connected(
        to port: UInt16, host: UInt32 = 0x7F00_0001, from source: UInt32 = 0x7F00_0001
    ) throws -> Int32 {
        #if canImport(Glibc)
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let socket = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var own = internet(source, 0)
        var address = internet(host, port)
        // Longer than any run of the tests: on a busy machine a server's task may wait for minutes for its turn.
        var limit = timeval(tv_sec: 3_600, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Otherwise the system chooses, which has more ports to choose from.
        let isChosen = source == 0x7F00_0001
        let isBound =
            isChosen
            || withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) } == 0
            }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) } == 0
        }
        guard isBound, isConnected else {
            close(socket)
            throw Failure(description: "cannot connect to port \(port)")
        }
        return socket
    }

    private static func internet(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return address
    }

    private static func parse(_ bytes: [UInt8]) throws -> Answer {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Failure(description: bytes.isEmpty ? "closed without an answer" : "closed inside the head")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let fields = lines.dropFirst().map { line -> (name: String, value: String) in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (parts[0], parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        return Answer(status: status, fields: fields, body: Array(bytes[end.upperBound...]), byteCount: bytes.count)
    }
}
